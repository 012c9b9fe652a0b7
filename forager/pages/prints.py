"""Fingerprints: has a page changed, and is it nearly the same as another one?

`simhash` (Charikar 2002; for web pages Manku, Jain and Das Sarma 2007) turns the shingles of a text, here all runs of
three words, into 64 bits such that similar texts differ in few bits. If a share s of the shingles differs, a bit
differs with probability arccos(1 - s) / π, so one expects about 3 bits for 1 % (one word changed in a text of 300), 6
bits for 5 %, 9 bits for 10 %, 21 bits for half of the text, and 32 ± 4 bits for unrelated texts.
"""

import re

import numpy as np
from xxhash import xxh3_64_digest, xxh3_64_intdigest

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_TO_SPACE = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
Prints = np.ndarray[tuple[int], np.dtype[np.uint64]]

_PLACES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""One odd factor for each place in a shingle, so that the order of its words counts."""
_SHINGLE = len(_PLACES)
_BYTE = 256 * np.arange(8, dtype=np.int64)
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
"""The bits of each byte; of this type numpy multiplies matrices quickly."""


def byte_print(body: bytes) -> int:
    """64 bits of the bytes as they came."""
    return xxh3_64_intdigest(body)


def text_print(text: str) -> int:
    """64 bits of the text; case and white space do not count."""
    plain = text.replace("\n", " ")
    if not plain.isprintable() or "  " in plain or plain.startswith(" ") or plain.endswith(" "):
        plain = " ".join(text.split())  # other white space than single blanks
    return xxh3_64_intdigest(plain.casefold().encode("utf-8", "replace"))


def simhash(text: str) -> int:
    """64 bits that are nearly equal for nearly equal texts; 0 for a text without words."""
    words = _words(text)
    if not words:
        return 0
    hash_of = {word: xxh3_64_digest(word.encode("utf-8", "replace")) for word in set(words)}
    hashes = np.frombuffer(b"".join(map(hash_of.__getitem__, words)), dtype=np.dtype("<u8")).astype(np.uint64)
    shingles = _shingles(hashes)
    bytewise = shingles.view(np.uint8).reshape(-1, 8) + _BYTE  # how often each byte stands in each place
    counts = np.bincount(bytewise.ravel(), minlength=8 * 256).reshape(8, 256) @ _BITS
    return int.from_bytes(np.packbits(counts.ravel() * 2 > len(shingles)).tobytes(), "big")


def distance(one: int, other: int) -> int:
    """The number of bits in which two prints differ."""
    return (one ^ other).bit_count()


def _words(text: str) -> list[str]:
    """Runs of letters and digits; Chinese and Japanese, written without spaces, character by character."""
    if text.isascii():  # the same words, found several times as fast
        return text.lower().translate(_TO_SPACE).split()
    return _WORD.findall(text.casefold())


def _shingles(words: Prints) -> Prints:
    """One well mixed number for each run of words; a text shorter than a run is one shingle."""
    if len(words) < _SHINGLE:
        words = np.resize(words, _SHINGLE)
    runs = len(words) - _SHINGLE + 1
    mixed: Prints = words[:runs] * _PLACES[0]
    for place in range(1, _SHINGLE):
        mixed ^= words[place : place + runs] * _PLACES[place]
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _PLACES[0]
    mixed ^= mixed >> np.uint64(29)
    return mixed
