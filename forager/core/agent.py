"""The reinforcing agent: lets foragers make their steps, judges what they send, keeps their scores, multiplies and deletes
them (Alg 7, 8, 9).

It never waits. One forager after the other by `turn`, a time slice each as in the paper, or all at once: the same code.

    step = agent.choose(forager, now, shared)               decide
    sightings = …visit step.url, then its links if step.links…
    earned = agent.see(forager, step, sightings, now, shared)      judge and learn; once per step

In a replay the same moves are made by one loop, over the arrays of `Flock`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.chance import stream
from forager.core.agent_settings import ReinforcingSettings
from forager.core.fleet import Flock, Forager
from forager.core.judge import GOES, MULTIPLIES, RELEVANT, REPLACES, KeyNumbers, Numbers, Seen
from forager.core.kernels import highest
from forager.core.moves import (
    arrive_at,
    choose_page,
    decide_fate,
    judge_document,
    score_document,
    score_work,
    send_document,
    settle_step,
)
from forager.core.parameters import ForagerKind, ForagerSettings
from forager.core.rules import Figures, ForagerRules, forager_rules
from forager.core.scores import ForagerRecord
from forager.core.shared import Shared
from forager.core.sighting import Finding, Reinforcement, Sighting, Step
from forager.core.updates import Mind
from forager.terms import NOBODY, ForagerId, UrlId


@dataclass(frozen=True, slots=True)
class Multiplied:
    """A forager has a child."""

    parent: ForagerId
    child: ForagerId
    at: float


@dataclass(frozen=True, slots=True)
class Removal:
    """A forager is gone."""

    forager: ForagerId
    at: float
    score: float


def poorest(records: Sequence[ForagerRecord], but: ForagerId) -> ForagerRecord:
    """The one with the lowest score, not counting `but`; the oldest if equal."""
    return min((record for record in records if record.id != but), key=lambda record: record.score)


class ReinforcingAgent:
    """Owns the fleet: who is alive, what they earned, whose turn it is."""

    def __init__(
        self,
        settings: ReinforcingSettings,
        foragers: ForagerSettings,
        seed: int,
        on_topic: Callable[[int], bool] | None = None,
    ) -> None:
        """`on_topic` says whether a version fits the topic of the crawl; None: every topic will do."""
        self.settings = settings
        self.forager_settings = foragers
        self.seed, self.on_topic = seed, on_topic
        self.suggest: Callable[[int], Sequence[UrlId]] = lambda count: ()
        """Up to so many pages from which a newborn forager may start; by default nobody knows any."""
        self.flock = Flock(foragers, max(settings.population.first, settings.population.most))
        self.sent_as: Numbers = KeyNumbers(foragers.identity)
        self.known_as: Numbers = KeyNumbers(settings.relevancy.identity)
        """The numbers of documents as foragers, and as the agent itself know them."""
        rules = Figures[ForagerRules](ForagerRules)
        rules.write(ForagerRules(**self.rule_values))
        self.rules = rules.row
        self.foragers: dict[ForagerId, Forager] = {}
        """Those alive, in the order of their turns."""
        self._records: dict[ForagerId, ForagerRecord] = {}

    def __repr__(self) -> str:
        born, alive = len(self._records), len(self.foragers)
        return f"<ReinforcingAgent {alive} alive, {born} born, {born - alive} deleted>"

    @property
    def rule_values(self) -> dict[str, Any]:
        """What the settings say, for kernels."""
        scores, population, judged = self.settings.scores, self.settings.population, self.settings.relevancy
        return forager_rules(self.forager_settings) | {
            "reward": judged.reward,
            "penalty": judged.penalty,
            "relative": scores.relative,
            "score_relevant": scores.relevant,
            "score_sent": scores.sent,
            "multiply_at": scores.relative_gain if scores.relative else scores.multiply_at,
            "delete_below": -scores.relative_gain if scores.relative else scores.delete_below,
            "least": population.least,
            "most": population.most,
        }

    @property
    def records(self) -> dict[ForagerId, ForagerRecord]:
        """Everyone who ever lived."""
        for id, forager in self.foragers.items():
            self._records[id].follow(self.flock.state.walkers[forager.slot])
        return self._records

    @property
    def first_score(self) -> float:
        """The score to begin with."""
        return 0.0 if self.settings.scores.relative else self.settings.scores.initial

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
            self._enter(Forager.born(self.flock, id, each, dealt, self._luck(id)), None, now)
        return list(self.foragers.values())

    # A step of a forager, move by move.

    def choose(self, forager: Forager, now: float, shared: Shared) -> Step:
        """The next step; from now on it counts as begun (Alg 11)."""
        forager.draw()
        mind = self._mind(shared, len(forager.seeds))
        url, worth = choose_page(self.rules, mind, self.flock.state, forager.slot, now)
        return Step(UrlId(url), bool(self.rules["all_links"][0]), worth)

    def see(
        self, forager: Forager, step: Step, sightings: Sequence[Sighting], now: float, shared: Shared
    ) -> list[Reinforcement]:
        """Take in a step's visits, its own page first, and learn from what their documents earn (Alg 4, 5, 7)."""
        firsts = [shared.note(sighting) for sighting in sightings]
        self.flock.pages = max(self.flock.pages, highest(sightings[0].links) + 1)
        links, downloads = sightings[0].links, sum(not sighting.free for sighting in sightings)
        shared.pace.downloaded(downloads)
        documents = [(one, first, self._seen(one)) for one, first in zip(sightings, firsts, strict=True) if one.ok]
        mind = self._mind(shared, len(links))
        fleet, slot, earned = self.flock.state, forager.slot, []
        arrive_at(self.rules, fleet, slot, step.url, links)
        for sighting, first, seen in documents:
            revealer = _revealer(sighting, first, shared)
            became = send_document(self.rules, mind, fleet, slot, seen, revealer, links, now)
            earned += self._earned(sighting, forager.id, became, revealer)
        settle_step(self.rules, mind, fleet, slot, step.url, downloads)
        return earned

    # What others find and do.

    def judge(
        self,
        sighting: Sighting,
        revealer: UrlId,
        links: NDArray[np.int64],
        now: float,
        shared: Shared,
        by: ForagerId = NOBODY,
    ) -> list[Reinforcement]:
        """Judge the document that a visit shows, if it does, on behalf of somebody who makes no steps (Alg 7).

        It pays the page that revealed it; `links` are those of the page that was visited.
        """
        seen = self._seen(sighting)
        mind = self._mind(shared, 0)
        became = judge_document(self.rules, mind, self.flock.state, seen, revealer, links, now)
        if became and by in self.foragers:
            score_document(self.rules, self.flock.state, self.foragers[by].slot, (became & RELEVANT) > 0)
        return self._earned(sighting, by, became, revealer)

    def worked(self, id: ForagerId, downloads: int) -> None:
        """A forager has downloaded so many pages; shared copies do not count."""
        score_work(self.rules, self.flock.state, self.foragers[id].slot, downloads)

    def accepts(self, url: int, version: int, text_print: int) -> None:
        """A document was accepted before."""
        numbers = self.known_as.of(url, version, text_print)
        self.flock.reserve(pages=0, links=0, accepted=len(self.known_as))
        for number in numbers:
            if number >= 0:
                self.flock.state.accepted[number] = True

    # Multiply and delete.

    def manage(self, id: ForagerId, now: float) -> list[Multiplied | Removal]:
        """Multiply or delete a forager as its score demands (Alg 8); what happened, in order."""
        decided = decide_fate(self.rules, self.flock.state, self.foragers[id].slot)
        if decided == GOES:
            return [self._delete(id, now)]
        if decided == MULTIPLIES:
            return [self._multiply(id, now)]
        if decided == REPLACES:
            alive = [self.records[other] for other in self.foragers]
            return [self._delete(poorest(alive, id).id, now), self._multiply(id, now)]
        return []

    def enter(self, forager: Forager, record: ForagerRecord) -> None:
        """A forager with its record joins the fleet."""
        self.foragers[forager.id], self._records[forager.id] = forager, record
        record.lead(self.flock.state.walkers[forager.slot : forager.slot + 1])
        self._order()

    def remember(self, record: ForagerRecord) -> None:
        """The record of somebody who is gone."""
        self._records[record.id] = record

    def _multiply(self, id: ForagerId, now: float) -> Multiplied:
        child_id = self._next_id()
        parent = self.foragers[id]
        child = parent.multiply(child_id, self._luck(child_id))
        weblog = child.weblog
        for url in self.suggest(self.settings.population.starts - len(weblog)):
            weblog.add(url)
        child.weblog = weblog
        self.flock.state.walkers["score"][parent.slot] = self.first_score
        self._enter(child, id, now)
        return Multiplied(id, child_id, now)

    def _delete(self, id: ForagerId, now: float) -> Removal:
        record, place, tally = self.records[id], list(self.foragers).index(id), self.flock.state.tally
        self.flock.leave(self.foragers.pop(id).slot)
        tally["turns"] -= place < tally["turns"][0]
        self._order()
        record.deleted = now
        return Removal(id, now, record.score)

    def _enter(self, forager: Forager, parent: ForagerId | None, now: float) -> None:
        self.enter(forager, ForagerRecord(forager.id, forager.kind, parent, now, self.first_score))

    def _order(self) -> None:
        self.flock.put_in_order([forager.slot for forager in self.foragers.values()])

    def _next_id(self) -> ForagerId:
        return ForagerId(len(self._records))

    def _luck(self, id: ForagerId) -> np.random.Generator:
        return stream(self.seed, f"forager {id}")

    # What kernels are given, and what is made of their answers.

    def _mind(self, shared: Shared, links: int) -> Mind:
        """What all know, with room for every known page in the flock, and for so many more links there."""
        shared.reserve(self.flock.pages)
        mind = shared.mind()
        self.flock.reserve(pages=len(mind.table), links=links, sent=len(self.sent_as), accepted=len(self.known_as))
        return mind

    def _seen(self, sighting: Sighting) -> Seen:
        document = sighting.url, sighting.version, sighting.text_print
        topical = self.on_topic is None or self.on_topic(sighting.version)
        numbers = *self.sent_as.of(*document), *self.known_as.of(*document)
        return Seen(sighting.url, sighting.published, sighting.hub, topical, *numbers)

    def _earned(self, sighting: Sighting, by: ForagerId, became: int, revealer: UrlId) -> list[Reinforcement]:
        """What a document earned, if it was sent."""
        if not became:
            return []
        relevant, judged = (became & RELEVANT) > 0, self.settings.relevancy
        finding = Finding(by, sighting.url, sighting.version, sighting.text_print, sighting.published, revealer)
        return [Reinforcement(finding, judged.reward if relevant else judged.penalty, relevant)]


def _revealer(sighting: Sighting, first: bool, shared: Shared) -> UrlId:
    """The page whose visit revealed a document: itself if a known page changed; -1 if nobody did (a seed)."""
    return shared.visits.revealer(sighting.url) if first else sighting.url
