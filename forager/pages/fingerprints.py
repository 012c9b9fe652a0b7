"""Fingerprints: whether a page has changed, and whether it is nearly the same as another.

`simhash` (Charikar 2002; for web pages Manku, Jain and Das Sarma 2007) turns the shingles of a text, here all runs of
three words, into 64 bits such that similar texts differ in few bits. If a share s of the shingles differs, a bit
differs with probability arccos(1 - s) / π, so one expects about 3 bits for 1 % (one word changed in a text of 300), 6
bits for 5 %, 9 bits for 10 %, 21 bits for half of the text, and 32 ± 4 bits for unrelated texts.

This finds copies: one story printed by many, of which the first publisher counts. Two texts are copies when their
simhashes differ in at most `NEAR` of 64 bits. Numbers that near agree in at least one of `NEAR + 1` disjoint bands of
bits (Manku et al. 2007), so each lookup compares only a few candidates.
"""

import re
from collections import defaultdict

import numpy as np
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from forager.arrays import PrintArray
from forager.terms import UrlId

_PLACES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""One odd factor for each place in a shingle, so that the order of its words counts."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_CHARACTERWISE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_ADDRESS_NAME = re.compile(r"\d{3}|\w[-_]\w")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_FEW_FOREIGN = 40
_WORD_BYTES = bytes(ord(chr(code).lower()) if re.match(r"\w", chr(code)) else 32 for code in range(128)) + bytes(
    range(128, 256)
)


def byte_print(body: bytes) -> int:
    """64 bits of the bytes as they came."""
    return xxh3_64_intdigest(body)


def without_address(text: str, path: str) -> str:
    """A text without the path of its own page, and without the last name in the path if that is more than a word.

    Error pages with status 200 repeat their address; without it they all have the same text.
    """
    name = path.rstrip("/").rpartition("/")[2]
    if len(path) > 1:
        text = text.replace(path, "")
    return text.replace(name, "") if _ADDRESS_NAME.search(name) else text


def text_print(text: str, *, tidy: bool = False) -> int:
    """64 bits of the text, ignoring case and white space. `tidy`: the only white space is single blanks and line ends."""
    plain = text.replace("\n", " ") if tidy else " ".join(text.split())
    return xxh3_64_intdigest(plain.casefold().encode("utf-8", "replace"))


def simhash(text: str) -> int:
    """64 bits that are nearly equal for nearly equal texts; 0 for a text without words."""
    words = np.frombuffer(b"".join(map(xxh3_64_digest, _spaced(text).split())), dtype="<u8")
    if not len(words):
        return 0
    bits = np.unpackbits(_shingles(words).astype("<u8", copy=False).view(np.uint8)).view(np.uint64).reshape(-1, 8)
    parts = np.add.reduceat(bits, range(0, len(bits), 255)).view(np.uint8)  # sums of eight bits at once, each in a byte
    most = 2 * np.sum(parts, axis=0, dtype=np.uint32) > len(bits)
    return int.from_bytes(np.packbits(most).tobytes(), "big")


def _shingles(words: PrintArray) -> PrintArray:
    """A hash of each run of three words; a text of fewer words is one run."""
    if len(words) < len(_PLACES):
        words = np.resize(words, len(_PLACES))
    mixed: PrintArray = words[:-2] * _PLACES[0] ^ words[1:-1] * _PLACES[1] ^ words[2:] * _PLACES[2]
    mixed = (mixed ^ mixed >> np.uint64(32)) * _PLACES[0]
    mixed ^= mixed >> np.uint64(29)
    return mixed


def distance(one: int, other: int) -> int:
    """The number of bits in which two prints differ."""
    return (one ^ other).bit_count()


def _spaced(text: str) -> bytes:
    """The words, blanks between them: runs of letters and digits, Chinese and Japanese character by character."""
    if text.isascii():
        return text.encode().translate(_WORD_BYTES)
    folded = text.casefold()
    foreign = set(_FOREIGN.findall(folded))
    if len(foreign) > _FEW_FOREIGN or _CHARACTERWISE.search("".join(foreign)):
        return " ".join(_WORD.findall(folded)).encode("utf-8", "replace")
    for character in foreign:  # the same words, found twice as fast
        if not character.isalnum():
            folded = folded.replace(character, " ")
    return folded.encode().translate(_WORD_BYTES)


NEAR = 5  # bits. Ours: copies with small edits stay below it, different texts on one subject far above
_BANDS = NEAR + 1
_WIDTH = 64 // _BANDS


class Copies:
    """Who published a text first."""

    def __init__(self) -> None:
        self._bands: defaultdict[tuple[int, int], list[tuple[int, UrlId]]] = defaultdict(list)

    def first(self, simhash: int) -> UrlId | None:
        """The page that first brought this text, or one very similar to it."""
        near = [
            (distance(simhash, other), id)
            for band in _cut(simhash)
            for other, id in self._bands.get(band, ())
            if distance(simhash, other) <= NEAR
        ]
        return min(near)[1] if near else None

    def learn(self, simhash: int, id: UrlId) -> None:
        """Records a text that is not a copy."""
        for band in _cut(simhash):
            self._bands[band].append((simhash, id))


def _cut(simhash: int) -> list[tuple[int, int]]:
    """The bands of bits, each with its place."""
    return [(place, simhash >> place * _WIDTH & (1 << _WIDTH) - 1) for place in range(_BANDS)]
