"""A process that reads pages for a crawl: `python -m forager.world.reading_process PARENT SOCKET SECONDS SETTINGS`.

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
    parent, handle, seconds, settings = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawl, which ends us in its turn
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != int(parent):  # it was killed a moment ago
        return
    from forager.world.reading_service import serve

    with suppress(ConnectionError):
        serve(int(handle), float(seconds), settings)


if __name__ == "__main__":
    main()
