"""The journal: every event of a crawl, in order, handed to whoever reads along."""

from collections.abc import Callable, Sequence
from typing import BinaryIO

import msgspec

from forager.events import Event


class Journal:
    """Hands each event to its readers, in the order in which things happened."""

    def __init__(self, readers: Sequence[Callable[[Event], None]] = ()) -> None:
        self._readers = tuple(readers)
        self.count = 0

    def __repr__(self) -> str:
        return f"<Journal {self.count} events>"

    def write(self, event: Event) -> None:
        self.count += 1
        for reader in self._readers:
            reader(event)


def event_line(event: Event) -> bytes:
    """The event as one line of JSON; the same event always gives the same bytes. Leads and tags stand in the store."""
    fields = {name: getattr(event, name) for name in event.__slots__ if name != "about"}
    return msgspec.json.encode({"event": type(event).__name__, **fields}) + b"\n"


class JournalFile:
    """A reader that appends every event to a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __call__(self, event: Event) -> None:
        self._file.write(event_line(event))
