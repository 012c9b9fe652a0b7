"""The loop of a replay: every policy and every order is played by it, and it can be stopped anywhere."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.chance import stream
from forager.core.parameters import ForagerKind
from forager.core.refill import LEAST
from forager.importers.tables import import_tables
from forager.settings import load_settings
from forager.simulation.player import Luck
from forager.simulation.replay import Replay, ReplayPlan, default_seeds
from forager.tape.cut import rewired
from forager.tape.tape import Tape
from tests.bench.replay_speed import site
from tests.simulation.recorded_like import HubWorld, write_hubs
from tests.simulation.small_tape import DAY


def run(
    tape: Tape,
    budget: float,
    seed: int,
    *more: str,
    days: float,
    kind: ForagerKind = ForagerKind.WL,
    told: bool = False,
) -> Replay:
    """A replay of some days; `told`: somebody hears every event."""
    settings = load_settings(Path("/dev/null"), more).settings
    replay = Replay(
        tape,
        ReplayPlan(budget, default_seeds(tape)[:4], end=min(tape.end, tape.start + days * DAY)),
        settings.crawl,
        replace(settings.forager, kind=kind),
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        recrawl=settings.recrawl,
        seed=seed,
        tell=(lambda event: None) if told else None,
    )
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
    assert one.agent.flock.state.accepted.tobytes() == other.agent.flock.state.accepted.tobytes()
    assert one.agent.records == other.agent.records
    assert one.scheduler.done == other.scheduler.done
    its = other.scheduler.history.columns()
    for name, column in one.scheduler.history.columns().items():
        assert name == "size" or np.array_equal(column, its[name]), name
    assert [f.weblog.entries for f in one.agent.foragers.values()] == [
        f.weblog.entries for f in other.agent.foragers.values()
    ]


RETRAINED = ("recrawl.retrain.replays=true", "recrawl.retrain.after=400", "recrawl.retrain.terminals=basic",
             "recrawl.retrain.population=8", "recrawl.retrain.generations=2")  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (ForagerKind.WL, []),
        (ForagerKind.RL, ["crawl.least_worth=0"]),
        (ForagerKind.WLRL, ["forager.links=all", "forager.order=profit", "forager.identity=version"]),
        (ForagerKind.BFS, []),
        (ForagerKind.WL, ["crawl.recrawl_share=0", "forager.start.by=draw", "forager.credit=visit"]),
        (ForagerKind.WL, ["crawl.policy=azar-rate", "forager.start.by=list"]),
    ],
)
def test_a_replay_that_is_told_is_the_one_that_nobody_hears(kind: ForagerKind, more: list[str]) -> None:
    told, silent = (run(site(4000), 120.0, 2, *more, days=1.0, kind=kind, told=told) for told in (True, False))
    same(told, silent)
    assert told.world.downloads > 100


@pytest.mark.parametrize("relative", ["true", "false"])
def test_foragers_multiply_and_are_deleted(relative: str) -> None:
    more = [f"reinforcing.scores.relative={relative}", "reinforcing.scores.relative_gain=0.7",
            "reinforcing.scores.multiply_at=101", "reinforcing.population.most=4", "crawl.recrawl_share=0.3"]  # fmt: skip
    replay = run(site(4000), 200.0, 3, *more, days=3.0)
    agent = replay.agent
    records = agent.records.values()
    assert len(records) > 2 and 2 <= len(agent.foragers) <= 4
    assert any(one.deleted is not None for one in records) == (relative == "true")  # else nobody sends in vain here
    assert (
        sum(one.downloads for one in records) == replay.world.downloads
    )  # those of the recrawl side are somebody's too


@pytest.mark.parametrize(
    ("budget", "more"),
    [
        (120.0, ()),
        (12.0, ("crawl.recrawl_share=1", "crawl.explore=0.3")),
        (60.0, ("crawl.policy=worth",)),
        (60.0, ("crawl.policy=t2",)),
        (60.0, ("crawl.policy=hacs",)),
        (60.0, ("crawl.policy=rand",)),
        (60.0, ("crawl.policy=t * (X + 0.1) / (n + 1)",)),
        (60.0, ("crawl.ordering=mixed",)),
        (60.0, RETRAINED),
    ],
)
def test_a_replay_that_is_stopped_goes_on_as_if_there_had_been_no_stop(budget: float, more: tuple[str, ...]) -> None:
    tape = site(4000)
    whole, parts = (run(tape, budget, 4, *more, days=days) for days in (2.0, 0.7))
    parts.end = whole.end
    parts.run(tape.start + 1.3 * DAY)
    parts.run()
    same(whole, parts)
    assert whole.world.downloads > 20
    if whole.retraining is not None:
        assert whole.retraining.lessons == parts.retraining.lessons != []


def test_of_very_many_pages_a_short_list_is_ranked() -> None:
    replay = run(site(60_000), 300.0, 1, "crawl.least_worth=0", days=1.2)
    assert replay.scheduler.candidates.known > 2 * LEAST
    assert replay.scheduler.candidates.turn.listed > LEAST


def test_links_wait_for_their_pages_where_a_tape_says_so() -> None:
    """Articles of this site link others that appear later."""
    waiting = run(replace(site(4000), waits=True), 60.0, 1, days=2.0)
    assert waiting.world.unrecorded == 0 < run(site(4000), 60.0, 1, days=2.0).world.unrecorded


def test_on_the_rewired_twin_no_document_is_read_before_it_appears(tmp_path: Path) -> None:
    write_hubs(tmp_path, HubWorld(papers=2, hubs=5), articles=False)
    tape = rewired(import_tables(tmp_path, origin="hubs", identity="link").tape, stream(1, "rewiring"))
    account = run(tape, 30.0, 1, days=4.0).account
    found = np.isfinite(account.found)
    assert found.sum() > 20
    assert (account.found >= account.truth.born)[found].all()


def test_luck_drawn_in_blocks_is_the_luck_drawn_one_by_one() -> None:
    luck, rng = Luck(stream(3, "any"), most=4), stream(3, "any")
    given: list[float] = []
    for count in (3, 1, 2, 4):
        given += luck.ahead[:count].tolist()
        luck.used(min(count, len(luck.ahead)))
    assert given == [rng.random() for _ in range(len(given))]
