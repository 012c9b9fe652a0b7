"""The settings of the engine: how a crawl runs, and how the demo does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from forager.errors import InputError
from forager.plugins import POLICIES, find_plugin
from forager.recrawl.recrawl_settings import NAMES, WORTH
from forager.units import Count, Duration, Share

OrderingKind = Literal["td", "rw-eg", "mixed"]


def _policy(text: str) -> str:
    """A policy as it may be written; whether a file is there is looked up when the crawl begins."""
    if text not in (WORTH, *NAMES) and not text.endswith(".json"):
        from forager.recrawl.formula import parse

        try:
            parse(text)
        except InputError as problem:
            if find_plugin(POLICIES, text) is not None:
                return text
            raise ValueError(
                f"expected {WORTH}, one of {' '.join(NAMES)}, a formula such as t * X ({problem}), or a .json file"
            ) from None
    return text


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """How a crawl runs."""

    workers: Count = 32
    """Pages that the sweep (kind BFS) asks for at once; politeness still lets each host be asked one by one. Ours."""
    recrawl_share: Share = 0.8
    """Share of each host's requests for the recrawl cycle, the rest is the fleet's; what one leaves goes to the other."""
    cycle: Duration = 900.0
    """How often the recrawl cycle ranks all known pages anew. Ours."""
    policy: Annotated[str, AfterValidator(_policy)] = WORTH
    """What the recrawl cycle ranks pages by. `worth`: the new documents expected of a visit (ours). Or a policy: rand age
    cg nad sad aad gad hacs last-obs brute azar azar-rate breadth t2 adaptive, a formula such as "t * X", a file written
    by `forager learn`, or what a package offers as `forager.policies`; it orders the pages that have been seen, all of
    its share is spent, and `least_worth` holds for never-visited pages only."""
    least_worth: Share = 0.2
    """A request that should bring fewer new documents than this is not made. The later documents are found, the lower the
    bound becomes; where they are found an hour and a half old on average (.06 of 24 h), it is 0. Ours."""
    explore: Share = 0.05
    """Share of the downloads, and of the pauses when nothing is worth a download, that goes to pages never seen, or else to
    pages below `least_worth`, so that nothing is written off unseen. Ours."""
    ordering: OrderingKind = "td"
    """Which never-visited pages come first where their worth is alike: those of the largest long-term profit (`td`, the
    paper's; kinds that learn none take any), those that the link graph ranks highest by RW-EG with what pages earned as
    impact (`rw-eg`), or by the mean of both (`mixed`). Not asked where `forager.order` is `profit`. Ours."""
    idle: Duration = 30.0
    """How long a forager rests when all it can reach was seen a moment ago. Ours."""
    free_steps: Count = 5
    """Steps in a row that cost nothing after which it rests. Ours."""
    save_every: Duration = 60.0
    """How often the fleet is saved; what was fetched is saved at once."""


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The demo: the Newsroom, served on loopback and crawled for real, in accelerated time."""

    speed: Annotated[float, Field(gt=0, le=100_000)] = 1200.0
    """Seconds of news per second of yours: twenty minutes a second."""
    time_limit: Duration = 60.0
    """How long the demo runs, in your time."""
    download_delay: Duration = 60.0
    """Time between two requests to one host, in news time."""
    morning: Duration = 8 * 3600.0
    """The time of day at which the demo begins, in news time."""
    warm_up: Share = 0.25
    """News of this first part of the demo does not count in coverage and delay: the crawl must find the pages first."""
    folder: Path | None = None
    """The run directory of the demo; none: a new one under `runs/`."""
