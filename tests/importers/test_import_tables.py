"""A folder of tables becomes a tape."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from forager.errors import InputError
from forager.importers.streams import ImportTally, Source, opened
from forager.importers.table_columns import table_batches
from forager.importers.tables import import_tables
from forager.tape.tape import KINDS, Tape
from forager.terms import Kind


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
    # The page was seen at 0, 20, 50 and 60: x, last seen at 20, is gone at 50; y and z stand to the end.
    expected = [(0.0, ["x"]), (20.0, ["x", "y"]), (50.0, ["y", "z"])]
    tape = import_tables(tmp_path, origin="t", identity="url").tape
    assert shown(tape) == {"hub": expected}
    assert tape.digest[0] == tape.digest[1] != tape.digest[2]  # at 20 only the links changed


def test_a_link_that_only_goes_makes_a_version_too(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhub,0,a\nother,30,a\n")
    (tmp_path / "stays.csv").write_text("url,target,first_time,last_time\nhub,x,0,20\nhub,y,0,30\nhub,z,9,1\n")
    found = import_tables(tmp_path, origin="t")
    assert shown(found.tape)["hub"] == [(0, ["x", "y"]), (30, ["y"])]
    assert found.tally.broken == {"not a stay": 1}  # it ends before it begins


def test_stays_alone_make_a_tape_of_lists(tmp_path: Path) -> None:
    day = 86_400
    stood = [("hub", "x", 0, 2), ("hub", "y", 2, 6), ("hub", "z", 5, 6), ("late", "x", 3, 6)]
    rows = [f"{page},{target},{first * day},{last * day}" for page, target, first, last in stood]
    (tmp_path / "stays.csv").write_text("\n".join(["url,target,first_time,last_time", *rows]))
    tape = import_tables(tmp_path, origin="t").tape
    assert tape.identity == "link"
    told = shown(tape)
    assert told["hub"] == [(0, ["x"]), (2 * day, ["x", "y"]), (5 * day, ["y", "z"])]  # seen on days 0, 2, 5 and 6
    assert told["late"] == [(3 * day, ["x"])]


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


def test_a_table_too_large_for_one_batch_is_read_whole_and_its_broken_rows_keep_their_places(tmp_path: Path) -> None:
    rows = (1 << 20) + 5
    table = pa.table(
        {
            "url": pa.array(["http://e.org/"] * (rows - 1) + [None]),
            "time": pa.array(np.arange(rows)),
            "digest": pa.array(np.arange(rows) // 3),
            "html": pa.array(["never read"] * rows),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "versions.parquet")
    found = import_tables(tmp_path, origin="t")
    assert found.tape.versions == (rows - 2) // 3 + 1  # three rows in a row show the same
    assert any(f"versions.parquet:{rows}: not a URL" in named for named in found.tally.named)


def test_a_parquet_table_without_rows_is_an_empty_tape(tmp_path: Path) -> None:
    nothing = pa.table(
        {"url": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "digest": pa.array([], pa.string())}
    )
    pyarrow.parquet.write_table(nothing, tmp_path / "versions.parquet")
    assert import_tables(tmp_path, origin="t").tape.versions == 0


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "has no table versions"),
        ({"versions.csv": "url,time\na,0\n"}, "has no column digest or text"),
        ({"versions.csv": "url,digest\na,0\n"}, "has no column time"),
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


def test_a_table_may_stand_in_several_files_and_its_columns_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "versions-2.csv").write_text("digest,url,time\nb,http://e.org/,60\n")
    with gzip.open(tmp_path / "versions-1.csv.gz", "wt") as file:
        file.write("url;time;digest\nhttp://e.org/;1970-01-01 01:00:00+01:00;a\n")
    for part, at in enumerate((60, 0)):
        zoned = pa.array([at * 1000], pa.timestamp("ms", "Europe/Berlin"))
        table = pa.table({"TIME": zoned, "target": ["http://e.org/x"], "url": ["http://e.org/"]})
        pyarrow.parquet.write_table(table, tmp_path / "links" / f"part-{part}.parquet")
    found = import_tables(tmp_path, origin="t")
    assert shown(found.tape) == {"http://e.org/": [(0, ["http://e.org/x"]), (60, ["http://e.org/x"])]}
    assert not found.tally.broken


def test_rows_that_stand_twice_count_once_and_keep_their_links(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        "url,time,digest\nhttp://e.org/,60,b\nhttp://e.org/,0,a\nhttp://e.org/,60,b\nhttp://e.org/,0,a\n"
    )
    (tmp_path / "links.csv").write_text(
        "url,time,target\n" + "http://e.org/,60,http://e.org/y\nhttp://e.org/,0,http://e.org/x\n" * 2
    )
    found = import_tables(tmp_path, origin="t", identity="url")
    assert shown(found.tape) == {"http://e.org/": [(0, ["http://e.org/x"]), (60, ["http://e.org/y"])]}


def test_a_page_that_vanishes_and_comes_back_has_three_versions(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest,gone\na,0,x,\na,20,,true\na,40,x,false\na,60,x,\n")
    tape = import_tables(tmp_path, origin="t").tape
    assert (tape.time.tolist(), tape.gone.tolist()) == ([0, 20, 40], [False, True, False])


def test_pages_on_which_links_keep_appearing_are_lists_unless_a_table_says_what_is(tmp_path: Path) -> None:
    """The hub shows one article more at each of six times; each article links the hub and, later, two others."""
    versions, links = ["url,time,digest"], ["url,time,target"]
    for hour in range(6):
        versions += [f"hub,{3600 * hour},{hour}", f"a{hour},{3600 * hour},{hour}"]
        links += [f"hub,{3600 * hour},a{number}" for number in range(hour + 1)]
        links += [f"a{hour},{3600 * hour},hub"]
    versions += ["a0,7200,later"]
    links += ["a0,7200,hub", "a0,7200,a1", "a0,7200,a2"]
    (tmp_path / "versions.csv").write_text("\n".join(versions) + "\n")
    (tmp_path / "links.csv").write_text("\n".join(links) + "\n")
    tape = import_tables(tmp_path, origin="t").tape
    assert [url for url, kind in zip(tape.urls(), tape.url_kind, strict=True) if KINDS[kind] is Kind.HUB] == ["hub"]
    assert {KINDS[kind] for kind in import_tables(tmp_path, origin="t", identity="text").tape.url_kind} == {Kind.OTHER}
    (tmp_path / "kinds.csv").write_text("url,kind\na1,hub\n")
    told = import_tables(tmp_path, origin="t").tape
    assert [url for url, kind in zip(told.urls(), told.url_kind, strict=True) if KINDS[kind] is Kind.HUB] == ["a1"]


def test_where_links_are_the_documents_each_is_there_from_its_first_appearance(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhub,0,a\nhub,3600,b\nother,3600,c\n")
    (tmp_path / "stays.csv").write_text(
        "url,target,first_time,last_time\nhub,old,0,3600\nhub,new,3600,3600\nhub,other,0,3600\n"
    )
    tape = import_tables(tmp_path, origin="t", identity="link").tape
    times = {url: [at for at, _ in versions] for url, versions in shown(tape).items()}
    assert times == {"hub": [0, 3600], "other": [3600], "old": [0], "new": [3600]}
    urls = [str(url) for url in tape.urls()]
    dated = {urls[page]: tape.published[tape.version_start[page]] for page in range(tape.pages)}
    assert dated["new"] == 3600
    assert np.isnan(dated["old"])  # it was there at the start
    assert [KINDS[tape.url_kind[urls.index(name)]] for name in ("old", "new")] == [Kind.ARTICLE] * 2


HOURS = range(2, 12)


def test_where_texts_change_and_pages_stay_a_document_is_a_new_text(tmp_path: Path) -> None:
    rows = [f"http://e.org/{page},{hour * 3600},text {page} at {hour}" for page in range(5) for hour in (0, *HOURS)]
    (tmp_path / "versions.csv").write_text("url,time,digest\n" + "\n".join(rows) + "\nhttp://e.org/new,36000,x\n")
    assert import_tables(tmp_path, origin="t").tape.identity == "text"  # fifty changes, one new page


def test_where_lists_show_new_links_a_document_is_what_they_link_to(tmp_path: Path) -> None:
    stays = [f"http://e.org/,http://e.org/{hour},{hour * 3600},{hour * 3600 + 7200}" for hour in HOURS]
    (tmp_path / "stays.csv").write_text("url,target,first_time,last_time\n" + "\n".join(stays) + "\n")
    lists = [f"http://e.org/,{hour * 3600},list at {hour}" for hour in (0, *HOURS)]
    (tmp_path / "versions.csv").write_text("url,time,digest\n" + "\n".join(lists) + "\n")
    tape = import_tables(tmp_path, origin="t").tape
    assert (tape.identity, KINDS[tape.url_kind[0]]) == ("link", Kind.HUB)  # every change of the list showed a new link
    articles = [f"http://e.org/{hour},{hour * 3600},article" for hour in HOURS]
    (tmp_path / "versions.csv").write_text("url,time,digest\n" + "\n".join(lists + articles) + "\n")
    assert import_tables(tmp_path, origin="t").tape.identity == "url"  # the articles themselves were recorded


def test_dated_pages_are_documents_by_their_address(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        "url,time,digest,published\nhttp://e.org/,0,a,0\nhttp://e.org/,9000,b,9000\n"
    )
    assert import_tables(tmp_path, origin="t").tape.identity == "url"


def test_a_list_that_only_a_later_file_names_keeps_its_links_when_links_are_the_documents(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhub,0,a\n")
    header = "url,target,first_time,last_time\n"
    (tmp_path / "stays-1.csv").write_text(header + "hub,x,0,20\nhub,y,10,20\n")
    (tmp_path / "stays-2.csv").write_text(header + "late,z,10,20\n")
    tape = import_tables(tmp_path, origin="t", identity="link").tape
    assert shown(tape)["late"] == [(10, ["z"])]
    assert shown(tape)["hub"] == [(0, ["x"]), (10, ["x", "y"])]


@pytest.mark.parametrize("column", ["url", "time", "digest", "text", "published", "gone"])
def test_a_column_of_lists_is_refused_in_one_line(tmp_path: Path, column: str) -> None:
    table = pa.table({"url": ["a"], "time": [0], "digest": ["x"]} | {column: [["x"]]})
    pyarrow.parquet.write_table(table, tmp_path / "versions.parquet")
    with pytest.raises(InputError, match=f"the column {column} holds list"):
        import_tables(tmp_path, origin="t")


def test_times_in_milliseconds_are_understood(tmp_path: Path) -> None:
    second = 1_767_225_600
    (tmp_path / "versions.csv").write_text(f"url,time,digest\na,{second}000,x\n")
    table = pa.table({"url": ["a"], "time": [second * 1000], "target": ["b"]})
    pyarrow.parquet.write_table(table, tmp_path / "links.parquet")
    assert shown(import_tables(tmp_path, origin="t").tape) == {"a": [(second, ["b"])]}


def test_a_tape_of_stays_ends_when_a_link_was_seen_last(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("url,target,first_time,last_time\nhub,x,0,86400\n")
    tape = import_tables(tmp_path, origin="t").tape
    assert (tape.start, tape.end) == (0, 86_400)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_progress_is_told_by_the_bytes_of_all_tables(tmp_path: Path, form: str) -> None:
    columns = {
        "versions": {"url": ["a"], "time": [0], "digest": ["x"]},
        "links": {"url": ["a"], "time": [0], "target": ["b"]},
    }
    for name, values in columns.items():
        write = pyarrow.parquet.write_table if form == "parquet" else pyarrow.csv.write_csv
        write(pa.table(values), tmp_path / f"{name}.{form}")
    told: list[tuple[int, int]] = []
    import_tables(tmp_path, origin="t", progress=lambda name, read, total: told.append((read, total)))
    sizes = [(tmp_path / f"{name}.{form}").stat().st_size for name in columns]
    assert told == [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))]


def test_a_broken_row_of_csv_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\na,0,x\na,never,y\n")
    assert import_tables(tmp_path, origin="t").tally.named == [f"{tmp_path}/versions.csv:3: not a time: never"]


def test_a_link_seen_once_stays_until_its_own_page_is_seen_again(tmp_path: Path) -> None:
    """The pages are visited one after the other, a second apart, every hour."""
    rows = [f"hub{hub},x{hub}{hour},{3600 * hour + hub},{3600 * hour + hub}" for hub in range(3) for hour in range(3)]
    (tmp_path / "stays.csv").write_text("url,target,first_time,last_time\n" + "\n".join(rows) + "\n")
    tape = import_tables(tmp_path, origin="t", identity="link").tape
    assert shown(tape)["hub1"] == [(1, ["x10"]), (3601, ["x11"]), (7201, ["x12"])]


def test_what_a_page_shows_when_it_joins_is_not_new(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhub,0,a\nhub,9000,b\nlate,9000,c\nlate,12000,d\n")
    links = {("hub", 0): "x", ("hub", 9000): "xy", ("late", 9000): "yz", ("late", 12000): "zw"}
    lines = [f"{url},{time},{target}" for (url, time), targets in links.items() for target in targets]
    (tmp_path / "links.csv").write_text("url,time,target\n" + "\n".join(lines) + "\n")
    tape = import_tables(tmp_path, origin="t", identity="link").tape
    urls = list(tape.urls())
    dated = {url: tape.published[tape.version_start[urls.index(url)]] for url in urls if len(url) == 1}
    assert (dated["y"], dated["w"]) == (9000, 12_000)
    assert np.isnan([dated["x"], dated["z"]]).all()  # z stood on a page that was never seen before


def test_rows_of_addresses_that_are_spelled_otherwise_are_merged_and_mentioned(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        "url,time,digest\nhttp://e.org/a,0,x\nhttp://E.org:80/a,60,y\nhttp://e.org/a#top,90,z\nhttp://e.org/b,90,z\n"
    )
    found = import_tables(tmp_path, origin="t")
    assert (found.tape.pages, found.tally.spelled, found.tally.records) == (2, 2, 4)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view()])
def test_an_address_is_held_once_in_a_batch_however_the_file_calls_texts(tmp_path: Path, type: pa.DataType) -> None:
    path = tmp_path / "stays.parquet"
    pyarrow.parquet.write_table(pa.table({"url": pa.array(["http://e.org/"] * 5000, type)}), path)
    with opened(Source(str(path), path)) as stream:
        (batch,) = table_batches(stream, lambda names: {"url": 0}, ImportTally())
    assert batch.columns["url"].dictionary.to_pylist() == ["http://e.org/"]
