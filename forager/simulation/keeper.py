"""Brings the foragers of a fleet into arrays, and back.

They come in when they are born. Paths, what was sent and luck drawn ahead stay there; weblogs and records go back when
somebody outside asks for them, such as when a forager multiplies.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.foragers.forager import Forager
from forager.foragers.settings import ForagerKind
from forager.foragers.weblog import Weblog
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.flock import WALKER, Flock
from forager.terms import ForagerId, UrlId

AHEAD = 64
"""Numbers of a forager's luck drawn at a time."""


class Keeper:
    """Keeps a fleet as a flock. Nobody else may let its foragers make steps."""

    def __init__(self, agent: ReinforcingAgent, pages: int, documents: int, widest: int) -> None:
        """No page has more links than `widest`."""
        self.agent, self.widest = agent, widest
        settings = agent.forager_settings
        slots = max(agent.settings.population.most, len(agent.foragers))
        seeds = max(len(one.seeds) for one in agent.foragers.values())
        sweeps = settings.kind is ForagerKind.BFS
        links = pages + seeds + widest if sweeps else 16 * (widest + 64)
        self._slot: dict[ForagerId, int] = {}
        self.flock = Flock(
            order=np.zeros(slots, np.int64),
            walkers=np.zeros(slots, WALKER),
            met=np.zeros((slots, pages), np.int32),
            open=np.empty((slots, links), np.int64),
            path=np.empty((slots, 1 if sweeps else 4 * settings.max_step), np.int64),
            earned=np.empty((slots, 1 if sweeps else 4 * settings.max_step)),
            weblog=np.empty((slots, settings.weblog.size), np.int64),
            values=np.empty((slots, settings.weblog.size)),
            seeds=np.empty((slots, seeds), np.int64),
            luck=np.empty((slots, AHEAD)),
            sent=np.zeros((slots, documents), np.bool_),
        )
        """Do not keep it: it is replaced as it grows."""
        self.take_over()

    def __repr__(self) -> str:
        return f"<Keeper of {len(self._slot)} foragers>"

    def take_over(self) -> None:
        """Foragers that are new here come in, those that are gone leave; weblogs and records are read anew."""
        flock, alive = self.flock, self.agent.foragers
        self._slot = {id: slot for id, slot in self._slot.items() if id in alive}
        for id, forager in alive.items():
            if id not in self._slot:
                self._slot[id] = min(set(range(len(flock.walkers))) - set(self._slot.values()))
                self._come_in(forager, self._slot[id])
            slot, record, weblog = self._slot[id], self.agent.records[id], forager.weblog
            me = flock.walkers[slot]
            flock.weblog[slot, : len(weblog)], flock.values[slot, : len(weblog)] = weblog.urls, weblog.values
            me["entries"], me["score"] = len(weblog), record.score
            me["sent"], me["relevant"], me["downloads"] = record.sent, record.relevant, record.downloads
        flock.order[: len(alive)] = [self._slot[id] for id in alive]

    def give_back(self) -> None:
        """Weblogs and records become what they are here."""
        for id, slot in self._slot.items():
            me, record = self.flock.walkers[slot], self.agent.records[id]
            record.score, record.sent = float(me["score"]), int(me["sent"])
            record.relevant, record.downloads = int(me["relevant"]), int(me["downloads"])
            urls, values = self.flock.weblog[slot, : me["entries"]], self.flock.values[slot, : me["entries"]]
            entries = zip(urls.tolist(), values.tolist(), strict=True)
            weblog = self.agent.foragers[id].weblog
            self.agent.foragers[id].weblog = Weblog(weblog.settings, [(UrlId(url), value) for url, value in entries])

    def manage(self, slot: int, now: float) -> None:
        """The turn of a forager is over: multiply or delete (Alg 8)."""
        self.give_back()
        self.agent.manage(next(id for id, own in self._slot.items() if own == slot), now)
        self.take_over()

    def make_room(self) -> None:
        """Draw luck, and have place for one more step of everybody."""
        walkers, luck = self.flock.walkers, self.flock.luck
        for id, slot in self._slot.items():
            drawn = int(walkers["drawn"][slot])
            if drawn > AHEAD // 2:
                luck[slot, : AHEAD - drawn] = luck[slot, drawn:].copy()
                luck[slot, AHEAD - drawn :] = self.agent.foragers[id].rng.random(drawn)
                walkers["drawn"][slot] = 0
        if walkers["count"].max() + self.widest > self.flock.open.shape[1]:
            self.flock = self.flock._replace(open=_widened(self.flock.open))
        if walkers["length"].max() >= self.flock.path.shape[1] > 1:
            wider = {"path": _widened(self.flock.path), "earned": _widened(self.flock.earned)}
            self.flock = self.flock._replace(**wider)

    def _come_in(self, forager: Forager, slot: int) -> None:
        """A newborn: no path, nothing sent."""
        flock = self.flock
        flock.walkers[slot] = 0
        flock.met[slot], flock.sent[slot] = 0, False
        flock.seeds[slot, : len(forager.seeds)] = forager.seeds
        flock.walkers["seeds"][slot] = len(forager.seeds)
        flock.luck[slot] = forager.rng.random(AHEAD)


def _widened(table: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([table, np.empty_like(table)], axis=1)
