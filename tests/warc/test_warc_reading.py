"""Recordings of other tools, and files that are broken in every way: read what can be read, name the rest."""

import asyncio
import gzip
import io
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from forager.errors import InputError
from forager.terms import Outcome, Trouble, Url
from forager.warc.captures import Capture, captures, dechunked
from forager.warc.reader import Broken, WarcRecord, record_at, records
from tests.server import Served, serving

URL = "http://paper.example/"


def record(
    block: bytes,
    *fields: str,
    kind: str = "response",
    url: str = URL,
    date: str = "2024-05-06T07:08:09Z",
    length: str = "",
) -> bytes:
    """A WARC 1.0 record with any block and any claim about its length."""
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {date}",
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>",
        *fields,
        f"Content-Length: {length or len(block)}",
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


THREE = [record(http(f"page {n}".encode()), url=f"{URL}{n}") for n in range(3)]


def saved(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


def bodies(path: Path) -> list[bytes]:
    return [found.response.body for found in captures([path]) if isinstance(found, Capture)]


def troubles(path: Path) -> list[str]:
    return [found.why for found in records(path) if isinstance(found, Broken)]


def zstd_with_dictionary(parts: list[bytes], *, packed: bool) -> bytes:
    samples = [f"WARC/1.0\r\nWARC-Type: response\r\n{k * 7919}".encode() * 20 for k in range(200)]
    dictionary = zstandard.train_dictionary(4096, samples)
    raw = dictionary.as_bytes()
    raw = zstandard.compress(raw) if packed else raw
    packer = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    return b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw + b"".join(map(packer.compress, parts))


PACKINGS: dict[str, Callable[[list[bytes]], bytes]] = {
    "plain": b"".join,
    "gzip, a member for each record": lambda parts: b"".join(map(gzip.compress, parts)),
    "gzip, one member": lambda parts: gzip.compress(b"".join(parts)),
    "zstd, a frame for each record": lambda parts: b"".join(map(zstandard.compress, parts)),
    "zstd, one frame": lambda parts: zstandard.compress(b"".join(parts)),
    "zstd with a dictionary": lambda parts: zstd_with_dictionary(parts, packed=False),
    "zstd with a compressed dictionary": lambda parts: zstd_with_dictionary(parts, packed=True),
}
BY_RECORD = [name for name in PACKINGS if "one" not in name and name != "plain"]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_file_is_read_however_it_is_compressed(tmp_path: Path, packing: str) -> None:
    path = saved(tmp_path / "a.warc", PACKINGS[packing](THREE))
    found = list(records(path))
    assert [entry.url for entry in found if isinstance(entry, WarcRecord)] == [f"{URL}{n}" for n in range(3)]
    assert [record_at(entry.place) for entry in found] == found


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_file_cut_off_loses_its_last_record_only(tmp_path: Path, packing: str) -> None:
    noisy = [*THREE[:2], record(http(bytes(k * k % 251 for k in range(5000))))]
    raw = PACKINGS[packing](noisy)
    cut = saved(tmp_path / "cut.warc", raw[:-40])
    whole = 2 if "one frame" not in packing else 0  # one block of zstd is all or nothing
    assert len(bodies(cut)) == whole
    assert len(troubles(cut)) == 1


@pytest.mark.parametrize("packing", BY_RECORD)
def test_a_damaged_record_is_named_and_the_next_one_read(tmp_path: Path, packing: str) -> None:
    raw = bytearray(PACKINGS[packing](THREE))
    first, second, _ = [
        entry for entry in records(saved(tmp_path / "a.warc", bytes(raw))) if isinstance(entry, WarcRecord)
    ]
    middle = (second.place.offset + second.end) // 2
    assert first.end == second.place.offset
    raw[middle : middle + 8] = b"\xff" * 8
    damaged = saved(tmp_path / "damaged.warc", bytes(raw))
    (broken,) = [entry for entry in records(damaged) if isinstance(entry, Broken)]
    assert broken.place.offset == second.place.offset
    assert bodies(damaged) == [b"page 0", b"page 2"]


LIES = {
    "longer than the rest": ("9999999", "declares"),
    "longer than anything": ("9" * 18, "declares"),
    "far beyond any number": ("9" * 4000, "is no length"),
    "negative": ("-5", "is no length"),
    "no number": ("many", "is no length"),
    "shorter than it is": ("20", "goes on after"),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("packing", ["plain", *BY_RECORD[:2], "gzip, one member"])
def test_a_record_that_lies_about_its_length_is_named_and_the_next_one_read(
    tmp_path: Path, packing: str, lie: str
) -> None:
    length, why = LIES[lie]
    liar = record(http(b"a body of some length"), length=length)
    path = saved(tmp_path / "a.warc", PACKINGS[packing]([THREE[0], liar, THREE[2]]))
    is_given_up = lie == "longer than anything" and packing != "plain"
    assert bodies(path) == ([b"page 0"] if is_given_up and packing == "gzip, one member" else [b"page 0", b"page 2"])
    assert ("passes the limit" if is_given_up else why) in troubles(path)[0]


def test_a_length_somewhat_too_long_does_not_swallow_the_next_member(tmp_path: Path) -> None:
    liar = record(http(b"short"), length="60")
    path = saved(tmp_path / "a.warc.gz", b"".join(map(gzip.compress, [THREE[0], liar, THREE[2]])))
    assert bodies(path) == [b"page 0", b"page 2"]
    (why,) = troubles(path)
    assert why == "declares 60 bytes, but 28 are there"  # the 24 of status line, header end and body, and two line ends


def test_a_record_beyond_the_limit_is_passed_over(tmp_path: Path) -> None:
    big = record(http(b"\0" * 3_000_000))
    path = saved(tmp_path / "a.warc.gz", b"".join(map(gzip.compress, [THREE[0], big, THREE[2]])))
    kinds = [type(entry) for entry in records(path, limit=1_000_000)]
    assert kinds == [WarcRecord, Broken, WarcRecord]


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = record(b"", length=str(10**15)).rstrip() + b"\r\n\r\n"
    bomb = packer.compress(head) + b"".join(packer.compress(b"\0" * 10**6) for _ in range(50)) + packer.flush()
    path = saved(tmp_path / "a.warc.gz", gzip.compress(THREE[0]) + bomb + gzip.compress(THREE[2]))
    kinds = [type(entry) for entry in records(path, limit=1000)]
    assert kinds == [WarcRecord, Broken, WarcRecord]


NO_WARC = [b"", b"\r\n\r\n", b"<html>", b"WARC/1.0", b"WARC/" * 30_000, b"PK\x03\x04" * 99]
NO_WARC += [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18\xff\xff\xff\xff"]


@pytest.mark.parametrize("raw", NO_WARC)
def test_a_file_that_is_no_warc_has_no_records(tmp_path: Path, raw: bytes) -> None:
    assert not any(isinstance(entry, WarcRecord) for entry in records(saved(tmp_path / "x.warc", raw)))


def test_rubbish_between_records_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.warc", THREE[0] + b"rubbish\r\nmore of it\r\n" + THREE[2])
    assert bodies(path) == [b"page 0", b"page 2"]
    assert troubles(path) == ["bytes that are no WARC record"]


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        next(records(tmp_path / "missing.warc"))


WHOLE = PACKINGS["gzip, a member for each record"](THREE)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_damage_raises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    raw = bytearray(PACKINGS[data.draw(st.sampled_from(sorted(PACKINGS)))](THREE))
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=30))
    path = tmp_path_factory.mktemp("damage") / "a.warc"
    path.write_bytes(bytes(raw))
    assert len(list(islice(captures([path]), 1000))) < 1000


CHUNKED = b"4\r\npage\r\n6;x=y\r\n again\r\n0\r\n\r\n"
ENCODED = {
    "chunked": (CHUNKED, ["Transfer-Encoding: chunked"]),
    "gzip": (gzip.compress(b"page again"), ["Content-Encoding: gzip"]),
    "brotli": (brotli.compress(b"page again"), ["Content-Encoding: br"]),
    "deflate": (zlib.compress(b"page again"), ["Content-Encoding: deflate"]),
    "zstd": (zstandard.compress(b"page again"), ["Content-Encoding: zstd"]),
    "decoded, but with the old headers": (b"page again", ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]),
}


