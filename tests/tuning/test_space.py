"""Which settings may move: bounds, what holds between them, and the file that narrows them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import InputError
from forager.settings import PRESETS, Settings, changed_keys, setting_leaves, setting_value
from forager.tuning.space import (
    AT_MOST,
    USUAL,
    OneOf,
    Range,
    Space,
    narrowed,
    paper,
    plain,
    read_space,
    shown_space,
)

BASE = Settings()


def values(one: Range | OneOf) -> st.SearchStrategy[Any]:
    if isinstance(one, OneOf):
        return st.sampled_from(one.values)
    return st.integers(int(one.low), int(one.high)) if one.whole else st.floats(one.low, one.high)


POINTS = st.fixed_dictionaries({key: values(one) for key, one in USUAL.items()})


def test_the_defaults_lie_in_the_space_and_every_name_is_a_setting() -> None:
    assert set(USUAL) <= set(setting_leaves())
    assert Space(BASE).nearest(BASE) == Space(BASE).of(BASE)
    assert Space(BASE).changes(Space(BASE).of(BASE)) == {}


def test_the_paper_lies_in_the_space_but_for_what_counts_as_a_document() -> None:
    made = paper(BASE)
    assert Space(BASE).nearest(made) == Space(BASE).of(made)
    left = {key for key, value in PRESETS["paper"].items() if plain(setting_value(made, key)) != value}
    switches = {"forager.states.shape", "forager.profit.normalised", "forager.weblog.penalties"}
    assert left == {"forager.identity", "forager.hubs", "reinforcing.relevancy.identity"} | switches


@settings(max_examples=50, deadline=None)
@given(POINTS)
def test_any_point_gives_settings_that_hold_together(point: dict[str, Any]) -> None:
    made = changed_keys(BASE, Space(BASE).changes(point))
    assert made.forager.weblog.start_size <= made.forager.weblog.size
    for lower, upper in AT_MOST:
        assert setting_value(made, lower) <= setting_value(made, upper)


@settings(max_examples=50, deadline=None)
@given(POINTS, st.sampled_from(AT_MOST), st.booleans())
def test_what_people_fixed_stays_and_the_other_gives_way(point: dict[str, Any], pair: Any, first: bool) -> None:
    key = pair[0] if first else pair[1]
    space = narrowed(BASE, {key: plain(setting_value(BASE, key))}, "test")
    made = changed_keys(BASE, space.changes({name: point[name] for name in space.dimensions}))
    assert setting_value(made, key) == setting_value(BASE, key)
    assert setting_value(made, pair[0]) <= setting_value(made, pair[1])


def test_a_start_list_longer_than_the_weblog_is_cut() -> None:
    changes = Space(BASE).changes({"forager.weblog.size": 20, "forager.weblog.start_size": 50})
    assert changes == {"forager.weblog.size": 20, "forager.weblog.start_size": 20}


def test_the_space_as_shown_reads_back_as_itself(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(shown_space(USUAL))
    assert read_space(path, BASE).dimensions == USUAL


def test_a_file_narrows_fixes_and_removes(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(
        "crawl.least_worth: [0.1, 0.5]\ncrawl.cycle: [5m, 1h]\nforager.kind: {choices: [WL, RL]}\n"
        "forager.max_step: 7\nreinforcing.scores.relative: false\ncrawl.idle: [10s, 100s, log]\n"
    )
    space = read_space(path, BASE)
    assert space.dimensions["crawl.least_worth"] == Range(0.1, 0.5)
    assert space.dimensions["crawl.cycle"] == Range(300.0, 3600.0, log=True)  # by factors, as usual
    assert space.dimensions["crawl.idle"] == Range(10.0, 100.0, log=True)
    assert space.dimensions["forager.kind"] == OneOf(("WL", "RL"))
    assert space.fixed == {"forager.max_step": 7}
    assert not {"forager.max_step", "reinforcing.scores.relative"} & set(space.dimensions)
    assert changed_keys(BASE, space.changes({})).forager.max_step == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("crawl.least_wort: [0, 1]", "did you mean crawl.least_worth?"),
        ("forager.identity: url", "would change the measure"),
        ("live.user_agent: me", "no effect in a replay"),
        ("crawl.least_worth: [0.5, 0.1]", "is no range"),
        ("crawl.least_worth: [0, 2]", "expected less than or equal to 1"),
        ("crawl.least_worth: [0, 1, log]", "is no range of factors"),
        ("crawl.least_worth: [0.1]", "expected [low, high]"),
        ("forager.kind: [WL, RL]", "is no number; write {choices"),
        ("forager.kind: {choices: [WX]}", "expected 'WL', 'RL', 'WLRL' or 'BFS', not 'WX'"),
        ("forager.kind: {choice: [WL]}", "expected {choices: [one, another]}"),
        ("- crawl.cycle", "expected lines such as"),
        ("crawl: [", "not valid YAML"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_space(path, BASE)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_space(tmp_path / "none.yaml", BASE)


def test_a_search_may_begin_with_what_survived_in_a_run() -> None:
    space = Space(BASE, survivors={"forager.max_step": 14.0, "forager.leaving.below": 9.0})
    point = space.survived()
    assert (point["forager.max_step"], point["forager.leaving.below"]) == (14, 3.0)  # the last within its bounds
    assert point["forager.weblog.size"] == 100  # and all others as they are
