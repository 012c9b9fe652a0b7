"""One replay: a fleet and the recrawl side on a tape, one download after the other on one clock (Alg 9).

Every download takes the same time, so a budget of downloads per hour fixes the pace. While both sides have something
worth a download, the side further behind its share goes first. Either side may use what the other leaves; if neither
wants a download, time passes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

from forager.arrays import IntArray
from forager.chance import stream
from forager.core.agent import ReinforcingAgent
from forager.core.candidates import EVERYWHERE
from forager.core.exploration import Thrift
from forager.core.parameters import ForagerKind, ForagerSettings, ReinforcingSettings
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.link_order import Ordering
from forager.engine.policy import read_policy
from forager.engine.recrawl_cycle import make_scheduler
from forager.engine.teacher import Retraining
from forager.errors import InputError
from forager.events import Event
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.retrain import contest
from forager.simulation.bundles import VISIT, LoopState, Records
from forager.simulation.loop import CYCLE, LESSON, MANAGE
from forager.simulation.player import Luck, Patrol, TapeNumbers, fitted, shared_for
from forager.simulation.replay_account import ReplayAccount, ReplayFigures
from forager.simulation.replay_records import Telling
from forager.tape.lookup import reach
from forager.tape.tape import KINDS, SETTLING, Tape
from forager.tape.tape_world import Documents, TapeClock, TapeWorld, documents
from forager.terms import Kind, UrlId


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """Options of a replay."""

    budget: float
    """Downloads per hour."""
    seeds: tuple[UrlId, ...]
    kinds: tuple[ForagerKind, ...] = ()
    """Kinds of the first foragers; if empty, the settings decide."""
    start: float | None = None
    end: float | None = None
    """Start and end; by default those of the tape."""


class Replay:
    """A fleet on a tape; `run` plays it to the end.

    The tape decides what makes a document new, unless the settings have a value other than `story`.
    """

    def __init__(
        self,
        tape: Tape,
        plan: ReplayPlan,
        crawl: CrawlSettings,
        foragers: ForagerSettings,
        reinforcing: ReinforcingSettings,
        *,
        revisit_after: float,
        seed: int,
        recrawl: RecrawlSettings = DEFAULTS,
        tell: Callable[[Event], None] | None = None,
    ) -> None:
        foragers, reinforcing = fitted(tape, foragers, reinforcing)
        seeds = np.asarray(plan.seeds, dtype=np.int64)
        self.plan, self.crawl = plan, crawl
        self.clock = TapeClock(tape.start if plan.start is None else plan.start)
        self.end = tape.end if plan.end is None else plan.end
        self.world = TapeWorld(tape, self.clock, seconds=3600 / plan.budget, revisit_after=revisit_after)
        self.agent = ReinforcingAgent(reinforcing, foragers, seed)
        self.shared = shared_for(tape, foragers)
        self.shared.visits.take_places(0, *tape.forms)
        self.shared.visits.name_main(seeds)
        self.ordering = Ordering.arranged(crawl, self.agent, self.shared)
        self.thrift = Thrift(crawl.least_worth, crawl.explore, self.shared.pace, foragers.max_age)
        columns = self.world.columns
        self._luck = Luck(stream(seed, "recrawl"), 512)
        self.scheduler = make_scheduler(
            read_policy(crawl.policy, stream(seed, "policy"), recrawl, crawl.cycle),
            self.shared,
            self.thrift,
            crawl,
            recrawl,
            revisit_after=revisit_after,
            last=lambda: columns.last,
            seeds=seeds,
            only=columns.is_list if self.world.reads_off else EVERYWHERE,
        )
        log = self.shared.visits.log
        self.topic: None = None  # a tape has no texts, so every topic counts
        self.retraining = None if log is None else Retraining(self.scheduler, log, recrawl, seed, [])
        judged, same = reinforcing.relevancy.identity, foragers.identity == reinforcing.relevancy.identity
        self.account = ReplayAccount(
            self.world, self._truth(foragers, judged), updates=judged == "version", max_age=foragers.max_age
        )
        self.agent.known_as = TapeNumbers(self.account.truth)
        self.agent.sent_as = self.agent.known_as if same else TapeNumbers(self._truth(foragers, foragers.identity))
        self.share = 0.0 if foragers.kind is ForagerKind.BFS else crawl.recrawl_share
        self._idle = max(crawl.idle, self.world.seconds)
        self.course = LoopState(
            rest=self._idle,
            fleet_rests=np.inf if self.share >= 1 else self.clock.time,
            recrawl_rests=np.inf if self.share <= 0 else self.clock.time,
        )
        """Progress of both sides."""
        self._shown = np.full(tape.pages if self.ordering is not None else 0, -1, dtype=np.int64)
        """For each page, the version whose links are in the link graph."""
        self.agent.start(seeds, self.clock.time, plan.kinds, _seen_first(tape, foragers.weblog.start_size))
        self._tell = tell or _nobody
        self.shared.reveal = None  # breaks a cycle of references: memory is free for the next replay
        self._telling = None if tell is None else Telling(self.world, self.agent, set(plan.seeds), tell)
        self._patrol = Patrol(self.course, crawl, self.world, self.scheduler, self.shared, self.thrift, self.agent,
                              self._luck, self.share, tells=tell is not None, suggests=self.ordering is not None)  # fmt: skip

    def __repr__(self) -> str:
        return f"<Replay at {self.clock.time:.0f}, {self.world!r}, {self.agent!r}>"

    def run(self, until: float | None = None) -> ReplayAccount:
        """Plays to the end, or to an earlier time; another call then continues as if there had been no stop."""
        end = self.end if until is None else min(until, self.end)
        while self.clock.time < end:
            self._play(end)
            if self.ordering is not None:
                self.ordering.renew_if_due(self.clock.time)
        self.account.end = min(max(end, self.clock.time), self.end)  # a slow download may end after `until`
        return self.account

    def figures(self, *, warm_up: float = 0.0) -> ReplayFigures:
        """Figures of the replay so far."""
        return self.account.figures(len(self.shared.visits.met()), warm_up=warm_up)

    def _truth(self, foragers: ForagerSettings, identity: str) -> Documents:
        return documents(self.world.tape, identity=identity, max_age=foragers.max_age, hubs=foragers.hubs)

    def _play(self, end: float) -> None:
        """Runs the kernel loop until Python must act, then does what it asks for."""
        until = end
        if self.ordering is not None:
            until = min(until, self._mind_graph(self.ordering))
        if self.retraining is not None:
            self.course.lesson = self.retraining.due_at
        why, records = self._patrol.play(until, end)
        self._happened(records)
        if why == CYCLE:
            self._turn(self.clock.time)
        elif why == LESSON:
            self._retrain(self.clock.time)
        elif why == MANAGE:
            happened = self._patrol.manage()
            if self._telling is not None:
                self._telling.managed(happened)

    def _mind_graph(self, ordering: Ordering) -> float:
        """Tells the loop when to return for new scores of the link graph: after how many new links, and at what time."""
        course = self.course
        course.waiting, course.most_waiting, course.renew_at = (
            ordering.waiting,
            ordering.most_waiting,
            ordering.renew_at,
        )
        return ordering.renew_at if ordering.waiting else np.inf

    def _happened(self, records: Records) -> None:
        """Passes records to the account, the journal and the link graph."""
        self.account.enter(records, self.clock.time)
        if self._telling is not None:
            self._telling.happened(records)
        if self.ordering is not None:
            self._show_links(self.ordering, records)

    def _show_links(self, ordering: Ordering, records: Records) -> None:
        """Adds the links on downloaded pages to the link graph."""
        gone, waits = self.world.columns.gone, self.world.columns.waits
        visits = records[(records["what"] == VISIT) & (records["version"] >= 0)]
        for page, version, at in visits[["page", "version", "at"]].tolist():
            if not gone[version] and (waits or self._shown[page] != version):
                self._shown[page] = version
                ordering.saw(UrlId(page), self.world.links_of(version, at))

    # The recrawl side.

    def _turn(self, now: float) -> None:
        """Ends the recrawl cycle if it is over."""
        for event in self.scheduler.turn(now):
            self._tell(event)

    def _retrain(self, now: float) -> None:
        """Learns a better score function if due."""
        if self.retraining is not None:
            verdict = contest(self.retraining.lesson())
            if verdict is not None:
                self._tell(self.retraining.take(verdict, now))


def _downloadable(tape: Tape) -> IntArray:
    """The pages that a fleet can download; where documents are links, articles are read off lists."""
    shown = np.flatnonzero(np.diff(tape.version_start))
    return shown[tape.url_kind[shown] != KINDS.index(Kind.ARTICLE)] if tape.identity == "link" else shown


def _seen_first(tape: Tape, count: int) -> IntArray:
    """The pages that the recording saw first."""
    shown = _downloadable(tape)
    return shown[np.argsort(tape.time[tape.version_start[shown]], kind="stable")[:count]]


def _nobody(event: Event) -> None:
    """Ignores events."""


Ids = IntArray


def default_seeds(tape: Tape) -> tuple[UrlId, ...]:
    """The seeds of the recorded crawl. If they are unknown: one page of each site, and one for each part of it that
    cannot be reached from there; on a tape without links, all pages that exist at the start.
    """
    if tape.seeds:
        return tuple(map(UrlId, tape.seeds))
    count, shown = np.diff(tape.version_start), _downloadable(tape)
    first = tape.version_start[shown]
    there = shown[(tape.time[first] <= tape.start + SETTLING) & ~tape.gone[first]]
    if not len(there):
        there = shown[np.argsort(tape.time[first], kind="stable")][:1]
    if not len(there):
        raise InputError(f"{tape.origin}: the tape has no pages")
    if not len(tape.links):
        return tuple(UrlId(url) for url in there.tolist())
    best: dict[str, UrlId] = {}
    for url in _by_links(tape, there).tolist():
        best.setdefault(urlsplit(tape.url(UrlId(url))).netloc, UrlId(url))
    seeds = list(best.values())
    paths = _Paths(tape)
    paths.follow(np.asarray(seeds, np.int64))
    changing = shown[count[shown] > 1]
    for url in _by_links(tape, changing[~paths.reached[changing]]).tolist():
        if not paths.reached[url]:
            seeds.append(UrlId(url))
            paths.follow(np.asarray([url]))
    return tuple(seeds)


def _by_links(tape: Tape, pages: Ids) -> Ids:
    """The pages, ordered by the number of links in their first version, most first."""
    sets = tape.link_set[tape.version_start[pages]]
    degree = tape.link_start[sets + 1] - tape.link_start[sets]
    return pages[np.argsort(-degree, kind="stable")]


class _Paths:
    """Which pages can be reached over all links that pages ever had."""

    def __init__(self, tape: Tape) -> None:
        self._begin, self._link_set = np.asarray(tape.version_start), np.asarray(tape.link_set)
        self._link_start, self._links = np.asarray(tape.link_start), np.asarray(tape.links)
        self.reached = np.zeros(tape.pages, np.bool_)
        self._read = np.zeros(len(tape.link_start) - 1, np.bool_)
        self._waiting = np.empty(tape.pages, np.int64)

    def follow(self, pages: Ids) -> None:
        """Marks these pages, and everything that can be reached from them."""
        columns = self._begin, self._link_set, self._link_start, self._links
        reach(pages, *columns, self.reached, self._read, self._waiting)