@pytest.mark.parametrize("coding", ENCODED)
def test_chunks_and_compression_of_other_tools_are_undone(tmp_path: Path, coding: str) -> None:
    payload, headers = ENCODED[coding]
    (capture,) = captures([saved(tmp_path / "a.warc", record(http(payload, *headers)))])
    assert isinstance(capture, Capture)
    assert capture.response.body == b"page again"
    assert capture.response.outcome is Outcome.FETCHED
    assert capture.response.asked == 1714979289.0  # date -u -d 2024-05-06T07:08:09Z +%s


def test_a_body_that_grows_beyond_the_cap_is_a_failure(tmp_path: Path) -> None:
    payload = gzip.compress(b"\0" * 11_000_000)
    (capture,) = captures([saved(tmp_path / "a.warc", record(http(payload, "Content-Encoding: gzip")))])
    assert isinstance(capture, Capture)
    assert (capture.response.outcome, capture.response.trouble) == (Outcome.FAILED, Trouble.SIZE)


def test_chunks_that_break_off_give_what_came(tmp_path: Path) -> None:
    assert dechunked(CHUNKED[:20]) == b"page aga"
    assert dechunked(b"no chunks at all") == b"no chunks at all"


def test_a_resource_without_http_headers_is_a_page(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.warc", record(b"<p>file", "Content-Type: text/html", kind="resource"))
    (capture,) = captures([path])
    assert isinstance(capture, Capture)
    assert (capture.response.body, capture.response.header("content-type")) == (b"<p>file", "text/html")


def test_records_without_a_web_address_date_or_answer_do_not_become_captures(tmp_path: Path) -> None:
    parts = [
        record(b"lookup", kind="response", url="dns:paper.example"),
        record(b"software: x", kind="warcinfo"),
        record(http(b"x"), date="yesterday"),
        record(b"not http"),
    ]
    found = list(captures([saved(tmp_path / "a.warc", b"".join(parts))]))
    assert [str(entry).partition(": ")[2] for entry in found if isinstance(entry, Broken)] == [
        "cannot be understood: WARC-Date 'yesterday' is no date",
        "cannot be understood: no HTTP answer",
    ]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("asked", "took"),
    [("soon", "1"), ("nan", "1"), ("inf", "1"), ("-inf", "1"), ("1e300", "1"), ("1e9", "nan"), ("1e9", "-1")],
)
def test_false_fields_of_our_own_are_named_as_broken(tmp_path: Path, asked: str, took: str) -> None:
    ours = (f"Forager-Asked: {asked}", f"Forager-Took: {took}", "Forager-Outcome: fetched", "Forager-Wire-Bytes: 1")
    (found,) = captures([saved(tmp_path / "a.warc", record(http(b"x"), *ours))])
    assert isinstance(found, Broken)


