"""How this process gets and gives back memory: tuned for a long crawl, which makes and drops much of it for every page.

- The C library gives large blocks straight back to the system, and every page then pays for having them mapped and
  cleared again. With higher thresholds they are kept for the next page (`mallopt`, glibc only; elsewhere nothing is done).
- The collector of reference cycles looks at all young objects after every 700 new ones, some ten times a page, and finds
  next to nothing. It now looks after 20,000, and never again at what was there before the crawl began.
"""

import ctypes
import gc
import sys
from contextlib import suppress

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _TOP_PAD = -3, -1, -2  # as in malloc.h
LARGEST_KEPT = 64 * 2**20
"""Bytes: blocks up to this size come from memory that is kept (ours)."""
YOUNG_OBJECTS = 20_000
"""New objects after which the collector looks at them (ours)."""


def tune_allocation() -> None:
    """Call it once, when everything is loaded and before the work begins."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            tune = ctypes.CDLL(None).mallopt
            tune(_MMAP_THRESHOLD, 32 * 2**20)  # the most that malloc allows
            tune(_TRIM_THRESHOLD, LARGEST_KEPT)
            tune(_TOP_PAD, 2**20)
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
