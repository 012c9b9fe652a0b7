"""The rhythm of the week, and time counted by it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.chance import stream
from forager.engine.policy import read_policy
from forager.errors import InputError
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.cycle import explain
from forager.recrawl.formula import parse
from forager.recrawl.function_file import LearnedFunction, function_from_text, function_to_text
from forager.recrawl.history import History
from forager.recrawl.policies import Formula
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.rhythm import passed, rhythm_of

WEEKS = 4


def weekly_log(paces: dict[int, int], cycle: float = 3600.0, start: float = 0.0) -> ChangeLog:
    """Hourly cycles for four weeks; `paces` documents appear in each hour of the week that it names, on page 0."""
    per_hour = round(3600.0 / cycle)
    hours = np.concatenate(
        [np.repeat(hour + 168 * week, count) for week in range(WEEKS) for hour, count in paces.items()]
    )
    first = ((hours + 1) * per_hour).astype(np.int64)  # what appears in an hour is seen when it is over
    cycles = WEEKS * 168 * per_hour + 1
    shown = ShownDocuments(np.arange(len(first)), np.zeros(len(first), dtype=np.int64), first, first + 3)
    changed = np.zeros((2, cycles), dtype=np.bool_)
    changed[0, first[first < cycles]] = True
    return ChangeLog(changed, documents=shown, start=start, cycle=cycle)


def test_an_hour_is_as_busy_as_the_documents_that_appear_in_it() -> None:
    rhythm = rhythm_of(weekly_log({hour: 300 if 8 <= hour % 24 < 20 else 100 for hour in range(168)}))
    assert len(rhythm) == 168
    assert np.mean(rhythm) == pytest.approx(1.0)
    assert rhythm[12] == pytest.approx(1.5, abs=0.01)  # 300 of a mean of 200
    assert rhythm[3] == pytest.approx(0.5, abs=0.01)


def test_a_quiet_day_of_the_week_is_told_from_the_others() -> None:
    rhythm = np.array(rhythm_of(weekly_log({hour: 20 if hour < 24 else 200 for hour in range(168)}))).reshape(7, 24)
    assert rhythm[0].max() < 0.4 < 1.0 < rhythm[1:].min()


def test_few_documents_tell_little() -> None:
    rhythm = rhythm_of(weekly_log({10: 1}))  # four in all: (4 + 50) / (4 / 24 + 50) by hour, and again by day
    assert 1.0 < rhythm[10] < 1.2


def test_the_week_begins_with_that_of_the_epoch_whenever_the_log_begins() -> None:
    later = weekly_log({30: 500}, start=30.0 * 3600.0)
    assert int(np.argmax(rhythm_of(later))) == 60  # 30 hours into a log that begins 30 hours into the week


def test_without_documents_changes_tell_and_without_a_start_nobody_does() -> None:
    log = weekly_log(dict.fromkeys(range(9, 168, 24), 1))
    assert int(np.argmax(rhythm_of(replace(log, documents=None)))) % 24 == 9
    assert rhythm_of(replace(log, start=np.nan)) == ()
    assert rhythm_of(ChangeLog(np.zeros((3, 50), dtype=np.bool_), start=0.0)) == ()


def test_what_a_long_cycle_brings_is_spread_over_its_hours() -> None:
    changed = np.zeros((1000, 57), dtype=np.bool_)
    changed[:, 2::7] = True  # daily cycles: all change between hours 24 and 48 of the week
    rhythm = np.array(rhythm_of(ChangeLog(changed, start=0.0))).reshape(7, 24)
    assert rhythm[1].min() == pytest.approx((333.3 + 50.0) / (47.6 + 50.0), rel=0.01)
    assert rhythm[1].max() - rhythm[1].min() < 0.1
    assert np.delete(rhythm, 1, axis=0).max() == pytest.approx(50.0 / (47.6 + 50.0), rel=0.01)


def test_time_by_the_rhythm_is_that_of_the_clock_over_whole_weeks() -> None:
    rhythm = tuple(np.where(np.arange(168) % 24 < 12, 0.5, 1.5))
    hours = np.array([0.0, 6.0, 12.0, 18.0, 24.0, 168.0, 336.0])
    assert passed(rhythm, hours).tolist() == [0.0, 3.0, 6.0, 15.0, 24.0, 168.0, 336.0]
    assert passed((), hours) is hours


def test_a_learned_function_takes_its_rhythm_along() -> None:
    rhythm = tuple(np.where(np.arange(168) % 24 < 12, 0.5, 1.5).tolist())
    learned = LearnedFunction(parse("pace * busy"), "extended", "discovery", 0.8, 0.7, rhythm=rhythm)
    assert function_from_text(function_to_text(learned)) == learned
    content = json.loads(function_to_text(learned)) | {"rhythm": [1.0, 2.0]}
    with pytest.raises(InputError, match="a rhythm is 168 paces"):
        function_from_text(json.dumps(content))


def test_a_night_promises_less_than_as_many_hours_of_the_day_and_the_reason_is_told() -> None:
    rhythm = tuple(np.where(np.arange(168) % 24 < 12, 0.5, 1.5))
    history = History(2, cycle=3600.0)
    history.note_all(np.array([0, 1]), np.array([0.0, 14.0 * 3600.0]), np.array([False, False]))
    scores = Formula.of(parse("busy"), rhythm).scores(history.states(20.0 * 3600.0))
    assert scores.tolist() == pytest.approx([18.0, 9.0])  # 12 h at half pace and 8 at one and a half; 6 of these
    assert str(explain(history, Formula.of(parse("busy"), rhythm), 20.0 * 3600.0, 1)).startswith("n=1 X=0 t=6 busy=9 →")


def test_a_crawl_that_follows_a_learned_function_keeps_its_rhythm(tmp_path: Path) -> None:
    rhythm = tuple(np.where(np.arange(168) % 24 < 12, 0.5, 1.5).tolist())
    file = tmp_path / "f.json"
    file.write_text(
        function_to_text(LearnedFunction(parse("pace * busy"), "extended", "discovery", 0.8, 0.7, rhythm=rhythm))
    )
    policy = read_policy(str(file), stream(0, "policy"), RecrawlSettings(), 900.0)
    assert isinstance(policy.score, Formula)
    assert (policy.score.rhythm, policy.formula) == (rhythm, "pace * busy")
