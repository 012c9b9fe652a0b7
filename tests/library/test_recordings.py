"""Replays, tuning, learning and ranking from a program: what the command line says, as values."""

import json
from pathlib import Path

import numpy as np
import pytest

import forager
from forager.cli.app import run
from forager.errors import InputError, SettingsError
from forager.events import Event, Fetched, Told
from forager.recrawl.change_log import ChangeLog
from forager.tape.tape import save
from tests.simulation.small_tape import HOUR, paper


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    save(paper(), tmp_path / "tape")
    return tmp_path / "tape"


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    """What a command prints with --json."""
    with pytest.raises(SystemExit) as ended:
        run([str(argument) for argument in arguments])
    assert ended.value.code == 0
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


def test_a_replay_gives_the_figures_of_the_command(tape: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = forager.replay(tape, budget=20, warm_up=6 * HOUR, settings={"forager.kind": "WL"})
    command = ("replay", tape, "--kind", "WL", "--budget", "20/h", "--warm-up", "6h", "--no-dashboard", "-q", "--json")
    facts = said(capsys, *command)["replay"]
    assert isinstance(facts, dict)
    assert figures.delay.found > 10
    assert facts["coverage"] == figures.delay.coverage
    assert facts["delay_median_s"] == figures.delay.median


def test_a_replay_tells_what_happens_and_ends_when_it_should(tape: Path) -> None:
    events: list[Event] = []
    forager.replay(tape, budget=20, time_limit=24 * HOUR, on_event=events.append)
    assert any(isinstance(event, Told) for event in events)
    assert max(event.at for event in events if isinstance(event, Fetched)) <= 25 * HOUR


def test_a_replay_refuses_what_it_cannot_use(tape: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a tape"):
        forager.replay(tmp_path)
    with pytest.raises(InputError, match="not on the tape"):
        forager.replay(tape, seeds=["https://example.org/"])
    for budget in (0, -1, float("inf")):  # with these it would never end
        with pytest.raises(forager.ForagerError, match="give a number of downloads per hour above 0"):
            forager.replay(tape, budget=budget)
    with pytest.raises(SettingsError, match=r"forager\.kind"):
        forager.replay(tape, settings={"forager.kind": "XYZ"})


def test_a_tuning_gives_changes_and_keeps_its_trials(tape: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trials"
    outcome = forager.tune(tape, trials=2, budget=10, seeds=2, repeats=1, processes=1, folder=folder)
    assert set(outcome.changes) <= set(outcome.tuning.space.dimensions)
    assert len(outcome.tuning.study.trials()) == 2
    again = forager.tune(tape, trials=2, budget=10, seeds=2, repeats=1, processes=1, folder=folder)
    assert again.tuning.resumed == 2


def changing() -> ChangeLog:
    """Half of the pages change in every cycle, the others hardly ever."""
    rng = np.random.default_rng(3)
    often = np.arange(40) % 2 == 0
    return ChangeLog(np.where(often, 0.9, 0.05)[:, None] > rng.random((60, 40)).T)


def test_a_function_is_learned_and_can_be_crawled_by(tape: Path) -> None:
    few = {"generations": 2, "population": 20, "runs": 1, "processes": 1, "k": 0.25}
    learned = forager.learn(changing(), **few)  # type: ignore[arg-type]
    assert learned.formula == forager.learn(changing(), **few).formula  # type: ignore[arg-type]
    assert learned.validation > 0.5
    forager.replay(tape, budget=20, time_limit=12 * HOUR, settings={"crawl.policy": learned.formula})


def test_a_log_that_teaches_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="too few to learn from"):
        forager.learn(ChangeLog(np.ones((1, 5), dtype=np.bool_)))


def test_a_frontier_is_ranked_from_pairs_as_from_a_file(tmp_path: Path) -> None:
    links = [("a", "x"), ("a", "y"), ("b", "y"), ("c", "z"), ("a", "b")]
    impact = {"a": 5.0, "b": 3.0, "c": 1.0}
    ranked = forager.rank(links, impact=impact)
    assert ranked[0][0] == "y"
    assert {page for page, _ in ranked} == {"x", "y", "z"}
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in links))
    (tmp_path / "impact.csv").write_text("url,impact\n" + "".join(f"{a},{b}\n" for a, b in impact.items()))
    assert forager.rank(tmp_path / "edges.csv", impact=tmp_path / "impact.csv") == ranked
    assert forager.rank(links, method="indegree", frontier=["x", "y"], limit=1)[0][0] == "y"


def test_a_ranking_says_what_it_needs() -> None:
    with pytest.raises(InputError, match="rw-eg needs impact"):
        forager.rank([("a", "b")])
    with pytest.raises(InputError, match="no method 'best'; known: random"):
        forager.rank([("a", "b")], method="best")
    with pytest.raises(InputError, match="holds no links"):
        forager.rank([], method="indegree")
