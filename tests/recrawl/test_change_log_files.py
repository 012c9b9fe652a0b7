"""Change logs read from files of every kind."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forager.cli.log_input import cut_log, read_change_log
from forager.errors import InputError

EXPECTED = [[False, True, False], [False, False, True]]


def test_a_csv_with_cycles_and_changes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("url,cycle,changed\nhttps://a/,5,0\nhttps://a/,6,1\nhttps://b/,5,1\nhttps://b/,7,1\n")
    log = read_change_log(path)
    assert log.changed.tolist() == EXPECTED  # cycles count from the first; a page cannot have changed in that one
    assert log.urls == ("https://a/", "https://b/")


def test_digests_and_iso_times(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "url,time,digest\na,2024-01-02T08:00:00,q\nb,2024-01-01T00:00:00,r\na,2024-01-01T01:00:00,p\n"
        "b,2024-01-02T01:00:00,r\nb,2024-01-03T00:00:00,s\na,2024-01-03T05:00:00,q\n"
    )
    assert read_change_log(path, cycle="1d").changed.tolist() == EXPECTED


def test_dates_may_be_written_in_several_ways(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    times = ("2026-03-02T10:00:00", "20260303T100000Z", "20260304100000", '"Thu, 05 Mar 2026 10:00:00 GMT"')
    path.write_text("url,time,changed\n" + "".join(f"a,{time},1\n" for time in times))
    log = read_change_log(path, cycle=86_400.0)
    assert log.changed.tolist() == [[False, True, True, True]]  # the first visit finds nothing changed


def test_json_lines_may_begin_with_the_mark_of_their_encoding(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"url":"a","cycle":0,"changed":0}\n{"url":"a","cycle":1,"changed":1}\n', encoding="utf-8-sig")
    assert read_change_log(path).changed.tolist() == [[False, True]]


def test_pages_and_digests_that_look_like_numbers_are_text(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = ["007,0,17293822569102704640", "007,1,17293822569102704641", "7,0,1", "7,2,1e0"]  # as numbers, all are equal
    path.write_text("Page,cycle,hash\n" + "\n".join(rows) + "\n")
    log = read_change_log(path)
    assert log.urls == ("007", "7")
    assert log.changed.tolist() == EXPECTED


def test_json_lines_with_seconds(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"url": "a", "time": 1000, "changed": false}\n{"url": "a", "time": 1900, "changed": true}\n'
        '{"url": "b", "time": 2800.5, "changed": true}\n'
    )
    assert read_change_log(path, cycle="15m").changed.tolist() == EXPECTED


def test_packed_tables(tmp_path: Path) -> None:
    rows = '{"url":"a","cycle":0,"changed":0}\n{"url":"a","cycle":1,"changed":1}\n{"url":"b","cycle":2,"changed":1}\n'
    lines, table = tmp_path / "log.jsonl.gz", tmp_path / "log.csv.gz"
    lines.write_bytes(gzip.compress(rows.encode()))
    table.write_bytes(gzip.compress(b"url,cycle,changed\na,0,0\na,1,1\nb,2,1\n"))
    assert read_change_log(lines).changed.tolist() == read_change_log(table).changed.tolist() == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"url": ["a", "b"], "cycle": [1, 2], "changed": [True, True]}), path)
    assert read_change_log(path).changed.tolist() == [[False, False], [False, True]]


def test_a_dense_matrix(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, changed=np.array([[1, 1, 0], [0, 0, 1]], dtype=np.uint8))
    assert read_change_log(path).changed.tolist() == EXPECTED


def test_what_failed_downloads_hide_is_guessed_from_the_usual_time_between_changes(tmp_path: Path) -> None:
    """Changes in cycles 2, 4, 6 of the first page: every second cycle, so in cycle 8 too, but not in 9."""
    changed, failed = np.zeros((3, 10), dtype=np.uint8), np.zeros((3, 10), dtype=np.uint8)
    changed[0, [2, 4, 6]], failed[0, [8, 9]] = 1, 1
    failed[1, 5], changed[1, 5] = 1, 1  # no change before: none is guessed, whatever stands there
    failed[2, :3] = 1  # more than two failures: the page is left out
    np.savez(tmp_path / "log.npz", changed=changed, failed=failed)
    rows = [f"p{page},{cycle},{changed[page, cycle]},{failed[page, cycle]}\n" for page, cycle in np.ndindex(3, 10)]
    (tmp_path / "log.csv").write_text("url,cycle,changed,failed\n" + "".join(rows))
    for name in ("log.npz", "log.csv"):
        log = read_change_log(tmp_path / name)
        assert [np.flatnonzero(page).tolist() for page in log.changed] == [[2, 4, 6, 8], []]


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    rows = [f"p{page},{cycle},{int((page * cycle) % 3 == 1)}" for page in range(12) for cycle in range(5)]
    logs = []
    for number, order in enumerate((np.arange(60), np.random.default_rng(1).permutation(60))):
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["url,cycle,changed", *(rows[row] for row in order), rows[0]]))  # the first row twice
        logs.append(read_change_log(path))
    assert logs[0].urls == logs[1].urls
    assert logs[0].changed.tolist() == logs[1].changed.tolist()
    assert logs[0].changed.sum() == sum(int(row[-1]) for row in rows if ",0," not in row)


def test_documents_join_by_url(tmp_path: Path) -> None:
    log, documents = tmp_path / "log.csv", tmp_path / "docs.csv"
    log.write_text("url,cycle,changed\na,0,0\na,1,1\nb,2,1\n")
    documents.write_text("document,url,first,last\nx,b,1,2\nx,a,1,1\ny,elsewhere,1,2\n")
    read = read_change_log(log, documents=documents).documents
    assert read is not None
    assert read.document.tolist() == [0, 0]
    assert read.page.tolist() == [1, 0]
    assert read.last.tolist() == [2, 1]


def test_a_log_that_counts_its_cycles_from_elsewhere_has_its_documents_and_its_parts_there_too(tmp_path: Path) -> None:
    log, documents = tmp_path / "log.csv", tmp_path / "docs.csv"
    log.write_text("url,cycle,changed\na,100,0\na,101,1\nb,104,1\n")
    documents.write_text("document,url,first,last\nx,b,101,102\ny,a,103,104\nlate,a,105,109\n")
    read = read_change_log(log, documents=documents)
    assert read.documents is not None
    assert read.documents.first.tolist() == [1, 3]  # what appears after the end is no news of this log
    assert read.documents.appeared().tolist() == [1, 3]
    assert cut_log(read, "103", "--from") == 3
    assert cut_log(read.span(1, 5), "103", "--from") == 2


def test_documents_that_go_before_they_come_are_told(tmp_path: Path) -> None:
    log, documents = tmp_path / "log.csv", tmp_path / "docs.csv"
    log.write_text("url,cycle,changed\na,0,0\na,1,1\n")
    documents.write_text("document,url,first,last\nx,a,0,1\ny,a,1,0\n")
    with pytest.raises(InputError, match=r"ends before it begins \(row 2\)"):
        read_change_log(log, documents=documents)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("log.csv", "url,changed\na,1\n", "no column cycle"),
        ("log.csv", "url,cycle\na,1\n", "no column changed"),
        ("log.csv", "url,cycle,changed\na,one,1\n", "cycle: expected whole numbers"),
        ("log.csv", "url,cycle,changed\na,1,yes\n", "changed: expected whole numbers"),
        ("log.csv", "url,time,changed\na,3,1\nb,2022-01-01,1\n", "partly seconds (3), partly dates (2022-01-01)"),
        ("log.csv", "url,time,changed\na,yesterday,1\n", "ISO 8601"),
        ("log.csv", f"url,cycle,changed\na,{-(2**62)},0\na,{2**63 - 1},1\n", "at most 60,000 cycles"),
        ("log.csv", "", "cannot be read"),
        ("log.npz", "not a zip", "no archive of number arrays"),
        ("log.parquet", "not parquet", "cannot be read"),
        ("log.jsonl", "{", "cannot be read"),
        ("log.jsonl", '{"url":"a","time":0,"digest":17293822569102704640}\n', "write them in quotes"),
        ("log.jsonl", '{"url":{"a":1},"time":0,"changed":0}\n', "no UTF-8 text"),
        ("log.jsonl", '{"url":"a","time":[1],"changed":0}\n', "ISO 8601, not '[1]'"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_change_log(path)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_wrong_matrix_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_change_log(tmp_path / "none.csv")
    np.savez(tmp_path / "a.npz", other=np.zeros(3))
    with pytest.raises(InputError, match="no array `changed`"):
        read_change_log(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", changed=np.zeros(3))
    with pytest.raises(InputError, match="must be a matrix"):
        read_change_log(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", changed=np.zeros((2, 70_000), dtype=np.bool_))
    with pytest.raises(InputError, match="70,000 cycles are too many"):
        read_change_log(tmp_path / "c.npz")
