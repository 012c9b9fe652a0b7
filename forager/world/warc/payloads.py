"""Which bodies were written already, so that a body that comes again is only referred to."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from forager.world.warc.cdxj import REVISIT, read_line
from forager.world.warc.fields import moment, warc_date


class Written(NamedTuple):
    """Where a body was written first."""

    url: str
    date: str


class Payloads:
    """Bodies by digest, and the digest that each URL had last; the oldest are forgotten beyond `remember`."""

    def __init__(self, remember: int) -> None:
        self._remember = remember
        self._written: dict[str, Written] = {}
        self._latest: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Payloads {len(self._written)} bodies of {len(self._latest)} URLs>"

    def where(self, digest: str) -> Written | None:
        """Where a body with this digest was written."""
        return self._written.get(digest)

    def latest(self, url: str) -> str:
        """The digest of the last body that this URL had; empty if it is not known."""
        return self._latest.get(url, "")

    def note(self, url: str, digest: str, date: str, *, version: bool) -> None:
        """A body was written or referred to; `version`: it is what the URL now has, not an error page."""
        if digest not in self._written:
            self._written[digest] = Written(url, date)
            _trim(self._written, self._remember)
        if version:
            self._note_version(url, digest)

    def _note_version(self, url: str, digest: str) -> None:
        self._latest.pop(url, None)
        self._latest[url] = digest
        _trim(self._latest, self._remember)

    def load(self, index: Iterable[str]) -> None:
        """Remember what the lines of an index say; a revisit holds no body to refer to."""
        for line in filter(None, map(read_line, index)):
            time, is_version = moment(line.stamp), line.status.startswith("2")
            if time is None or not line.digest:
                continue
            if line.mime != REVISIT:
                self.note(line.url, line.digest, warc_date(time)[:19] + "Z", version=is_version)
            elif is_version:
                self._note_version(line.url, line.digest)


def _trim(known: dict[str, Written] | dict[str, str], most: int) -> None:
    """Forget the oldest tenth if there are too many; one by one would search the front of the dict each time."""
    if len(known) > most:
        for key in list(islice(known, most // 10 + 1)):
            del known[key]
