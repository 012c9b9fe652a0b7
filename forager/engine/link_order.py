"""Unvisited pages in the order of the link graph: RW-EG on all that the crawl has seen, renewed as the graph grows.

The impact of a page is what it earned: the documents that it revealed. Scores are computed beside the crawl, starting
from the last ones; in simulated time, which has no threads, between two downloads. They are renewed when the waiting
links are `GROWTH` of the links in the graph, so that all renewals together cost each link a constant; and once in a
cycle if anything is new, because the impact changes too.
"""

import asyncio
from dataclasses import dataclass

import numpy as np
import xxhash

from forager.arrays import FloatArray, IntArray
from forager.clock import Clock, Offload, inline, pause
from forager.core.agent import ReinforcingAgent
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerKind
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings, OrderingKind
from forager.graph.graph import Graph, GrowingGraph, Packing
from forager.graph.methods import appeals
from forager.graph.walks import Ranking, WalkSettings, enriched_walk
from forager.store.protocol import VersionId
from forager.store.store import Store
from forager.terms import UrlId

SHARES: dict[OrderingKind, float] = {"td": 0.0, "rw-eg": 1.0, "mixed": 0.5}
"""The weight of the link graph beside long-term profit."""
WALK = WalkSettings(tolerance=1e-6)
"""The paper's constants; scores need only be good enough to order pages."""
GROWTH = 0.1
"""Scores are renewed when this many links are waiting, as a share of the links in the graph."""
FEWEST = 10_000
"""No renewal for fewer links than this, except once in a cycle."""
LOOK_EVERY = 30.0
"""Seconds between two checks whether scores are due for renewal."""
STARTS = 200
"""Number of best pages kept as start pages for new foragers."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """The input for scoring the graph at one moment; another thread may do it."""

    packing: Packing
    earned: FloatArray
    """Impact by page number; may be shorter or longer than the graph."""
    last: Ranking | None

    def done(self) -> tuple[Graph, Ranking, FloatArray]:
        """Returns the graph, its scores, and the appeal of each page."""
        graph = self.packing.done()
        impact = np.zeros(graph.pages)
        known = min(graph.pages, self.earned.size)
        impact[:known] = self.earned[:known]
        ranking = enriched_walk(graph, impact, WALK, self.last)
        return graph, ranking, appeals(graph, ranking)


class Ordering:
    """The link graph of a crawl, and what it says of unvisited pages. Implements `core.shared.LinkOrder`."""

    def __init__(self, kind: OrderingKind, visits: PageTable, every: float, offload: Offload = inline) -> None:
        self.share, self.visits, self.every, self.offload = SHARES[kind], visits, every, offload
        self.renewals = 0
        self.ranking: Ranking | None = None
        """The latest scores."""
        self._growing = GrowingGraph()
        self._links = 0
        self._renewed = -np.inf
        self._shown = np.zeros(1024, dtype=np.uint64)  # for each page, a fingerprint of the links it showed last
        self.scores: FloatArray = np.zeros(0)
        self._starts: list[UrlId] = []

    def __repr__(self) -> str:
        return f"<Ordering {self._links} links, renewed {self.renewals} times, {self._growing.waiting} links waiting>"

    @classmethod
    def arranged(
        cls, crawl: CrawlSettings, agent: ReinforcingAgent, shared: Shared, offload: Offload = inline
    ) -> "Ordering | None":
        """Makes the order that the settings ask for, and gives it to the fleet and to new foragers; None if profit
        decides.
        """
        walk = agent.forager_settings
        if crawl.ordering == "td" or walk.order == "profit" or walk.kind is ForagerKind.BFS:
            return None
        ordering = cls(crawl.ordering, shared.visits, crawl.cycle, offload)
        shared.order, agent.suggest = ordering, ordering.starts
        return ordering

    def saw(self, url: UrlId, links: IntArray) -> None:
        """Adds the links of a visited page."""
        if url >= self._shown.size:
            self._shown = np.concatenate([self._shown, np.zeros(max(url, self._shown.size), dtype=np.uint64)])
        print_ = np.uint64(xxhash.xxh3_64_intdigest(links.tobytes()) or 1)
        if self._shown[url] != print_:
            self._shown[url] = print_
            self._growing.add_page(url, links)

    def starts(self, count: int) -> list[UrlId]:
        """Returns good pages to start from, best first: lists and unvisited pages. Each is given once per renewal."""
        given, rest = self._starts[: max(0, count)], self._starts[max(0, count) :]
        self._starts = rest
        return given

    # Renewing the scores.

    @property
    def waiting(self) -> int:
        """Links that are not in the scores yet."""
        return self._growing.waiting

    @property
    def most_waiting(self) -> int:
        """The number of waiting links above which scores are renewed."""
        return int(max(FEWEST, GROWTH * self._links))

    @property
    def renew_at(self) -> float:
        """Scores are renewed from this time on if any link waits."""
        return self._renewed + self.every

    def due(self, now: float) -> bool:
        """Whether the graph has grown enough, or it is time."""
        return self.waiting > self.most_waiting or (self.waiting > 0 and now >= self.renew_at)

    def renewal(self, now: float) -> Renewal:
        """Begins a renewal; pass its result to `take` before the next one."""
        self._renewed = now
        return Renewal(self._growing.packing(), self.visits.hits(), self.ranking)

    def take(self, graph: Graph, ranking: Ranking, appeal: FloatArray) -> None:
        """Replaces the scores."""
        self._growing.keep(graph)
        self.ranking, self.scores, self._links = ranking, appeal, graph.links
        hubs = self.visits.hubs[self.visits.hubs < graph.pages]
        candidates = np.union1d(graph.frontier, hubs)
        self._starts = [UrlId(int(url)) for url in ranking.order(candidates)[:STARTS]]
        self.renewals += 1

    def renew_if_due(self, now: float) -> None:
        """Renews the scores at once; for simulated time."""
        if self.due(now):
            self.take(*self.renewal(now).done())

    async def run(self, store: Store, clock: Clock, stopping: asyncio.Event) -> None:
        """Reads the links that earlier runs saw, then renews the scores beside the crawl until told to stop."""
        for number in range(store.counts().versions):
            url, _, version = await store.version(VersionId(number))
            self.saw(url, np.asarray(version.links, dtype=np.int64))
        while not stopping.is_set():
            if self.due(clock.now()):
                self.take(*await self.offload(self.renewal(clock.now()).done))
            await pause(clock, min(self.every, LOOK_EVERY), stopping)
