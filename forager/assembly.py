"""Builds the parts of a crawl from settings; the only place that picks concrete classes."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from forager.chance import stream
from forager.clock import Clock, LoopClock, Offload, in_thread, inline
from forager.compiler import Compiler, compiler_beside
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.page_table import Introduced
from forager.core.saved import load_agent, save_agent
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.corrections import Corrections
from forager.engine.crawl import Crawl
from forager.engine.ingest import Ingest
from forager.engine.policy import read_policy
from forager.engine.recrawl_cycle import make_scheduler
from forager.engine.resume import (
    SCHEDULE,
    policy_in_use,
    recall_schedule,
    recall_waits,
    restore_histories,
    save_schedule,
)
from forager.engine.scope import Scope
from forager.engine.stories import Teller
from forager.engine.world import Shares, WebWorld
from forager.errors import InputError, SettingsError
from forager.events import AskedToWait, Event, Journal, Learned
from forager.importers.texts import Example, read_examples
from forager.pages.page import Page, load_slow_parts
from forager.pages.urls import canonical, site
from forager.recrawl.visit_log import VisitLog
from forager.report.account import KEPT as ACCOUNT
from forager.report.account import Account, recall_account
from forager.settings import Settings, changed, write_config
from forager.store.protocol import AcceptedStory, Version
from forager.store.store import Store
from forager.terms import Channel, Request, Url, UrlId, Verdict
from forager.warc.recorder import BackgroundRecorder, Recording
from forager.warc.writer import WarcWriter
from forager.web.live import Live
from forager.web.polite import Following, Polite, Retry, Retrying, WaitKeeper
from forager.web.robots import Robots
from forager.web.timetable import Refusal, Timetable
from forager.web.web import Web, product_token

if TYPE_CHECKING:  # few crawls need these, and they are slow to import
    from forager.core.focus import Focus
    from forager.engine.link_order import Ordering
    from forager.engine.page_states import LiveStates
    from forager.engine.teacher import Retraining

_SITEMAP = re.compile(r"\.xml(?:\.gz)?$")
"""Names under which a sitemap lists other sitemaps."""
Reader = Callable[[Event], None]
"""Receives every event that the journal writes."""

_CONTACT = re.compile(r"https?://[^\s)]+\.[^\s)]+|[^\s@()]+@[^\s@()]+\.[^\s@()]+")


@dataclass(frozen=True, slots=True)
class Wire:
    """The web with all its rules, and the rules that other parts query."""

    web: Web
    robots: Robots
    polite: Polite
    timetable: Timetable
    recorded_from: Callable[[Url], float] | None = None
    """Says from when on a recorded web holds a page, inf for never; None: the web is open."""


@asynccontextmanager
async def open_wire(
    settings: Settings,
    clock: Clock,
    record_to: Path | None = None,
    *,
    tell: Retry = lambda attempt, response, wait: None,
    waits: WaitKeeper | None = None,
) -> AsyncIterator[Wire]:
    """Opens the live web: one GET with politeness, robots.txt, retries and redirects; records it if given a folder.

    It calls `tell` before each retry; `waits` keeps for later runs how long hosts ask us to wait.
    """
    is_recorded = record_to is not None and settings.recording.enabled
    async with Live(clock, settings.live, keep_coded=is_recorded) as live:
        if record_to is None or not is_recorded:
            yield wire(settings, clock, live, tell, waits)
            return
        told = msgspec.json.encode(changed(settings), enc_hook=str).decode()
        about = {"forager-seed": str(settings.seed), "forager-settings": told}
        recorder = BackgroundRecorder(WarcWriter(record_to, settings.recording, settings.live.user_agent, about))
        try:
            yield wire(settings, clock, Recording(live, recorder, clock), tell, waits)
        finally:
            await recorder.close()


def wire(
    settings: Settings,
    clock: Clock,
    inner: Web,
    tell: Retry = lambda attempt, response, wait: None,
    waits: WaitKeeper | None = None,
) -> Wire:
    """Applies the rules of a live crawl to any web."""
    timetable = Timetable(settings.timetable)
    polite = Polite(inner, timetable, clock, settings.polite, waits)
    robots = Robots(polite, timetable, clock, product_token(settings.live.user_agent), settings.robots, polite.keep)
    retrying = Retrying(robots, clock, stream(settings.seed, "retries"), settings.retrying, tell)
    return Wire(Following(retrying, settings.following), robots, polite, timetable)


def require_contact(settings: Settings, how: str = "-s 'live.user_agent={}'") -> None:
    """Raises an error if the user agent names no contact; `how` shows the way to set one."""
    if not _CONTACT.search(settings.live.user_agent):
        example = how.format("Forager/0.1 (+https://example.org/bot)")
        raise SettingsError(f"live.user_agent names no contact; add one, such as {example}")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks of a program that uses the crawl. They run on its event loop, and an error in one ends the crawl."""

    on_page: Callable[[Page], None] | None = None
    """Called with every fetched page."""
    accept: Callable[[AcceptedStory, Version], bool] | None = None
    """Decides at last whether a version becomes a story."""


