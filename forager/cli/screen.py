"""One screenful of a crawl on a terminal: foragers, sites and the latest stories. Its own file: rich is slow to import."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from forager.clock import Clock
from forager.engine.crawl import Crawl
from forager.events import Told
from forager.report.account import Account
from forager.report.phrases import shown, shown_moment, span

TALLEST_FLEET = 8


def picture(crawl: Crawl, account: Account, latest: Sequence[Told], clock: Clock, left: float | None) -> Group:
    """The view for one screen."""
    return Group(_headline(crawl, account, clock, left), _sites(account), _fleet(crawl), _stories(latest))


def _headline(crawl: Crawl, account: Account, clock: Clock, left: float | None) -> Text:
    counts = crawl.store.counts()
    ending = "" if left is None else f"   {left:.0f} s left"
    return Text.assemble(
        (f"{shown_moment(clock.now())[:16]} UTC", "bold"),
        f"   {account.stories} stories   {account.requests} requests   {account.not_modified} unchanged   "
        f"{counts.known} known URLs{ending}   Ctrl-C stops",
    )


def _sites(account: Account) -> Table:
    table = _table("site", "stories", "median delay", "p90", "requests", "304", "errors", "found first by")
    for name, one in sorted(account.sites.items()):
        facts = one.facts()
        table.add_row(
            name,
            str(facts["stories"]),
            span(facts["delay_median_s"]),
            span(facts["delay_p90_s"]),
            str(facts["requests"]),
            str(facts["not_modified"]),
            str(sum(facts["errors"].values())),
            ", ".join(f"{channel} {count}" for channel, count in [*facts["channels"].items()][:3]),
        )
    return table


def _fleet(crawl: Crawl) -> Table:
    table = _table("forager", "kind", "score", "stories", "downloads", "parent")
    alive = [crawl.agent.records[id] for id in crawl.agent.foragers]
    for record in sorted(alive, key=lambda one: -one.score)[:TALLEST_FLEET]:
        parent = "" if record.parent is None else str(record.parent)
        row = (
            str(record.id),
            record.kind.value,
            f"{record.score:.0f}",
            str(record.relevant),
            str(record.downloads),
            parent,
        )
        table.add_row(*row)
    if len(alive) > TALLEST_FLEET:
        table.add_row("…", f"{len(alive)} alive")
    return table


def _stories(latest: Sequence[Told]) -> Table:
    table = _table("published", "delay", "site", "found by", "latest stories")
    for told in reversed(latest):
        table.add_row(
            shown_moment(told.published)[:16],
            span(told.delay),
            told.site,
            told.via.value,
            Text(shown(told.title, 70)),
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
