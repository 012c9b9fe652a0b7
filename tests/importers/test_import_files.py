"""Capture indexes, TimeMaps and change logs of others become tapes.

The samples are written here after the published formats (CDX legend, CDXJ, RFC 7089 section 5), not taken from a tool.
"""

import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

from forager.errors import InputError
from forager.importers.files import Imported, import_files
from forager.importers.streams import sources
from forager.tape.tape import Tape

DAY = 86_400
MARCH_2 = 1_772_409_600.0
"""2026-03-02 00:00 UTC."""

CDX_11 = """\
 CDX N b a m s k r M S V g
org,example)/ 20260302000000 http://example.org/ text/html 200 AAAA - - 1043 333 a.warc.gz
org,example)/ 20260303000000 http://example.org/ text/html 200 AAAA - - 1043 1376 a.warc.gz
org,example)/ 20260304000000 http://example.org/ text/html 200 BBBB - - 1050 2419 a.warc.gz
org,example)/a 20260302120000 http://example.org/a text/html 200 CCCC - - 900 3469 a.warc.gz
org,example)/a 20260305000000 http://example.org/a text/html 404 DDDD - - 100 4369 a.warc.gz
org,example)/b 20260302000000 http://example.org/b text/html 302 EEEE http://example.org/a - 99 4469 a.warc.gz
org,example)/c 20260302000000 http://example.org/c text/html 503 FFFF - - 99 4568 a.warc.gz
"""


def imported(path: Path | str, identity: str = "url") -> Imported:
    return import_files(sources([str(path)]), origin="test", identity=identity)


