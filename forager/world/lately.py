"""What was seen lately: the last sighting of each page, of so many pages as memory is given.

A page that dropped out is no loss: what it showed is in the store.
"""

from forager.foragers.sighting import Sighting
from forager.terms import UrlId

MOST = 10_000
"""Sightings kept: about 10 MB with the links of usual pages. Ours."""


class Lately:
    """The sightings of the pages visited last, one for each."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._seen: dict[UrlId, Sighting] = {}  # in the order in which they were made

    def __len__(self) -> int:
        return len(self._seen)

    def of(self, id: UrlId) -> Sighting | None:
        """The last sighting of a page; None if it was never made, or too many others since."""
        return self._seen.get(id)

    def note(self, id: UrlId, sighting: Sighting) -> None:
        """Remember what a page shows now."""
        self._seen.pop(id, None)
        self._seen[id] = sighting
        if len(self._seen) > self.most:
            del self._seen[next(iter(self._seen))]
