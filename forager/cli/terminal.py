"""Progress of long work and tables of figures on a terminal.

Progress goes to standard error: in place on a terminal, one line a minute elsewhere. Tables fit into 80 columns: they
have no frame, and never cut or wrap a figure.
"""

import sys
import time
from collections.abc import Sequence

from rich import box
from rich.table import Table

_QUIET_SECONDS = 60.0
"""Seconds between two lines without a terminal."""


class ProgressLine:
    """A line that is rewritten in place, unless `quiet`; `end` erases it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet, self.shown = quiet, time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time to show a line."""
        return not self.quiet and (sys.stderr.isatty() or time.monotonic() - self.shown >= _QUIET_SECONDS)

    def show(self, line: str) -> None:
        """Shows the line if one is due."""
        if self.due:
            self.shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{line[:100]}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty() and not self.quiet:
            sys.stderr.write("\r\x1b[K")


def narrow_table(title: str, caption: str, headings: Sequence[str]) -> Table:
    """An empty table; its first column may wrap, the others hold figures."""
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        if place:
            table.add_column(heading, justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    return table
