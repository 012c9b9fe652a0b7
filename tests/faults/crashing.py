"""A crawl that is killed again and again, and the account of it against the log of the server.

The Newsroom is served by this process, so its log of requests survives every death of the crawl, which is a process (and
a process group) of its own. One page at a time is under way at each host, and visits are committed in their order. So in
each life of the crawl the requests to a host that are in the store come before those that are not: a gap is a loss.

Each life has a user agent of its own, so the log tells whose a request was. When it came does not: a busy server takes
requests of a crawl that is dead from its sockets while the next one asks already.
"""

import os
import signal
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from forager.errors import Exit
from forager.newsroom.newsroom import Asked, Newsroom
from forager.store.protocol import AcceptedStory, VersionId, Visit
from forager.store.store import Store
from forager.terms import Url
from tests.faults.launching import Command

BUSY = (
    "live.allow_addresses=['127.0.0.0/8']",
    "timetable.download_delay=20ms",
    "timetable.latency_factor=0",
    "visits.revisit_after=1s",
    "visits.retry_after=1s",
    "crawl.least_worth=0",
    "crawl.save_every=1s",
)
"""A crawl that always has something to do."""

PATIENCE = 240.0
"""Seconds after which a crawl that does nothing is taken for hanging."""


class Started(Protocol):
    """A running crawl."""

    pid: int

    def is_alive(self) -> bool: ...

    def wait(self, timeout: float) -> int: ...


@dataclass(frozen=True, slots=True)
class Life:
    """One run of the crawl; times as the server's clock has them."""

    agent: str
    """Its user agent."""
    began: float
    ended: float
    first: float
    """When its first request came; nan if none did."""


@dataclass(slots=True)
class Killer:
    """Runs `forager crawl` into one directory, and ends it as it is told."""

    newsroom: Newsroom
    folder: Path
    start: Callable[[list[str], Path], Started] = Command
    settings: Sequence[str] = BUSY
    lives: list[Life] = field(default_factory=list)
    place: Path | None = None
    """The run directory; None: `run` in the folder."""
    _agent: str = "Forager/0.1 (test; +http://127.0.0.1/)"

    @property
    def run_dir(self) -> Path:
        return self.place or self.folder / "run"

    @property
    def output(self) -> Path:
        return self.folder / "stories.jsonl"

    def arguments(self, *more: str, whole: Path | None = None, port: int = 0) -> list[str]:
        """`whole`: stories are written there anew (-O) instead of appended; `port`: of a dashboard, 0 for none."""
        seeds = [part for home in self.newsroom.homes for part in ("--seed", home)]
        chosen = [part for one in self.settings for part in ("-s", one)]
        outlet = ["-o", str(self.output)] if whole is None else ["-O", str(whole)]
        shown = ["-s", f"dashboard.port={port}"] if port else ["--no-dashboard"]
        named = ["-s", f"live.user_agent={self._agent}"]
        return ["crawl", str(self.run_dir), *seeds, *outlet, *chosen, *named, *shown, "-q", *more]

    def live(
        self, end: str, *, wait: float, after_first: bool = True, whole: Path | None = None, port: int = 0
    ) -> bool:
        """Start; `wait` seconds later (after the first request came, if so wanted) end it: kill, group or drain.

        `drain` asks it to finish first, and kills it while it does. Tells whether it was just learning.
        """
        asked, began = len(self.newsroom.requests), self._rename()
        process = self.start(self.arguments(whole=whole, port=port), self.folder / "errors")
        deadline = time.monotonic() + PATIENCE
        while after_first and np.isnan(self._first(asked)) and process.is_alive():
            assert time.monotonic() < deadline, "the crawl asks for nothing"
            time.sleep(0.002)
        with _watched(port) if port and after_first else nullcontext():
            time.sleep(wait)
        learned = _is_learning(process.pid)
        if end == "drain":
            os.kill(process.pid, signal.SIGTERM)
            time.sleep(wait / 10)
        for kill in (os.killpg, os.kill) if end == "group" else (os.kill,):
            with suppress(ProcessLookupError):  # it may have finished draining
                kill(process.pid, signal.SIGKILL)
        early = -signal.SIGTERM, Exit.INTERRUPTED  # asked to end before it could listen, or before the crawl began
        self._note(process, asked, began, (0, -signal.SIGKILL, *early))
        return learned

    def finish(self, seconds: float | None = None, *codes: int, whole: Path | None = None) -> str:
        """A life that ends by itself, after some time or with one of these codes; what it said on standard error."""
        asked, began = len(self.newsroom.requests), self._rename()
        limit = () if seconds is None else ("--time-limit", f"{seconds}s")
        self._note(self.start(self.arguments(*limit, whole=whole), self.folder / "errors"), asked, began, codes or (0,))
        return (self.folder / "errors").read_text()

    def _note(self, process: Started, asked: int, began: float, expected: tuple[int, ...]) -> None:
        code = process.wait(PATIENCE)
        assert code in expected, (self.folder / "errors").read_text()
        self.lives.append(Life(self._agent, began, time.time(), self._first(asked)))

    def _rename(self) -> float:
        """Gives the next life a user agent of its own; returns when it began."""
        began = time.time()
        self._agent = f"Forager/0.1 (test {began:.6f}; +http://127.0.0.1/)"
        return began

    def _first(self, asked: int) -> float:
        """When this life asked first, of the server's log without so many requests; nan if it did not."""
        log = list(self.newsroom.requests)[asked:]  # at once: the server is a thread of this process
        return next((one.at for one in log if one.agent == self._agent), np.nan)

    @property
    def starts(self) -> list[float]:
        """Seconds from each start to its first request, of the lives that lived so long; the first is of a new crawl."""
        return [life.first - life.began for life in self.lives if not np.isnan(life.first)]


