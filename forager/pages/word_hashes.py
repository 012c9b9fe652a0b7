"""Hashes of all words of a text at once: XXH3 (64 bits, no seed) of each, as the library `xxhash` gives it.

A text has a thousand words, and a thousand Python objects cost more than all the hashing. So the words are found and
hashed in one compiled loop. It knows the three forms that XXH3 has for inputs of up to 16 bytes; the few longer words
are given to the library.
"""

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.compiling import compiled

LONGEST = 16
"""Bytes of a word that the loop can hash."""

_BLANK = 32
_FLIPS = np.array(
    [0x87275A9B, 0xC73AB174C5ECD5A2, 0x6782737BEA4239B9, 0xAF56BC3B0996523A], dtype=np.uint64
)  # parts of XXH3's secret, as its three forms for short inputs combine them
_PRIMES = np.array([0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x9FB21C651E98DF25, 0x165667919E3779F9], dtype=np.uint64)


def word_hashes(text: bytes) -> NDArray[np.uint64]:
    """The hashes of the words, in order; words are what stands between blanks."""
    hashes, long = _hashed(np.frombuffer(text, dtype=np.uint8), _FLIPS, _PRIMES)
    for place, begin, end in long.tolist() if len(long) else ():
        hashes[place] = xxh3_64_intdigest(text[begin:end])
    return hashes


@compiled
def _hashed(
    codes: NDArray[np.uint8], flips: NDArray[np.uint64], primes: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hash of each word; of those that are too long: which word it is, where it begins and where it ends."""
    hashes = np.empty(len(codes) // 2 + 1, dtype=np.uint64)
    long = np.empty((len(codes) // LONGEST, 3), dtype=np.int64)
    words, longs, at, end = 0, 0, 0, len(codes)
    while at < end:
        if codes[at] == _BLANK:
            at += 1
            continue
        begin = at
        while at < end and codes[at] != _BLANK:
            at += 1
        length = at - begin
        if length <= 3:
            hashes[words] = _tiny(codes, begin, length, flips, primes)
        elif length <= 8:
            hashes[words] = _small(codes, begin, length, flips, primes)
        elif length <= LONGEST:
            hashes[words] = _middling(codes, begin, length, flips, primes)
        else:
            long[longs, 0], long[longs, 1], long[longs, 2] = words, begin, at
            longs += 1
        words += 1
    return hashes[:words], long[:longs]


@compiled
def _read(codes: NDArray[np.uint8], at: int, count: int) -> np.uint64:
    """So many bytes as one number, the first one lowest."""
    value = np.uint64(0)
    for place in range(count):
        value |= np.uint64(codes[at + place]) << np.uint64(8 * place)
    return value


@compiled
def _tiny(
    codes: NDArray[np.uint8], at: int, length: int, flips: NDArray[np.uint64], primes: NDArray[np.uint64]
) -> np.uint64:
    """1 to 3 bytes."""
    first, middle, last = codes[at], codes[at + (length >> 1)], codes[at + length - 1]
    mixed = np.uint64(last) | np.uint64(length << 8) | np.uint64(first) << np.uint64(16)
    mixed = (mixed | np.uint64(middle) << np.uint64(24)) ^ flips[0]
    mixed = (mixed ^ mixed >> np.uint64(33)) * primes[0]
    mixed = (mixed ^ mixed >> np.uint64(29)) * primes[1]
    return np.uint64(mixed ^ mixed >> np.uint64(32))


@compiled
def _small(
    codes: NDArray[np.uint8], at: int, length: int, flips: NDArray[np.uint64], primes: NDArray[np.uint64]
) -> np.uint64:
    """4 to 8 bytes."""
    mixed = (_read(codes, at + length - 4, 4) + (_read(codes, at, 4) << np.uint64(32))) ^ flips[1]
    mixed ^= _turned(mixed, 49) ^ _turned(mixed, 24)
    mixed *= primes[2]
    mixed ^= (mixed >> np.uint64(35)) + np.uint64(length)
    mixed *= primes[2]
    return np.uint64(mixed ^ mixed >> np.uint64(28))


@compiled
def _middling(
    codes: NDArray[np.uint8], at: int, length: int, flips: NDArray[np.uint64], primes: NDArray[np.uint64]
) -> np.uint64:
    """9 to 16 bytes."""
    low = _read(codes, at, 8) ^ flips[2]
    high = _read(codes, at + length - 8, 8) ^ flips[3]
    swapped = np.uint64(0)
    for place in range(8):
        swapped |= (low >> np.uint64(8 * place) & np.uint64(255)) << np.uint64(56 - 8 * place)
    mixed = np.uint64(length) + swapped + high + _folded(low, high)
    mixed = (mixed ^ mixed >> np.uint64(37)) * primes[3]
    return np.uint64(mixed ^ mixed >> np.uint64(32))


@compiled
def _turned(value: np.uint64, bits: int) -> np.uint64:
    return value << np.uint64(bits) | value >> np.uint64(64 - bits)


@compiled
def _folded(one: np.uint64, other: np.uint64) -> np.uint64:
    """The lower and the upper half of the product of 128 bits, combined."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b, c, d = one & low, one >> half, other & low, other >> half
    low_low, high_low, low_high = a * c, b * c, a * d
    middle = (low_low >> half) + (high_low & low) + low_high
    upper = b * d + (high_low >> half) + (middle >> half)
    return upper ^ (middle << half | low_low & low)
