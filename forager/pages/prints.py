"""Fingerprints: has a page changed, and is it nearly the same as another one?

`simhash` (Charikar 2002; for web pages Manku, Jain and Das Sarma 2007) turns the shingles of a text, here all runs of
three words, into 64 bits such that similar texts differ in few bits. If a share s of the shingles differs, a bit
differs with probability arccos(1 - s) / π, so one expects about 3 bits for 1 % (one word changed in a text of 300), 6
bits for 5 %, 9 bits for 10 %, 21 bits for half of the text, and 32 ± 4 bits for unrelated texts.
"""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

Words = NDArray[np.uint64]

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_ASCII_WORD = bytes(ord(chr(code).lower()) if re.match(r"\w", chr(code)) else 32 for code in range(128)) + bytes(128)


def byte_print(body: bytes) -> int:
    """64 bits of the bytes as they came."""
    return xxh3_64_intdigest(body)


def text_print(text: str, *, tidy: bool = False) -> int:
    """64 bits of the text; case and white space do not count. `tidy`: it has single blanks and line ends alone."""
    plain = text.replace("\n", " ") if tidy else " ".join(text.split())
    return xxh3_64_intdigest(plain.casefold().encode("utf-8", "replace"))


def simhash(text: str) -> int:
    """64 bits that are nearly equal for nearly equal texts; 0 for a text without words."""
    word_hashes, majority = _kernels()
    words = word_hashes(_spaced(text))
    return majority(words.byteswap()) if len(words) else 0


@cache
def _kernels() -> tuple[Callable[[bytes], Words], Callable[[Words], int]]:
    """Compiled code: loaded when it is needed."""
    from forager.pages.shingles import majority
    from forager.pages.word_hashes import word_hashes

    return word_hashes, majority


def distance(one: int, other: int) -> int:
    """The number of bits in which two prints differ."""
    return (one ^ other).bit_count()


def _spaced(text: str) -> bytes:
    """The words, blanks between them: runs of letters and digits, Chinese and Japanese character by character."""
    if text.isascii():  # the same words, found several times as fast
        return text.encode().translate(_ASCII_WORD)
    return " ".join(_WORD.findall(text.casefold())).encode("utf-8", "replace")
