"""One forager: it chooses a page, selects documents from what it sees, and learns from what they earn (Alg 5, Alg 12).

    step = forager.choose(now, shared)                      decide
    sightings = …visit step.url, then its links if step.links…
    findings = forager.see(step, sightings, now, shared)    decide
    reinforcements = agent.judge(findings, now)
    forager.learn(step, reinforcements, now, shared)        learn; once per step, also if nothing was sent

Reinforcements that come later than their step go to `reinforce`.
"""

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forager.foragers.kernels import best
from forager.foragers.leaving import leaves
from forager.foragers.ordering import NOTHING
from forager.foragers.path import Path
from forager.foragers.settings import ForagerKind, ForagerSettings, Identity
from forager.foragers.shared import Shared
from forager.foragers.sighting import NO_LINKS, NOWHERE, Finding, Reinforcement, Sighting, Step
from forager.foragers.starts import start_page
from forager.foragers.td import Profit
from forager.foragers.weblog import Weblog
from forager.terms import ForagerId, UrlId

FINISHED = 8
"""Finished paths that late reinforcements can still reach."""

Finished = tuple[int, list[UrlId], list[int], list[float]]
"""A learned path: its first step, its pages, the states its steps came from, what each page takes of late gains."""


def known_by(identity: Identity, url: int, version: int, text_print: int) -> tuple[tuple[int, int], ...]:
    """By what a document is known: it is new if none of these is. Kinds of identity never collide."""
    by_url, by_text, by_version = (0, url), (1, text_print), (2, version)
    if identity == "url" or (identity == "story" and not text_print):
        return (by_url,)
    if identity == "story":
        return (by_url, by_text)
    if identity == "text" and text_print:
        return (by_text,)
    return (by_version,) if version >= 0 else (by_url,)


