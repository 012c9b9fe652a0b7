"""Compiling tapes, and storing them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.errors import InputError
from forager.tape.build import EMPTY, TapeBuilder, version_rows
from forager.tape.tape import KINDS, Tape, load_tape, save
from forager.terms import Kind


def small() -> TapeBuilder:
    builder = TapeBuilder("test")
    builder.add("http://e.org/", 20.0, digest=2, links=["http://e.org/b", "http://e.org/a", "http://e.org/b"])
    builder.add("http://e.org/a", 5.0, digest=3, kind=Kind.ARTICLE, published=4.0, seconds=2.0)
    builder.add("http://e.org/", 10.0, digest=1, links=["http://e.org/a", "http://e.org/b"], kind=Kind.HUB, seconds=4.0)
    return builder


def test_versions_come_out_by_page_and_time_whatever_order_they_came_in() -> None:
    tape = small().finish()
    assert list(tape.urls()) == ["http://e.org/", "http://e.org/b", "http://e.org/a"]
    assert tape.version_start.tolist() == [0, 2, 2, 3]
    assert tape.time.tolist() == [10, 20, 5]
    assert tape.digest.tolist() == [1, 2, 3]
    assert [KINDS[kind] for kind in tape.url_kind] == [Kind.HUB, Kind.OTHER, Kind.ARTICLE]
    assert (tape.start, tape.end) == (5, 20)
    assert tape.seconds.tolist() == [4, 3, 2]  # where it was not noted: the mean of 2 and 4


def test_equal_link_sets_are_stored_once() -> None:
    tape = small().finish()
    assert tape.links_of(0).tolist() == tape.links_of(1).tolist() == [1, 2]
    assert tape.link_set[0] == tape.link_set[1]
    assert tape.link_set[2] == EMPTY
    assert tape.links.size == 2


def test_columns_give_the_same_tape_as_single_versions() -> None:
    builder = TapeBuilder("test")
    ids = builder.numbers(["http://e.org/", "http://e.org/b", "http://e.org/a"])
    sets = builder.link_sets(np.array([0, 0, 0, 2, 2]), np.array([1, 2, 1, 2, 1]), 3)
    builder.add_many(
        version_rows(
            3,
            owner=ids[[0, 2, 0]],
            time=np.array([20.0, 5.0, 10.0]),
            digest=np.array([2, 3, 1], np.uint64),
            published=np.array([np.nan, 4.0, np.nan]),
            link_set=sets,
        )
    )
    builder.name_kind(0, Kind.HUB)
    builder.name_kind(2, Kind.ARTICLE)
    one, other = small().finish(), builder.finish()
    for name in set(Tape.__slots__) - {"derived"}:
        if name != "seconds":
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def repeated(*rows: tuple[float, int, bool]) -> list[float]:
    """The times that are left of versions (time, digest, gone) of one page."""
    builder = TapeBuilder("test")
    for time, digest, gone in rows:
        builder.add("http://e.org/", time, digest=digest, gone=gone)
    return list(builder.finish(merge_repeats=True).time)


def test_a_version_like_the_one_before_is_no_new_version() -> None:
    assert repeated((1, 7, False), (2, 7, False), (3, 8, False), (4, 7, False)) == [1, 3, 4]
    assert repeated((1, 7, False), (2, 0, False), (3, 7, False)) == [1]  # 0: as before
    assert repeated((1, 0, False), (2, 0, False), (3, 7, False)) == [1, 3]
    assert repeated((1, 7, False), (2, 0, True), (3, 0, True), (4, 7, False)) == [1, 2, 4]  # gone and back
    assert repeated((1, 7, False), (1, 8, False), (2, 8, False)) == [1]  # the last of a moment counts


def test_an_empty_builder_gives_an_empty_tape_that_can_be_stored(tmp_path: Path) -> None:
    save(TapeBuilder("nothing").finish(merge_repeats=True), tmp_path / "tape")
    tape = load_tape(tmp_path / "tape")
    assert (tape.pages, tape.versions) == (0, 0)


def test_a_stored_tape_is_the_same_tape(tmp_path: Path) -> None:
    tape = small().finish()
    save(tape, tmp_path / "tape")
    again = load_tape(tmp_path / "tape")
    for name in set(Tape.__slots__) - {"derived"}:
        np.testing.assert_array_equal(getattr(again, name), getattr(tape, name))


@pytest.mark.parametrize("harm", ["cut", "altered", "absurd index", "no contents"])
def test_a_damaged_tape_is_refused_in_one_line(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "tape"
    save(small().finish(), folder)
    column = folder / "links.npy"
    match harm:
        case "cut":
            column.write_bytes(column.read_bytes()[:-3])
        case "altered":
            column.write_bytes(column.read_bytes()[:-1] + b"\x01")
        case "absurd index":
            tape = small().finish()
            tape.links[0] = 1_000_000
            save(tape, folder)
        case _:
            (folder / "tape.json").unlink()
    with pytest.raises(InputError) as caught:
        load_tape(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"end": float("inf")}, "out of order"),  # a replay would never end
        ({"end": 1e300}, "out of order"),
        ({"start": "yesterday"}, "out of order"),
        ({"identity": 7}, "no text"),
        ({"identity": "colour"}, "told apart by 'colour'"),
        ({"time": np.array([20.0, 10.0, 5.0])}, "out of order"),
        ({"time": np.array([10.0, np.nan, 5.0])}, "out of order"),
        ({"time": np.array([10.0, 20.0, 5.0], np.float32)}, "another type"),
        ({"links": np.array([1, 2], np.int64)}, "another type"),
        ({"state": np.array([-1, -1, 3], np.int32)}, "do not fit"),
        ({"url_kind": np.array([0, 99, 0], np.uint8)}, "do not fit"),
        ({"link_start": np.array([0, 2, 1, 2], np.int64)}, "do not fit"),
        ({"url_text": np.frombuffer(b"\xff" * len(small().finish().url_text), np.uint8)}, "no UTF-8"),
    ],
)
def test_a_tape_that_lies_is_refused_in_one_line(tmp_path: Path, changed: dict[str, object], reason: str) -> None:
    save(replace(small().finish(), **changed), tmp_path / "tape")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=reason) as caught:
        load_tape(tmp_path / "tape", check=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", "[" * 100_000, '{"format": 1}', '{"format": 1, "columns": []}']
)
def test_contents_that_are_no_table_are_refused(tmp_path: Path, text: str) -> None:
    save(small().finish(), tmp_path)
    (tmp_path / "tape.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_tape(tmp_path)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    save(small().finish(), tmp_path)
    (tmp_path / "links.npy").unlink()
    with pytest.raises(InputError, match=r"no links\.npy"):
        load_tape(tmp_path)


def test_a_column_that_claims_an_absurd_length_or_holds_objects_is_refused(tmp_path: Path) -> None:
    save(small().finish(), tmp_path)
    column = tmp_path / "links.npy"
    sound = column.read_bytes()
    column.write_bytes(sound.replace(b"(2,)", b"(9999999999,)", 1))
    with pytest.raises(InputError):
        load_tape(tmp_path)
    np.save(column, np.array([object()]), allow_pickle=True)
    with pytest.raises(InputError):
        load_tape(tmp_path)


def test_a_tape_written_before_links_could_wait_is_still_read(tmp_path: Path) -> None:
    save(small().finish(), tmp_path)
    contents = json.loads((tmp_path / "tape.json").read_text(encoding="utf-8"))
    del contents["waits"]
    (tmp_path / "tape.json").write_text(json.dumps(contents), encoding="utf-8")
    assert not load_tape(tmp_path).waits


def test_what_addresses_say_is_stored_and_found_anew_on_earlier_tapes(tmp_path: Path) -> None:
    tape = small().finish()
    save(tape, tmp_path)
    stored = load_tape(tmp_path)
    assert "forms" in stored.derived
    assert stored.forms.place.tolist() == tape.forms.place.tolist() == [0, 1, 2]
    contents = json.loads((tmp_path / "tape.json").read_text())
    del contents["columns"]["place"]
    (tmp_path / "tape.json").write_text(json.dumps(contents))
    assert load_tape(tmp_path).forms.place.tolist() == [0, 1, 2]


def test_a_form_that_leads_outside_the_tape_is_refused(tmp_path: Path) -> None:
    tape = small().finish()
    tape.derived["forms"] = tape.forms._replace(place=np.array([0, 1, 3]))
    save(tape, tmp_path)
    with pytest.raises(InputError, match="do not fit together"):
        load_tape(tmp_path)
