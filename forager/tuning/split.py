"""Splits a recording in two: the first part to search on, the rest to judge by.

Each part becomes a tape of its own. A trial opens only the training tape, so it cannot see anything later; the fleet
that is judged starts without knowledge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forager.errors import InputError
from forager.settings import Settings
from forager.simulation.jobs import Job, Player
from forager.simulation.replay import default_seeds
from forager.simulation.replay_account import ReplayFigures
from forager.tape.cut import cut_tape
from forager.tape.tape import Tape, save
from forager.tape.tape_world import documents
from forager.terms import UrlId

LEAST_STORIES = 20
"""Stories that each part must have after its warm-up; with fewer, chance decides (ours)."""
WARM_UP = 12 * 3600.0
"""Seconds at the start of each part whose stories do not count, at most a quarter: the fleet must first find pages."""
SLICES = 12
"""A trial is checked after every simulated day, but at most this many times (ours)."""
DAY = 86_400.0
TRAINING, HELD_OUT = "training.tape", "held-out.tape"


@dataclass(frozen=True, slots=True)
class TapePart:
    """One part of the recording, and the conditions of every replay on it."""

    tape: Path
    seeds: tuple[UrlId, ...]
    budget: float
    """Downloads per hour."""
    warm_up: float
    slices: int
    """Number of equal slices after which a replay is checked."""
    tape_scale: float
    """Scale of the tanh of the tape's states."""

    def job(self, settings: Settings, luck: int) -> Job:
        """A replay of this part."""
        kind = settings.forager.kind
        return Job(self.tape, kind, self.budget, luck, self.seeds, settings, self.warm_up, self.tape_scale)

    def watched(self, settings: Settings, luck: int, player: Player) -> Iterator[ReplayFigures]:
        """Figures of a replay after each slice; the last are those of the whole replay."""
        replay = player.replay(self.job(settings, luck))
        for end in np.linspace(replay.clock.time, replay.end, self.slices + 1)[1:].tolist():
            replay.run(end)
            yield replay.figures(warm_up=self.warm_up)


@dataclass(frozen=True, slots=True)
class Split:
    training: TapePart
    held_out: TapePart


def laid_out(
    tape: Tape,
    folder: Path,
    base: Settings,
    *,
    held_out: float,
    budget: float,
    seeds: Sequence[UrlId] = (),
) -> Split:
    """Cuts the tape in two and saves the parts in the folder; `held_out` is the share of time not used for training.

    Both parts start from the same pages: `seeds`, or the default seeds of the first part.
    """
    split = tape.end - held_out * (tape.end - tape.start)
    start = tuple(seeds) or default_seeds(cut_tape(tape, tape.start, split))
    parts = []
    for name, part in ((TRAINING, cut_tape(tape, tape.start, split)), (HELD_OUT, cut_tape(tape, split, tape.end))):
        warm_up = min(WARM_UP, (part.end - part.start) / 4)
        stories = _stories(part, base, warm_up)
        if stories < LEAST_STORIES:
            which = "first" if name == TRAINING else "held-out"
            raise InputError(
                f"{tape.origin}: too short to tune on: its {which} part has {stories} new stories after the warm-up, "
                f"at least {LEAST_STORIES} are needed"
            )
        save(part, folder / name)
        slices = max(2, min(SLICES, round((part.end - part.start) / DAY)))
        scale = base.forager.states.scale
        parts.append(TapePart(folder / name, start, budget, warm_up, slices, scale))
    return Split(*parts)


def _stories(part: Tape, base: Settings, warm_up: float) -> int:
    judged = base.reinforcing.relevancy
    identity = "" if judged.identity == "story" else judged.identity
    born = documents(part, identity=identity, max_age=base.forager.max_age, hubs=base.forager.hubs).born
    return int(np.count_nonzero(born > part.start + warm_up))
