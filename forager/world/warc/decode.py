"""Undo what other tools leave in a payload: chunks and compression.

Tools differ: some keep the bytes as they came, some keep decoded bytes under the old headers. So a body that is not what
its headers say is taken as it stands.
"""

import re

from forager.world.inflate import InflateError, Inflater
from forager.world.warc.fields import Fields

_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


class TooLongError(Exception):
    """The body passes the limit when it is decompressed."""


def decoded(headers: Fields, payload: bytes, limit: int) -> bytes:
    """The body that a payload amounts to. Raises TooLongError beyond `limit` bytes."""
    if "chunked" in _value(headers, "transfer-encoding").lower():
        payload = dechunked(payload)
    body = _inflated(_value(headers, "content-encoding"), payload, limit)
    if len(body) > limit:
        raise TooLongError
    return body


def dechunked(payload: bytes) -> bytes:
    """The payload without its chunk sizes; as it stands if it has none; what there is if it breaks off."""
    parts: list[bytes] = []
    at = 0
    while (size := _CHUNK.match(payload, at)) is not None:
        length = int(size[1], 16)
        if length == 0:
            return b"".join(parts)
        parts.append(payload[size.end() : size.end() + length])
        at = size.end() + length
        at += 2 if payload[at : at + 2] == b"\r\n" else 1
    return b"".join(parts) if parts and at >= len(payload) else payload


def _inflated(encoding: str, payload: bytes, limit: int) -> bytes:
    if not encoding or not payload:
        return payload
    try:
        inflater = Inflater(encoding, max(limit, len(payload)))
        inflater.feed(payload)
        if not inflater.full:
            inflater.finish()
    except InflateError:
        return payload
    if inflater.full:
        raise TooLongError
    return inflater.body


def _value(headers: Fields, name: str) -> str:
    return ", ".join(value for key, value in headers if key == name)
