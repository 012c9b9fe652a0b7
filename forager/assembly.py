"""Settings become parts: the only place that picks concrete classes."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from forager.chance import stream
from forager.clock import Clock, LoopClock
from forager.compiler import Compiler, compiler_beside
from forager.config_file import write_config
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.saved_fleet import load_agent, save_agent
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.background import Offload, in_thread, inline
from forager.engine.crawl import Crawl
from forager.engine.ingest import Ingest
from forager.engine.journal import Journal
from forager.engine.policy import read_policy
from forager.engine.recrawl_cycle import make_scheduler
from forager.engine.resume import SCHEDULE, policy_in_use, recall_schedule, restore_histories, save_schedule
from forager.engine.scope import Scope, Skipped
from forager.engine.stories import Teller
from forager.engine.world import Shares, WebWorld
from forager.errors import InputError, SettingsError
from forager.events import Event, Learned
from forager.importers.texts import read_texts
from forager.pages.page import Page, load_slow_parts
from forager.recrawl.visit_log import VisitLog
from forager.report.account import KEPT as ACCOUNT
from forager.report.account import Account, recall_account
from forager.settings import Settings, changed
from forager.store.protocol import Story, Version
from forager.store.store import Store
from forager.terms import Url
from forager.warc.recorder import BackgroundRecorder
from forager.warc.writer import WarcWriter
from forager.web.live import Live
from forager.web.polite import Polite
from forager.web.recording import Recording
from forager.web.redirects import Following
from forager.web.retries import Retry, Retrying
from forager.web.robots import Robots
from forager.web.timetable import Timetable
from forager.web.web import Web, product_token

if TYPE_CHECKING:  # few crawls have these, and they are slow to load
    from forager.core.focus import Focus
    from forager.engine.link_order import Ordering
    from forager.engine.page_states import LiveStates
    from forager.engine.teacher import Retraining

Reader = Callable[[Event], None]
"""Reads the journal along."""

_CONTACT = re.compile(r"https?://[^\s)]+\.[^\s)]+|[^\s@()]+@[^\s@()]+\.[^\s@()]+")


@dataclass(frozen=True, slots=True)
class Wire:
    """The web with all its rules, and the parts of it that others ask."""

    web: Web
    robots: Robots
    timetable: Timetable


@asynccontextmanager
async def open_wire(
    settings: Settings,
    clock: Clock,
    record_to: Path | None = None,
    *,
    tell: Retry = lambda attempt, response, wait: None,
) -> AsyncIterator[Wire]:
    """The live web: redirects, retries, robots.txt and politeness round one GET; recorded, if there is a folder for it.

    `tell` hears of attempts to be repeated.
    """
    is_recorded = record_to is not None and settings.recording.enabled
    async with Live(clock, settings.live, keep_coded=is_recorded) as live:
        if record_to is None or not is_recorded:
            yield wire(settings, clock, live, tell)
            return
        told = msgspec.json.encode(changed(settings), enc_hook=str).decode()
        about = {"forager-seed": str(settings.seed), "forager-settings": told}
        recorder = BackgroundRecorder(WarcWriter(record_to, settings.recording, settings.live.user_agent, about))
        try:
            yield wire(settings, clock, Recording(live, recorder, clock), tell)
        finally:
            await recorder.close()


def wire(settings: Settings, clock: Clock, inner: Web, tell: Retry = lambda attempt, response, wait: None) -> Wire:
    """The rules of the live crawl round any web."""
    timetable = Timetable(settings.timetable)
    polite = Polite(inner, timetable, clock, settings.polite)
    robots = Robots(polite, timetable, clock, product_token(settings.live.user_agent), settings.robots)
    retrying = Retrying(robots, clock, stream(settings.seed, "retries"), settings.retrying, tell)
    return Wire(Following(retrying, settings.following), robots, timetable)


def require_contact(settings: Settings, how: str = "-s 'live.user_agent={}'") -> None:
    """Whoever goes out to the web must say whom to write to; `how` is the way to say it."""
    if not _CONTACT.search(settings.live.user_agent):
        example = how.format("Forager/0.1 (+https://example.org/bot)")
        raise SettingsError(f"live.user_agent names no contact; add one, such as {example}")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of a program that uses the crawl; they are called on its loop, and an error in one ends it."""

    on_page: Callable[[Page], None] | None = None
    """Is shown every page that was fetched."""
    accept: Callable[[Story, Version], bool] | None = None
    """Has the last word on what becomes a story."""


