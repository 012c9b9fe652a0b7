"""Replays a fleet on a recording in simulated time, and searches better settings on it."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from forager.clock import WallClock
from forager.errors import InputError, SettingsError
from forager.events import Event
from forager.importers.runs import tape_of_run
from forager.library.session import check_seeds
from forager.settings import Settings, load_settings, load_values
from forager.simulation.replay import Replay, ReplayPlan, default_seeds
from forager.simulation.replay_account import ReplayFigures
from forager.tape import tape as columns
from forager.tape.tape import CONTENTS, Tape
from forager.terms import Url, UrlId

if TYPE_CHECKING:
    from forager.tuning.search import TuningOutcome


def replay(
    tape: str | PathLike[str],
    *,
    seeds: Sequence[str] = (),
    budget: float | None = None,
    warm_up: float = 0.0,
    time_limit: float | None = None,
    settings: Mapping[str, Any] | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> ReplayFigures:
    """Replays a fleet on a recording; returns what it would have found, how soon, and at what cost.

        figures = forager.replay("tape", budget=60, settings={"forager.kind": "WL"})
        print(figures.delay.median, figures.delay.coverage, figures.efficiency.requests_per_story)

    `tape` is a tape or the run directory of a crawl, `budget` is in downloads per simulated hour, `warm_up` in seconds
    whose stories do not count, `time_limit` in seconds of the recording. `on_event` receives every event. The call blocks
    until the replay ends: within an event loop, use `asyncio.to_thread`.
    """
    chosen = load_values(settings or {})
    given = check_seeds((f"seeds[{place}]", text) for place, text in enumerate(seeds))
    with tape_folder(Path(tape)) as folder:
        world = columns.load_tape(folder)
        played = make_replay(world, chosen, seeds=given, budget=budget, time_limit=time_limit, tell=on_event)
        played.run()
        return played.figures(warm_up=warm_up)


def tune(
    tape: str | PathLike[str],
    *,
    goals: Sequence[str] = (),
    trials: int = 150,
    time_limit: float | None = None,
    budget: float | None = None,
    held_out: float = 0.5,
    seeds: int = 5,
    repeats: int = 2,
    processes: int = 0,
    folder: str | PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> "TuningOutcome | None":
    """Searches better settings on the first part of a recording, and judges them on the rest, which no trial has seen.

        outcome = forager.tune("tape", goals=["late"], trials=150, folder="late.tuning")
        print(outcome and outcome.changes)     # empty if the held-out part does not confirm them

    `goals` are the figures to improve (default `late`). `folder`, if given, keeps every finished trial, and the same call
    continues from there. The call uses `processes` (0: one per core) and blocks for minutes to hours: within an event
    loop, use `asyncio.to_thread`, and in a script, call it below `if __name__ == "__main__":`. It returns None if the
    time limit ended before the held-out part was judged.
    """
    from forager.tuning.goals import goals_named
    from forager.tuning.search import Tuning, Wishes
    from forager.tuning.space import Space

    if not 0.0 < held_out < 1.0:
        raise InputError(f"held_out is {held_out}; give a share of the recording between 0 and 1")
    space, clock = Space(load_values(settings or {})), WallClock()
    ends = float("inf") if time_limit is None else clock.now() + time_limit
    with ExitStack() as stack:
        world = columns.load_tape(stack.enter_context(tape_folder(Path(tape))))
        place = stack.enter_context(TemporaryDirectory(prefix="forager-tuning-")) if folder is None else folder
        per_hour = _per_hour(world, budget)
        cores = processes or os.cpu_count() or 1
        wishes = Wishes(goals_named(goals), per_hour, trials, held_out, seeds, repeats, cores)
        tuning = stack.enter_context(
            Tuning(world, Path(place), space, wishes, left=lambda: max(0.0, ends - clock.now()))
        )
        tuning.search(tell=lambda trial: None)
        return tuning.outcome()


def make_replay(
    tape: Tape,
    settings: Settings,
    *,
    seeds: Sequence[Url] = (),
    budget: float | None = None,
    time_limit: float | None = None,
    tell: Callable[[Event], None] | None = None,
) -> Replay:
    """Prepares a replay; `run` starts it."""
    per_hour = _per_hour(tape, budget)
    end = None if time_limit is None else min(tape.start + time_limit, tape.end)
    return Replay(
        tape,
        ReplayPlan(per_hour, seeds_of(tape, seeds), end=end),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        recrawl=settings.recrawl,
        seed=settings.seed,
        tell=tell,
    )


@contextmanager
def tape_folder(path: Path) -> Iterator[Path]:
    """Yields the folder of a tape; compiles a run directory into a temporary tape, which it deletes afterwards."""
    if (path / CONTENTS).is_file():
        yield path
    elif (path / "crawl.db").is_file():
        with TemporaryDirectory(prefix="forager-tape-") as folder:
            columns.save(tape_of(path), Path(folder))
            yield Path(folder)
    else:
        known = f"neither a tape (no {CONTENTS}) nor a run directory (no crawl.db)"
        raise InputError(f"{path}: {known}; `forager import` makes a tape of other recordings")


def tape_of(run_dir: Path, identity: str = "url") -> Tape:
    """Compiles a run directory into a tape; its own settings say how texts become states."""
    own = run_dir / "config.yaml"
    try:
        states = load_settings(own, (), {}).settings.forager.states if own.is_file() else None
    except SettingsError:  # written by another release: use the default settings
        states = None
    return asyncio.run(tape_of_run(run_dir, identity=identity, states=states))


def usual_budget(tape: Tape) -> float:
    """A twentieth of the pages per hour, at least 30 downloads: scarce enough to show differences between fleets."""
    return max(30.0, round(tape.pages / 20))


def _per_hour(tape: Tape, budget: float | None) -> float:
    """The budget, or the usual one; below 0 a replay would never end."""
    if budget is None:
        return usual_budget(tape)
    if not 0 < budget < float("inf"):
        raise InputError(f"budget is {budget:g}; give a number of downloads per hour above 0")
    return budget


def seeds_of(tape: Tape, given: Sequence[Url]) -> tuple[UrlId, ...]:
    """Numbers of the given URLs on the tape; without any, the tape's default seeds."""
    if not given:
        return default_seeds(tape)
    wanted = set(given)
    numbers = {url: UrlId(id) for id, url in enumerate(tape.urls()) if url in wanted}
    missing = [url for url in given if url not in numbers]
    if missing:
        raise InputError(f"{missing[0]}: not on the tape; without seeds a replay starts from its largest pages")
    return tuple(numbers[url] for url in dict.fromkeys(given))