def test_what_warcio_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "warcio.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record("warcio.warc.gz", {"software": "warcio"}))
        headers = StatusAndHeaders("404 Not Found", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(URL, "response", io.BytesIO(b"none"), http_headers=headers))
    (capture,) = captures([path])
    assert isinstance(capture, Capture)
    assert (capture.response.outcome, capture.response.status, capture.response.body) == (Outcome.GONE, 404, b"none")


@pytest.mark.needs("wget")
async def test_what_wget_writes_is_read(tmp_path: Path) -> None:
    async with serving({"/": Served(b"<p>from wget</p>", headers={"Content-Type": "text/html"})}) as site:
        command = ["wget", "-q", "--tries=1", "--timeout=5", "--warc-file", str(tmp_path / "w"), "-O", "/dev/null"]
        process = await asyncio.create_subprocess_exec(*command, site.url("/"), site.url("/missing"), cwd=tmp_path)
        await process.wait()
        found = list(captures([tmp_path / "w.warc.gz"]))
    read = [capture for capture in found if isinstance(capture, Capture) and capture.request.url.startswith("http")]
    assert [(capture.request.url, capture.response.status, capture.response.body) for capture in read] == [
        (site.url("/"), 200, b"<p>from wget</p>"),
        (Url(site.url("/missing")), 404, b"not here"),
    ]
    assert not [entry for entry in found if isinstance(entry, Broken)]