def _is_learning(pid: int) -> bool:
    """Whether a process of it learns a score function."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return any(b"forager.engine.teacher" in Path(f"/proc/{one}/cmdline").read_bytes() for one in children)
    return False


@contextmanager
def _watched(port: int) -> Iterator[None]:
    """Somebody looks at the dashboard, and stays until it ends."""
    try:
        reader = socket.create_connection(("127.0.0.1", port), timeout=2)
    except OSError:  # it ended before
        yield
        return
    with reader:
        reader.sendall(f"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert reader.recv(12) in (b"HTTP/1.1 200", b"")
        yield


@dataclass(frozen=True, slots=True)
class Stored:
    """What a run directory holds."""

    visits: list[tuple[Url, Visit]]
    stories: list[AcceptedStory]
    versions: dict[VersionId, tuple[Url, float, int]]
    """URL, time and fingerprint of each."""
    unsettled: list[VersionId]

    @classmethod
    async def read(cls, run_dir: Path) -> "Stored":
        store = await Store.open(run_dir)
        try:
            versions = {}
            for number in map(VersionId, range(store.counts().versions)):
                id, at, version = await store.version(number)
                versions[number] = store.url(id), at, version.byte_print
            return cls(
                [(store.url(visit.id), visit) async for visit in store.visits()],
                [story async for story in store.stories()],
                versions,
                await store.unsettled(),
            )
        finally:
            await store.close()


@dataclass(frozen=True, slots=True)
class Account:
    """The store against the log of the server."""

    requests: int
    """Of pages."""
    unstored: list[Asked]
    """Requests without a visit in the store: they were under way when the crawl died, or not yet acknowledged."""
    lost: list[Asked]
    """Those among them after which the same life stored a visit of a later request to the same host."""
    invented: list[Url]
    """Stored visits that the server knows nothing of."""


def account(newsroom: Newsroom, lives: Sequence[Life], visits: Sequence[tuple[Url, Visit]]) -> Account:
    """Match each stored visit with the request that it stems from: same life and URL, asked before and answered after it
    came.

    Of the server's log only the requests of these lives count.
    """
    life_of = {life.agent: life for life in lives}
    pages = [one for one in list(newsroom.requests) if one.agent in life_of and one.target != "/robots.txt"]
    waiting: defaultdict[str, list[Visit]] = defaultdict(list)
    for url, visit in sorted(visits, key=lambda pair: pair[1].at):
        waiting[url].append(visit)
    unstored, lost = [], []
    stored_later: set[tuple[str, str]] = set()
    for asked in reversed(pages):
        candidates, life = waiting[newsroom.bases[asked.paper] + asked.target], life_of[asked.agent]
        match = next((visit for visit in candidates if _stems(visit, asked, life)), None)
        if match is not None:
            candidates.remove(match)
            stored_later.add((asked.agent, asked.paper))
            continue
        unstored.append(asked)
        if (asked.agent, asked.paper) in stored_later:
            lost.append(asked)
    invented = [Url(url) for url, left in waiting.items() for visit in left if visit.status]
    return Account(len(pages), unstored, lost, invented)


def _stems(visit: Visit, asked: Asked, life: Life) -> bool:
    return life.began <= visit.at <= life.ended and visit.at <= asked.at <= visit.at + visit.seconds + 0.01


def doubles(stored: Stored) -> list[str]:
    """Whatever is in the store twice: a story, or a version that shows the very bytes of the one before it."""
    stories = Counter((story.url, story.version) for story in stored.stories)
    found = [f"story {url}, version {version}" for (url, version), count in stories.items() if count > 1]
    latest: dict[Url, int] = {}
    for number, (url, _, print_) in sorted(stored.versions.items()):
        if latest.get(url) == print_:
            found.append(f"version {number} of {url}")
        latest[url] = print_
    return found
