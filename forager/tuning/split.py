"""Where trials run: a recording in two parts, the first to search on, the rest to judge by.

Each part is cut out as a tape of its own. A trial opens the training tape alone, so it cannot have seen anything of the
time after it; and the fleet that is judged starts afresh.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forager.errors import InputError
from forager.settings import Settings
from forager.simulation.jobs import Job, Player
from forager.simulation.replay_account import ReplayFigures
from forager.simulation.seeds import default_seeds
from forager.tape.cut import cut_tape
from forager.tape.tape import Tape, save
from forager.tape.truth import documents
from forager.terms import UrlId

LEAST_STORIES = 20
"""Stories that each part must hold after its warm-up: with fewer, luck decides (ours)."""
WARM_UP = 12 * 3600.0
"""News of this first time of each part does not count, or of its first quarter if that is less: pages must be found first."""
SLICES = 12
"""A trial is looked at after every simulated day, but no more often than this (ours)."""
DAY = 86_400.0
TRAINING, HELD_OUT = "training.tape", "held-out.tape"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the recording with the conditions of every replay on it."""

    tape: Path
    seeds: tuple[UrlId, ...]
    budget: float
    """Downloads per hour."""
    warm_up: float
    slices: int
    """Equal parts after which a replay is looked at."""
    tape_scale: float
    """The tanh scale of the tape's states."""

    def job(self, settings: Settings, luck: int) -> Job:
        """A replay of this part."""
        kind = settings.forager.kind
        return Job(self.tape, kind, self.budget, luck, self.seeds, settings, self.warm_up, self.tape_scale)

    def watched(self, settings: Settings, luck: int, player: Player) -> Iterator[ReplayFigures]:
        """The figures of a replay after each of its slices; those after the last are of all of it."""
        replay = player.replay(self.job(settings, luck))
        for end in np.linspace(replay.clock.time, replay.end, self.slices + 1)[1:].tolist():
            replay.run(end)
            yield replay.figures(warm_up=self.warm_up)


@dataclass(frozen=True, slots=True)
class Split:
    """Both parts."""

    training: Part
    held_out: Part


def laid_out(
    tape: Tape,
    folder: Path,
    base: Settings,
    *,
    held_out: float,
    budget: float,
    seeds: Sequence[UrlId] = (),
) -> Split:
    """Cut the tape in two and keep the parts in the folder; `held_out` is the share of time that is not trained on.

    Both start from the same pages; without `seeds`, those that the first part offers.
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
        parts.append(Part(folder / name, start, budget, warm_up, slices, scale))
    return Split(*parts)


def _stories(part: Tape, base: Settings, warm_up: float) -> int:
    judged = base.reinforcing.relevancy
    identity = "" if judged.identity == "story" else judged.identity
    born = documents(part, identity=identity, max_age=base.forager.max_age, hubs=base.forager.hubs).born
    return int(np.count_nonzero(born > part.start + warm_up))
