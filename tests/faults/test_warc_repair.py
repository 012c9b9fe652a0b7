"""A crawl that is killed while it writes loses at most the record it was writing; the next start mends the file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from forager.terms import Outcome, Request, Response, Url
from forager.warc.captures import Capture, captures
from forager.warc.exchange import Exchange
from forager.warc.index import lines_of
from forager.warc.writer import WarcWriter, index_name, repair, warcs_in
from forager.web.web_settings import RecordingSettings
from tests.warc.test_warc_writing import AGENT, EVERY_KIND, check

WRITER = """
import sys
from pathlib import Path
from forager.terms import Outcome, Request, Response, Url
from forager.warc.exchange import Exchange
from forager.web.web_settings import RecordingSettings
from forager.warc.writer import WarcWriter

writer = WarcWriter(Path(sys.argv[1]), RecordingSettings(max_size=400_000), "Forager/0.1 (+https://example.org/bot)")
for number in range(10**6):
    url = Url(f"https://paper.example/{number}")
    body = bytes((k * k + number) % 251 for k in range(3000)) + str(number).encode()
    writer.write([Exchange(Request(url), Response(url, Outcome.FETCHED, 1.76e9 + number, 0.1, 200, (), body, 9), 0.1)])
    print(number, flush=True)
"""


def opened(directory: Path) -> Path:
    """A file as it is before closing, with every kind of record."""
    writer = WarcWriter(directory, RecordingSettings(), AGENT)
    writer.write(EVERY_KIND)
    (path,) = warcs_in(directory)
    return path


def numbers(directory: Path) -> list[int]:
    found = [entry for entry in captures(warcs_in(directory)) if isinstance(entry, Capture)]
    return [int(capture.request.url.rpartition("/")[2]) for capture in found]


@pytest.mark.parametrize("written", [1, 150])
def test_after_kill_9_everything_that_was_written_is_there(tmp_path: Path, written: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = -1
    for line in process.stdout:
        said = int(line)
        if said >= written:
            break
    time.sleep(0.01)  # somewhere in the middle of another one
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().splitlines()
    process.wait()
    said = max([said, *(int(line) for line in rest if line)])
    repair(tmp_path)
    paths = warcs_in(tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".open")]
    check(*paths)
    kept = numbers(tmp_path)
    assert kept == list(range(len(kept)))
    assert len(kept) >= said + 1
    assert sum(len(list(lines_of(index_name(path)))) for path in paths) == len(kept)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_wherever_a_file_is_torn_all_complete_records_are_kept(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = opened(tmp_path_factory.mktemp("torn"))
    raw = path.read_bytes()
    with path.open("rb") as file:
        records = ArchiveIterator(file)
        starts = [records.get_record_offset() for _ in records]
    ends = [*starts[1:], len(raw)]
    cut = data.draw(st.integers(0, len(raw)))
    path.write_bytes(raw[:cut])
    (done,) = repair(path.parent)
    whole = [end for end in ends if end <= cut]
    assert (done.kept, done.cut) == (len(whole), cut - max(whole, default=0))
    assert done.path.exists() is bool(whole)
    if whole:
        assert done.path.read_bytes() == raw[: whole[-1]]


def test_a_mended_file_has_the_index_that_closing_would_have_made(tmp_path: Path) -> None:
    closed = WarcWriter(tmp_path / "closed", RecordingSettings(), AGENT)
    closed.write(EVERY_KIND)
    closed.close()
    path = opened(tmp_path / "killed")
    with path.open("ab") as file:
        file.write(path.read_bytes()[:30])  # the beginning of one more record
    repair(path.parent)
    for one, other in zip(
        sorted((tmp_path / "closed").iterdir()), sorted((tmp_path / "killed").iterdir()), strict=True
    ):
        assert (one.name, one.read_bytes()) == (other.name, other.read_bytes())


def test_a_record_damaged_in_the_middle_does_not_cost_the_ones_after_it(tmp_path: Path) -> None:
    path = opened(tmp_path)
    raw = bytearray(path.read_bytes())
    with path.open("rb") as file:
        records = ArchiveIterator(file)
        starts = [records.get_record_offset() for _ in records]
    raw[starts[4] + 20 : starts[4] + 28] = b"\xff" * 8
    path.write_bytes(bytes(raw))
    (done,) = repair(tmp_path)
    assert (done.kept, done.cut) == (len(starts) - 1, starts[5] - starts[4])
    check(done.path)


def test_the_next_crawl_mends_before_it_writes(tmp_path: Path) -> None:
    path = opened(tmp_path)
    path.write_bytes(path.read_bytes()[:-7])
    url = Url("https://paper.example/next")
    writer = WarcWriter(tmp_path, RecordingSettings(), AGENT)
    writer.write([Exchange(Request(url), Response(url, Outcome.FETCHED, 1.77e9, 0.1, 200, (), b"next", 4), 0.1)])
    writer.close()
    paths = warcs_in(tmp_path)
    assert [name.name[-13:] for name in paths] == ["00001.warc.gz", "00002.warc.gz"]
    check(*paths)
