"""The report of a run as one HTML file: it needs no network and no script, and everything of the web in it is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from forager.engine.remembering import Schedule
from forager.frontier.skipped import REFUSALS, Skip
from forager.measures.ranking import ndcg
from forager.recrawl.policies import EXPECTED
from forager.recrawl.settings import WORTH
from forager.reinforcing.scores import Record
from forager.reports import svg
from forager.reports.account import Account, Errors, Side
from forager.reports.page import page, pair, section, table, tiles
from forager.reports.showing import moment, shown, span, visitor
from forager.store.protocol import Story

STORIES, LIVES, DOTS, HOSTS, EXAMPLES = 500, 60, 3000, 5, 2
"""Latest stories listed, foragers and delays drawn; hosts and URLs named for a reason to leave something out (ours)."""


def report(account: Account, name: str) -> str:
    """The page."""
    title = f"Report of {shown(name)}"
    parts = [
        _headline(account),
        _over_time(account),
        _sites(account),
        _costs(account),
        _fleet(account.records, account),
    ]
    parts += [_errors(account.errors), _left_out(account), _stories(account.stories)]
    return page(title, parts)


def _headline(account: Account) -> str:
    delays, requests = account.delays, account.requests
    drawn = [
        ("Stories", f"{len(account.stories):,}", ""),
        ("Median delay", span(_quantile(delays, 0.5)), f"nine in ten within {span(_quantile(delays, 0.9))}"),
        ("Requests", f"{requests:,}", f"{account.visits:,} visits"),
        ("Cost", f"{requests / len(account.stories):.1f}" if account.stories else "–", "requests per story"),
        ("Pages", f"{account.pages:,}", f"{account.known:,} URLs known, {account.known - account.pages:,} not visited"),
        ("Versions", f"{account.versions:,}", f"{_megabytes(account)} received"),
        ("Foragers", f"{sum(one.deleted is None for one in account.records)}", f"{len(account.records)} born"),
        ("Errors", f"{sum(one.count for one in account.errors.values()):,}", ""),
    ]
    took = f"From {moment(account.began)} to {moment(account.ended)} UTC, {span(account.ended - account.began)}."
    return f"<p class=note>{took}</p>{tiles(drawn)}"


def _over_time(account: Account) -> str:
    began, ended, sites = account.began, account.ended, sorted(account.sites)
    colours = {name: place for place, name in enumerate(sites)}
    points = [(one.fetched, one.delay, colours[one.site]) for one in account.stories[-DOTS:]]
    legend = "".join(
        f'<li><svg viewBox="0 0 10 10"><circle class="c{place % svg.COLOURS}" cx="5" cy="5" r="4"/></svg>{escape(name)}</li>'
        for place, name in enumerate(sites[: svg.COLOURS])
    )
    delays = svg.dots(points, began, ended, "Delay of each story over time") + f"<ul class=legend>{legend}</ul>"
    stories = svg.bars(account.stories_over_time, began, ended, "Stories over time")
    return pair(
        section("Delay", "From publication to fetch, each story a dot.", delays if points else _nothing()),
        section("Stories over time", "", stories if points else _nothing()),
    )


def _sites(account: Account) -> str:
    heads = [
        "Site",
        "Stories",
        "Median delay",
        "p90",
        "Found first by",
        "Requests",
        "Per story",
        "Unchanged",
        "Received",
    ]
    rows = [
        [
            escape(name),
            f"{len(site.delays):,}",
            span(_quantile(site.delays, 0.5)),
            span(_quantile(site.delays, 0.9)),
            _tags(site.channels.most_common()),
            f"{site.requests:,}",
            f"{site.requests / len(site.delays):.1f}" if site.delays else "–",
            f"{site.outcomes['unchanged'] / site.requests:.0%}" if site.requests else "–",
            f"{site.wire_bytes / 1e6:.1f} MB",
        ]
        for name, site in sorted(account.sites.items(), key=lambda item: (-len(item[1].delays), item[0]))
    ]
    return section("Sites", "", table(heads, rows, text=(0, 4)))


def _costs(account: Account) -> str:
    began, ended = account.began, account.ended
    heads = ["Who asked", "Visits", "Saw a change", "Stories", "Visits per story"]
    rows = [_side("the fleet", account.fleet), _side("the recrawl cycle", account.recrawl)]
    outcomes: dict[str, int] = {}
    for site in account.sites.values():
        for outcome, count in site.outcomes.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + count
    ended_as = _tags(sorted(outcomes.items(), key=lambda item: -item[1]))
    requests = svg.bars(account.requests_over_time, began, ended, "Requests over time")
    costs = section("Costs", "How the visits ended:", f"<p>{ended_as}</p>" + table(heads, rows, text=(0,)))
    if not account.visits:
        return costs
    return pair(costs, section("Requests over time", "", requests)) + _recrawl(account)


def _recrawl(account: Account) -> str:
    """How well the recrawl cycle chose, in each slice of time."""
    began, ended, looks = account.began, account.ended, account.looks
    if not any(looks):
        return _policy(account.schedule)
    rate = svg.shares([sum(one) for one in looks], [len(one) for one in looks], began, ended, "ChangeRate over time")
    order = [ndcg(np.array(one), sum(one)) if any(one) else 0.0 for one in looks]
    good = svg.shares(order, [any(one) for one in looks], began, ended, "NDCG over time")
    return _policy(account.schedule) + pair(
        section("Recrawl: ChangeRate", "Visits to pages seen before that found a change.", rate),
        section("Recrawl: NDCG", "Were changed pages looked at first? 1 is the best order.", good),
    )


def _policy(schedule: Schedule | None) -> str:
    """The rule by which pages were looked at again, and the functions that were learned on the way."""
    if schedule is None:
        return ""
    rule = EXPECTED if schedule.setting == WORTH else schedule.formula or schedule.setting
    note = f"By {escape(shown(rule, 400))}, in cycles of {span(schedule.cycle)}."
    heads = ["Learned", "Function", "Measure", "New", "In use", "Then"]
    rows = [
        [
            moment(one.at),
            f"<code>{escape(shown(one.formula, 400))}</code>",
            escape(one.fitness),
            f"{one.new:.3f}",
            f"{one.old:.3f}",
            one.verdict,
        ]
        for one in reversed(schedule.lessons)
    ]
    return section("Recrawl", note, table(heads, rows, text=(0, 1, 2, 5)) if rows else "")


def _side(name: str, side: Side) -> list[str]:
    changed = f"{side.changed / side.visits:.0%}" if side.visits else "–"
    each = f"{side.visits / side.stories:.1f}" if side.stories else "–"
    return [name, f"{side.visits:,}", changed, f"{side.stories:,}", each]


def _fleet(records: Sequence[Record], account: Account) -> str:
    if not records:
        return section("Fleet", "", "<p class=empty>The run has kept no fleet.</p>")
    latest = records[-LIVES:]
    began = min(account.began, min(one.born for one in latest))
    drawn = svg.lives(
        [(one.id, one.parent, one.born, one.deleted) for one in latest], began, account.ended, "Lives of the foragers"
    )
    heads = ["Forager", "Kind", "Parent", "Score", "Stories", "Sent", "Downloads", "Born", "Deleted"]
    rows = [
        [
            f"№ {one.id}",
            one.kind.value,
            "–" if one.parent is None else f"№ {one.parent}",
            f"{one.score:.1f}",
            f"{one.relevant:,}",
            f"{one.sent:,}",
            f"{one.downloads:,}",
            moment(one.born),
            moment(one.deleted),
        ]
        for one in sorted(latest, key=lambda one: -one.relevant)
    ]
    note = "A line is a life; it hangs on the parent's line where it was born, and a cross ends it."
    return section("Fleet", note, drawn + table(heads, rows, text=(0, 1)))


def _errors(errors: dict[str, Errors]) -> str:
    if not errors:
        return section("Errors", "", "<p class=empty>There were none.</p>")
    return section("Errors", "", table(["Kind", "Count", "Reasons", "Examples"], _kinds(errors), text=(0, 2, 3)))


def _kinds(errors: dict[str, Errors]) -> list[list[str]]:
    return [
        [
            escape(kind),
            f"{one.count:,}",
            "<br>".join(
                f"{escape(shown(reason))} ({count:,})" for reason, count in one.reasons.most_common(3) if reason
            ),
            "<br>".join(_link(url, shown(url, 100)) for url in one.examples),
        ]
        for kind, one in sorted(errors.items(), key=lambda item: -item[1].count)
    ]


def _left_out(account: Account) -> str:
    """URLs that were not asked for when their turn came, then links that never entered the crawl."""
    by_reason: dict[str, list[Skip]] = {}
    for skip in account.skipped:
        if skip.reason not in REFUSALS.values():
            by_reason.setdefault(skip.reason, []).append(skip)
    links = [
        [
            escape(reason),
            f"{sum(skip.count for skip in skips):,}",
            _tags((skip.host, skip.count) for skip in skips[:HOSTS]) + ("" if len(skips) <= HOSTS else " …"),
            "<br>".join(_link(skip.example, shown(skip.example, 100)) for skip in skips[:EXAMPLES]),
        ]
        for reason, skips in sorted(by_reason.items(), key=lambda item: -sum(skip.count for skip in item[1]))
    ]
    rows = _kinds(account.refusals) + links
    if not rows:
        return section("Left out", "", "<p class=empty>Every link that was met is part of the crawl.</p>")
    note = "What was not asked for, and why: URLs whose turn came, by visit; links that never entered, each time met."
    return section("Left out", note, table(["Reason", "Count", "Where", "Examples"], rows, text=(0, 2, 3)))


def _stories(stories: Sequence[Story]) -> str:
    rows = [
        [
            moment(one.published),
            span(one.delay),
            _link(one.url, shown(one.title) or one.url) + _copy(one),
            escape(one.site),
            escape(one.discovered_via.value),
            escape(one.published_source),
            visitor(one.forager),
        ]
        for one in reversed(stories[-STORIES:])
    ]
    note = f"The latest {STORIES} of {len(stories):,}." if len(stories) > STORIES else ""
    heads = ["Published", "Delay", "Story", "Site", "Channel", "Date from", "Found by"]
    return section("Stories", note, table(heads, rows, text=(2, 3, 4, 5, 6)) if rows else _nothing())


def _copy(story: Story) -> str:
    return (
        "" if story.duplicate_of is None else f" <span class=tag>copy of {escape(shown(story.duplicate_of, 80))}</span>"
    )


def _link(url: str, text: str) -> str:
    inside = f"<bdi dir=auto>{escape(text)}</bdi>"
    if not url.startswith(("http://", "https://")):
        return inside
    return f'<a href="{escape(url)}" rel="noopener noreferrer">{inside}</a>'


def _tags(counts: Iterable[tuple[str, int]]) -> str:
    return " ".join(f"<span class=tag>{escape(name)} {count:,}</span>" for name, count in counts) or "–"


def _nothing() -> str:
    return "<p class=empty>No story was found.</p>"


def _quantile(values: Sequence[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if len(values) else None


def _megabytes(account: Account) -> str:
    return f"{sum(site.wire_bytes for site in account.sites.values()) / 1e6:.1f} MB"
