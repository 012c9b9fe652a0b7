"""A split without replays: figures by formula, so that a search takes no time and its best is known."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forager.measures import Delay, Efficiency
from forager.settings import Settings
from forager.simulation.jobs import Job, Played, Player
from forager.simulation.replay_account import ReplayFigures
from forager.tuning.goals import GOALS, Goal
from forager.tuning.held_out import Replays
from forager.tuning.space import Range, Space
from forager.tuning.study import Orders, TapePart

HOUR = 3600.0
SPACE = Space(
    Settings(),
    {
        "crawl.least_worth": Range(0.0, 0.9),
        "crawl.explore": Range(0.0, 0.3),
        "forager.max_step": Range(2, 200, log=True, whole=True),
    },
)


def figures(late: float = 1.0, requests: float = 4.0, coverage: float = 1.0) -> ReplayFigures:
    """Figures with these headlines: hours, downloads per story, share."""
    efficiency = Efficiency(downloaded=round(1000 * requests), sent=1000, relevant=1000, found_urls=10)
    delay = Delay(100, 100, 60.0, 120.0, coverage, coverage, late * HOUR)
    return ReplayFigures(efficiency, delay, 0.5, HOUR, 0.0, 0.5, 0.1, 0.1)


def late(settings: Settings) -> float:
    """1.18 hours as it is, 1 at best: where `least_worth` is .5; the other settings do not matter."""
    return 1.0 + 2.0 * (settings.crawl.least_worth - 0.5) ** 2


@dataclass(frozen=True)
class FakePart:
    """A part of which every slice shows what the formula says."""

    formula: Callable[[Settings], ReplayFigures]
    slices: int = 3

    def watched(self, settings: Settings, luck: int, player: Player) -> Iterator[ReplayFigures]:
        return iter([self.formula(settings)] * self.slices)

    def job(self, settings: Settings, luck: int) -> Job:
        return Job(Path("fake"), settings.forager.kind, 10.0, luck, (), settings)


def by_lateness(settings: Settings) -> ReplayFigures:
    return figures(late(settings))


def orders(
    folder: Path,
    formula: Callable[[Settings], ReplayFigures] = by_lateness,
    goals: Sequence[Goal] = (GOALS["late"],),
    space: Space = SPACE,
) -> Orders:
    """A search on the fake split."""
    part: TapePart = FakePart(formula)  # type: ignore[assignment]
    return Orders(folder, (part,), (1,), space, tuple(goals), 1.0, 1)


def replays(formula: Callable[[Settings], ReplayFigures], limit: float = math.inf) -> Replays:
    """What replays of these jobs would bring, if there is time for so many of them."""
    asked = itertools.count()

    def play(phase: str, jobs: Sequence[Job]) -> list[Played | None]:
        return [Played(job, formula(job.settings), (), 2, 0) if next(asked) < limit else None for job in jobs]

    return play