@dataclass(frozen=True, slots=True)
class OpenCrawl:
    """A crawl that is ready to run, with its parts."""

    crawl: Crawl
    wire: Wire
    store: Store
    seeds: list[Url]
    """Seeds of earlier runs in this directory and those given now."""
    account: Account
    """Account of the whole run since it first began."""


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
    """Opens a live crawl in a run directory, new or existing, and closes the directory on exit.

    `readers` receives the account of the run so far and returns the readers of the journal; `say` receives messages
    about kernels that are compiled beside the crawl.
    """
    store = await Store.open(run_dir, settings.store)
    try:
        planted = await _seeds(store, seeds, run_dir)
        await in_thread(lambda: write_config(settings, run_dir))
        await in_thread(lambda: set(map(site, planted)))  # loads the public suffixes
        async with (
            compiler_beside(say, load_slow_parts) as compiler,
            open_wire(settings, clock, run_dir / "warc", waits=store) as wire,
        ):
            account = await recall_account(store)
            crawl = await make_crawl(
                settings, clock, wire, store, planted, account, readers(account), hooks, compiler, run_dir
            )
            yield OpenCrawl(crawl, wire, store, planted, account)
    finally:
        await store.close()


async def _seeds(store: Store, given: Sequence[Url], run_dir: Path) -> list[Url]:
    """Combines the seeds of earlier runs with those given now, and keeps them."""
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
    marks: Path | None = None,
) -> Crawl:
    """Builds a crawl on a store, new or continued.

    `account` must be that of the store (see `recall_account`); it receives every event before the other readers.
    `marks` is the directory where people leave what they say of documents.
    """
    corrections = Corrections(settings.crawl.corrections, await store.recall("corrections"))
    journal = Journal([account.hear, corrections.hear, *readers])
    focus = await _focus(settings, store, wire.web)
    agent = await _agent(settings, store, focus)
    shared = await _shared(settings, store, clock.now())
    shared.visits.addresses = lambda begin: _announced(store, begin)
    shared.visits.meet_addresses()
    offload: Offload = inline if isinstance(clock, LoopClock) else in_thread
    states = await _states(settings, store, agent, shared, offload)
    is_unsure = None if focus is None else lambda version: focus.verdicts.get(version) is Verdict.UNSURE
    teller = Teller(store, journal.write, hooks.accept, is_unsure)
    thrift = Thrift(settings.crawl.least_worth, settings.crawl.explore, shared.pace, settings.forager.max_age)
    topic = None
    if focus is not None:
        from forager.engine.topic import TopicDesk

        topic = TopicDesk(focus, store, teller, journal.write, clock, offload, shared.visits, thrift, marks)
    ingest = Ingest(
        store,
        Scope(seeds, settings.scope, store.urls_of),
        settings.visits,
        settings.pages,
        shared.visits,
        corrections,
        journal.write,
        offload=offload,
        states=states,
        topic=topic,
        on_page=hooks.on_page,
        texts=settings.reinforcing.relevancy.identity == "text",
    )
    await ingest.recall()
    shares = Shares(settings.crawl.recrawl_share, settings.timetable.concurrent_requests_per_host)
    world = WebWorld(wire.web, ingest, clock, shares, wire.robots.sitemaps, wire.recorded_from)
    wire.polite.tell = lambda wait: journal.write(_asked_to_wait(wait, clock.now()))
    if store.counts().known:
        wire.timetable.load(await recall_waits(store), clock.now())
        for wait in wire.timetable.waits(clock.now()):
            journal.write(_asked_to_wait(wait, clock.now()))
    policy = read_policy(settings.crawl.policy, stream(settings.seed, "policy"), settings.recrawl, settings.crawl.cycle)
    kept = await recall_schedule(store)
    lessons = [] if kept is None else kept.lessons
    scheduler = make_scheduler(
        policy_in_use(policy, kept),
        shared,
        thrift,
        settings.crawl,
        settings.recrawl,
        revisit_after=settings.visits.revisit_after,
        live=not isinstance(clock, LoopClock),
        known=lambda: np.arange(store.counts().known, dtype=np.int64),
        groups=store.hosts,
    )
    await restore_histories(shared.visits, store)
    return Crawl(
        store=store,
        world=world,
        agent=agent,
        shared=shared,
        teller=teller,
        journal=journal,
        clock=clock,
        thrift=thrift,
        scheduler=scheduler,
        corrections=corrections,
        retraining=await _retraining(settings, clock, scheduler, shared.visits.log, lessons, offload),
        settings=settings.crawl,
        delay=settings.timetable.download_delay,
        learned={
            "fleet": lambda: save_agent(agent),
            ACCOUNT: account.save,
            "shared": shared.saving,
            **ingest.learned(),
            "corrections": corrections.save,
            SCHEDULE: lambda: save_schedule(settings.crawl.policy, scheduler, lessons),
            **({} if states is None else {"stating": states.save}),
            **({} if focus is None else {"focus": focus.saving}),
        },
        offload=offload,
        states=states,
        ordering=_ordering(settings, agent, shared, offload),
        topic=topic,
        compiler=compiler,
    )


