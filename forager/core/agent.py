"""The reinforcing agent: runs the steps of foragers, judges what they send, scores, multiplies and deletes them
(Alg 7, 8, 9).

The agent never waits. Foragers may take turns with time slices, as in the paper, or run at the same time; the code is
the same.

    step = agent.choose(forager, now, shared)                      decide
    sightings = …visit step.url, then its links if step.links…
    earned = agent.see(forager, step, sightings, now, shared)      judge and learn; once per step

In a replay, a kernel does the same with the arrays of `Flock`.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from forager.arrays import IntArray
from forager.chance import stream
from forager.core.addresses import SHAPES
from forager.core.births import manage
from forager.core.draws import draw_weights
from forager.core.findings import NO_LINKS, Finding, Reinforcement, Sighting, Step
from forager.core.fleet import GENES, KINDS, FleetState, Flock, Forager, ForagerRecord
from forager.core.judge import RELEVANT, KeyNumbers, Numbers, Seen, count_judged, count_work, reward_for
from forager.core.page_row import Mind, highest
from forager.core.parameters import ForagerKind, ForagerSettings, ReinforcingSettings
from forager.core.rules import Figures, ForagerRules, forager_rules
from forager.core.shared import Shared
from forager.core.step import arrive, choose, send, settle
from forager.core.territory import begin_look, end_look, pays_itself, send_for
from forager.core.weblog import Weblog
from forager.kernel import awaits_code, inner
from forager.terms import NOBODY, ForagerId, UrlId

LEADS = 300
"""Number of links from which plain Python can choose in about 10 ms."""


@inner
def take_look(
    rules: ForagerRules,
    mind: Mind,
    fleet: FleetState,
    seen: Seen,
    revealer: int,
    first: bool,
    links: IntArray,
    now: float,
) -> int:
    """Processes a look of the recrawl cycle at a page; returns what became of its document, 0 if it shows none."""
    slot = begin_look(rules, mind, fleet, seen.url, 1)
    became = send_for(rules, mind, fleet, slot, seen.url, seen, revealer, links, now)
    found = 1 if became & RELEVANT else 0
    paid = found if pays_itself(rules, seen.url, revealer) else 0
    end_look(rules, mind, fleet, slot, seen.url, first, found, paid, links)
    return became


@dataclass(frozen=True, slots=True)
class Multiplied:
    """A forager had a child."""

    parent: ForagerId
    child: ForagerId
    at: float


@dataclass(frozen=True, slots=True)
class Removal:
    """A forager was deleted."""

    forager: ForagerId
    at: float
    score: float


class ReinforcingAgent:
    """Owns the fleet: which foragers are alive, what they earned, whose turn it is."""

    def __init__(
        self,
        settings: ReinforcingSettings,
        foragers: ForagerSettings,
        seed: int,
        on_topic: Callable[[int], bool] | None = None,
    ) -> None:
        """`on_topic` returns whether a version is on the topic of the crawl; None means that every topic counts."""
        self.settings = settings
        self.forager_settings = foragers
        self.seed, self.on_topic = seed, on_topic
        self.suggest: Callable[[int], Sequence[UrlId]] = lambda count: ()
        """Up to `count` pages from which a newborn forager may start; by default nobody knows any."""
        first = max(settings.population.first, len(foragers.first_kinds))
        self.flock = Flock(
            foragers, max(first, settings.population.most), int(stream(seed, "foragers").integers(2**62))
        )
        self.sent_as: Numbers = KeyNumbers(foragers.identity)
        self.known_as: Numbers = KeyNumbers(settings.relevancy.identity)
        """The document numbers of foragers (`sent_as`), and of the agent (`known_as`)."""
        rules = Figures[ForagerRules](ForagerRules)
        rules.write(ForagerRules(**self.rule_values))
        self.rules = rules.row
        self._records: dict[ForagerId, ForagerRecord] = {}
        self._living: list[ForagerRecord] = []
        """The records of foragers that were alive when the records were last read."""

    def __repr__(self) -> str:
        born, alive = self.flock.born, len(self.flock.slots)
        return f"<ReinforcingAgent {alive} alive, {born} born, {born - alive} deleted>"

    @property
    def rule_values(self) -> dict[str, Any]:
        """The settings, for kernels."""
        scores, population, judged = self.settings.scores, self.settings.population, self.settings.relevancy
        return forager_rules(self.forager_settings) | {
            "reward": judged.reward,
            "penalty": judged.penalty,
            "relative": scores.relative,
            "score_relevant": scores.relevant,
            "score_sent": scores.sent,
            "multiply_at": scores.relative_gain if scores.relative else scores.multiply_at,
            "delete_below": -scores.relative_gain if scores.relative else scores.delete_below,
            "beyond_chance": scores.beyond_chance,
            "score_keep": 1 - 1 / scores.memory,
            "least": population.least,
            "most": population.most,
            "usual_size": population.usual,
            "first_score": 0.0 if scores.relative else scores.initial,
            "mutation": self.settings.mutation,
        }

    @property
    def foragers(self) -> dict[ForagerId, Forager]:
        """The foragers alive, in the order of their turns."""
        return {forager.id: forager for forager in (Forager(self.flock, slot) for slot in self.flock.slots)}

    @property
    def records(self) -> dict[ForagerId, ForagerRecord]:
        """The records of all foragers that ever lived."""
        state, slots = self.flock.state, {id: forager.slot for id, forager in self.foragers.items()}
        for number in range(len(self._records), self.flock.born):
            id, life = ForagerId(number), state.lives[number]
            walker = state.walkers[slots[id]] if id in slots else state.ended[id]
            parent = None if life["parent"] < 0 else ForagerId(int(life["parent"]))
            record = ForagerRecord(id, KINDS[int(walker["kind"])], parent, float(life["born"]), 0.0)
            record.genes = {key: float(walker[column]) for key, column in GENES.items()}
            self._records[id] = record
            self._living.append(record)
        for record in self._living:
            if record.id in slots:
                record.follow(state.walkers[slots[record.id]])
            else:
                record.follow(state.ended[record.id])
                record.deleted = float(state.lives["deleted"][record.id])
        self._living = [record for record in self._living if record.deleted is None]
        return self._records

    @property
    def decided(self) -> float | None:
        """How often long-term profit changed the choice: the share of steps along links for which it chose another link
        than the expected documents alone would have. None if there were no such steps.
        """
        tally = self.flock.state.tally
        steps = int(tally["steps"][0])
        return round(int(tally["decided"][0]) / steps, 4) if steps else None

    def start(
        self, seeds: IntArray, now: float, kinds: Sequence[ForagerKind] = (), recorded: IntArray = NO_LINKS
    ) -> list[Forager]:
        """Creates the first foragers, of the kind in the settings unless `kinds` gives one for each.

        Each gets all seeds, or its share of them if they do not fit into one weblog, so that every seed is in some
        weblog. RL foragers share one start list: the seeds, then the pages that a recording saw first if there is one,
        else the pages that any of them sees. The baseline has a single forager, because several would sweep the same
        pages.
        """
        kind = self.forager_settings.kind
        if not kinds and kind is not ForagerKind.BFS:
            kinds = self.forager_settings.first_kinds or [kind] * self.settings.population.first
        kinds = kinds or [kind]
        stride = len(kinds) if len(seeds) > self.forager_settings.weblog.size else 1
        for place, each in enumerate(kinds):
            own = seeds if each is ForagerKind.RL else seeds[place % stride :: stride]
            forager = self._begin(each, own, now)
            if each is ForagerKind.RL and len(recorded):
                weblog = forager.weblog
                for url in recorded.tolist():
                    if len(weblog) < weblog.settings.start_size:
                        weblog.add(UrlId(url))
                forager.weblog = weblog
        return list(self.foragers.values())

    def _begin(self, kind: ForagerKind, seeds: IntArray, now: float) -> Forager:
        """Creates a forager that knows only the seeds (Alg 10)."""
        flock, settings = self.flock, self.forager_settings
        weblog = Weblog(settings.weblog, [(UrlId(int(url)), 0.0) for url in seeds])
        weights = np.zeros(settings.states.dimension + SHAPES)
        slot = flock.enter(flock.born, kind, seeds, weblog, weights, flock.usual)
        flock.note_birth(NOBODY, now)
        flock.state.walkers["score"][slot] = self.rules["first_score"][0]
        self.draw_weights(slot)
        return Forager(flock, slot)

    def draw_weights(self, slot: int) -> None:
        """Gives a forager random weights for the components of states; its weights for address marks stay."""
        settings = self.forager_settings
        draw_weights(self.flock.state, slot, settings.states.dimension, settings.profit.spread)

    # The moves of a step.

    def choose(self, forager: Forager, now: float, shared: Shared) -> Step:
        """Chooses the next step, which has then begun (Alg 11).

        Where kernels are not compiled yet and there are very many open links, only the latest are considered.
        """
        mind = self._mind(shared, len(forager.seeds))
        with self.flock.latest(forager.slot, LEADS) if awaits_code(choose) else nullcontext():
            url, worth = choose(self.rules[0], mind, self.flock.state, forager.slot, now)
        return Step(UrlId(url), bool(self.rules["all_links"][0]), worth)

    def see(
        self, forager: Forager, step: Step, sightings: Sequence[Sighting], now: float, shared: Shared
    ) -> list[Reinforcement]:
        """Records the visits of a step, its own page first, and learns from what their documents earn (Alg 4, 5, 7)."""
        firsts = [shared.note(sighting) for sighting in sightings]
        self.flock.pages = max(self.flock.pages, highest(sightings[0].links) + 1)
        links, downloads = sightings[0].links, sum(not sighting.free for sighting in sightings)
        shared.pace.downloaded(downloads)
        documents = [(one, first, self._seen(one)) for one, first in zip(sightings, firsts, strict=True) if one.ok]
        mind = self._mind(shared, len(links))
        fleet, slot, earned = self.flock.state, forager.slot, []
        arrive(self.rules[0], fleet, slot, step.url, links)
        for sighting, first, seen in documents:
            revealer = _revealer(sighting, first, shared)
            became = send(self.rules[0], mind, fleet, slot, seen, revealer, links, now)
            earned += self._earned(sighting, forager.id, became, revealer)
        first = firsts[0] and not sightings[0].free
        leads = shared.visits.youngest(links, LEADS) if awaits_code(settle) else links
        settle(self.rules[0], mind, fleet, slot, step.url, downloads, first, leads)
        return earned

    # Findings outside of steps.

    def look(self, sighting: Sighting, first: bool, now: float, shared: Shared) -> list[Reinforcement]:
        """Processes a download of the recrawl cycle: judges its document, and credits the forager whose territory the
        page is in.

        `first`: nobody had downloaded the page before.
        """
        revealer = _revealer(sighting, first, shared)
        seen = self._seen(sighting) if sighting.ok else Seen(sighting.url, np.nan, False, False, -1, -1, -1, -1)
        mind, fleet = self._mind(shared, 0), self.flock.state
        leads = shared.visits.youngest(sighting.links, LEADS) if awaits_code(take_look) else sighting.links
        became = take_look(self.rules[0], mind, fleet, seen, revealer, first, leads, now)
        return self._earned(sighting, NOBODY, became, revealer)

    def judge(
        self, sighting: Sighting, revealer: UrlId, now: float, shared: Shared, by: ForagerId
    ) -> list[Reinforcement]:
        """Judges the document of a visit that was not part of a forager's step, and rewards the page that revealed it
        (Alg 7).
        """
        seen = self._seen(sighting)
        mind = self._mind(shared, 0)
        became = send_for(self.rules[0], mind, self.flock.state, -1, seen.url, seen, revealer, sighting.links, now)
        if became and by in self.foragers:
            count_judged(self.rules[0], self.flock.state, self.foragers[by].slot, (became & RELEVANT) > 0)
        return self._earned(sighting, by, became, revealer)

    def worked(self, id: ForagerId, downloads: int) -> None:
        """Counts downloads of a forager; copies shared with others do not count."""
        count_work(self.rules[0], self.flock.state, self.foragers[id].slot, downloads)

    def accepts(self, url: int, version: int, text_print: int) -> None:
        """Marks a document as accepted in an earlier run."""
        numbers = self.known_as.of(url, version, text_print)
        self.flock.reserve(pages=0, links=0, accepted=len(self.known_as))
        for number in numbers:
            if number >= 0:
                self.flock.state.accepted[number] = True

    # Multiply and delete.

    def manage(self, id: ForagerId, now: float) -> list[Multiplied | Removal]:
        """Multiplies or deletes a forager according to its score (Alg 8); returns what happened, in order."""
        flock, happened = self.flock, list[Multiplied | Removal]()
        flock.reserve(pages=0, links=0)
        gone, child = map(ForagerId, manage(self.rules[0], flock.state, self.foragers[id].slot, now))
        if gone != NOBODY:
            happened.append(Removal(gone, now, self.records[gone].score))
        if child != NOBODY:
            newborn = self.foragers[child]
            weblog = newborn.weblog
            for url in self.suggest(self.settings.population.starts - len(weblog)):
                weblog.add(url)
            newborn.weblog = weblog
            happened.append(Multiplied(id, child, now))
        return happened

    def enter(self, forager: Forager, record: ForagerRecord) -> None:
        """Restores score and counts of a forager that was loaded."""
        record.lead(self.flock.state.walkers[forager.slot : forager.slot + 1])

    def remember(self, records: Sequence[ForagerRecord]) -> None:
        """Restores the records of all foragers that ever lived."""
        for record in records:
            deleted = np.nan if record.deleted is None else record.deleted
            self.flock.note_birth(NOBODY if record.parent is None else record.parent, record.born, deleted)
            self._records[record.id] = record
        self._living = [record for record in records if record.deleted is None]

    # Input and output of the kernels.

    def _mind(self, shared: Shared, links: int) -> Mind:
        """The shared knowledge, with room in the flock for every known page and for this many more links."""
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
        """The reinforcement for a document; empty if none was sent."""
        if not became:
            return []
        relevant, judged = (became & RELEVANT) > 0, self.settings.relevancy
        finding = Finding(by, sighting.url, sighting.version, sighting.text_print, sighting.published, revealer)
        return [Reinforcement(finding, reward_for(judged, became), relevant)]


def _revealer(sighting: Sighting, first: bool, shared: Shared) -> UrlId:
    """The page whose visit revealed a document: the page itself if it was known and changed, -1 for a seed."""
    return shared.visits.revealer(sighting.url) if first else sighting.url
