"""Explains why a page is a story or not, why it was visited or not, and when the recrawl cycle visits it."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forager.core.agent import ReinforcingAgent
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.core.territory import owner_of
from forager.engine.policy import read_policy
from forager.engine.resume import Schedule, kept_policy, recall_schedule, restore_histories
from forager.recrawl.cycle import explain, facts
from forager.recrawl.policies import ByKind, Policy, history_for
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.report.phrases import shown, shown_moment, span
from forager.store.protocol import Known, Version
from forager.store.store import Store
from forager.terms import Kind, Outcome, UrlId, Verdict
from forager.web.robots import RobotsVerdict
from forager.web.timetable import Timetable

if TYPE_CHECKING:  # few crawls have one, and it is slow to load
    from forager.core.focus import Focus


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a visit now is expected to bring."""

    worth: float
    """Expected number of new documents."""
    fresh: bool
    """Whether it is a link not yet followed."""
    rank: int
    """Rank among all known pages, from 1."""
    of: int
    rate: float
    """Learned rate of new documents per hour."""


def at_host(
    name: str, timetable: Timetable, now: float, used: int | None = None, verdict: RobotsVerdict | None = None
) -> str:
    """Describes the rules of a host: budget, delay between requests, and robots.txt."""
    delay, free, hourly = timetable.delay(name), timetable.allowed_at(name, now), timetable.settings.requests_per_hour
    said = [f"{name} is asked at most every {span(delay)}" + ("" if hourly is None else f" and {hourly} times an hour")]
    if used is not None:
        said.append(f"{used} requests went there in the last hour")
    for wait in timetable.waits(now):
        if wait.host == name:
            said.append(f"{wait.why}, so it is left alone until {shown_moment(wait.until)} UTC")
    said.append("it is free now" if free <= now else f"it is free again in {span(free - now)}")
    if verdict is not None:
        line = f", line {verdict.line}" if verdict.line else ""
        word = "allows this page" if verdict.allowed else "forbids this page"
        said.append(f"its robots.txt {word} ({shown(verdict.rule)}{line})")
    return "; ".join(said) + "."


def why_topic(focus: "Focus", version: int | None, latest: Version) -> str:
    """The verdict on a document, and what the focus thinks of it now, by its words."""
    given = None if version is None else focus.verdicts.get(version)
    if given is None:
        return "It was not held against the topic: only dated texts are."
    now = focus.judge(f"{latest.title}\n{latest.text}")
    said = [f"When it was judged: {given}."]
    if now.probability is not None:
        said.append(f"By its text and what is known now: {now.verdict}, with a probability of {now.probability:.0%}.")
    if now.doubt:
        said.append(f"It cannot tell yet because {now.doubt}.")
    for sign, name in ((1, "For"), (-1, "Against")):
        named = [f"{shown(word, 40)} {share:+.2f}" for word, share in now.words if share * sign > 0]
        if named:
            said.append(f"{name} it: {', '.join(named)}.")
    return " ".join(said)


def why_link(chance: float) -> str:
    """What links say of a page that was never read; 1: nothing."""
    if chance == 1:
        return "It was not read, and what is known of its links says nothing of its topic."
    return f"It was not read; by its links and the lists that show it, it is on topic with a chance of {chance:.1%}."


def why_story(
    page: Known,
    latest: Version | None,
    fetched: float,
    is_story: bool,
    undecided: bool,
    max_age: float,
    topic: str = "",
) -> str:
    """Explains whether its document was accepted and why."""
    if is_story:
        return "Yes: when it was fetched it was new, dated and young enough."
    if latest is None:
        return "No: it was never read." if page.visits else "Not yet: it has never been visited."
    if undecided and topic == Verdict.UNSURE:
        return "Not decided yet: it is kept until the focus can tell whether it is on topic."
    if undecided:
        return "Not decided yet: its latest version is waiting to be judged."
    if latest.kind is not Kind.ARTICLE:
        return f"No: it is not a text of its own but a page of kind {latest.kind.value}."
    if latest.published is None:
        return "No: no publication date could be read or inferred, and a page without date is no document."
    age = fetched - latest.published.time
    if age > max_age:
        return (
            f"No: it was {span(age)} old when it was fetched (published {shown_moment(latest.published.time)} UTC by "
            f"{latest.published.source.value}); the limit is {span(max_age)}."
        )
    if topic == Verdict.OFF:
        return "No: it is off topic."
    return "No: its document was known already, from this or another page with the same text."


