"""The account of a replay: what was there to be found, what was found and when, and what it cost.

Efficiencies, freshness and age as in the foragers paper, section 3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.core.judge import RELEVANT
from forager.measures import Delay, Efficiency, age, delay, freshness, ratio
from forager.simulation.bundles import VISIT, Records
from forager.tape.truth import Documents
from forager.tape.world import TapeWorld
from forager.terms import NOBODY

SAMPLE = 3600.0
"""How often freshness and age are looked at (reconstructed: hourly)."""


@dataclass(frozen=True, slots=True)
class ReplayFigures:
    """The headline figures of one replay. Counts are of the whole replay; documents that appeared in the warm-up, and
    freshness and age during it, do not count."""

    efficiency: Efficiency
    delay: Delay
    freshness: float
    """Share of the accepted documents whose stored version was still current, the mean over hourly samples."""
    age: float
    """Seconds since the page changed away from the stored version, 0 if current; the mean, as above."""
    unrecorded_share: float
    """Downloads of pages that the tape did not have at that time."""
    recrawl_share: float
    """Downloads made by the recrawl side."""
    recrawl_hits: float
    """Accepted documents per download of the recrawl side, and …"""
    fleet_hits: float
    """… of the fleet."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How things stood at one moment; counts since the start."""

    at: float
    freshness: float
    age: float
    downloads: int
    sent: int
    accepted: int


@compiled
def _changes(
    urls: NDArray[np.int64], held: NDArray[np.int64], begin: NDArray[np.int64], time: NDArray[np.float64]
) -> NDArray[np.float64]:
    """When each page changed away from the version held of it; inf if it has not yet."""
    out = np.empty(len(urls))
    for i in range(len(urls)):
        following = held[urls[i]] + 1
        out[i] = time[following] if following < begin[urls[i] + 1] else np.inf
    return out


class ReplayAccount:
    """Takes notes during a replay, gives figures after it.

    The stored version of a document is the one accepted last. Where updates are no documents of their own, a crawl keeps
    what it downloads, and it is the one downloaded last.
    """

    def __init__(self, world: TapeWorld, truth: Documents, *, updates: bool, max_age: float) -> None:
        self.world, self.truth, self.max_age = world, truth, max_age
        self.updates = updates
        """Updates are documents of their own."""
        self.start = self.end = world.clock.time
        self.found = np.full(len(truth), np.nan)
        """When each document was accepted."""
        self.downloads, self.accepted = [0, 0], [0, 0]
        """Both by side: fleet, recrawl."""
        self.sent = 0
        self.samples: list[Sample] = []
        self.stored = np.full(world.tape.pages, -1, dtype=np.int64)
        """The version of each page that was accepted last, …"""
        self.stores = np.zeros(world.tape.pages, dtype=np.bool_)
        """… and whether any was."""
        self._pages_stored = 0
        self._changing = np.flatnonzero(np.diff(world.columns.begin) > 1)
        """Pages that have more than one version: only these can go out of date."""
        self.due = self.start + SAMPLE
        """When the next sample is to be taken."""

    def __repr__(self) -> str:
        return f"<Account {sum(self.accepted):,} documents by {sum(self.downloads):,} downloads>"

    def enter(self, records: Records) -> None:
        """Enter what kernels have done, as their records say."""
        what, recrawl = records["what"], records["by"] == NOBODY
        visits = what == VISIT
        made = int(np.count_nonzero(visits & recrawl))
        self.downloads = [self.downloads[0] + int(np.count_nonzero(visits)) - made, self.downloads[1] + made]
        self.sent += len(records) - int(np.count_nonzero(visits))
        self._accept(records[(what & RELEVANT) > 0])

    def _accept(self, accepted: Records) -> None:
        """These documents were accepted, in this order."""
        made = int(np.count_nonzero(accepted["by"] == NOBODY))
        self.accepted = [self.accepted[0] + len(accepted) - made, self.accepted[1] + made]
        pages, versions = accepted["page"], accepted["version"]
        self._pages_stored += int(np.count_nonzero(~self.stores[np.unique(pages)]))
        self.stored[pages], self.stores[pages] = versions, True
        rows = self.truth.of_version[versions]
        new = (rows >= 0) & np.isnan(self.found[rows])
        self.found[rows[new][::-1]] = accepted["at"][new][::-1]  # the first one counts

    def watch(self, now: float) -> None:
        """Take the samples that are due."""
        while now >= self.due:
            at, (outdated, steady) = self.due, self._outdated()
            fresh, old = freshness(outdated, at, steady), age(outdated, at, steady)
            if not len(outdated) + steady:
                fresh = old = np.nan
            self.samples.append(Sample(at, fresh, old, sum(self.downloads), self.sent, sum(self.accepted)))
            self.due += SAMPLE

    def _outdated(self) -> tuple[NDArray[np.float64], int]:
        """When each document's page changed away from the stored version, inf if it has not yet; and how many never do."""
        columns = self.world.columns
        held = self.stored if self.updates else columns.held
        pages = self._changing[self.stores[self._changing]]
        return _changes(pages, held, columns.begin, columns.time), self._pages_stored - len(pages)

    def figures(self, found_urls: int, *, warm_up: float = 0.0) -> ReplayFigures:
        """The figures of the whole replay; documents there at the very start never count."""
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
