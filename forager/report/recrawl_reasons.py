"""Why the recrawl cycle looks at a page soon or late: what its score function reads of it, its rank, its next visit."""

import math

import numpy as np

from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.engine.policy import read_policy
from forager.engine.resume import Schedule, recall_schedule, restore_histories
from forager.recrawl.cycle import explain, facts
from forager.recrawl.formula import parse
from forager.recrawl.policies import Formula, Policy, history_for
from forager.recrawl.recrawl_settings import WORTH, RecrawlSettings
from forager.report.reasons import Prospect
from forager.report.text import shown, shown_moment, span
from forager.store.store import Store
from forager.terms import UrlId

LUCK = np.random.Generator(np.random.PCG64(0))
"""For the policy `rand`, whose ranks cannot be foretold."""

REORDERED = "Of the pages seen before, it orders those that promise documents enough for a request."


async def why_again(
    id: UrlId,
    store: Store,
    now: float,
    settings: RecrawlSettings,
    statistics: PageTable | None,
    prospect: Prospect | None,
) -> str:
    """The decision on one page, as the run left it; empty if the run kept nothing of it."""
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
        said[0] += f": {explained}."
        said.append(REORDERED if policy.name == WORTH else _next(explained.rank, kept))
    return " ".join([*filter(None, said), *_lessons(kept)])


def _in_use(kept: Schedule, settings: RecrawlSettings) -> Policy:
    """The policy as the run left it: what was learned, or came from a file, is kept as a formula."""
    if kept.formula:
        return Policy(kept.setting, Formula.of(parse(kept.formula), kept.rhythm), kept.formula)
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
        f"{len(kept.lessons)} times a function was learned, {used} times it took over; the last one, {shown(last.formula)}, "
        f"had {last.fitness} {last.new:.3f} against {last.old:.3f} on held-out pages at {shown_moment(last.at)} UTC {fate}."
    ]
