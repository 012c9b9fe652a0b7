"""WARC files as we write them: valid for others, complete for us."""

import gzip
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from forager.errors import OutputError
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.warc.captures import Capture, captures
from forager.warc.exchange import Exchange
from forager.warc.index import Line, lines_of, merged_index, read_line
from forager.warc.reader import Broken
from forager.warc.writer import WarcWriter, index_name, warcs_in
from forager.web.web_settings import RecordingSettings

AGENT = "Forager/0.1 (+https://example.org/bot)"
NOON = 1_760_000_000.25
PAGE = Url("https://paper.example/news?b=2&a=1")
HTML = (("content-type", "text/html; charset=utf-8"), ("etag", '"v1"'))


def exchange(
    url: Url = PAGE, body: bytes = b"<p>news</p>", at: float = NOON, request: Request | None = None, **changes: object
) -> Exchange:
    response = Response(url, Outcome.FETCHED, at, 0.125, 200, HTML, body, len(body), address="192.0.2.7")
    return Exchange(request or Request(url), replace(response, **changes), 0.125)  # type: ignore[arg-type]


def write(directory: Path, *exchanges: Exchange, **settings: object) -> list[Path]:
    writer = WarcWriter(directory, RecordingSettings(**settings), AGENT, {"operator": "Ada"})  # type: ignore[arg-type]
    writer.write(exchanges)
    writer.close()
    return warcs_in(directory)


def check(*paths: Path) -> None:
    """warcio's own checker: every digest, every length."""
    found = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", *paths], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
    assert "digest pass" in found.stdout
    assert "no digest to check" not in found.stdout