def written(folder: Path, content: str | bytes, name: str = "sample.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def versions(tape: Tape) -> dict[str, list[tuple[float, bool]]]:
    """Times in days after 2 March, and whether the page was gone, by URL."""
    found = {}
    for id, url in enumerate(tape.urls()):
        span = range(int(tape.version_start[id]), int(tape.version_start[id + 1]))
        found[str(url)] = [((float(tape.time[v]) - MARCH_2) / DAY, bool(tape.gone[v])) for v in span]
    return found


EXPECTED = {"http://example.org/": [(0, False), (2, False)], "http://example.org/a": [(0.5, False), (3, True)]}
"""The second capture of the home page shows nothing new; the redirect and the failure show no page."""


def test_captures_of_the_same_content_are_one_version_and_a_404_is_gone(tmp_path: Path) -> None:
    found = imported(written(tmp_path, CDX_11))
    assert versions(found.tape) == EXPECTED
    assert found.tally.records == 5
    assert +found.tally.left_out == {"redirect": 1, "failed request": 1}
    assert not found.tally.broken


def test_an_index_of_nine_fields_without_header_is_recognised(tmp_path: Path) -> None:
    rows = [line.split(" ") for line in CDX_11.splitlines()[1:]]
    nine = "".join(" ".join(row[:7] + row[9:]) + "\n" for row in rows)  # without M and S
    assert versions(imported(written(tmp_path, nine)).tape) == EXPECTED


def test_a_header_decides_the_order_of_the_fields(tmp_path: Path) -> None:
    content = " CDX a b k s\nhttp://example.org/ 20260302000000 AAAA 200\n"
    assert versions(imported(written(tmp_path, content)).tape) == {"http://example.org/": [(0, False)]}


def test_indexes_joined_end_to_end_may_differ_in_their_fields(tmp_path: Path) -> None:
    content = " CDX a b k s\nhttp://example.org/x 20260302000000 AAAA 200\n" + CDX_11
    assert versions(imported(written(tmp_path, content)).tape) == {"http://example.org/x": [(0, False)], **EXPECTED}


def test_a_not_modified_capture_shows_what_was_there(tmp_path: Path) -> None:
    lines = [
        "org,example)/ 20260302000000 http://example.org/ text/html 200 AAAA - - 1 1 a",
        "org,example)/ 20260303000000 http://example.org/ text/html 304 EMPTY - - 1 1 a",
        "org,example)/ 20260304000000 http://example.org/ warc/revisit - AAAA - - 1 1 a",
    ]
    assert versions(imported(written(tmp_path, "\n".join(lines))).tape) == {"http://example.org/": [(0, False)]}


def test_broken_lines_are_counted_and_the_first_named_with_their_numbers(tmp_path: Path) -> None:
    lines = CDX_11.splitlines()
    lines[3:3] = ["garbage", ""]
    lines += [
        "x 20261399000000 http://example.org/m text/html 200 A - - 1 1 a",  # month 13
        "x -2026030200000 http://example.org/n text/html 200 A - - 1 1 a",
        "x 99999990101000000 http://example.org/o text/html 200 A - - 1 1 a",
        "x 20260302000000 http:// text/html 200 A - - 1 1 a",
        "dns:x 20260302000000 dns:example.org text/dns 200 A - - 1 1 a",
    ]
    content = "\n".join(lines).encode() + b"\nx 20260302000000 http://ex\xff.org/ text/html 200 A - - 1 1 a\n"
    path = written(tmp_path, content)
    found = imported(path)
    assert versions(found.tape).items() >= EXPECTED.items()
    assert found.tally.broken == {"wrong number of fields": 1, "not a time": 3, "not a URL": 2}
    assert found.tally.left_out["not http"] == 1
    assert f"{path}:4: wrong number of fields: garbage" in found.tally.named
    assert f"{path}:11: not a time: 20261399000000" in found.tally.named  # 10 lines before it


def cdxj(lines: str) -> str:
    rows = [line.split(" ") for line in lines.splitlines()[1:]]
    return "".join(
        f"{r[0]} {r[1]} {json.dumps({'url': r[2], 'status': r[4], 'digest': 'sha1:' + r[5]})}\n" for r in rows
    )


def test_cdxj_says_the_same_as_cdx(tmp_path: Path) -> None:
    content = '!meta {"format": "CDXJ"}\n' + cdxj(CDX_11) + "org,example)/z 20260302000000 {broken\n"
    found = imported(written(tmp_path, content))
    assert versions(found.tape) == EXPECTED
    assert found.tally.broken == {"not a CDXJ line": 1}


def test_cdxj_without_a_url_is_read_by_its_key(tmp_path: Path) -> None:
    content = 'org,example,www)/a?x=1 20260302000000 {"status": 200, "digest": "A"}\n'
    assert list(versions(imported(written(tmp_path, content)).tape)) == ["http://www.example.org/a?x=1"]


LINK_TIMEMAP = """\
<http://a.example.org>;rel="original",
<http://archive.example/timemap/http://a.example.org>
 ; rel="self";type="application/link-format"
 ; from="Mon, 02 Mar 2026 00:00:00 GMT"
 ; until="Wed, 04 Mar 2026 12:00:00 GMT",
<http://archive.example/timegate/http://a.example.org>
 ; rel="timegate",
<http://archive.example/20260302000000/http://a.example.org>
 ; rel="first memento";datetime="Mon, 02 Mar 2026 00:00:00 GMT"
 ; license="http://creativecommons.org/publicdomain/zero/1.0/",
<http://archive.example/20260304120000/http://a.example.org>
 ; rel="last memento";datetime="Wed, 04 Mar 2026 12:00:00 GMT",
<http://archive.example/x/http://a.example.org>
 ; rel="memento";datetime="someday"
"""


def test_each_memento_of_a_timemap_is_a_version(tmp_path: Path) -> None:
    found = imported(written(tmp_path, LINK_TIMEMAP))
    assert versions(found.tape) == {"http://a.example.org/": [(0, False), (2.5, False)]}
    assert found.tally.broken == {"not a time": 1}
    assert found.tally.named[0].endswith(":13: not a time: someday")


def test_json_timemaps_are_read_in_both_common_forms(tmp_path: Path) -> None:
    memgator = {
        "original_uri": "http://a.example.org/",
        "self": "http://archive.example/timemap/json/http://a.example.org/",
        "mementos": {"list": [{"datetime": "2026-03-02T00:00:00Z", "uri": "http://archive.example/1"}]},
    }
    server = [["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]]
    server += [["k", "20260303000000", "http://b.example.org/", "text/html", "200", "AAAA", "12"]]
    server += [["k", "20260304000000", "http://b.example.org/", "text/html", "200", "AAAA", "12"], ["short"]]
    written(tmp_path, json.dumps(memgator), "1")
    written(tmp_path, json.dumps(server), "2")
    found = imported(tmp_path)
    assert versions(found.tape) == {"http://a.example.org/": [(0, False)], "http://b.example.org/": [(1, False)]}
    assert found.tally.broken == {"wrong number of fields": 1}


LOG = [
    ("http://example.org/", MARCH_2, 0),
    ("http://example.org/", MARCH_2 + DAY, 0),
    ("http://example.org/", MARCH_2 + 2 * DAY, 1),
    ("http://example.org/a", MARCH_2 + DAY / 2, 1),
]
LOGGED = {"http://example.org/": [(0, False), (2, False)], "http://example.org/a": [(0.5, False)]}


@pytest.mark.parametrize("format", ["csv", "iso csv", "jsonl", "parquet"])
def test_a_change_log_is_read_in_every_format(tmp_path: Path, format: str) -> None:
    path = tmp_path / "log"
    if format == "csv":
        path.write_text("url,time,changed\n" + "".join(f"{u},{t:.0f},{c}\n" for u, t, c in LOG))
    elif format == "iso csv":
        times = ["2026-03-02T00:00:00Z", "2026-03-03", "2026-03-04T01:00:00+01:00", "2026-03-02 12:00:00"]
        said = {0: "False", 1: "True"}
        rows = [f'"{u}"\t{t}\t{said[c]}' for (u, _, c), t in zip(LOG, times, strict=True)]
        path.write_text("\n".join(["URL\tTime\tChanged", *rows]))
    elif format == "jsonl":
        path.write_text("".join(json.dumps({"url": u, "time": t, "changed": c}) + "\n" for u, t, c in LOG))
    else:
        urls, times, changed = zip(*LOG, strict=True)
        stamps = pa.array(np.asarray(times) * 1e6, pa.int64()).cast(pa.timestamp("us", "UTC"))
        pyarrow.parquet.write_table(pa.table({"url": urls, "time": stamps, "changed": changed}), path)
    assert versions(imported(path).tape) == LOGGED


def test_a_change_log_with_digests_needs_no_flag_for_changes(tmp_path: Path) -> None:
    content = "url,time,digest\nhttp://e.org/,0,a\nhttp://e.org/,10,a\nhttp://e.org/,20,b\nhttp://e.org/,-5,c\nx\n"
    found = imported(written(tmp_path, content))
    assert found.tape.time.tolist() == [0, 20]
    assert found.tally.broken == {"not a time": 1, "wrong number of fields": 1}


def test_a_change_log_without_the_needed_columns_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs the columns url, time and changed or digest; this has url, when"):
        imported(written(tmp_path, "url,when\nhttp://e.org/,0\n"))


def test_undated_documents_are_as_old_as_their_first_sight_but_old_if_there_from_the_start(tmp_path: Path) -> None:
    tape = imported(written(tmp_path, CDX_11)).tape
    home, article = tape.published[:2], tape.published[2]
    assert np.isnan(home).all()  # captured at the very first moment
    assert article == MARCH_2 + DAY / 2


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zstandard.compress(content)])
def test_packed_files_are_unpacked_by_content(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    assert versions(imported(written(tmp_path, pack(CDX_11.encode()), "no-suffix")).tape) == EXPECTED


def test_a_line_ends_with_its_block_in_a_zipnum_index(tmp_path: Path) -> None:
    lines = CDX_11.splitlines()[1:]
    blocks = ["\n".join(lines[begin : begin + 2]) for begin in range(0, len(lines), 2)]
    found = imported(written(tmp_path, b"".join(gzip.compress(block.encode()) for block in blocks)))
    assert versions(found.tape) == EXPECTED
    assert not found.tally.broken
    ended = b"".join(gzip.compress(f"{block}\n".encode()) for block in blocks)
    assert versions(imported(written(tmp_path, ended)).tape) == EXPECTED


def test_a_block_of_bgzip_may_end_within_a_line(tmp_path: Path) -> None:
    def bgzip(content: bytes) -> bytes:
        packed = gzip.compress(content, mtime=0)
        extra = b"BC\x02\x00" + (len(packed) + 7).to_bytes(2, "little")
        return packed[:3] + b"\x04" + packed[4:10] + len(extra).to_bytes(2, "little") + extra + packed[10:]

    content = CDX_11.encode()
    found = imported(written(tmp_path, b"".join(bgzip(content[at : at + 100]) for at in range(0, len(content), 100))))
    assert versions(found.tape) == EXPECTED


def test_a_truncated_file_gives_what_it_holds_and_is_named(tmp_path: Path) -> None:
    lines = "".join(
        f"k 20260302000000 http://e.org/{n * n * 7919} text/html 200 D{n} - - 1 1 a\n" for n in range(20_000)
    )
    packed = gzip.compress(lines.encode())
    found = imported(written(tmp_path, packed[: len(packed) // 2]))
    assert 1_000 < found.tape.versions < 20_000
    assert found.tally.broken["broken off"] == 1


def test_a_folder_is_read_as_a_whole_and_unknown_files_are_counted(tmp_path: Path) -> None:
    written(tmp_path, CDX_11, "a.cdx")
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", LINK_TIMEMAP, "b.link")
    written(tmp_path, "hello", "readme")
    written(tmp_path, "hidden", ".DS_Store")
    found = imported(tmp_path)
    assert set(versions(found.tape)) == {*EXPECTED, "http://a.example.org/"}
    assert found.tally.broken["file of unknown format"] == 1


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CDX_11.encode()))))
    assert versions(imported("-").tape) == EXPECTED


@pytest.mark.parametrize("content", [b"", b"\x00" * 10_000, b"hello\nworld\n", b"\x1f\x8b broken", b"\x28\xb5\x2f\xfd"])
def test_what_is_no_recording_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        imported(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_a_line_without_end_costs_no_memory_and_is_named(tmp_path: Path) -> None:
    content = CDX_11.encode() + b"x" * 30_000_000 + b"\n" + CDX_11.splitlines()[1].replace("/ ", "/last ").encode()
    found = imported(written(tmp_path, gzip.compress(content, 1)))
    assert set(versions(found.tape)) == {*EXPECTED, "http://example.org/last"}
    assert found.tally.broken.total() == 1


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(1_000_000_000))
    assert len(bomb) < 200_000
    with pytest.raises(InputError, match="times its size"):
        imported(written(tmp_path, zstandard.compress(CDX_11.encode()) + bomb))


def test_a_missing_file_is_an_input_error() -> None:
    with pytest.raises(InputError, match="there is no such file"):
        sources(["/no/such/file"])


def test_one_unusable_file_among_others_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path, CDX_11, "a.cdx")
    written(tmp_path, "url,when\nhttp://example.org/,1\n", "b.csv")
    with zipfile.ZipFile(tmp_path / "c.wacz", "w") as package:
        package.writestr("../outside.warc", "x")
    found = imported(tmp_path)
    assert set(versions(found.tape)) == set(EXPECTED)
    assert found.tally.broken["unusable file"] == 2
    assert "points outside" in " ".join(found.tally.named)


