"""Visits of the recrawl side in a row, by the kernel, are the visits one by one: the same figures, the same knowledge."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.chance import stream
from forager.foragers.settings import ForagerKind
from forager.imports.tables import import_tables
from forager.recrawl.shortlist import LEAST
from forager.settings import load
from forager.simulation.jobs import Job, replay_of
from forager.simulation.luck import Luck
from forager.simulation.run import Replay
from forager.simulation.seeds import default_seeds
from forager.world.tape.columns import Tape
from tests.bench.replay_speed import site
from tests.simulation.recorded_like import HubWorld, write_hubs
from tests.simulation.small_tape import DAY, paper


def run(tape: Tape, budget: float, seed: int, *more: str, patrol: bool, days: float) -> Replay:
    settings = load(Path("/dev/null"), more).settings
    replay = replay_of(tape, Job(Path("none"), ForagerKind.WL, budget, seed, default_seeds(tape)[:4], settings))
    assert replay.patrol is not None
    if not patrol:
        replay.patrol = None
    replay.end = min(tape.end, tape.start + days * DAY)
    replay.run()
    return replay


def same(one: Replay, other: Replay) -> None:
    assert repr(one.figures()) == repr(other.figures())  # nan equals nan
    assert repr(one.account.samples) == repr(other.account.samples)
    assert one.clock.time == other.clock.time
    assert repr(one.thrift) == repr(other.thrift)
    assert (one.shared.pace.hits, one.shared.pace.age) == (other.shared.pace.hits, other.shared.pace.age)
    assert one.shared.visits.save() == other.shared.visits.save()
    assert one.shared.states.rows.tobytes() == other.shared.states.rows.tobytes()
    assert one.world.held.tobytes() == other.world.held.tobytes()
    assert one.scheduler.done == other.scheduler.done
    theirs = other.scheduler.watch.history.columns()
    for name, column in one.scheduler.watch.history.columns().items():
        assert name == "size" or np.array_equal(column, theirs[name]), name
    assert [f.weblog.entries for f in one.agent.foragers.values()] == [
        f.weblog.entries for f in other.agent.foragers.values()
    ]


@pytest.mark.parametrize(
    ("budget", "seed", "more"),
    [
        (12.0, 1, []),
        (60.0, 2, []),
        (600.0, 3, []),
        (60.0, 4, ["crawl.least_worth=0"]),
        (60.0, 5, ["crawl.recrawl_share=1", "crawl.explore=0.3"]),
        (60.0, 6, ["visits.revisit_after=0"]),
        (60.0, 7, ["forager.hubs=true", "forager.identity=version"]),
    ],
)
def test_the_kernel_makes_the_visits_that_are_made_one_by_one(budget: float, seed: int, more: list[str]) -> None:
    for tape, days in ((paper(), 1.0), (site(4000), 0.7)):
        quick, slow = (run(tape, budget, seed, *more, patrol=patrol, days=days) for patrol in (True, False))
        same(quick, slow)
        assert quick.world.downloads > 20


def test_also_where_all_pages_are_ranked_only_now_and_then() -> None:
    tape = site(60_000)
    quick, slow = (run(tape, 300.0, 1, "crawl.least_worth=0", patrol=patrol, days=1.2) for patrol in (True, False))
    same(quick, slow)
    assert quick.scheduler.choosing.known > 2 * LEAST


def test_also_where_links_wait_for_their_pages() -> None:
    """Articles of this site link others that appear later."""
    tape = replace(site(4000), waits=True)
    quick, slow = (run(tape, 60.0, 1, patrol=patrol, days=2.0) for patrol in (True, False))
    same(quick, slow)
    assert quick.world.unrecorded == 0 < run(site(4000), 60.0, 1, patrol=True, days=2.0).world.unrecorded


@pytest.mark.parametrize("articles", [False, True])
def test_also_where_documents_are_read_off_lists(tmp_path: Path, articles: bool) -> None:
    write_hubs(tmp_path, HubWorld(papers=2, hubs=5), articles=articles)
    tape = import_tables(tmp_path, origin="hubs", identity="url" if articles else "link").tape
    quick, slow = (run(tape, 30.0, 1, patrol=patrol, days=4.0) for patrol in (True, False))
    same(quick, slow)
    assert sum(quick.account.accepted) > 20


def test_luck_drawn_in_blocks_is_the_luck_drawn_one_by_one() -> None:
    luck, rng = Luck(stream(3, "any"), most=4), stream(3, "any")
    given = [luck.next() for _ in range(3)]
    given += luck.ahead[:1].tolist()
    luck.used(1)
    given += [luck.next() for _ in range(6)]
    assert given == [rng.random() for _ in range(10)]