def read_by_warcio(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    with path.open("rb") as file:
        return [
            (record.rec_type, dict(record.rec_headers.headers), record.content_stream().read())
            for record in ArchiveIterator(file)
        ]


def indexed(path: Path) -> list[Line]:
    return [line for line in map(read_line, lines_of(index_name(path))) if line]


NOT_MODIFIED = exchange(
    request=Request(PAGE, Validators(etag='"v1"')),
    outcome=Outcome.UNCHANGED,
    status=304,
    headers=(("etag", '"v1"'),),
    body=b"",
    wire_bytes=0,
    asked=NOON + 60,
)
TIMEOUT = Exchange(
    Request(Url("https://slow.example/")),
    Response(
        Url("https://slow.example/"), Outcome.FAILED, NOON, 30.0, trouble=Trouble.TIMEOUT, error="no answer — in 30 s"
    ),
    30.0,
)
PACKED = exchange(
    Url("https://paper.example/gz"),
    b"unpacked",
    headers=(
        ("content-encoding", "gzip"),
        ("content-length", "6"),
        ("transfer-encoding", "chunked"),
        ("x-archive-orig-content-length", "sent by the server"),
        ("x-title", "Grüße"),
    ),
    wire_bytes=6,
)
CODED = exchange(
    Url("https://paper.example/coded"),
    b"unpacked",
    headers=(("content-encoding", "gzip"), ("content-length", str(len(gzip.compress(b"unpacked", mtime=0))))),
    coded=gzip.compress(b"unpacked", mtime=0),
)
CHUNKED = exchange(
    Url("https://paper.example/chunked"),
    b"unpacked as well",
    headers=(
        ("content-encoding", "gzip"),
        ("transfer-encoding", "chunked"),
        ("x-archive-orig-content-encoding", "sent by the server"),
    ),
    coded=gzip.compress(b"unpacked as well", mtime=0),
)
CUT = exchange(
    Url("https://paper.example/robots.txt"),
    b"User-agent",
    request=Request(Url("https://paper.example/robots.txt"), body_limit=10),
)
TORN = exchange(
    Url("https://paper.example/big"), b"", outcome=Outcome.FAILED, trouble=Trouble.SIZE, error="too big", wire_bytes=99
)
MOVED = exchange(
    Url("https://paper.example/old"), b"", outcome=Outcome.MOVED, status=301, headers=(("location", "/new"),)
)
COPY = exchange(Url("https://paper.example/copy"))
EVERY_KIND = [exchange(), NOT_MODIFIED, TIMEOUT, PACKED, CODED, CHUNKED, CUT, TORN, MOVED, COPY]


def test_every_kind_of_exchange_passes_the_checks_of_warcio_and_fastwarc(tmp_path: Path) -> None:
    (path,) = write(tmp_path, *EVERY_KIND)
    check(path)
    records = read_by_warcio(path)
    kinds = [kind for kind, _, _ in records]
    answers = ["response", "revisit", "metadata", *["response"] * 6, "revisit"]
    assert kinds == ["warcinfo", *(kind for answer in answers for kind in ("request", answer))]
    with path.open("rb") as file:
        seen = [record.verify_block_digest() for record in FastIterator(file, parse_http=False)]
    assert seen == [True] * 21


def test_what_was_written_is_read_back_exactly(tmp_path: Path) -> None:
    read = list(captures(write(tmp_path, *EVERY_KIND)))
    *once, copy = [found for found in read if isinstance(found, Capture)]
    assert [Exchange(found.request, found.response, found.took) for found in once] == EVERY_KIND[:-1]
    assert copy.repeats
    assert replace(copy.response, body=b"<p>news</p>") == EVERY_KIND[-1].response


def test_other_tools_see_the_body_unpacked_and_the_headers_that_fit_it(tmp_path: Path) -> None:
    (path,) = write(tmp_path, PACKED)
    with path.open("rb") as file:
        record = next(record for record in ArchiveIterator(file) if record.rec_type == "response")
        assert record.content_stream().read() == b"unpacked"
        assert record.http_headers.get_header("content-length") == "8"
        assert record.http_headers.get_header("x-archive-orig-content-encoding") == "gzip"
        assert record.http_headers.get_header("content-encoding") is None


def test_a_body_that_came_compressed_stays_so_and_other_tools_unpack_it(tmp_path: Path) -> None:
    (path,) = write(tmp_path, CODED, CHUNKED)
    seen = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                header = record.http_headers.get_header
                told = (header("content-encoding"), header("content-length"), header("transfer-encoding"))
                seen.append((record.raw_stream.read(), *told, header("x-archive-orig-transfer-encoding")))
    assert seen == [
        (CODED.response.coded, "gzip", str(len(CODED.response.coded)), None, None),
        (CHUNKED.response.coded, "gzip", str(len(CHUNKED.response.coded)), None, "chunked"),
    ]
    with path.open("rb") as file:
        bodies = [record.content_stream().read() for record in ArchiveIterator(file) if record.rec_type == "response"]
    assert bodies == [b"unpacked", b"unpacked as well"]


def test_a_304_refers_to_the_body_that_it_confirms(tmp_path: Path) -> None:
    (path,) = write(tmp_path, exchange(), NOT_MODIFIED)
    (_, revisit, _), (_, response, _) = [
        next(record for record in read_by_warcio(path) if record[0] == kind) for kind in ("revisit", "response")
    ]
    assert revisit["WARC-Profile"].endswith("/revisit/server-not-modified")
    assert revisit["WARC-Refers-To-Target-URI"] == PAGE
    assert revisit["WARC-Refers-To-Date"] == response["WARC-Date"] == "2025-10-09T08:53:20.250000Z"
    assert revisit["WARC-Payload-Digest"] == response["WARC-Payload-Digest"]


def test_the_settings_stand_in_the_first_record(tmp_path: Path) -> None:
    (path,) = write(tmp_path, exchange())
    kind, fields, block = read_by_warcio(path)[0]
    assert kind == "warcinfo"
    assert fields["WARC-Filename"] == path.name == "forager-20251009085320-00001.warc.gz"
    assert b"operator: Ada\r\n" in block
    assert f"http-header-user-agent: {AGENT}\r\n".encode() in block


def test_the_index_leads_to_the_records(tmp_path: Path) -> None:
    (path,) = write(tmp_path, *EVERY_KIND)
    lines = indexed(path)
    assert list(lines_of(index_name(path))) == sorted(lines_of(index_name(path)))
    assert len(lines) == 8  # neither the timeout nor the body that was too big can be shown
    for line in lines:
        start = int(line.offset)
        member = path.read_bytes()[start : start + int(line.length)]
        (record,) = ArchiveIterator(io.BytesIO(member))
        assert record.rec_headers.get_header("WARC-Target-URI") == line.url
        assert record.http_headers.get_statuscode() == line.status


def test_an_index_line_looks_as_other_tools_write_it(tmp_path: Path) -> None:
    (path,) = write(tmp_path, exchange())
    (line,) = lines_of(index_name(path))
    key, time, json = line.split(" ", 2)
    assert (key, time) == ("example,paper)/news?a=1&b=2", "20251009085320")
    fields = msgspec.json.decode(json)
    assert list(fields) == ["url", "mime", "status", "digest", "length", "offset", "filename"]
    assert fields["mime"] == "text/html"
    # printf '<p>news</p>' | sha1sum | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base32
    assert fields["digest"] == "sha1:ZYD7FAEWDCVVUHAPMOX536XHKHJBPRUM"


def test_a_file_is_closed_when_it_is_big_enough(tmp_path: Path) -> None:
    noise = [bytes((i * i + k) % 251 for i in range(999)) for k in range(6)]
    paths = write(tmp_path, *(exchange(Url(f"{PAGE}&n={k}"), body) for k, body in enumerate(noise)), max_size=1000)
    assert [path.name[-13:] for path in paths] == [f"0000{k}.warc.gz" for k in range(1, len(paths) + 1)]
    assert len(paths) > 1
    check(*paths)
    assert len(list(merged_index(map(index_name, paths)))) == 6


def test_a_file_is_closed_when_it_is_old_enough(tmp_path: Path) -> None:
    later = exchange(at=NOON + 3600)
    assert len(write(tmp_path / "a", exchange(), later, max_age=3600.0)) == 2
    assert len(write(tmp_path / "b", exchange(), later, max_age=3601.0)) == 1


def test_a_file_is_called_open_until_it_is_closed(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, RecordingSettings(), AGENT)
    writer.write([exchange()])
    assert [path.name for path in tmp_path.iterdir()] == ["forager-20251009085320-00001.warc.gz.open"]
    assert len(list(captures(warcs_in(tmp_path)))) == 1  # and can be read all the same
    writer.close()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cdxj", ".gz"]


def test_a_later_crawl_goes_on_in_the_same_directory(tmp_path: Path) -> None:
    write(tmp_path, exchange())
    first, second = write(tmp_path, exchange(at=NOON + 3600), replace(NOT_MODIFIED, took=0.125))
    assert second.name.endswith("-00002.warc.gz")
    again, unchanged = [fields for kind, fields, _ in read_by_warcio(second) if kind == "revisit"]
    assert again["WARC-Refers-To-Date"] == unchanged["WARC-Refers-To-Date"] == "2025-10-09T08:53:20Z"
    check(first, second)


def test_a_later_crawl_refers_to_bodies_and_never_to_revisits(tmp_path: Path) -> None:
    first, copy = Url("https://paper.example/z"), Url("https://paper.example/a")  # the copy comes first in the index
    write(tmp_path, exchange(first), exchange(copy))
    _, second = write(tmp_path, exchange(copy, at=NOON + 60))
    (revisit,) = [fields for kind, fields, _ in read_by_warcio(second) if kind == "revisit"]
    assert revisit["WARC-Refers-To-Target-URI"] == first


def test_the_same_exchanges_make_the_same_bytes(tmp_path: Path) -> None:
    (one,), (other,) = write(tmp_path / "a", *EVERY_KIND), write(tmp_path / "b", *EVERY_KIND)
    assert one.read_bytes() == other.read_bytes()


def test_a_body_that_was_forgotten_is_written_again(tmp_path: Path) -> None:
    todo = [exchange(body=body, at=NOON + n) for n, body in enumerate([b"one", b"two", b"two", b"one"])]
    (path,) = write(tmp_path, *todo, remember=1)
    kinds = [kind for kind, _, _ in read_by_warcio(path) if kind in ("response", "revisit")]
    assert kinds == ["response", "response", "revisit", "response"]


@pytest.mark.parametrize("level", [0, 3, 9])
def test_every_level_of_compression_is_valid(tmp_path: Path, level: int) -> None:
    check(*write(tmp_path, *EVERY_KIND, level=level))


def test_a_directory_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    with pytest.raises(OutputError, match="cannot write the recording"):
        WarcWriter(blocked / "warc", RecordingSettings(), AGENT)


def test_line_breaks_in_an_error_or_a_header_cannot_forge_records(tmp_path: Path) -> None:
    evil = "x\r\n\r\nWARC/1.1\r\nWARC-Type: response"
    bad = Url("https://paper.example/\r\nWARC-Type: response")
    refused = Response(bad, Outcome.REFUSED, NOON, trouble=Trouble.URL, error=evil)
    (path,) = write(tmp_path, Exchange(Request(bad), refused, 0.0), exchange(headers=(("x-evil", evil),)))
    check(path)
    assert [kind for kind, _, _ in read_by_warcio(path)] == ["warcinfo", "request", "metadata", "request", "response"]
    assert not [found for found in captures([path]) if isinstance(found, Broken)]


TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=20).map(
    lambda text: text.strip(" \t")
)
HEADER_NAMES = st.sampled_from(["content-length", "content-encoding", "etag", "x-archive-orig-content-length", "x-y"])
RESPONSES = st.builds(
    Response,
    url=st.just(PAGE),
    outcome=st.sampled_from([Outcome.FETCHED, Outcome.GONE, Outcome.FAILED, Outcome.MOVED]),
    asked=st.floats(0, 4e9),
    seconds=st.floats(0, 1e3),
    status=st.integers(100, 999).filter(lambda status: status != 304),
    headers=st.lists(st.tuples(HEADER_NAMES, TEXT), max_size=5).map(tuple),
    body=st.binary(max_size=50),
    wire_bytes=st.integers(0, 10**9),
    trouble=st.sampled_from(Trouble),
    error=TEXT,
)
REQUESTS = st.builds(
    Request,
    st.just(PAGE),
    st.builds(Validators, st.sampled_from(["", '"v1"']), st.sampled_from(["", "Mon, 02 Mar 2026 00:00:00 GMT"])),
    st.none() | st.integers(0, 10**9),
)


@settings(max_examples=80, deadline=None)
@given(REQUESTS, RESPONSES, st.floats(0, 1e3))
def test_any_exchange_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, request_: Request, response: Response, took: float
) -> None:
    made = Exchange(request_, response, took)
    (capture,) = captures(write(tmp_path_factory.mktemp("any"), made))
    assert isinstance(capture, Capture)
    assert Exchange(capture.request, capture.response, capture.took) == made
