"""A replay by kernels is the replay whose downloads are made one by one: the same figures, the same knowledge."""

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
from forager.world.tape.rewire import rewired
from tests.bench.replay_speed import site
from tests.simulation.recorded_like import HubWorld, write_hubs
from tests.simulation.small_tape import DAY, paper


def run(
    tape: Tape, budget: float, seed: int, *more: str, patrol: bool, days: float, kind: ForagerKind = ForagerKind.WL
) -> Replay:
    settings = load(Path("/dev/null"), more).settings
    replay = replay_of(tape, Job(Path("none"), kind, budget, seed, default_seeds(tape)[:4], settings))
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
    pages = one.world.tape.pages
    (table, means, *_), (its_table, its_means, *_) = one.shared.visits.mind(), other.shared.visits.mind()
    assert table[:pages].tobytes() == its_table[:pages].tobytes() and means.tobytes() == its_means.tobytes()
    assert one.shared.visits.hubs.tolist() == other.shared.visits.hubs.tolist()
    assert one.shared.visits.met_after(0).tolist() == other.shared.visits.met_after(0).tolist()
    assert one.shared.states.rows[:pages].tobytes() == other.shared.states.rows[:pages].tobytes()
    assert one.world.held.tobytes() == other.world.held.tobytes()
    assert one.account.found.tobytes() == other.account.found.tobytes()
    assert one.agent.relevancy.accepted == other.agent.relevancy.accepted
    assert one.agent.records == other.agent.records
    assert one.scheduler.done == other.scheduler.done
    its = other.scheduler.history.columns()
    for name, column in one.scheduler.history.columns().items():
        assert name == "size" or np.array_equal(column, its[name]), name
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
        (60.0, 8, ["crawl.recrawl_share=0", "forager.start.by=list", "forager.credit=visit"]),
        (60.0, 9, ["forager.weblog.penalties=false", "forager.weblog.texts=true", "forager.weblog.size=3"]),
    ],
)
def test_kernels_make_the_downloads_that_are_made_one_by_one(budget: float, seed: int, more: list[str]) -> None:
    for tape, days in ((paper(), 1.0), (site(4000), 0.7)):
        quick, slow = (run(tape, budget, seed, *more, patrol=patrol, days=days) for patrol in (True, False))
        same(quick, slow)
        assert quick.world.downloads > 20


@pytest.mark.parametrize("kind", [ForagerKind.BFS, ForagerKind.RL, ForagerKind.WLRL])
def test_also_for_the_baseline_and_for_foragers_that_make_their_steps_by_themselves(kind: ForagerKind) -> None:
    quick, slow = (run(site(4000), 120.0, 2, patrol=patrol, days=1.0, kind=kind) for patrol in (True, False))
    same(quick, slow)
    assert quick.world.downloads > 100


@pytest.mark.parametrize("relative", ["true", "false"])
def test_also_where_foragers_multiply_and_are_deleted(relative: str) -> None:
    more = [f"reinforcing.scores.relative={relative}", "reinforcing.scores.relative_gain=0.7",
            "reinforcing.scores.multiply_at=101", "reinforcing.population.most=4", "crawl.recrawl_share=0.3"]  # fmt: skip
    quick, slow = (run(site(4000), 200.0, 3, *more, patrol=patrol, days=3.0) for patrol in (True, False))
    same(quick, slow)
    records = quick.agent.records.values()
    assert len(records) > 2
    assert any(one.deleted is not None for one in records) == (relative == "true")  # else nobody sends in vain here


def test_a_replay_by_kernels_that_is_stopped_goes_on_as_if_there_had_been_no_stop() -> None:
    tape = site(4000)
    whole, parts = (run(tape, 120.0, 4, patrol=True, days=days) for days in (2.0, 0.7))
    parts.end = whole.end
    parts.run(tape.start + 1.3 * DAY)
    parts.run()
    same(whole, parts)


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


def test_also_on_the_rewired_twin_where_no_document_is_read_before_it_appears(tmp_path: Path) -> None:
    write_hubs(tmp_path, HubWorld(papers=2, hubs=5), articles=False)
    tape = rewired(import_tables(tmp_path, origin="hubs", identity="link").tape, stream(1, "rewiring"))
    quick, slow = (run(tape, 30.0, 1, patrol=patrol, days=4.0) for patrol in (True, False))
    same(quick, slow)
    found = np.isfinite(quick.account.found)
    assert found.sum() > 20
    assert (quick.account.found >= quick.account.truth.born)[found].all()


def test_luck_drawn_in_blocks_is_the_luck_drawn_one_by_one() -> None:
    luck, rng = Luck(stream(3, "any"), most=4), stream(3, "any")
    given = [luck.next() for _ in range(3)]
    given += luck.ahead[:1].tolist()
    luck.used(1)
    given += [luck.next() for _ in range(6)]
    assert given == [rng.random() for _ in range(10)]
