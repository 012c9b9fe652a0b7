"""Records as gzip members: whatever is stored and whatever is compressed, any reader gets the record back."""

import gzip
import random
import zlib

import pytest

from forager.warc.writer import member

HEAD = b"WARC/1.1\r\nWARC-Type: response\r\n" + b"WARC-Target-URI: http://example.org/\r\n" * 20


@pytest.mark.parametrize("level", [0, 2, 6])
@pytest.mark.parametrize("size", [1, 65_535, 65_536, 200_000])
def test_a_record_with_a_stored_end_is_an_ordinary_member(level: int, size: int) -> None:
    record = HEAD + random.Random(size).randbytes(size)
    packed = member(record, level, size)
    unpacker = zlib.decompressobj(wbits=31)
    assert unpacker.decompress(packed) == record
    assert unpacker.eof and not unpacker.unused_data
    assert gzip.decompress(packed + packed) == record + record


def test_the_head_is_compressed_and_the_end_is_stored() -> None:
    end = zlib.compress(random.Random(1).randbytes(70_000))
    packed = member(HEAD + end, 2, len(end))
    assert end[:65_535] in packed and end[65_535:] in packed  # two stored blocks
    assert HEAD not in packed
    assert len(packed) < len(end) + len(HEAD) / 2


def test_damage_to_a_stored_end_is_noticed() -> None:
    packed = bytearray(member(HEAD + b"payload", 2, 7))
    packed[packed.index(b"payload")] ^= 1
    with pytest.raises(gzip.BadGzipFile, match="CRC"):
        gzip.decompress(bytes(packed))
