"""What long work shows on a terminal: how far it is, and tables of figures.

Progress goes to standard error: in place on a terminal, one line a minute elsewhere. Tables fit into 80 columns: no
frame, and no figure ever cut or broken.
"""

import sys
import time
from collections.abc import Sequence

from rich import box
from rich.table import Table

_QUIET_SECONDS = 60.0
"""Without a terminal, one line in this time."""


class ProgressLine:
    """A line that is written again and again, unless it is to be `quiet`; `end` takes it away."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet, self.shown = quiet, time.monotonic()

    @property
    def due(self) -> bool:
        """Whether a line would be shown now."""
        return not self.quiet and (sys.stderr.isatty() or time.monotonic() - self.shown >= _QUIET_SECONDS)

    def show(self, line: str) -> None:
        """Show the line, if one is due."""
        if self.due:
            self.shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{line[:100]}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty() and not self.quiet:
            sys.stderr.write("\r\x1b[K")


def narrow_table(title: str, caption: str, headings: Sequence[str]) -> Table:
    """An empty table; its first column may break, and all others hold figures."""
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        if place:
            table.add_column(heading, justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    return table
