"""Settings of the engine: how a crawl, its dashboard and the demo run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from forager.core.parameters import Aim
from forager.errors import InputError
from forager.plugins import POLICIES, find_plugin
from forager.recrawl.recrawl_settings import LEARNED, NAMES, WORTH
from forager.units import Count, Duration, Share

OrderingKind = Literal["td", "rw-eg", "mixed"]


def _policy(text: str) -> str:
    """Checks how a policy is written; whether a file exists is checked when the crawl begins."""
    if text not in (LEARNED, WORTH, *NAMES) and not text.endswith(".json"):
        from forager.recrawl.formula import parse

        try:
            parse(text)
        except InputError as problem:
            if find_plugin(POLICIES, text) is not None:
                return text
            raise ValueError(
                f"expected {LEARNED}, {WORTH}, one of {' '.join(NAMES)}, a formula such as t * X ({problem}), or a .json file"
            ) from None
    return text


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """How a crawl runs."""

    aim: Aim = "balanced"
    """What known pages are visited again for. `balanced` finds documents soon, watches pages that change seldom, and
    makes no request that promises little. The other aims use every request that is allowed: `late` finds documents soon
    (a missed one counts as a day late), which favours pages that change all the time; `coverage` finds as many as
    possible, however late; `lasting` finds those that stay; `freshness` keeps copies up to date. An aim sets `breadth`,
    `text_breadth`, `policy` and `least_worth`, unless you set them. Ours.
    """
    workers: Count = 32
    """Number of pages that the sweep (kind BFS) requests at once; politeness still limits each host. Ours."""
    recrawl_share: Share = 0.95
    """Share of each host's requests for the recrawl cycle; the fleet has the rest. Either side may use what the other
    leaves.
    """
    cycle: Duration = 900.0
    """How often the recrawl cycle ranks all known pages. Ours."""
    policy: Annotated[str, AfterValidator(_policy)] = LEARNED
    """How the recrawl cycle orders pages. `learned` (for the aims `balanced` and `late`): lists and texts each by a
    learned function, at first those of `forager/functions`, but only pages that are worth a request. `worth`: by a
    hand-made rule, the new documents expected of a visit (ours). Anything else orders the visited pages and spends the
    whole share (`least_worth` then applies to unvisited pages only): one of rand age cg nad sad aad gad hacs last-obs
    brute azar azar-rate breadth t2 adaptive, a formula such as "t * X", a file written by `forager learn`, or a plugin
    of the group `forager.policies`.
    """
    least_worth: Share = 0.2
    """A request is made only if it is expected to find at least this many new documents. Raise it to save requests,
    lower it to find stories sooner. If documents are found late, it falls by itself; from a mean age of an hour and a
    half on it is 0. Ours.
    """
    explore: Share = 0.05
    """Share of the downloads, and of the pauses when nothing is worth a download, for unvisited pages, or else for
    pages below `least_worth`, so that no page is given up unseen. Ours.
    """
    corrections: Share = 0.1
    """Maximum share of the requests to each host for second visits of stories younger than six hours: first those of
    which a feed or sitemap now says something else, then those visited longest ago. 0: no second visits. Ours.
    """
    ordering: OrderingKind = "td"
    """Which unvisited pages come first if their worth is equal: those with most long-term profit (`td`, the paper),
    those ranked highest in the link graph by RW-EG, where the impact of a page is what it earned (`rw-eg`), or by the
    mean of both (`mixed`). Not used if `forager.order` is `profit`. Ours.
    """
    idle: Duration = 30.0
    """How long a forager rests when everything it can reach was visited a moment ago. Ours."""
    free_steps: Count = 5
    """Number of consecutive steps without a download after which a forager rests. Ours."""
    save_every: Duration = 60.0
    """How often the fleet is saved. Fetched pages are saved at once, whatever this is."""


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The demo: the Newsroom, served on loopback and crawled in accelerated time."""

    speed: Annotated[float, Field(gt=0, le=100_000)] = 1200.0
    """How much faster news time passes than real time: 1200 is twenty minutes a second."""
    time_limit: Duration = 60.0
    """How long the demo runs, in real time."""
    download_delay: Duration = 60.0
    """Time between two requests to one host, in news time."""
    morning: Duration = 8 * 3600.0
    """The time of day at which the demo begins, in news time."""
    warm_up: Share = 0.25
    """Share of the demo, at its start, whose stories do not count in coverage and delay, because the crawl must find
    the pages first.
    """
    folder: Path | None = None
    """The run directory of the demo; none: a new one under `runs/`."""


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """The live view of a crawl in a browser."""

    enabled: bool = True
    """Whether to serve it while a crawl runs."""
    host: str = "127.0.0.1"
    """The address to listen on; any address but loopback needs a token. Ours."""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    """The port to listen on; 0 takes a free one and prints it. Ours."""
    token: str = ""
    """Secret that visitors must give, at least 16 characters; empty: none is needed on loopback. Ours."""