def _announced(store: Store, begin: int) -> Iterator[Introduced]:
    """What the store knows, before the first visit, of pages from a number on; see `PageTable.addresses`."""
    for number in range(begin, store.counts().known):
        page = store.known(UrlId(number))
        is_map = page.channel is Channel.SITEMAP and _SITEMAP.search(page.url) is not None
        is_list = is_map or page.channel in (Channel.ALTERNATE, Channel.ROBOTS)
        by_seed = page.source is not None and store.known(page.source).channel is Channel.SEED
        yield Introduced(page.url, is_list, page.channel is Channel.SEED or (is_list and by_seed), page.published)


def _asked_to_wait(wait: Refusal, now: float) -> AskedToWait:
    return AskedToWait(now, wait.host, wait.until, wait.why)


async def _states(
    settings: Settings, store: Store, agent: ReinforcingAgent, shared: Shared, offload: Offload
) -> "LiveStates | None":
    """The states of pages, with what was learned in earlier runs; None if no forager uses states."""
    if not settings.forager.wants_states:
        return None
    await offload(lambda: import_module("forager.engine.page_states"))  # slow, with all of scipy.sparse
    from forager.engine.page_states import LiveStates

    return await LiveStates.open(settings.forager, shared.states, store, agent, offload)


def _ordering(settings: Settings, agent: ReinforcingAgent, shared: Shared, offload: Offload) -> "Ordering | None":
    """Orders never-visited pages by the link graph; None if long-term profit alone decides."""
    if settings.crawl.ordering == "td":
        return None
    from forager.engine.link_order import Ordering

    return Ordering.arranged(settings.crawl, agent, shared, offload)


async def _retraining(
    settings: Settings,
    clock: Clock,
    scheduler: Scheduler,
    log: VisitLog | None,
    lessons: list[Learned],
    offload: Offload,
) -> "Retraining | None":
    """Learns better score functions beside the crawl; None if the policy is fixed."""
    if log is None:
        return None
    await offload(lambda: import_module("forager.engine.teacher"))  # slow, with all of `gp`
    from forager.engine.teacher import Retraining, learn_apart, learn_here

    teach = learn_here if isinstance(clock, LoopClock) else learn_apart
    return Retraining(scheduler, log, settings.recrawl, settings.seed, lessons, teach)


async def _focus(settings: Settings, store: Store, web: Web) -> "Focus | None":
    """The topic of the crawl, with what it has learned; None if the crawl takes every topic."""
    if not settings.focus.wanted:
        return None
    from forager.core.focus import Focus

    kept = await store.recall("focus")
    if kept is not None:
        return Focus.load(kept, settings.focus)
    given: dict[bool, list[str]] = {True: [], False: []}
    for place in settings.focus.examples.split():
        for example in [Example(url=place)] if canonical(place) else read_examples(Path(place)):
            given[example.on_topic].append(example.text or await _fetched_text(example.url, web))
    return Focus(settings.focus, given[True], given[False])


async def _fetched_text(text: str, web: Web) -> str:
    """The title and text of a page that was given as an example, asked for by all rules."""
    url = canonical(text)
    if url is None:
        raise InputError(f"focus.examples: {text!r} is not an http(s) URL")
    page = Page(await web.fetch(Request(url)))
    if not page.text:
        said = page.response.error or page.response.outcome.value
        raise InputError(f"focus.examples: {url} has no text to learn from ({said})")
    return f"{page.title}\n{page.text}"


async def _agent(settings: Settings, store: Store, focus: "Focus | None") -> ReinforcingAgent:
    """The fleet of an earlier run, or an empty one."""
    kept = await store.recall("fleet")
    on_topic = None if focus is None else focus.on_topic
    if kept is None:
        return ReinforcingAgent(settings.reinforcing, settings.forager, settings.seed, on_topic)
    return load_agent(kept, settings.reinforcing, settings.forager, on_topic)


async def _shared(settings: Settings, store: Store, now: float) -> Shared:
    """What the fleet knew, or nothing. No visit lies in the future, even if the system clock was set back since."""
    kept, walk = await store.recall("shared"), settings.forager
    if kept is None:
        return Shared.fresh(walk)
    shared = Shared.load(kept, walk)
    shared.visits.end_at(now)
    return shared
