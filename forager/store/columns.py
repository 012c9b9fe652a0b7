"""What is known of each URL, as columns of plain numbers: about 100 bytes for a URL instead of an object of a thousand.

A moment that never was (no visit, no due time) is NaN; a number that never was (no source, no version) is -1.
"""

import math
from array import array

from forager.store.protocol import Found, Known, VersionId, Visit
from forager.store.texts import Texts
from forager.terms import Channel, Kind, Url, UrlId, Validators

CHANNELS = tuple(Channel)
KINDS = tuple(Kind)
CHANNEL_CODES = {channel: code for code, channel in enumerate(CHANNELS)}
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
NEVER = math.nan
PART = b"\0"
"""What stands between the validators of two URLs: nothing that a header can hold."""
_UNSEEN = KIND_CODES[Kind.OTHER]


class Columns:
    """One entry per URL in each column, at the URL's number."""

    def __init__(self) -> None:
        self.found, self.published = array("d"), array("d")
        self.channel, self.kind = array("b"), array("b")
        self.source, self.depth = array("i"), array("i")
        self.visits, self.changes = array("i"), array("i")
        self.last_visit, self.last_change, self.due = array("d"), array("d"), array("d")
        self.seen = array("q")
        """The number of the last visit, counted over all URLs from 1; 0 if there was none."""
        self.version = array("i")
        self.byte_print, self.text_print = array("Q"), array("Q")
        self.validators = Texts(part=PART)
        """Date and entity tag in one string, parted by a line end, which no header can contain; empty if there are none."""

    def append(self, found: Found) -> None:
        """The next URL, never visited."""
        self.found.append(found.at)
        self.published.append(_moment(found.published))
        self.channel.append(CHANNEL_CODES[found.channel])
        self.source.append(-1 if found.source is None else found.source)
        self.depth.append(found.depth)
        self.due.append(_moment(found.due))
        self.kind.append(_UNSEEN)
        self.visits.append(0)
        self.changes.append(0)
        self.seen.append(0)
        self.last_visit.append(NEVER)
        self.last_change.append(NEVER)
        self.version.append(-1)
        self.byte_print.append(0)
        self.text_print.append(0)
        self.validators.append("")

    def extend_unvisited(self, count: int) -> None:
        """What visits will tell, for `count` URLs that had none yet."""
        self.kind.extend(array("b", [_UNSEEN]) * count)
        for column in (self.visits, self.changes, self.seen, self.byte_print, self.text_print):
            column.frombytes(bytes(count * column.itemsize))
        for moments in (self.last_visit, self.last_change):
            moments.extend(array("d", [NEVER]) * count)
        self.version.extend(array("i", [-1]) * count)
        self.validators.extend([""] * count)

    def visited(self, visit: Visit, number: int, version: VersionId | None) -> None:
        """Learn from the visit with this number, which made this version."""
        id = visit.id
        self.visits[id] += 1
        self.seen[id] = number
        self.last_visit[id] = visit.at
        if visit.changed:
            self.changes[id] += 1
            self.last_change[id] = visit.at
        self.due[id] = _moment(visit.due)
        self.validators[id] = pack(visit.validators)
        if visit.version is not None and version is not None:
            self.kind[id] = KIND_CODES[visit.version.kind]
            self.version[id] = version
            self.byte_print[id] = visit.version.byte_print
            self.text_print[id] = visit.version.text_print

    def known(self, id: UrlId, url: Url) -> Known:
        return Known(
            id=id,
            url=url,
            found=self.found[id],
            channel=CHANNELS[self.channel[id]],
            source=None if self.source[id] < 0 else UrlId(self.source[id]),
            depth=self.depth[id],
            published=moment(self.published[id]),
            kind=KINDS[self.kind[id]],
            visits=self.visits[id],
            changes=self.changes[id],
            last_visit=moment(self.last_visit[id]),
            last_change=moment(self.last_change[id]),
            due=moment(self.due[id]),
            version=None if self.version[id] < 0 else VersionId(self.version[id]),
            byte_print=self.byte_print[id],
            text_print=self.text_print[id],
            validators=unpack(self.validators[id]),
        )


def moment(number: float) -> float | None:
    """A time out of a column; None if it never was."""
    return None if math.isnan(number) else number


def _moment(time: float | None) -> float:
    return NEVER if time is None else time


def pack(validators: Validators) -> str:
    if not validators.etag and not validators.last_modified:
        return ""
    return f"{validators.last_modified}\n{validators.etag}"


def unpack(packed: str) -> Validators:
    if not packed:
        return Validators()
    last_modified, _, etag = packed.partition("\n")
    return Validators(etag, last_modified)