def why_visited(
    page: Known, last_outcome: str, refused: str, prospect: Prospect | None, least_worth: float, now: float
) -> str:
    """Explains what was done with the page, and what comes next."""
    said = [_so_far(page, last_outcome)]
    if refused and last_outcome == Outcome.REFUSED:
        said.append(f"robots.txt does not allow it: {refused}.")
    if page.due is None:
        said.append("No visit is planned by itself; a forager may still choose it.")
    elif page.due <= now:
        said.append(f"It may be visited since {shown_moment(page.due)} UTC.")
    else:
        said.append(f"It may be visited again from {shown_moment(page.due)} UTC, in {span(page.due - now)}.")
    if prospect is not None:
        what = "a link that nobody has followed yet" if prospect.fresh else f"{prospect.rate:.3f} news per hour so far"
        said.append(
            f"A visit now promises {prospect.worth:.3f} new documents ({what}): rank {prospect.rank} of {prospect.of} "
            "known pages."
        )
        if prospect.worth < least_worth:
            said.append(f"That is less than {least_worth} (crawl.least_worth): only exploring may lead there.")
    return " ".join(said)


def _so_far(page: Known, last_outcome: str) -> str:
    if not page.visits or page.last_visit is None:
        return "It was never visited."
    times = "once" if page.visits == 1 else f"{page.visits} times"
    ended = f", ended as {last_outcome}" if last_outcome else ""
    return (
        f"It was visited {times}, with {page.changes} {'change' if page.changes == 1 else 'changes'} seen; "
        f"the last visit was at {shown_moment(page.last_visit)} UTC{ended}."
    )


def whose_page(id: UrlId, agent: ReinforcingAgent) -> str:
    """Whose start page it is, and how that forager differs from the settings; empty if it is nobody's."""
    slot, place = owner_of(agent.flock.state, id)
    if slot < 0:
        return ""
    owner = next(one for one in agent.foragers.values() if one.slot == slot)
    value = owner.weblog.values[place]
    own = agent.records[owner.id].own(agent.flock.usual)
    told = ", ".join(f"{key} {value:.3g}" for key, value in own.items())
    differs = f"; its own parameters are {told}" if told else ""
    rank = f"place {place + 1} of {len(owner.weblog)} in its weblog"
    return f"A start page of forager {owner.id} ({owner.kind.value}), worth {value:.1f} to it, {rank}{differs}."


LUCK = np.random.Generator(np.random.PCG64(0))
"""Random numbers for the policy `rand`, whose ranks cannot be predicted."""

REORDERED = "Of the pages of its kind seen before, it orders those that promise documents enough for a request."


async def why_again(
    id: UrlId,
    store: Store,
    now: float,
    settings: RecrawlSettings,
    statistics: PageTable | None,
    prospect: Prospect | None,
) -> str:
    """Explains the recrawl decision on one page, as of the end of the run; empty if the run kept no schedule."""
    kept = await recall_schedule(store)
    if kept is None:
        return ""
    policy = _in_use(kept, settings)
    history = history_for(policy.score, store.counts().known, settings, kept.cycle)
    pages = PageTable(ExpectationSettings()) if statistics is None else statistics
    pages.keep_histories(history)
    await restore_histories(pages, store)
    said = [f"By {shown(str(policy))}"]
    if not history.visited(np.array([id]))[0]:
        said[0] += ": without a history, it is ranked by the documents it promises."
    elif policy.score is None:
        rank = "" if prospect is None else f" → {prospect.worth:.2f}, rank {prospect.rank:,} of {prospect.of:,}"
        said[0] += f": {facts(history, now, id)}{rank}."
    else:
        explained = explain(history, policy.score, now, id)
        said[0] = f"By {shown(explained.rule or str(policy))}: {explained}."
        said.append(REORDERED if isinstance(policy.score, ByKind) else _next(explained.rank, kept))
    return " ".join([*filter(None, said), *_lessons(kept)])


def _in_use(kept: Schedule, settings: RecrawlSettings) -> Policy:
    """The policy at the end of the run; a learned one, or one from a file, is kept as a formula."""
    if kept.formula:
        return kept_policy(kept)
    return read_policy(kept.setting, LUCK, settings, kept.cycle)


def _next(rank: int, kept: Schedule) -> str:
    done = kept.done
    if done is None or not done.visits:
        return ""
    cycles = math.ceil(rank / done.visits)
    return (
        f"The last cycle looked at {done.visits} such pages in {span(kept.cycle)}; at that pace its turn comes "
        f"{'in this cycle' if cycles <= 1 else f'in {span(cycles * kept.cycle)}'}."
    )


def _lessons(kept: Schedule) -> list[str]:
    if not kept.lessons:
        return []
    last, used = kept.lessons[-1], sum(one.replaced for one in kept.lessons)
    fate = "and took over" if last.replaced else f"and was not used: {last.verdict}"
    return [
        f"Functions learned: {len(kept.lessons)}, of which {used} took over; the last one, {shown(last.formula)}, "
        f"had {last.fitness} {last.new:.3f} against {last.old:.3f} on held-out pages at {shown_moment(last.at)} UTC {fate}."
    ]
