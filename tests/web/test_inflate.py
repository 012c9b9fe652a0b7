import gzip
import time
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from forager.web.inflate import InflateError, Inflater

PAGE = b"<p>The river rose by two metres.</p>" * 300


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "brotli": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "two gzip members": ("GZIP", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
    "two zstd frames": ("zstd", lambda data: zstandard.compress(data[:100]) + zstandard.compress(data[100:])),
    "gzip inside brotli": ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    "plain": ("identity", bytes),
    "a charset by mistake": ("utf-8", bytes),
}


def inflated(encoding: str, wire: bytes, limit: int, step: int) -> Inflater:
    inflater = Inflater(encoding, limit)
    for start in range(0, len(wire), step):
        inflater.feed(wire[start : start + step])
        if inflater.full:
            return inflater
    inflater.finish()
    return inflater


@pytest.mark.parametrize("step", [1, 7, 1_000_000])
@pytest.mark.parametrize("name", PACKERS)
def test_a_body_comes_out_as_it_went_in_however_the_wire_cuts_it(name: str, step: int) -> None:
    encoding, pack = PACKERS[name]
    result = inflated(encoding, pack(PAGE), limit=len(PAGE), step=step)
    assert result.body == PAGE
    assert not result.full
    assert result.wire_bytes == len(pack(PAGE))


@pytest.mark.parametrize("step", [1, 100, 1_000_000])
@pytest.mark.parametrize("name", PACKERS)
def test_one_byte_more_than_the_limit_is_too_much_and_the_start_is_kept(name: str, step: int) -> None:
    encoding, pack = PACKERS[name]
    result = inflated(encoding, pack(PAGE), limit=len(PAGE) - 1, step=step)
    assert result.full
    assert PAGE.startswith(result.body)
    assert len(result.body) <= len(PAGE) - 1


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "brotli", "zstd"])
def test_a_body_that_is_cut_off_is_an_error(name: str) -> None:
    encoding, pack = PACKERS[name]
    with pytest.raises(InflateError, match="cut off"):
        inflated(encoding, pack(PAGE)[:-9], limit=10**6, step=10**6)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_a_body_in_another_coding_than_it_says_is_an_error(encoding: str) -> None:
    with pytest.raises(InflateError):
        inflated(encoding, b"<html>plain text</html>" * 20, limit=10**6, step=10**6)


@pytest.mark.parametrize("encoding", ["compress", "gzip, dcb", "gzip, gzip, gzip, gzip"])
def test_what_we_cannot_undo_is_an_error(encoding: str) -> None:
    with pytest.raises(InflateError):
        Inflater(encoding, 1000)


def test_an_empty_body_needs_no_gzip_stream() -> None:
    assert inflated("gzip", b"", limit=10, step=1).body == b""


def test_rubbish_after_a_gzip_body_is_ignored() -> None:
    assert inflated("gzip", gzip.compress(PAGE) + b"\n\n", limit=10**6, step=10**6).body == PAGE


def test_a_bomb_inside_a_coding_that_yields_nothing_is_stopped_by_the_limit_too() -> None:
    # Two million empty stored blocks (5 bytes each) make 10 MB of deflate that means nothing; gzip packs them to 10 kB.
    empty_blocks = b"\x00\x00\x00\xff\xff" * 2_000_000
    result = inflated("deflate, gzip", gzip.compress(empty_blocks), limit=1_000_000, step=10**6)
    assert result.full
    assert result.body == b""


EMPTY = gzip.compress(b"") * 5_000, zstandard.compress(b"") * 10_000, b"\x50\x2a\x4d\x18\0\0\0\0" * 10_000


@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        *zip(("gzip", "zstd", "zstd"), EMPTY, strict=True),
        ("gzip, zstd", zstandard.compress(EMPTY[0] * 100)),
        ("zstd, gzip", gzip.compress(EMPTY[1] * 100)),
    ],
)
def test_a_body_of_countless_empty_members_is_an_error_at_once(encoding: str, wire: bytes) -> None:
    # packed once more, 500 bytes of them held the event loop for eleven seconds
    before = time.process_time()
    with pytest.raises(InflateError, match="more than 1000 compressed members"):
        inflated(encoding, wire, limit=10**7, step=10**6)
    assert time.process_time() - before < 1


def test_a_body_in_many_members_as_block_gzip_makes_them_is_read() -> None:
    wire = b"".join(gzip.compress(PAGE[start : start + 16]) for start in range(0, len(PAGE), 16))
    assert inflated("gzip", wire, limit=10**6, step=1000).body == PAGE


@given(st.binary(max_size=3000), st.sampled_from(sorted(PACKERS)), st.integers(1, 500), st.integers(0, 4000))
def test_whatever_the_body_and_the_limit_what_comes_out_is_its_start(
    data: bytes, name: str, step: int, limit: int
) -> None:
    encoding, pack = PACKERS[name]
    result = inflated(encoding, pack(data), limit, step)
    assert data.startswith(result.body)
    assert len(result.body) <= limit
    assert result.full or result.body == data


@given(st.binary(min_size=1, max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]))
def test_any_bytes_are_inflated_or_an_inflate_error(wire: bytes, encoding: str) -> None:
    try:
        result = inflated(encoding, wire, limit=10_000, step=50)
    except InflateError:
        return
    assert len(result.body) <= 10_000
