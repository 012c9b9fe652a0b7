"""The recording in two parts, and the search on the first: what it tries, gives up and never loses."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from forager.errors import InputError, StoreError
from forager.settings import Settings
from forager.simulation.jobs import Player, replay_of
from forager.simulation.replay import Replay, ReplayPlan
from forager.simulation.replay_account import ReplayFigures
from forager.tape.cut import cut_tape, squeezed_anew
from forager.tape.tape import Tape, load_tape
from forager.tuning.goals import GOALS
from forager.tuning.search import search
from forager.tuning.space import Space, paper
from forager.tuning.study import JOURNAL, START, Split, Study, Trial, check_terms, claim, split_tape
from tests.simulation.small_tape import DAY, HOME, HOUR
from tests.simulation.small_tape import paper as paper_tape
from tests.tuning.fake_split import SPACE, figures, late, orders

BASE = Settings()


@pytest.fixture(scope="module")
def tape() -> Tape:
    return paper_tape(days=4.0, every=(1.0, 1.5))


@pytest.fixture(scope="module")
def split(tape: Tape, tmp_path_factory: pytest.TempPathFactory) -> Split:
    return split_tape(tape, tmp_path_factory.mktemp("split"), BASE, held_out=0.5, budget=20.0)


def test_the_training_tape_holds_nothing_of_the_held_out_time(tape: Tape, split: Split) -> None:
    training = load_tape(split.training.tape)
    assert training.time.max() < 2 * DAY == training.end
    assert training.versions == np.count_nonzero(tape.time < 2 * DAY)


def test_whatever_happens_later_the_training_tape_is_the_same(tape: Tape) -> None:
    later = tape.time >= 2 * DAY
    other = replace(
        tape,
        digest=np.where(later, 7, tape.digest).astype(np.uint64),
        published=np.where(later, np.nan, tape.published),
        gone=np.where(later, True, tape.gone),
        link_set=np.where(later, 0, tape.link_set).astype(np.int32),
    )
    one, another = cut_tape(tape, 0.0, 2 * DAY), cut_tape(other, 0.0, 2 * DAY)
    assert all(np.array_equal(getattr(one, it.name), getattr(another, it.name), equal_nan=it.name == "published")
               for it in fields(Tape) if it.init)  # fmt: skip


def test_the_held_out_part_begins_with_the_pages_as_they_stood(tape: Tape, split: Split) -> None:
    held = load_tape(split.held_out.tape)
    assert (held.start, held.end) == (2 * DAY, 4 * DAY)
    for url in range(held.pages):
        shown = held.time[held.version_start[url] : held.version_start[url + 1]]
        before = tape.time[tape.version_start[url] : tape.version_start[url + 1]]
        assert np.count_nonzero(shown <= 2 * DAY) == min(1, np.count_nonzero(before <= 2 * DAY))


def test_a_replay_of_the_cut_tape_is_the_first_part_of_a_replay_of_the_whole(tape: Tape, split: Split) -> None:
    part = replay_of(load_tape(split.training.tape), split.training.job(BASE, 3))
    plan = ReplayPlan(20.0, split.training.seeds, end=2 * DAY)
    whole = Replay(tape, plan, BASE.crawl, BASE.forager, BASE.reinforcing,
                   revisit_after=BASE.visits.revisit_after, seed=3)  # fmt: skip
    part.run()
    whole.run()
    # all samples but that of the very last moment, to which a version of the next part belongs; nan is not nan
    assert repr(part.account.samples[:-1]) == repr(whole.account.samples[:-1])
    assert part.account.downloads == whole.account.downloads


def test_a_replay_in_slices_is_the_replay_at_once(split: Split) -> None:
    *early, last = split.training.watched(BASE, 5, Player())
    whole = replay_of(load_tape(split.training.tape), split.training.job(BASE, 5))
    whole.run()
    assert last == whole.figures(warm_up=split.training.warm_up)
    assert len(early) == 1  # two days
    assert 0 < early[0].efficiency.downloaded < last.efficiency.downloaded


def test_both_parts_start_from_the_same_pages(split: Split) -> None:
    assert split.held_out.seeds == split.training.seeds == (HOME,)


def test_news_of_the_first_half_day_does_not_count(split: Split) -> None:
    assert split.training.warm_up == 12 * HOUR
    *_, last = split.training.watched(BASE, 5, Player())
    assert last.delay.stories == 35 + 23  # hours 13 to 47 in one section; 13.5, 15, … 46.5 in the other


def test_a_tape_that_is_too_short_is_told(tmp_path: Path) -> None:
    # half a day, of which three hours are warm-up: articles at 4, 6, 8, 10 h and at 6, 9 h
    with pytest.raises(InputError, match="its first part has 6 new stories after the warm-up, at least 20"):
        split_tape(paper_tape(days=1.0), tmp_path, BASE, held_out=0.5, budget=20.0)


def test_states_squeezed_anew_are_those_of_another_scale(tape: Tape) -> None:
    one = replace(tape, states=np.array([[0.5, -0.5, 0.0]], np.float32))
    assert squeezed_anew(one, 2.0).states == pytest.approx(np.array([[0.8, -0.8, 0.0]]))  # tanh 2x = 2t/(1 + t²)


ROOT = Path(__file__).parents[2]
LATE = (GOALS["late"],)


def searched(folder: Path, first: int, limit: int, **more: object) -> list[Trial]:
    search(orders(folder, **more), first, limit, processes=1, expired=lambda: False, tell=lambda one: None)  # type: ignore[arg-type]
    return Study(folder, more.get("goals", LATE)).trials()  # type: ignore[arg-type]


def test_the_first_trial_is_as_it_was_and_the_second_the_papers(tmp_path: Path) -> None:
    first, second = searched(tmp_path, 0, 2, space=Space(Settings()))
    assert first.changes == {}
    wanted = paper(Settings())
    assert second.changes == Space(Settings()).changes(Space(Settings()).of(wanted))
    assert second.changes["forager.links"] == "all"


def test_it_comes_close_to_the_best_there_is(tmp_path: Path) -> None:
    done = [one for one in searched(tmp_path, 0, 45) if not one.pruned]
    best = min(done, key=lambda one: one.values)
    assert best.values[0] < 1.01  # at least_worth .5 it is 1, as it was 1.18
    assert best.changes["crawl.least_worth"] == pytest.approx(0.5, abs=0.07)


def test_hopeless_trials_are_given_up_early(tmp_path: Path) -> None:
    done = searched(tmp_path, 0, 30)
    pruned = [one for one in done if one.pruned]
    assert pruned
    assert not any(one.pruned for one in done[: START // 2])  # nothing to compare with yet
    typical = sorted(one.values[0] for one in done)[len(done) // 2]
    assert all(one.values[0] > min(1.18, typical) - 0.2 for one in pruned)


def test_with_several_goals_nothing_is_given_up(tmp_path: Path) -> None:
    def both(settings: Settings) -> ReplayFigures:
        return figures(late(settings), requests=2 + settings.crawl.explore)

    done = searched(tmp_path, 0, 20, formula=both, goals=(GOALS["late"], GOALS["requests"]))
    assert [one.pruned for one in done] == [False] * 20
    assert all(len(one.values) == 2 for one in done)


def test_a_goal_that_finding_less_would_serve_is_sought_among_trials_that_cover_enough(tmp_path: Path) -> None:
    def thrifty(settings: Settings) -> ReplayFigures:
        worth = settings.crawl.least_worth
        return figures(requests=5 - 4 * worth, coverage=1.0 if worth <= 0.5 else 0.5)

    done = searched(tmp_path, 0, 20, formula=thrifty, goals=(GOALS["requests"],))
    assert {one.shortfall > 0 for one in done} == {True, False}
    for one in done:
        assert (one.shortfall > 0) == (one.changes.get("crawl.least_worth", 0.2) > 0.5)


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    (tmp_path / "twice").mkdir()
    searched(tmp_path / "twice", 0, 9)
    assert searched(tmp_path / "twice", 9, 18) == searched(tmp_path / "once", 0, 18)  # across the start of TPE


def test_a_stopped_trial_leaves_nothing_behind(tmp_path: Path) -> None:
    study = Study(tmp_path, LATE)
    assert study.attempt(orders(tmp_path), 0, lambda: True) is None
    assert study.trials() == []


def test_a_line_cut_short_is_mended(tmp_path: Path) -> None:
    before = searched(tmp_path, 0, 3)
    with (tmp_path / JOURNAL).open("ab") as journal:
        journal.write(b'{"op_code":4,"worker')
    claim(tmp_path).close()
    assert Study(tmp_path, LATE).trials() == before
    assert len(searched(tmp_path, 3, 4)) == 4


def test_two_searches_do_not_share_a_folder(tmp_path: Path) -> None:
    with claim(tmp_path), pytest.raises(StoreError, match="another forager tune is at work"):
        claim(tmp_path)
    claim(tmp_path).close()


def test_trials_of_different_searches_are_not_mixed(tmp_path: Path) -> None:
    study = Study(tmp_path, LATE)
    check_terms(study, {"--budget": 20.0, "--for": ["late"]}, tmp_path)
    check_terms(study, {"--budget": 20.0, "--for": ["late"]}, tmp_path)
    with pytest.raises(InputError, match=r"another search \(differing: --budget\)"):
        check_terms(study, {"--budget": 30.0, "--for": ["late"]}, tmp_path)


def test_time_that_is_over_ends_the_search(tmp_path: Path) -> None:
    told: list[Trial | None] = []
    expired = lambda: sum(one is not None for one in told) >= 3  # noqa: E731
    search(orders(tmp_path), 0, 50, processes=1, expired=expired, tell=told.append)
    assert len(Study(tmp_path, LATE).trials()) == 3


def test_a_setting_outside_the_space_is_never_moved(tmp_path: Path) -> None:
    space = replace(SPACE, fixed={"forager.weblog.size": 50})
    done = searched(tmp_path, 0, 15, space=space)
    assert all(set(one.changes) <= {*SPACE.dimensions, "forager.weblog.size"} for one in done)
    assert {one.changes["forager.weblog.size"] for one in done} == {50}


def endless(folder: str, processes: int) -> None:
    """A search that goes on until somebody kills it."""
    search(orders(Path(folder)), 0, 10**6, processes=processes, expired=lambda: False, tell=lambda one: None)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_search_loses_no_finished_trial_and_leaves_nobody_behind(processes: int, tmp_path: Path) -> None:
    code = f"if __name__ == '__main__': from tests.tuning.test_search import endless; endless({str(tmp_path)!r}, {processes})"
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    journal, deadline = tmp_path / JOURNAL, time.monotonic() + 240
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b"\n") >= 6):
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    seen = [one for one in Study(tmp_path, LATE).trials() if one.ticket < 4]
    os.kill(started.pid, signal.SIGKILL)
    started.communicate(timeout=240)  # comes back when the last process that holds the other end is gone
    claim(tmp_path).close()
    kept = Study(tmp_path, LATE).trials()
    assert [one for one in kept if one in seen] == seen
    assert len(kept) == len({one.ticket for one in kept}) >= 4
    now = searched(tmp_path, kept[-1].ticket + 1, kept[-1].ticket + 3)
    assert now[:-2] == kept
