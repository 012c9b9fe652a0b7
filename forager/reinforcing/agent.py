"""The reinforcing agent: judges what foragers send, keeps their scores, multiplies and deletes them (Alg 7, 8, 9).

It never waits. One forager after the other by `turn`, a time slice each as in the paper, or all at once: the same code.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from forager.chance import stream
from forager.foragers.forager import Forager
from forager.foragers.settings import ForagerKind, ForagerSettings
from forager.foragers.sighting import Finding, Reinforcement
from forager.reinforcing.population import Deleted, Fate, Multiplied, fate, poorest
from forager.reinforcing.relevancy import Relevancy
from forager.reinforcing.scores import Record, Scores
from forager.reinforcing.settings import ReinforcingSettings
from forager.terms import ForagerId, UrlId


class ReinforcingAgent:
    """Owns the fleet: who is alive, what they earned, whose turn it is."""

    def __init__(
        self,
        settings: ReinforcingSettings,
        foragers: ForagerSettings,
        seed: int,
        on_topic: Callable[[Finding], bool] | None = None,
    ) -> None:
        self.settings = settings
        self.forager_settings = foragers
        self.seed = seed
        self.suggest: Callable[[int], Sequence[UrlId]] = lambda count: ()
        """Up to so many pages from which a newborn forager may start; by default nobody knows any."""
        self.relevancy = Relevancy(settings.relevancy, foragers.max_age, on_topic)
        self.scores = Scores(settings.scores)
        self.foragers: dict[ForagerId, Forager] = {}
        """Those alive, in the order of their turns."""
        self.records: dict[ForagerId, Record] = {}
        """Everyone who ever lived."""
        self.turns = 0
        """The place in the order of the one whose turn is next; past the end, it is the first one's."""

    def __repr__(self) -> str:
        born, alive = len(self.records), len(self.foragers)
        return f"<ReinforcingAgent {alive} alive, {born} born, {born - alive} deleted>"

    def start(self, seeds: NDArray[np.int64], now: float, kinds: Sequence[ForagerKind] = ()) -> list[Forager]:
        """The first foragers; of the settings' kind unless `kinds` gives one for each.

        Each begins with all seeds, or with its share of them if they are more than a weblog holds, so that every seed
        is in someone's weblog. The baseline has one forager: more would only sweep the same pages.
        """
        kind = self.forager_settings.kind
        if not kinds:
            kinds = [kind] * (1 if kind is ForagerKind.BFS else self.settings.population.first)
        stride = len(kinds) if len(seeds) > self.forager_settings.weblog.size else 1
        for place, each in enumerate(kinds):
            id = self._next_id()
            dealt = seeds[place % stride :: stride]
            newborn = Forager.born(id, each, self.forager_settings, dealt, self._luck(id))
            self._enter(newborn, None, now)
        return list(self.foragers.values())

    def turn(self) -> Forager:
        """The forager whose turn it is; then the next one's comes: round robin, children last."""
        place = self.turns if self.turns < len(self.foragers) else 0
        self.turns = place + 1
        return list(self.foragers.values())[place]

    def judge(self, findings: Sequence[Finding], now: float) -> list[Reinforcement]:
        """Reward or penalty for each, and what it does to the sender's score (Alg 7)."""
        reinforcements = [self.relevancy.judge(finding, now) for finding in findings]
        for reinforcement in reinforcements:
            record = self.records.get(reinforcement.finding.by)
            if record is not None:
                self.scores.judged(record, reinforcement.relevant)
        return reinforcements

    def worked(self, id: ForagerId, downloads: int) -> None:
        """A forager has downloaded so many pages; shared copies do not count."""
        self.scores.worked(self.records[id], downloads)

    def manage(self, id: ForagerId, now: float) -> list[Multiplied | Deleted]:
        """Multiply or delete a forager as its score demands (Alg 8); what happened, in order."""
        record = self.records[id]
        decided = fate(record, len(self.foragers), self.settings.population, self.settings.scores)
        if decided is Fate.GOES:
            return [self._delete(record, now)]
        if decided is Fate.MULTIPLIES:
            return [self._multiply(record, now)]
        if decided is Fate.REPLACES:
            alive = [self.records[other] for other in self.foragers]
            return [self._delete(poorest(alive, id), now), self._multiply(record, now)]
        return []

    def _multiply(self, record: Record, now: float) -> Multiplied:
        id = self._next_id()
        child = self.foragers[record.id].multiply(id, self._luck(id))
        for url in self.suggest(self.settings.population.starts - len(child.weblog)):
            child.weblog.add(url)
        record.score = self.scores.first
        self._enter(child, record.id, now)
        return Multiplied(record.id, id, now)

    def _delete(self, record: Record, now: float) -> Deleted:
        place = list(self.foragers).index(record.id)
        del self.foragers[record.id]
        self.turns -= place < self.turns
        record.deleted = now
        return Deleted(record.id, now, record.score)

    def _enter(self, forager: Forager, parent: ForagerId | None, now: float) -> None:
        self.foragers[forager.id] = forager
        self.records[forager.id] = Record(forager.id, forager.kind, parent, now, self.scores.first)

    def _next_id(self) -> ForagerId:
        return ForagerId(len(self.records))

    def _luck(self, id: ForagerId) -> np.random.Generator:
        return stream(self.seed, f"forager {id}")