@pytest.mark.parametrize("name", ["cdx", "json_timemap", "json_lines"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    content = {
        "cdx": " CDX a b k s N\nhttp://example.org/ 20260302000000 A 200 key\n",
        "json_timemap": '{"original_uri": "http://example.org/", "mementos": {"list": [{"datetime": "2026-03-02T00:00:00Z"}]}}',
        "json_lines": '{"url": "http://example.org/", "time": "2026-03-02T00:00:00Z", "digest": "A"}\n',
    }[name]
    found = imported(written(tmp_path, "\ufeff" + content, "index"))
    assert found.tape.versions == 1
    assert not found.tally.broken


def test_what_an_index_says_of_a_recording_that_is_read_too_is_left_out(tmp_path: Path) -> None:
    written(tmp_path, CDX_11, "a.cdx")
    page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>"
    head = "WARC-Type: response\r\nWARC-Date: 2026-03-02T00:00:00Z\r\nWARC-Target-URI: http://other.example/\r\n"
    record = f"WARC/1.0\r\n{head}Content-Type: application/http\r\nContent-Length: {len(page)}\r\n\r\n{page}\r\n\r\n"
    named = written(tmp_path, record, "a.warc.gz")
    cdxj = 'org,example)/ 20260302000000 {"url":"http://example.org/new","filename":"far/away/a.warc.gz"}\n'
    written(tmp_path, cdxj, "b.cdxj")
    assert set(versions(imported(tmp_path).tape)) == {"http://other.example/"}
    named.write_bytes(b"")  # a recording that cannot be read says nothing itself
    assert set(versions(imported(tmp_path).tape)) == {*EXPECTED, "http://example.org/new"}
    named.unlink()
    assert set(versions(imported(tmp_path).tape)) == {*EXPECTED, "http://example.org/new"}


def test_an_index_as_wget_writes_it_names_the_url_twice(tmp_path: Path) -> None:
    line = "http://a.example.org/ 20260302000000 http://a.example.org/ text/html 200 A - - 820 x.warc.gz <urn:uuid:1>"
    found = imported(written(tmp_path, f" CDX a b a m s k r M V g u\n{line}\n"))
    assert set(versions(found.tape)) == {"http://a.example.org/"}
    assert not found.tally.broken


def test_the_rules_of_a_site_are_no_page_in_an_index_either(tmp_path: Path) -> None:
    lines = [f"k 20260302000000 http://a.example.org/{page} text/html 200 A - 8 x.gz" for page in ("", "robots.txt")]
    found = imported(written(tmp_path, "\n".join(lines)))
    assert set(versions(found.tape)) == {"http://a.example.org/"}
    assert found.tally.left_out["robots.txt"] == 1


def test_a_tape_ends_with_the_last_look_though_nothing_had_changed(tmp_path: Path) -> None:
    found = imported(written(tmp_path, "url,time,changed\nhttp://a.example.org/,0,1\nhttp://a.example.org/,86400,0\n"))
    assert (found.tape.versions, found.tape.end) == (1, 86400)


@pytest.mark.parametrize(
    "text",
    [
        "1767225600000",
        "1767225600000000000",
        "2026-01-01 00:00:00 UTC",
        "20260101T000000Z",
        '"Thu, 01 Jan 2026 00:00:00 GMT"',
        "2026-01-01T02:00:00+02:00",
    ],
)
def test_times_are_understood_as_tools_write_them(tmp_path: Path, text: str) -> None:
    found = imported(written(tmp_path, f"url,time,changed\nhttp://a.example.org/,{text},1\n"))
    assert found.tape.time.tolist() == [1767225600]


def test_values_of_json_lines_may_be_text_or_numbers(tmp_path: Path) -> None:
    rows = [
        {"url": "http://a.example.org/", "time": 10, "changed": "true"},
        {"url": "http://a.example.org/", "time": "20", "changed": "0"},
        {"url": "http://a.example.org/", "time": 30.5, "hash": 1.5},
    ]
    found = imported(written(tmp_path, "\n".join(map(json.dumps, rows))))
    assert found.tape.time.tolist() == [10, 30.5]


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_packed_parquet_is_unpacked_first(tmp_path: Path, packing: str) -> None:
    held = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"url": ["http://a.example.org/"], "time": [10], "digest": ["A"]}), held)
    pack = gzip.compress if packing == "gz" else zstandard.compress
    path = tmp_path / "log.parquet"
    path.write_bytes(pack(held.getvalue()))
    assert imported(path).tape.time.tolist() == [10]


