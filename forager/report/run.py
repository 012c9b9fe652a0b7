"""The report of a run as one HTML file that needs no network and no script; all text from the web in it is escaped."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from forager.core.fleet import ForagerRecord
from forager.core.parameters import ForagerSettings, ReinforcingSettings
from forager.core.saved import load_agent
from forager.engine.resume import Schedule, recall_schedule
from forager.engine.scope import REFUSALS, Skip, Skipped
from forager.recrawl.policies import EXPECTED
from forager.recrawl.recrawl_settings import WORTH
from forager.report import charts as svg
from forager.report.account import Account, CountsByName, Side, recall_account
from forager.report.charts import html_table, page, pair, section, table_section, tiles
from forager.report.phrases import day_only, shown, shown_moment, span, visitor
from forager.store.protocol import AcceptedStory
from forager.store.store import Store
from forager.terms import ForagerId

STORIES, LIVES, DOTS, HOSTS, EXAMPLES, REASONS = 500, 60, 3000, 5, 2, 3
"""Limits (ours): latest stories listed, foragers and delays drawn, hosts and URLs listed per reason for skipping, and
reasons per kind of error."""
NOTHING = "No story was found."


@dataclass(frozen=True, slots=True)
class RunState:
    """The contents of a run directory that the report shows."""

    account: Account
    known: int
    versions: int
    latest: list[AcceptedStory]
    """The latest stories."""
    records: list[ForagerRecord]
    """All foragers that ever lived; empty if the run kept no fleet."""
    schedule: Schedule | None
    """The recrawl policy and the learned functions; None if the run kept none."""
    skipped: Skipped
    """Links that never entered the crawl, and refusals, as counted by the run."""


async def read_run(reader: Store) -> RunState:
    """Reads what the report needs."""
    counts = reader.counts()
    fleet, skipped = await reader.recall("fleet"), await reader.recall("skipped")
    agent = None if fleet is None else load_agent(fleet, ReinforcingSettings(), ForagerSettings())
    return RunState(
        account=await recall_account(reader),
        known=counts.known,
        versions=counts.versions,
        latest=[story async for story in reader.stories(max(0, counts.stories - DOTS))],
        records=[] if agent is None else [*agent.records.values()],
        schedule=await recall_schedule(reader),
        skipped=Skipped() if skipped is None else Skipped.load(skipped),
    )


def run_report(run: RunState, name: str) -> str:
    account = run.account
    parts = [
        _headline(run),
        _over_time(account, run.latest),
        _sites(account),
        _costs(account),
        _recrawl(account, run.schedule),
        _fleet(run.records, account),
        _errors(account),
        _left_out(account, run.skipped),
        _stories(run.latest[-STORIES:], account.stories),
    ]
    return page(f"Report of {shown(name)}", parts)


def _headline(run: RunState) -> str:
    account, total = run.account, run.account.total
    cost = total.requests_per_story
    topics = on, off, unsure = [*account.topic_facts().values()]
    drawn = [
        ("Stories", f"{account.stories:,}", ""),
        (
            "Median delay",
            span(total.delay(0.5)),
            f"nine in ten within {span(total.delay(0.9))}{day_only(total.delays.unknown)}",
        ),
        ("Requests", f"{total.requests:,}", f"{account.visits:,} visits"),
        ("Cost", "–" if cost is None else f"{cost:.2f}", "requests per story"),
        ("Pages", f"{account.pages:,}", f"{run.known:,} URLs known, {run.known - account.pages:,} not fetched"),
        ("Versions", f"{run.versions:,}", f"{total.wire_bytes / 1e6:.1f} MB received"),
        ("Foragers", f"{account.alive:,}", f"{account.born:,} born, {account.deleted:,} deleted"),
        *(
            [("On topic", f"{on:,}", f"{off:,} off topic, not told; of {unsure:,} it cannot tell")]
            if any(topics)
            else []
        ),
        ("Errors", f"{sum(total.error_counts.values()):,}", ""),
    ]
    if account.began is None or account.ended is None:
        return f"<p class=note>Nothing has happened yet.</p>{tiles(drawn)}"
    took = f"From {shown_moment(account.began)} to {shown_moment(account.ended)} UTC, {span(account.ended - account.began)}."
    return f"<p class=note>{took}</p>{tiles(drawn)}"


def _over_time(account: Account, latest: Sequence[AcceptedStory]) -> str:
    timeline, sites, nothing = account.timeline, sorted(account.sites), f"<p class=empty>{NOTHING}</p>"
    began, ended = timeline.start or 0.0, timeline.end
    colours = {name: place for place, name in enumerate(sites)}
    known = [(one, one.delay) for one in latest]
    points = [(one.fetched, delay, colours.get(one.site, len(sites))) for one, delay in known if delay is not None]
    legend = "".join(
        f'<li><svg viewBox="0 0 10 10"><circle class="c{place % svg.COLOURS}" cx="5" cy="5" r="4"/></svg>{escape(name)}</li>'
        for place, name in enumerate(sites[: svg.COLOURS])
    )
    delays = svg.dots(points, began, ended, "Delay of each story over time") + f"<ul class=legend>{legend}</ul>"
    stories = svg.bars(timeline.counts["stories"], began, ended, "Stories over time")
    return pair(
        section("Delay", "From publication to fetch, each story a dot.", delays if points else nothing),
        section("Stories over time", f"Each bar is {span(timeline.width)}.", stories if account.stories else nothing),
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
            f"{site.stories:,}",
            span(site.delay(0.5)),
            span(site.delay(0.9)),
            _tags(site.facts()["channels"].items()),
            f"{site.requests:,}",
            f"{site.requests / site.stories:.1f}" if site.stories else "–",
            f"{site.not_modified / site.requests:.0%}" if site.requests else "–",
            f"{site.wire_bytes / 1e6:.1f} MB",
        ]
        for name, site in sorted(account.sites.items(), key=lambda item: (-item[1].stories, item[0]))
    ]
    return section("Sites", "", html_table(heads, rows, text=(0, 4)))


def _costs(account: Account) -> str:
    heads = ["Who asked", "Visits", "Requests", "Changed", "Stories", "Per story"]
    total = account.total
    rows = [_side("Fleet", total.fleet), _side("Recrawl cycle", total.recrawl)]
    ended_as = f"<p>{_tags(total.outcomes.items())}</p>"
    costs = section("Costs", "How the visits ended:", ended_as + html_table(heads, rows, text=(0,)))
    timeline = account.timeline
    if timeline.start is None:
        return costs
    requests = svg.bars(timeline.counts["requests"], timeline.start, timeline.end, "Requests over time")
    return pair(costs, section("Requests over time", f"Each bar is {span(timeline.width)}.", requests))


def _recrawl(account: Account, schedule: Schedule | None) -> str:
    """How well the recrawl cycles chose their pages, over time."""
    timeline, facts = account.timeline, account.cycles.facts()
    if timeline.start is None or not account.cycles.visits:
        return _policy(schedule)
    counts, span_of_time = timeline.counts, (timeline.start, timeline.end)
    rate = svg.shares(counts["changes"], counts["looks"], *span_of_time, "ChangeRate over time")
    good = svg.shares(counts["ndcg"], counts["judged"], *span_of_time, "NDCG over time", "g")
    visits = f"Visits to pages seen before that found a change: {facts['change_rate']:.1%} in {facts['done']:,} cycles."
    order = "Were changed pages looked at first? 1 is the best order"
    mean = "." if facts["ndcg"] is None else f"; the mean is {facts['ndcg']:.3f}."
    return _policy(schedule) + pair(
        section("Recrawl: ChangeRate", visits, rate), section("Recrawl: NDCG", order + mean, good)
    )


def _policy(schedule: Schedule | None) -> str:
    """The recrawl policy, and the functions learned during the run."""
    if schedule is None:
        return ""
    rule = EXPECTED if schedule.setting == WORTH else schedule.formula or schedule.setting
    note = f"In force: <code>{escape(shown(rule, 400))}</code>, in cycles of {span(schedule.cycle)}."
    heads = ["Learned", "Function", "Measure", "New", "In use", "Then"]
    rows = [
        [
            shown_moment(one.at),
            f"<code>{escape(shown(one.formula, 400))}</code>",
            escape(one.fitness),
            f"{one.new:.3f}",
            f"{one.old:.3f}",
            one.verdict,
        ]
        for one in reversed(schedule.lessons)
    ]
    nothing = "<p class=empty>No function was learned in this run.</p>"
    return section("Recrawl", note, html_table(heads, rows, text=(0, 1, 2, 5)) if rows else nothing)


def _side(name: str, side: Side) -> list[str]:
    changed = f"{side.changed / side.visits:.0%}" if side.visits else "–"
    each = f"{side.requests / side.stories:.1f}" if side.stories else "–"
    return [name, f"{side.visits:,}", f"{side.requests:,}", changed, f"{side.stories:,}", each]


def _fleet(records: Sequence[ForagerRecord], account: Account) -> str:
    if not records:
        return section("Fleet", "", "<p class=empty>The run has kept no fleet.</p>")
    latest = _descent(records[-LIVES:])
    first, last = min(one.born for one in latest), max(one.deleted or one.born for one in latest)
    began = first if account.began is None else min(account.began, first)
    ended = last if account.ended is None else max(account.ended, last)
    drawn = svg.lives(
        [(one.id, one.parent, one.born, one.deleted) for one in latest], began, ended, "Lives of the foragers"
    )
    heads = ["Forager", "Kind", "Parent", "Score", "Stories", "Sent", "Downloads", "Born", "Deleted", "Parameters"]
    usual = records[0].genes  # nobody's child has those of the settings
    rows = [
        [
            f"№ {one.id}",
            one.kind.value,
            "–" if one.parent is None else f"№ {one.parent}",
            f"{one.score:.1f}",
            f"{one.relevant:,}",
            f"{one.sent:,}",
            f"{one.downloads:,}",
            shown_moment(one.born),
            shown_moment(one.deleted),
            _parameters(one.own(usual)),
        ]
        for one in sorted(latest, key=lambda one: -one.relevant)
    ]
    note = "A line is a life; it hangs on the parent's line where it was born, and a cross ends it."
    return section("Fleet", note, drawn + html_table(heads, rows, text=(0, 1, 9)))


def _descent(records: Sequence[ForagerRecord]) -> list[ForagerRecord]:
    """Children right below their parents."""
    known, children = {one.id for one in records}, defaultdict(list)
    for one in records:
        children[one.parent if one.parent in known else None].append(one)

    def line(parent: ForagerId | None) -> Iterator[ForagerRecord]:
        for one in children[parent]:
            yield one
            yield from line(one.id)

    return list(line(None))


def _parameters(own: Mapping[str, float]) -> str:
    """How a forager differs from the settings, folded up."""
    told = ", ".join(f"{key} {value:.3g}" for key, value in own.items())
    return f"<details><summary>{len(own)} of its own</summary>{told}</details>" if own else "as set"


def _errors(account: Account) -> str:
    rows, heads = _kinds(account.total.errors, account), ["Kind", "Count", "Reasons", "Examples"]
    return table_section("Errors", heads, rows, (0, 2, 3), empty="There were none.")


def _kinds(troubles: dict[str, CountsByName], account: Account) -> list[list[str]]:
    return [
        [
            escape(kind),
            f"{sum(reasons.values()):,}",
            "<br>".join(
                f"{escape(shown(reason))} ({count:,})"
                for reason, count in Counter(reasons).most_common(REASONS)
                if reason
            ),
            "<br>".join(_link(url, shown(url, 100)) for url in account.examples.get(kind, ())),
        ]
        for kind, reasons in sorted(troubles.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    ]


def _left_out(account: Account, skipped: Skipped) -> str:
    """URLs that were refused when their turn came, then links that never entered the crawl."""
    by_reason: dict[str, list[Skip]] = {}
    for skip in skipped:
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
    rows, heads = _kinds(account.total.refusals, account) + links, ["Reason", "Count", "Where", "Examples"]
    note = "What was not asked for, and why: URLs whose turn came, by visit; links that never entered, each time met."
    nothing = "Every link that was met is part of the crawl."
    return table_section("Left out", heads, rows, (0, 2, 3), note=note, empty=nothing)


def _stories(latest: Sequence[AcceptedStory], count: int) -> str:
    rows = [
        [
            shown_moment(one.published),
            span(one.delay),
            _link(one.url, shown(one.title) or one.url) + _copy(one) + _about(one),
            escape(one.site),
            escape(one.discovered_via.value),
            escape(one.published_source),
            visitor(one.forager),
        ]
        for one in reversed(latest)
    ]
    note = f"The latest {STORIES} of {count:,}." if count > STORIES else ""
    heads = ["Published", "Delay", "Story", "Site", "Channel", "Date from", "Found by"]
    return table_section("Stories", heads, rows, (2, 3, 4, 5, 6), note=note, empty=NOTHING)


def _about(story: AcceptedStory) -> str:
    """Authors, section and length of a story."""
    said = story.about
    words = f"{said.word_count:,} words" if said.word_count else ""
    facts = [*said.authors, said.section, words, said.language, "paywalled" if said.paywalled else ""]
    line = " · ".join(shown(one) for one in facts if one)
    return f'<div class=note title="{escape(shown(said.lead, 300))}">{escape(line)}</div>' if line else ""


def _copy(story: AcceptedStory) -> str:
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
