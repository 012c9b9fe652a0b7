"""The account of a replay: what could be found, what was found and when, and what it cost.

Efficiency, freshness and age are those of the foragers paper, section 3.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forager.arrays import FloatArray, IntArray, RowArray
from forager.core.judge import RELEVANT
from forager.kernel import compiled, inner
from forager.measures import Delay, Efficiency, delay, ratio
from forager.simulation.bundles import VISIT, PlainRecord, Records
from forager.tape.tape_world import Documents, TapeWorld
from forager.terms import NOBODY

SAMPLE = 3600.0
"""Seconds between samples of freshness and age (reconstructed: hourly)."""


@dataclass(frozen=True, slots=True)
class ReplayFigures:
    """The main figures of one replay.

    Counts cover the whole replay. Documents that appeared during the warm-up do not count, nor do freshness and age
    during it.
    """

    efficiency: Efficiency
    delay: Delay
    freshness: float
    """Share of copies that were current, of pages that can change; mean over hourly samples."""
    age: float
    """Seconds since such a page changed after our copy, 0 if current; mean over hourly samples."""
    unrecorded_share: float
    """Share of downloads of pages that the tape did not have at that time."""
    recrawl_share: float
    """Share of downloads made by the recrawl side."""
    recrawl_hits: float
    """Accepted documents per download of the recrawl side."""
    fleet_hits: float
    """Accepted documents per download of the fleet."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Figures at one time; counts since the start."""

    at: float
    freshness: float
    age: float
    downloads: int
    sent: int
    accepted: int


FLEET, RECRAWL, SENT, FLEET_ACCEPTED, RECRAWL_ACCEPTED = range(5)
"""Indices of the counts: downloads of both sides, documents sent, documents accepted from both sides."""


class CopyColumns(NamedTuple):
    """The data of the account, for the kernel."""

    counts: IntArray
    found: FloatArray
    """When each document was accepted."""
    of_version: IntArray
    """The document of each version."""
    held: IntArray
    """The version of each page that we hold, -1 for none."""
    changing: IntArray
    """Pages with more than one version: only these can become outdated."""
    begin: IntArray
    time: FloatArray


@inner
def _enter_one(record: PlainRecord, copies: CopyColumns, updates: bool) -> None:
    """Counts one record."""
    if record.what < VISIT:  # a birth or a deletion
        return
    recrawl = record.by == NOBODY
    if record.what == VISIT:
        copies.counts[RECRAWL if recrawl else FLEET] += 1
    else:
        copies.counts[SENT] += 1
    relevant = (record.what & RELEVANT) > 0
    if relevant:
        copies.counts[RECRAWL_ACCEPTED if recrawl else FLEET_ACCEPTED] += 1
        document = copies.of_version[record.version]
        if document >= 0 and np.isnan(copies.found[document]):
            copies.found[document] = record.at
    if record.version >= 0 and (relevant or not updates):
        copies.held[record.page] = record.version


@compiled
def _enter(
    records: RowArray, until: float, due: float, copies: CopyColumns, updates: bool, samples: FloatArray
) -> tuple[int, int]:
    """Counts records, and writes a sample for each full hour up to `until`, as far as there is room.

    Returns the numbers of records counted and of samples written.
    """
    place = taken = 0
    while True:
        while place < len(records) and records[place].at <= due:
            _enter_one(records[place], copies, updates)
            place += 1
        if due > until or taken == len(samples):
            return place, taken
        held = fresh = 0
        old = 0.0
        for page in copies.changing:
            version = copies.held[page]
            if version >= 0:
                held += 1
                following = copies.time[version + 1] if version + 1 < copies.begin[page + 1] else np.inf
                if following > due:
                    fresh += 1
                else:
                    old += due - following
        row = samples[taken]
        row[0], row[1], row[2] = due, fresh / held if held else np.nan, old / held if held else np.nan
        row[3] = copies.counts[FLEET] + copies.counts[RECRAWL]
        row[4], row[5] = copies.counts[SENT], copies.counts[FLEET_ACCEPTED] + copies.counts[RECRAWL_ACCEPTED]
        taken += 1
        due += SAMPLE


class ReplayAccount:
    """Collects data during a replay, and computes its figures.

    Freshness and age describe our copies of pages that can change. If updates count as documents, the copy is the last
    accepted version; otherwise it is the last download.
    """

    def __init__(self, world: TapeWorld, truth: Documents, *, updates: bool, max_age: float) -> None:
        self.world, self.truth, self.max_age = world, truth, max_age
        self.updates = updates
        """Whether updates of a page count as documents."""
        self.start = self.end = world.clock.time
        self.found = np.full(len(truth), np.nan)
        """When each document was accepted."""
        self.samples: list[Sample] = []
        columns = world.columns
        self._copies = CopyColumns(
            np.zeros(5, np.int64),
            self.found,
            np.asarray(truth.of_version, np.int64),
            np.full(world.tape.pages, -1, dtype=np.int64),
            np.flatnonzero(np.diff(columns.begin) > 1),
            columns.begin,
            columns.time,
        )
        self._due = self.start + SAMPLE
        self._room = np.empty((1024, 6))

    def __repr__(self) -> str:
        return f"<Account {sum(self.accepted):,} documents by {sum(self.downloads):,} downloads>"

    @property
    def downloads(self) -> list[int]:
        """Downloads of fleet and recrawl side."""
        return [int(self._copies.counts[side]) for side in (FLEET, RECRAWL)]

    @property
    def accepted(self) -> list[int]:
        """Accepted documents of fleet and recrawl side."""
        return [int(self._copies.counts[side]) for side in (FLEET_ACCEPTED, RECRAWL_ACCEPTED)]

    @property
    def sent(self) -> int:
        """Documents that foragers sent or the recrawl side found."""
        return int(self._copies.counts[SENT])

    def enter(self, records: Records, until: float) -> None:
        """Counts records, and takes the samples due up to `until`."""
        while len(records) or self._due <= until:
            entered, taken = _enter(records, until, self._due, self._copies, self.updates, self._room)
            records = records[entered:]
            for at, fresh, old, downloads, sent, accepted in self._room[:taken].tolist():
                self.samples.append(Sample(at, fresh, old, int(downloads), int(sent), int(accepted)))
            self._due += taken * SAMPLE

    def figures(self, found_urls: int, *, warm_up: float = 0.0) -> ReplayFigures:
        """Figures of the whole replay; documents that existed at its very start never count."""
        begin = self.start + warm_up
        counted = (self.truth.born > begin) & (self.truth.born < self.end)
        scored = [one for one in self.samples if one.at > begin and not np.isnan(one.freshness)]
        total = sum(self.downloads)
        return ReplayFigures(
            efficiency=Efficiency(total, self.sent, sum(self.accepted), found_urls),
            delay=delay(
                self.truth.born[counted],
                self.found[counted],
                vanished=self.truth.gone[counted],
                max_age=self.max_age,
            ),
            freshness=ratio(sum(one.freshness for one in scored), len(scored)),
            age=ratio(sum(one.age for one in scored), len(scored)),
            unrecorded_share=ratio(self.world.unrecorded, total),
            recrawl_share=ratio(self.downloads[1], total),
            recrawl_hits=ratio(self.accepted[1], self.downloads[1]),
            fleet_hits=ratio(self.accepted[0], self.downloads[0]),
        )
