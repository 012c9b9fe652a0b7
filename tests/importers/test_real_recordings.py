"""Recordings of real news sites are read as they are."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import corpora
import numpy as np
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from forager.cli.app import app
from forager.errors import InputError
from forager.importers.files import import_files
from forager.importers.log_files import read_log
from forager.importers.streams import sources
from forager.importers.tables import import_tables
from forager.tape.tape import KINDS, Tape
from forager.tape.tape_world import documents
from forager.terms import Kind


def appeared(tape: Tape) -> set[str]:
    """The addresses of the documents that were not there at the start."""
    urls, found = list(tape.urls()), documents(tape)
    return {urls[key] for key, born in zip(found.key.tolist(), found.born.tolist(), strict=True) if born > tape.start}


def test_a_recording_of_front_pages_shows_the_articles_that_a_table_of_its_links_shows(tmp_path: Path) -> None:
    """Links to other sites, which the reader leaves to the crawl, are in both; feeds are links to the reader alone."""
    warc, tables = (corpora.have(lambda at=at: corpora.recording("frontpages-html", at)) for at in
                    ("heise.de.warc.zst", "tables"))  # fmt: skip
    by_table = import_tables(corpora.part_of_tables(tables, tmp_path, only="heise.de"), origin="tables").tape
    by_reader = import_files(sources([str(warc)]), origin="warc").tape
    assert (by_table.identity, by_reader.identity) == ("link", "link")
    ours, theirs = appeared(by_reader), appeared(by_table)
    assert len(theirs) > 200
    assert len(ours & theirs) > 0.95 * max(len(ours), len(theirs))


def test_what_stood_on_front_pages_when_their_site_joined_is_not_new() -> None:
    """Sites joined one after the other: most of the 16,271 links stood there at the first sight of some page."""
    tables = corpora.have(lambda: corpora.recording("frontpages-html", "tables"))
    tape = import_tables(tables, origin="tables").tape
    rows = pyarrow.parquet.read_table(tables / "links.parquet").to_pydict()
    first: dict[str, str] = {}
    for url, time in zip(rows["url"], rows["time"], strict=True):
        first[url] = min(first.get(url, time), time)
    met: dict[str, tuple[str, bool]] = {}
    for url, time, target in zip(rows["url"], rows["time"], rows["target"], strict=True):
        met[target] = min(met.get(target, (time, True)), (time, time == first[url]))
    new = sum(not stood for _, stood in met.values())
    found = len(appeared(tape))
    assert found == pytest.approx(new, rel=0.02)  # by hand, addresses as they stand there
    assert found < len(met) / 2


def test_lists_of_front_pages_are_lists_and_their_articles_are_dated_by_their_links() -> None:
    tape = import_tables(corpora.have(lambda: corpora.recording("frontpages-html", "tables")), origin="t").tape
    versions = np.diff(tape.version_start)
    hubs = tape.url_kind == KINDS.index(Kind.HUB)
    assert 80 < hubs.sum() < 133  # the others hardly change: imprint, archive
    assert versions[hubs].min() > 1
    dated = np.isfinite(tape.published)
    assert (tape.published[dated] <= tape.time[dated]).all()


def test_every_archive_of_other_projects_is_imported_or_refused_in_one_clear_line(tmp_path: Path) -> None:
    samples = corpora.have(lambda: corpora.recording("warc-samples"))
    files = sorted(path for path in samples.glob("*/**/*") if path.is_file())
    assert len(files) == 87
    refused = {}
    for number, path in enumerate(files):
        told = CliRunner().invoke(app, ["import", str(path), "-O", str(tmp_path / str(number)), "-q"])
        if told.exit_code:
            assert isinstance(told.exception, InputError), (path, told.exception)
            refused[path.name] = str(told.exception)
    for name, reason in refused.items():
        assert name in reason
        assert "\n" not in reason
        assert re.search("broken|without a page|no answers|no WARC", reason), reason
    assert len(refused) <= 21  # broken on purpose, or without any answer in them


def arc(*records: tuple[str, str, str]) -> list[bytes]:
    """The records of an ARC file: first what describes it, then URL, date and body of each page."""
    packed = [b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain 9\n1 0 Tool\n\n"]
    for url, date, body in records:
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body.encode()
        packed.append(f"{url} 127.0.0.1 {date} text/html {len(block)}\n".encode() + block + b"\n")
    return packed


PAGES = [
    ("http://e.org/", "20080430204826", '<html><a href="/a b">one</a></html>'),
    ("http://e.org/a b", "20080430204827", "<html><p>A page whose address has a space.</p></html>"),
    ("http://e.org/", "20080501204826", '<html><a href="/new">two</a></html>'),
]


@pytest.mark.parametrize("pack", [lambda one: one, gzip.compress], ids=["plain", "gzip"])
def test_arc_files_are_read_like_warc_files(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.arc"
    path.write_bytes(b"".join(map(pack, arc(*PAGES))))
    found = import_files(sources([str(path)]), origin="t")
    urls = list(found.tape.urls())
    assert (found.formats["ARC"], found.tally.records, +found.tally.broken) == (1, 3, {})
    assert (
        np.diff(found.tape.version_start)[[urls.index("http://e.org/"), urls.index("http://e.org/a%20b")]]
    ).tolist() == [2, 1]
    assert found.tape.time.max() - found.tape.time.min() == 86_400
    assert "http://e.org/" in read_log(path).urls


@pytest.mark.parametrize("pack", [lambda one: one, gzip.compress], ids=["plain", "gzip"])
def test_behind_a_broken_record_of_an_arc_file_reading_goes_on(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    parts = arc(*PAGES)
    parts[2] = parts[2].replace(b"20080430204827", b"null", 1)
    path = tmp_path / "a.arc"
    path.write_bytes(b"".join(map(pack, parts)))
    found = import_files(sources([str(path)]), origin="t")
    assert found.tape.time.max() - found.tape.time.min() == 86_400  # the last one is there
    assert found.tally.broken == {"broken record": 1}