class Forager:
    """A walker with a weblog, long-term profit, a path and a memory of what it has sent."""

    def __init__(
        self,
        id: ForagerId,
        kind: ForagerKind,
        settings: ForagerSettings,
        seeds: NDArray[np.int64],
        weblog: Weblog,
        profit: Profit,
        rng: np.random.Generator,
    ) -> None:
        self.id, self.kind, self.settings = id, kind, settings
        self.seeds = seeds
        self.weblog = weblog
        self.profit = profit
        self.rng = rng
        self.path = Path()
        self.memory: set[tuple[int, int]] = set()
        """The documents that it has sent."""
        self.finished: deque[Finished] = deque(maxlen=FINISHED)
        self.page_links: NDArray[np.int64] = NO_LINKS
        """The links of the page of the latest step."""

    @classmethod
    def born(
        cls,
        id: ForagerId,
        kind: ForagerKind,
        settings: ForagerSettings,
        seeds: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> "Forager":
        """A new forager that knows nothing but the seeds (Alg 10)."""
        weblog = Weblog(settings.weblog, [(UrlId(int(url)), 0.0) for url in seeds])
        profit = Profit.random(settings.states.dimension, settings.profit, rng)
        return cls(id, kind, settings, seeds, weblog, profit, rng)

    def __repr__(self) -> str:
        return f"<Forager {self.id} {self.kind}: {self.path!r}, {self.weblog!r}>"

    # Choose: the next page, or a new path (Alg 11).

    def choose(self, now: float, shared: Shared) -> Step:
        """The next step; from now on it counts as begun."""
        index: int | None
        if self.kind is ForagerKind.BFS:
            index, worth = self._sweep(), math.nan
        elif self.settings.order == "profit":
            index, worth = self._by_profit(shared), math.nan
        else:
            index, worth = self._by_expectation(now, shared)
        start = index is None
        before = -1 if start else shared.states.row(self.path.urls[-1]) if self.path.urls else -1
        url = self._start(now, shared) if index is None else self.path.take(index)
        if start and self.settings.order == "expectation":
            worth = shared.visits.worth_of(url, now)
        step = self.path.go(url, before)
        self.page_links = NO_LINKS
        shared.visits.going(url, now)
        return Step(step, url, self.settings.links == "all", start, worth)

    def _sweep(self) -> int:
        """Breadth first: the oldest open link; when all are done, the seeds again."""
        if not len(self.path.open):
            self.path.begin()
            self.path.admit(self.seeds)
        return 0

    def _by_profit(self, shared: Shared) -> int | None:
        """The open link of the largest long-term profit (Alg 3); None ends the path."""
        links = self.path.open
        if not len(links) or len(self.path.urls) >= self.settings.max_step:
            return None
        return best(self._profits(links, shared), self.rng.random())

    def _by_expectation(self, now: float, shared: Shared) -> tuple[int | None, float]:
        """The open link that promises most, and its worth; None ends the path."""
        links = self.path.open
        if not len(links):
            return None, math.nan
        settings = self.settings
        leaning = shared.leaning(links, self._leaning(links, shared))
        shared.visits.reserve(self.path.room)
        index, worth, fresh, most = shared.visits.pick(links, now, leaning, self.rng.random())
        going_on = len(self.path.urls) < settings.max_step or (settings.harvest and fresh)
        if not going_on or leaves(most, shared.pace, settings.leaving):
            return None, math.nan
        return index, worth

    def _leaning(self, links: NDArray[np.int64], shared: Shared) -> NDArray[np.float64]:
        """Long-term profit from −1 to 1; nothing if this one does not learn it."""
        if not self.kind.learns_profit:
            return NOTHING
        return np.asarray(np.tanh(self._profits(links, shared) / self.settings.expectation.profit_scale))

    def _profits(self, links: NDArray[np.int64], shared: Shared) -> NDArray[np.float64]:
        shared.states.reserve(self.path.room)
        return self.profit.of_urls(links, shared.states.rows, shared.states.vectors)

    def _start(self, now: float, shared: Shared) -> UrlId:
        """End the path, learn from it and start another one."""
        self._finish(shared)
        url = start_page(self.weblog, shared.visits, self.seeds, self.settings.start, now, self.rng)
        self.path.begin()
        return url

    def _finish(self, shared: Shared) -> None:
        """The weblog learns from the path (Alg 1); without weblog update nothing changes."""
        path = self.path
        if not path.urls:
            return
        shares = [0.0] * len(path.urls)
        if self.kind.keeps_weblog:
            urls = np.array(path.urls, dtype=np.int64)
            texts = self.settings.weblog.texts
            entries = np.ones(len(urls), dtype=np.bool_) if texts else shared.visits.returns(urls)
            shares = self.weblog.update(urls, path.earned, entries)
        self.finished.append((path.first_step, path.urls, path.before, shares))

    # See: what is worth sending (Alg 5).

    def see(self, step: Step, sightings: Sequence[Sighting], now: float, shared: Shared) -> list[Finding]:
        """Take in a step's visits, its own page first; the documents to send: young ones not sent before."""
        findings = []
        for place, sighting in enumerate(sightings):
            first = shared.note(sighting)
            if place == 0:
                self._arrive(step, sighting)
            if sighting.ok and self._selects(sighting, now):
                findings.append(self._finding(step, sighting, first, shared))
        shared.pace.downloaded(sum([not sighting.free for sighting in sightings]))
        return findings

    def _arrive(self, step: Step, sighting: Sighting) -> None:
        self.page_links = sighting.links
        if len(sighting.links):
            self.path.admit(sighting.links)
        if self.kind is ForagerKind.RL and len(self.weblog) < self.settings.weblog.start_size:
            self.weblog.add(step.url)  # its start list: the seeds and the first pages visited

    def _selects(self, sighting: Sighting, now: float) -> bool:
        """Whether this is a young document not sent before; then it is remembered as sent."""
        young = now - sighting.published <= self.settings.max_age  # false for nan: a page without date is no document
        if not young or (sighting.hub and not self.settings.hubs):
            return False
        keys = known_by(self.settings.identity, sighting.url, sighting.version, sighting.text_print)
        if not self.memory.isdisjoint(keys):
            return False
        self.memory.update(keys)
        return True

    def _finding(self, step: Step, sighting: Sighting, first: bool, shared: Shared) -> Finding:
        revealed_by = shared.visits.revealer(sighting.url) if first else sighting.url
        paid = step.id
        if self.settings.credit == "revealer" and revealed_by != NOWHERE:
            shown = self.path.step_to(revealed_by)
            paid = step.id if shown is None else shown
        return Finding(
            by=self.id,
            url=sighting.url,
            version=sighting.version,
            text_print=sighting.text_print,
            published=sighting.published,
            sent_in=step.id,
            step=paid,
            revealed_by=revealed_by,
        )

    # Learn: what findings earned (Alg 4, and the books for Alg 1).

    def learn(self, step: Step, reinforcements: Sequence[Reinforcement], now: float, shared: Shared) -> float:
        """Learn from a step, once, with what is known of its earnings so far; the error of long-term profit, or 0."""
        for reinforcement in reinforcements:
            self._book(reinforcement, now, shared)
        before = self._state_before(step.id, shared)
        if before is None:
            return 0.0
        earned = sum(reinforcement.amount for reinforcement in reinforcements)
        return self.profit.learn(before, earned, shared.states.vectors[shared.states.row(step.url)])

    def reinforce(self, reinforcement: Reinforcement, now: float, shared: Shared) -> None:
        """A reinforcement that came after its step was learned."""
        self._book(reinforcement, now, shared)
        before = self._state_before(reinforcement.finding.sent_in, shared)
        if before is not None:
            self.profit.add(before, reinforcement.amount)

    def _state_before(self, step: int, shared: Shared) -> NDArray[np.float32] | None:
        """The state a step came from; None if nothing is to be learned of it."""
        if not self.kind.learns_profit:
            return None
        paths = [(self.path.first_step, self.path.before)] + [(first, before) for first, _, before, _ in self.finished]
        for first, before in paths:
            if 0 <= step - first < len(before) and before[step - first] >= 0:
                return np.asarray(shared.states.vectors[before[step - first]])
        return None

    def _book(self, reinforcement: Reinforcement, now: float, shared: Shared) -> None:
        if reinforcement.relevant:
            shared.pace.hit()
            shared.credit(reinforcement.finding, self.page_links, now)
        amount, step = reinforcement.amount, reinforcement.finding.step
        if amount < 0 and not self.settings.weblog.penalties:
            return
        if self.path.book(step, amount):
            return
        for first, urls, _, shares in self.finished:
            if 0 <= step - first < len(urls):
                reached = step - first + 1
                self.weblog.top_up(urls[:reached], shares[:reached], amount)

    # Multiply (Alg 6).

    def multiply(self, id: ForagerId, rng: np.random.Generator) -> "Forager":
        """A child with half of the weblog, and with this one's long-term profit if it learns it."""
        keep_all = self.kind is ForagerKind.RL and not self.settings.weblog.split_rl
        weblog = self.weblog.copy() if keep_all else self.weblog.split(rng)
        if self.kind.learns_profit:
            profit = self.profit.copy()
        else:
            profit = Profit.random(len(self.profit.weights), self.settings.profit, rng)
        return Forager(id, self.kind, self.settings, self.seeds, weblog, profit, rng)