@pytest.mark.parametrize("type", [pa.bool_(), pa.time64("us"), pa.decimal128(5)])
def test_a_column_of_the_wrong_type_holds_no_times(tmp_path: Path, type: pa.DataType) -> None:
    pyarrow.parquet.write_table(
        pa.table({"url": ["http://a.example.org/"], "time": pa.nulls(1, type), "digest": ["A"]}),
        tmp_path / "log.parquet",
    )
    found = imported(tmp_path / "log.parquet")
    assert (found.tape.versions, found.tally.broken["not a time"]) == (0, 1)


@pytest.mark.parametrize("column", ["url", "time", "digest"])
def test_a_column_of_lists_is_refused_in_one_line(tmp_path: Path, column: str) -> None:
    columns: dict[str, list[object]] = {"url": ["http://a.example.org/"], "time": [10], "digest": ["A"]}
    pyarrow.parquet.write_table(pa.table(columns | {column: [[1]]}), tmp_path / "log.parquet")
    with pytest.raises(InputError, match=f"the column {column} holds list"):
        imported(tmp_path / "log.parquet")


def test_pages_named_by_numbers_are_no_urls(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"url": [7], "time": [10], "digest": ["A"]}), tmp_path / "log.parquet")
    assert imported(tmp_path / "log.parquet").tally.broken["not a URL"] == 1
