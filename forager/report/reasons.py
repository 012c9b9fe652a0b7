"""Why a page is a story or not, and why it was visited or not: in words."""

from dataclasses import dataclass

from forager.report.text import shown, shown_moment, span
from forager.store.protocol import Known, Version
from forager.terms import Kind, Outcome
from forager.web.robots import RobotsVerdict
from forager.web.timetable import Timetable


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a visit now promises."""

    worth: float
    """New documents expected of it."""
    fresh: bool
    """A link that nobody has followed yet."""
    rank: int
    """Its place among all known pages, from 1."""
    of: int
    rate: float
    """News per hour, as learned so far."""


def at_host(
    name: str, timetable: Timetable, now: float, used: int | None = None, verdict: RobotsVerdict | None = None
) -> str:
    """What holds at a host, for a page of it: the budget, the delay between two requests, and the word of robots.txt."""
    delay, free, hourly = timetable.delay(name), timetable.allowed_at(name, now), timetable.settings.requests_per_hour
    said = [f"{name} is asked at most every {span(delay)}" + ("" if hourly is None else f" and {hourly} times an hour")]
    if used is not None:
        said.append(f"{used} requests went there in the last hour")
    said.append("it is free now" if free <= now else f"it is free again in {span(free - now)}")
    if verdict is not None:
        line = f", line {verdict.line}" if verdict.line else ""
        word = "allows this page" if verdict.allowed else "forbids this page"
        said.append(f"its robots.txt {word} ({shown(verdict.rule)}{line})")
    return "; ".join(said) + "."


def why_story(
    page: Known, latest: Version | None, fetched: float, is_story: bool, undecided: bool, max_age: float
) -> str:
    """Whether its document was accepted, and what spoke for or against it."""
    if is_story:
        return "Yes: when it was fetched it was new, dated and young enough."
    if latest is None:
        return "No: it was never read." if page.visits else "Not yet: it has never been visited."
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
    return "No: its document was known already, from this or another page with the same text."


def why_visited(
    page: Known, last_outcome: str, refused: str, prospect: Prospect | None, least_worth: float, now: float
) -> str:
    """What was done with it, and what comes next."""
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
