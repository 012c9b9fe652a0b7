"""A folder of tables becomes a tape."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from forager.errors import InputError
from forager.imports.tables import import_tables
from forager.terms import Kind
from forager.world.tape.columns import KINDS, Tape


def shown(tape: Tape) -> dict[str, list[tuple[float, list[str]]]]:
    """Time and links of each version, by URL."""
    urls = list(tape.urls())
    found: dict[str, list[tuple[float, list[str]]]] = {}
    for id, url in enumerate(urls):
        for v in range(int(tape.version_start[id]), int(tape.version_start[id + 1])):
            found.setdefault(url, []).append((float(tape.time[v]), sorted(urls[link] for link in tape.links_of(v))))
    return found


def test_links_belong_to_the_version_that_appeared_at_their_time(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        "url,time,digest\nhttp://e.org/,0,a\nhttp://e.org/,1970-01-01T00:01:00Z,b\nhttp://e.org/x,60,c\n"
    )
    (tmp_path / "links.csv").write_text(
        "url,time,target\nhttp://e.org/,60,http://e.org/x\nhttp://e.org/,60,http://e.org/y\nhttp://e.org/,60,http://e.org/x\n"
        "http://e.org/,0,http://e.org/y\nhttp://e.org/,30,http://e.org/z\n"
    )
    found = import_tables(tmp_path, origin="t")
    assert shown(found.tape) == {
        "http://e.org/": [(0, ["http://e.org/y"]), (60, ["http://e.org/x", "http://e.org/y"])],
        "http://e.org/x": [(60, [])],
    }
    assert found.tally.broken == {"link of no version": 1}  # there is no version at 30


def test_stays_make_a_version_whenever_the_standing_links_change(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(
        pa.table({"url": ["hub", "hub"], "time": [0, 50], "digest": ["a", "b"]}), tmp_path / "versions.parquet"
    )
    pyarrow.parquet.write_table(
        pa.table(
            {
                "url": ["hub", "hub", "hub"],
                "target": ["x", "y", "z"],
                "first_time": [0, 20, 50],
                "last_time": [20, 60, 60],
            }
        ),
        tmp_path / "stays.parquet",
    )
    # Anything was seen at 0, 20, 50 and 60: x, last seen at 20, is gone at 50; y and z stand to the end.
    expected = [(0.0, ["x"]), (20.0, ["x", "y"]), (50.0, ["y", "z"])]
    tape = import_tables(tmp_path, origin="t").tape
    assert shown(tape) == {"hub": expected}
    assert tape.digest[0] == tape.digest[1] != tape.digest[2]  # at 20 only the links changed


def test_a_link_that_only_goes_makes_a_version_too(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhub,0,a\nother,30,a\n")
    (tmp_path / "stays.csv").write_text("url,target,first_time,last_time\nhub,x,0,20\nhub,y,0,30\nhub,z,9,1\n")
    found = import_tables(tmp_path, origin="t")
    assert shown(found.tape)["hub"] == [(0, ["x", "y"]), (30, ["y"])]
    assert found.tally.broken == {"not a stay": 1}  # it ends before it begins


def test_dates_texts_kinds_and_goneness_are_taken_over(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        'url,time,digest,published,text,gone\nhttp://e.org/a,10,d,5,"Two\nlines",\nhttp://e.org/a,20,d,,,1\n'
        "http://e.org/b,10,e,,two LINES,0\nhttp://e.org/,10,f,,hub,0\n"
    )
    (tmp_path / "kinds.csv").write_text("url,kind\nhttp://e.org/,hub\nhttp://e.org/a,article\nhttp://e.org/b,story\n")
    found = import_tables(tmp_path, origin="t", identity="text")
    tape = found.tape
    assert tape.gone.tolist() == [False, True, False, False]
    assert tape.published[0] == 5
    assert np.isnan(tape.published[1:]).all()
    assert tape.text_print[0] == tape.text_print[2]  # white space and case do not count
    assert [KINDS[kind] for kind in tape.url_kind] == [Kind.ARTICLE, Kind.OTHER, Kind.HUB]
    assert found.tally.broken == {"not a kind": 1}


def test_a_text_that_was_there_at_the_start_is_not_new_on_another_page(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest,text\na,0,1,old\nb,0,2,older\nb,3600,3,old\nb,7200,4,new\n")
    tape = import_tables(tmp_path, origin="t", identity="text").tape
    assert np.isnan(tape.published[:3]).all()
    assert tape.published[3] == 7200


def test_broken_rows_are_counted_and_named(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_bytes(
        b"url,time,digest\nhttp://e.org/,0,a\nhttp://e.org/,9999999-01-01,b\nhttp://,0,c\n\xff,0,d\n,0,e\none,two\n"
    )
    found = import_tables(tmp_path, origin="t")
    assert found.tape.versions == 1
    assert found.tally.broken == {"not a time": 1, "not a URL": 3, "wrong number of fields": 1}
    assert any("not a time: 9999999-01-01" in named for named in found.tally.named)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "has no table versions"),
        ({"versions.csv": "url,time\na,0\n"}, "has no column digest"),
        ({"versions.csv": ""}, "cannot be read"),
        ({"versions.parquet": "PAR1 not really"}, "cannot be read"),
        ({"versions.csv": "url,time,digest\n", "links.csv": "x", "stays.csv": "x"}, "both links and stays"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_one_line(
    tmp_path: Path, tables: dict[str, str], message: str
) -> None:
    for name, content in tables.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        import_tables(tmp_path, origin="t")
    assert "\n" not in str(caught.value)
