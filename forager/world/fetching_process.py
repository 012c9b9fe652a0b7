"""A process that fetches and reads pages for a crawl: `python -m forager.world.fetching_process PARENT SOCKET MEMORY HOW`.

It ends when its connection does. On Linux it also ends at once when the crawl is killed, whatever it is doing: that is
arranged first, before anything large is loaded.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl


def main() -> None:
    parent, handle, memory, arrangement = sys.argv[1:]
    for name in (signal.SIGINT, signal.SIGTERM):  # these are for the crawl, which ends us in its turn
        signal.signal(name, signal.SIG_IGN)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != int(parent):  # it was killed a moment ago
        return
    from forager.world.fetching_service import run

    run(int(handle), int(memory), arrangement)


if __name__ == "__main__":
    main()