@dataclass(frozen=True, slots=True)
class OpenCrawl:
    """A crawl that is ready to run, with what belongs to it."""

    crawl: Crawl
    wire: Wire
    store: Store
    seeds: list[Url]
    """Where it began before, and what was given now."""
    account: Account
    """Of the whole run, from its first day on."""


@asynccontextmanager
async def open_crawl(
    run_dir: Path,
    settings: Settings,
    seeds: Sequence[Url],
    clock: Clock,
    readers: Callable[[Account], Sequence[Reader]],
    hooks: Hooks = Hooks(),
    say: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[OpenCrawl]:
    """A live crawl into a run directory, a new one or the one that is there; leaving lets go of the directory.

    `readers` are given the account of the run so far; `say` hears of kernels that are compiled beside it.
    """
    store = await Store.open(run_dir, settings.store)
    try:
        planted = await _seeds(store, seeds, run_dir)
        await in_thread(lambda: write_config(settings, run_dir))
        async with (
            compiler_beside(say, load_slow_parts) as compiler,
            open_wire(settings, clock, run_dir / "warc") as wire,
        ):
            account = await recall_account(store)
            crawl = await make_crawl(settings, clock, wire, store, planted, account, readers(account), hooks, compiler)
            yield OpenCrawl(crawl, wire, store, planted, account)
    finally:
        await store.close()


async def _seeds(store: Store, given: Sequence[Url], run_dir: Path) -> list[Url]:
    """Where the crawl began before, and what is given now."""
    kept = await store.recall("seeds")
    seeds = list(dict.fromkeys([*msgspec.json.decode(kept or b"[]", type=list[Url]), *given]))
    if not seeds:
        raise InputError(f"{run_dir}: a new crawl needs seeds; give at least one URL to start from")
    await store.keep("seeds", msgspec.json.encode(seeds))
    return seeds


async def make_crawl(
    settings: Settings,
    clock: Clock,
    wire: Wire,
    store: Store,
    seeds: Sequence[Url],
    account: Account,
    readers: Sequence[Reader] = (),
    hooks: Hooks = Hooks(),
    compiler: Compiler | None = None,
) -> Crawl:
    """A crawl over a store: a new one, or the one that the store remembers.

    `account` is that of the store (see `recall_account`); it hears every event before the other readers do.
    """
    policy = read_policy(settings.crawl.policy, stream(settings.seed, "policy"), settings.recrawl, settings.crawl.cycle)
    journal = Journal([account.hear, *readers])
    scope = await _scope(settings, store, seeds)
    shares = Shares(settings.crawl.recrawl_share, settings.timetable.concurrent_requests_per_host)
    focus = await _focus(settings, store)
    agent = await _agent(settings, store, focus)
    shared = await _shared(settings, store, clock.now())
    offload: Offload = inline if isinstance(clock, LoopClock) else in_thread
    states = await _states(settings, store, agent, shared, offload)
    keeper = Ingest(store, scope, settings.visits, settings.pages, journal.write, states, focus, hooks.on_page)
    world = WebWorld(wire.web, keeper, clock, shares, wire.robots.sitemaps)
    trust, booked, skipped = [await store.recall(name) for name in ("trust", "timetable", "skipped")]
    if trust is not None:
        keeper.dating.trust.load(msgspec.json.decode(trust))
    if booked is not None:
        wire.timetable.load(booked, clock.now())
    if skipped is not None:
        keeper.skipped = Skipped.load(skipped)
    thrift = Thrift(settings.crawl.least_worth, settings.crawl.explore, shared.pace, settings.forager.max_age)
    kept = await recall_schedule(store)
    lessons = [] if kept is None else kept.lessons
    scheduler = make_scheduler(
        policy_in_use(policy, kept),
        shared,
        thrift,
        settings.crawl,
        settings.recrawl,
        revisit_after=settings.visits.revisit_after,
        known=lambda: np.arange(store.counts().known, dtype=np.int64),
        groups=store.hosts,
    )
    await restore_histories(shared.visits, store)
    return Crawl(
        store=store,
        world=world,
        agent=agent,
        shared=shared,
        teller=Teller(store, journal.write, hooks.accept),
        journal=journal,
        clock=clock,
        thrift=thrift,
        scheduler=scheduler,
        retraining=_retraining(settings, clock, scheduler, shared.visits.log, lessons),
        settings=settings.crawl,
        learned={
            "fleet": lambda: save_agent(agent),
            ACCOUNT: account.save,
            "shared": shared.saving,
            "trust": lambda: msgspec.json.encode(keeper.dating.trust.save()),
            "ground": scope.ground.save,
            "timetable": lambda: wire.timetable.save(clock.now()),
            "skipped": lambda: keeper.skipped.save(),
            SCHEDULE: lambda: save_schedule(settings.crawl.policy, scheduler, lessons),
            **({} if states is None else {"stating": states.save}),
            **({} if focus is None else {"focus": focus.save}),
        },
        offload=offload,
        states=states,
        ordering=_ordering(settings, agent, shared, offload),
        compiler=compiler,
    )


async def _scope(settings: Settings, store: Store, seeds: Sequence[Url]) -> Scope:
    """What belongs to the crawl, with what has entered and was learned of it before."""
    scope, ground = Scope(seeds, settings.scope, store.urls_of), await store.recall("ground")
    if ground is not None:
        scope.ground.load(ground)
    return scope


async def _states(
    settings: Settings, store: Store, agent: ReinforcingAgent, shared: Shared, offload: Offload
) -> "LiveStates | None":
    """The states of pages with what was learned of them; None if nobody asks for any."""
    if not settings.forager.wants_states:
        return None
    from forager.engine.page_states import LiveStates

    return await LiveStates.open(settings.forager, shared.states, store, agent, offload)


def _ordering(settings: Settings, agent: ReinforcingAgent, shared: Shared, offload: Offload) -> "Ordering | None":
    """The order of never-visited pages by the link graph; None if profit alone decides."""
    if settings.crawl.ordering == "td":
        return None
    from forager.engine.link_order import Ordering

    return Ordering.arranged(settings.crawl, agent, shared, offload)


def _retraining(
    settings: Settings, clock: Clock, scheduler: Scheduler, log: VisitLog | None, lessons: list[Learned]
) -> "Retraining | None":
    """Who learns better score functions beside the crawl; None if the policy stays as it is set."""
    if log is None:
        return None
    from forager.engine.teacher import Retraining, apart, at_once, foretelling

    teach = at_once if isinstance(clock, LoopClock) else apart
    by = foretelling(settings.forager)
    return Retraining(scheduler, log, settings.recrawl, settings.seed, lessons, teach, by=by)


async def _focus(settings: Settings, store: Store) -> "Focus | None":
    """The topic of the crawl with what it has learned; None if every topic will do."""
    if not settings.focus.wanted:
        return None
    from forager.core.focus import Focus

    kept = await store.recall("focus")
    if kept is not None:
        return Focus.load(kept, settings.focus)
    examples = settings.focus.examples
    return Focus(settings.focus, list(read_texts(Path(examples))) if examples else ())


async def _agent(settings: Settings, store: Store, focus: "Focus | None") -> ReinforcingAgent:
    """The fleet as it was kept, or one that is not yet born."""
    kept = await store.recall("fleet")
    on_topic = None if focus is None else focus.on_topic
    if kept is None:
        return ReinforcingAgent(settings.reinforcing, settings.forager, settings.seed, on_topic)
    return load_agent(kept, settings.reinforcing, settings.forager, on_topic)


async def _shared(settings: Settings, store: Store, now: float) -> Shared:
    """What the fleet knew, or nothing; should the clock have been put back since, no visit lies in the future."""
    kept, walk = await store.recall("shared"), settings.forager
    if kept is None:
        return Shared.fresh(walk)
    shared = Shared.load(kept, walk)
    shared.visits.end_at(now)
    return shared
