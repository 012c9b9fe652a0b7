"""The account of a replay: what was there to be found, what was found and when, and what it cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.engine.step import Taken
from forager.measures.delay import Delay, delay
from forager.measures.efficiency import Efficiency
from forager.reinforcing.agent import ReinforcingAgent
from forager.world.tape.columns import Tape
from forager.world.tape.player import TapeWorld
from forager.world.tape.truth import documents


@dataclass(frozen=True, slots=True)
class Figures:
    """The headline figures of one replay."""

    efficiency: Efficiency
    delay: Delay
    freshness: float
    """Share of the accepted documents whose stored version was still current, the mean over hourly samples."""
    age: float
    """Seconds since the URL changed away from the stored version, 0 if current; the mean, as above."""
    unrecorded_share: float
    """Downloads of pages that the tape did not have at that time."""
    recrawl_share: float
    """Downloads made by the recrawl cycle."""
    recrawl_hits: float
    """Accepted documents per download of the recrawl cycle, and …"""
    fleet_hits: float
    """… of the fleet."""


class Account:
    """Takes notes during a replay, gives figures after it."""

    def __init__(self, tape: Tape, start: float) -> None:
        self.tape, self.start, self.end = tape, start, tape.end
        self.truth = documents(tape)
        self.found = np.full(len(self.truth), np.nan)
        self.hits: list[float] = []
        """When documents were accepted."""
        self.downloads = [0, 0]
        self.accepted = [0, 0]
        """Both by side: fleet, recrawl cycle."""
        self.samples: list[tuple[float, float, float, int, int]] = []
        """Time, freshness, age, downloads and accepted documents so far."""
        self.sent = self.unrecorded = 0
        self._met = np.zeros(tape.pages, dtype=np.bool_)
        self._kept: dict[int, int] = {}
        self._sampled = start

    def note(self, taken: Taken, now: float, *, recrawl: bool) -> None:
        """Enter a step, or a visit of the recrawl cycle."""
        for sighting in taken.sightings:
            self._met[sighting.url] = True
            if not sighting.free:
                self.downloads[recrawl] += 1
                self._met[sighting.links] = True
        self.sent += len(taken.reinforcements)
        for one in taken.reinforcements:
            if one.relevant:
                self._accept(one.finding.url, one.finding.version, now, recrawl)

    def _accept(self, url: int, version: int, now: float, recrawl: bool) -> None:
        self.accepted[recrawl] += 1
        self.hits.append(now)
        self._kept[url] = version
        row = self.truth.of_version[version]
        if row >= 0 and np.isnan(self.found[row]):
            self.found[row] = now

    def known(self) -> NDArray[np.int64]:
        """The pages met so far."""
        return np.flatnonzero(self._met)

    def sample(self, world: TapeWorld, now: float, every: float = 3600.0) -> None:
        """Look at freshness and age, once an hour."""
        if now - self._sampled < every:
            return
        self._sampled = now
        fresh, age = self._currency(now)
        self.samples.append((now, fresh, age, sum(self.downloads), sum(self.accepted)))

    def _currency(self, now: float) -> tuple[float, float]:
        """Freshness and mean age of the accepted documents, now."""
        if not self._kept:
            return float("nan"), float("nan")
        urls = np.fromiter(self._kept, dtype=np.int64)
        held = np.fromiter(self._kept.values(), dtype=np.int64)
        last = self.tape.version_start[urls + 1] - 1
        following = np.minimum(held + 1, last)
        changed = np.where(held < last, self.tape.time[following], np.inf)
        stale = changed <= now
        return float(1 - stale.mean()), float(np.where(stale, now - changed, 0.0).mean())

    def close(self, world: TapeWorld, agent: ReinforcingAgent, end: float) -> None:
        """The replay is over."""
        self.end, self.unrecorded = end, world.unrecorded

    def figures(self, *, warm_up: float = 0.0) -> Figures:
        """The figures for the documents that appeared after the warm-up."""
        counted = (self.truth.born >= self.start + warm_up) & (self.truth.born < self.end)
        total = sum(self.downloads)
        sampled = np.array([(fresh, age) for _, fresh, age, _, _ in self.samples]).reshape(-1, 2)
        return Figures(
            efficiency=Efficiency(total, self.sent, sum(self.accepted), int(self._met.sum())),
            delay=delay(self.truth.born[counted], self.found[counted], vanished=self.truth.gone[counted]),
            freshness=float(np.nanmean(sampled[:, 0])) if len(sampled) else float("nan"),
            age=float(np.nanmean(sampled[:, 1])) if len(sampled) else float("nan"),
            unrecorded_share=self.unrecorded / max(1, total),
            recrawl_share=self.downloads[1] / max(1, total),
            recrawl_hits=self.accepted[1] / max(1, self.downloads[1]),
            fleet_hits=self.accepted[0] / max(1, self.downloads[0]),
        )
