"""Records as gzip members, one for each.

A payload that came compressed is not compressed again: after the head of its record it is stored as it is (RFC 1951,
3.2.4), which takes a third of the time and hardly more room.
"""

import zlib

from isal import isal_zlib

_FAST = 3  # ISA-L's highest level
_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"  # deflate, no flags, no time, no system
_MOST_STORED = 65_535  # bytes of one stored block


def member(record: bytes, level: int, stored: int = 0) -> bytes:
    """A gzip member of a record whose last `stored` bytes are not worth compressing."""
    if stored:
        return _partly_stored(memoryview(record), len(record) - stored, level)
    return isal_zlib.compress(record, level, 31) if level <= _FAST else zlib.compress(record, level, 31)


def _partly_stored(record: memoryview, begin: int, level: int) -> bytes:
    """Compressed up to `begin`, stored from there on."""
    packer = (isal_zlib if level <= _FAST else zlib).compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    parts: list[bytes | memoryview] = [_HEADER, packer.compress(record[:begin]), packer.flush(zlib.Z_SYNC_FLUSH)]
    for place in range(begin, len(record), _MOST_STORED):
        block = record[place : place + _MOST_STORED]
        is_last = place + len(block) == len(record)
        parts += (
            bytes([is_last]),
            len(block).to_bytes(2, "little"),
            (len(block) ^ 0xFFFF).to_bytes(2, "little"),
            block,
        )
    parts += (isal_zlib.crc32(record).to_bytes(4, "little"), (len(record) % 2**32).to_bytes(4, "little"))
    return b"".join(parts)
