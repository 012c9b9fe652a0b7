"""The recording in two parts: what lies after the split cannot be seen before it."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from forager.errors import InputError
from forager.settings import Settings
from forager.simulation.jobs import Player, replay_of
from forager.simulation.replay import Replay, ReplayPlan
from forager.tape.cut import cut_tape, squeezed_anew
from forager.tape.tape import Tape, load_tape
from forager.tuning.study import Split, laid_out
from tests.simulation.small_tape import DAY, HOME, HOUR, paper

BASE = Settings()


@pytest.fixture(scope="module")
def tape() -> Tape:
    return paper(days=4.0, every=(1.0, 1.5))


@pytest.fixture(scope="module")
def course(tape: Tape, tmp_path_factory: pytest.TempPathFactory) -> Split:
    return laid_out(tape, tmp_path_factory.mktemp("course"), BASE, held_out=0.5, budget=20.0)


def test_the_training_tape_holds_nothing_of_the_held_out_time(tape: Tape, course: Split) -> None:
    training = load_tape(course.training.tape)
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


def test_the_held_out_part_begins_with_the_pages_as_they_stood(tape: Tape, course: Split) -> None:
    held = load_tape(course.held_out.tape)
    assert (held.start, held.end) == (2 * DAY, 4 * DAY)
    for url in range(held.pages):
        shown = held.time[held.version_start[url] : held.version_start[url + 1]]
        before = tape.time[tape.version_start[url] : tape.version_start[url + 1]]
        assert np.count_nonzero(shown <= 2 * DAY) == min(1, np.count_nonzero(before <= 2 * DAY))


def test_a_replay_of_the_cut_tape_is_the_first_part_of_a_replay_of_the_whole(tape: Tape, course: Split) -> None:
    part = replay_of(load_tape(course.training.tape), course.training.job(BASE, 3))
    plan = ReplayPlan(20.0, course.training.seeds, end=2 * DAY)
    whole = Replay(tape, plan, BASE.crawl, BASE.forager, BASE.reinforcing,
                   revisit_after=BASE.visits.revisit_after, seed=3)  # fmt: skip
    part.run()
    whole.run()
    # all samples but that of the very last moment, to which a version of the next part belongs; nan is not nan
    assert repr(part.account.samples[:-1]) == repr(whole.account.samples[:-1])
    assert part.account.downloads == whole.account.downloads


def test_a_replay_in_slices_is_the_replay_at_once(course: Split) -> None:
    *early, last = course.training.watched(BASE, 5, Player())
    whole = replay_of(load_tape(course.training.tape), course.training.job(BASE, 5))
    whole.run()
    assert last == whole.figures(warm_up=course.training.warm_up)
    assert len(early) == 1  # two days
    assert 0 < early[0].efficiency.downloaded < last.efficiency.downloaded


def test_both_parts_start_from_the_same_pages(course: Split) -> None:
    assert course.held_out.seeds == course.training.seeds == (HOME,)


def test_news_of_the_first_half_day_does_not_count(course: Split) -> None:
    assert course.training.warm_up == 12 * HOUR
    *_, last = course.training.watched(BASE, 5, Player())
    assert last.delay.stories == 35 + 23  # hours 13 to 47 in one section; 13.5, 15, … 46.5 in the other


def test_a_tape_that_is_too_short_is_told(tmp_path: Path) -> None:
    # half a day, of which three hours are warm-up: articles at 4, 6, 8, 10 h and at 6, 9 h
    with pytest.raises(InputError, match="its first part has 6 new stories after the warm-up, at least 20"):
        laid_out(paper(days=1.0), tmp_path, BASE, held_out=0.5, budget=20.0)


def test_states_squeezed_anew_are_those_of_another_scale(tape: Tape) -> None:
    one = replace(tape, states=np.array([[0.5, -0.5, 0.0]], np.float32))
    assert squeezed_anew(one, 2.0).states == pytest.approx(np.array([[0.8, -0.8, 0.0]]))  # tanh 2x = 2t/(1 + t²)
