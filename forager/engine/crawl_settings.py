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
    """What known pages are looked at again for. `balanced`: to find documents soon without losing those on pages that
    change seldom, and without requests that promise little. The others spend every request that is allowed, `late`: to
    find documents soon, a missed one counting as a day late, which favours what changes all the time; `coverage`: as
    many as possible, however late; `lasting`: those that stay; `freshness`: to keep copies up to date. It sets `breadth`,
    `text_breadth`, `policy` and `least_worth`, unless they are given. Ours."""
    workers: Count = 32
    """Number of pages that the sweep (kind BFS) requests at once; politeness still limits each host. Ours."""
    recrawl_share: Share = 0.9
    """Share of each host's requests for the recrawl cycle; the rest is for the fleet. Either may use what the other
    leaves."""
    cycle: Duration = 900.0
    """How often the recrawl cycle ranks all known pages again. Ours."""
    policy: Annotated[str, AfterValidator(_policy)] = LEARNED
    """How the recrawl cycle ranks pages. `learned`: of the pages that promise documents enough, lists and texts are each
    ordered by a learned function, at the start that of `forager/functions`, or, where none is in force there, by hand; for
    the aims `balanced` and `late` only. `worth`: by the hand-made rule, the new documents expected of a visit (ours).
    Or a policy: rand
    age cg nad sad aad gad hacs last-obs brute azar azar-rate breadth t2 adaptive, a formula such as "t * X", a file
    written by `forager learn`, or a plugin of the group `forager.policies`. Such a policy orders the pages visited before
    and spends all of its share; `least_worth` then applies to never-visited pages only."""
    least_worth: Share = 0.2
    """Minimum number of new documents expected of a request; others are not made. The later documents are found, the
    lower this threshold becomes; if they are an hour and a half old on average (.06 of 24 h), it is 0. Ours."""
    explore: Share = 0.05
    """Share of the downloads, and of the pauses when nothing is worth a download, that goes to pages never seen, or else to
    pages below `least_worth`, so that nothing is written off unseen. Ours."""
    corrections: Share = 0.1
    """Share of the requests to each host that goes to second looks at stories younger than six hours, at most: first where a
    feed or sitemap says something else of a story than before, then where it is long ago. Ours."""
    ordering: OrderingKind = "td"
    """Which never-visited pages come first if their worth is equal: those with the largest long-term profit (`td`, the
    paper's; any for kinds that learn none), those that the link graph ranks highest by RW-EG with what pages earned as
    impact (`rw-eg`), or by the mean of both (`mixed`). Not used if `forager.order` is `profit`. Ours."""
    idle: Duration = 30.0
    """How long a forager rests when everything it can reach was visited a moment ago. Ours."""
    free_steps: Count = 5
    """Number of consecutive steps without a download after which it rests. Ours."""
    save_every: Duration = 60.0
    """How often the fleet is saved; fetched pages are saved at once."""


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The demo: the Newsroom, served on loopback and crawled in accelerated time."""

    speed: Annotated[float, Field(gt=0, le=100_000)] = 1200.0
    """Seconds of news time per second of real time: twenty minutes a second."""
    time_limit: Duration = 60.0
    """How long the demo runs, in real time."""
    download_delay: Duration = 60.0
    """Time between two requests to one host, in news time."""
    morning: Duration = 8 * 3600.0
    """The time of day at which the demo begins, in news time."""
    warm_up: Share = 0.25
    """Share of the demo at its start whose stories do not count in coverage and delay, because the crawl must find the
    pages first."""
    folder: Path | None = None
    """The run directory of the demo; none: a new one under `runs/`."""


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """The live view of a crawl in a browser."""

    enabled: bool = True
    """Serve it while a crawl runs."""
    host: str = "127.0.0.1"
    """The address to listen on; any but loopback needs a token. Ours."""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    """The port to listen on; 0 takes a free one and prints it. Ours."""
    token: str = ""
    """Secret token that visitors must give, at least 16 characters; empty: none is required on loopback. Ours."""
