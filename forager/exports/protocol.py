"""What a writer is: it puts stories into one output, in one format."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from forager.exports.fields import Row


@dataclass(frozen=True, slots=True)
class Last:
    """The last complete story in a file."""

    number: int
    url: str


class Mode(Enum):
    """What becomes of a file that is there already."""

    APPEND = "append"  # -o: go on behind the last story in it
    REPLACE = "replace"  # -O of a finished crawl: the new file takes its place when complete
    REWRITE = "rewrite"  # -O of a running crawl: emptied, then written while others may read


class Writer(Protocol):
    @property
    def name(self) -> str:
        """The output, as people call it."""

    @property
    def newest(self) -> int | None:
        """How many of the newest stories it has room for; None: all."""

    def open(self) -> Last | None:
        """Check everything without changing anything; where to go on, None from the first story. May raise OutputError.

        Every method but `discard` lets an OSError of the system through.
        """

    def write(self, rows: Sequence[Row]) -> None:
        """Add stories and hand them to the system. The first call, even without rows, begins the file."""

    def close(self) -> None:
        """Complete the output."""

    def discard(self) -> None:
        """Let go of an output that will not be completed; what was there before stays as far as the mode allows."""
