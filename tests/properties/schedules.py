"""Random schedules of a whole web stack over moody servers in virtual time, and a judge who knows nothing of timetables.

A schedule is a few hosts with their own rules, callers who ask at random moments, some of whom lose patience, and lives of
the stack that end in sudden deaths: whatever was not committed by then is lost. The judge reads the servers' log alone.
"""

import asyncio
import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from itertools import pairwise

from forager.assembly import wire
from forager.clock import LoopClock, run_virtual
from forager.pages.urls import host
from forager.settings import Settings
from forager.terms import Request, Response, Trouble, Url
from forager.web.web import Answer, failed, judged
from forager.web.web_settings import RobotsSettings, TimetableSettings

EPOCH = 1_700_000_000.0
SLOWEST_COMMIT = 0.05
GRAIN = 1e-5
SETTINGS = Settings()


@dataclass(frozen=True, slots=True)
class MoodyHost:
    """How a host behaves."""

    name: str
    robots: str
    """rules, delay, none, failing, elsewhere or flapping."""
    crawl_delay: int
    moods: tuple[str, ...]


@dataclass(slots=True)
class Logged:
    """A request as its host saw it."""

    path: str
    came: float
    went: float = float("inf")
    status: int = 0
    wait: float = 0.0
    size: int = 0
    life: int = 0


@dataclass(slots=True)
class Schedule:
    """Everything that was drawn for one schedule, and what came of it."""

    seed: int
    rules: TimetableSettings
    hosts: dict[str, MoodyHost]
    log: defaultdict[str, list[Logged]] = field(default_factory=lambda: defaultdict(list))
    deaths: list[float] = field(default_factory=list)


class Keeper:
    """Keeps rows as a disk does: in their order, some time after they came, and not at all if the process dies first."""

    def __init__(self, rng: random.Random, kept: dict[str, bytes]) -> None:
        self.rng, self.kept, self.dead = rng, kept, False
        self._done = 0.0
        """When all that was noted is kept, in the time of the loop."""

    def note_host(self, host: str, state: bytes) -> None:
        loop = asyncio.get_running_loop()
        self._done = max(self._done + 1e-4, loop.time() + self.rng.uniform(0, SLOWEST_COMMIT))
        loop.call_at(self._done, self._keep, host, state)

    def _keep(self, host: str, state: bytes) -> None:
        if not self.dead:
            self.kept[host] = state

    async def commit(self) -> None:
        await asyncio.sleep(self._done - asyncio.get_running_loop().time())


class MoodyServers:
    """The web of a schedule."""

    def __init__(self, schedule: Schedule, rng: random.Random, clock: LoopClock, life: int) -> None:
        self.schedule, self.rng, self.clock, self.life = schedule, rng, clock, life

    async def fetch(self, request: Request) -> Response:
        asked, name = self.clock.now(), host(request.url)
        own = self.schedule.hosts[name]
        entry = Logged(request.url.split("/", 3)[3], asked, life=self.life)
        self.schedule.log[name].append(entry)
        seconds = self.rng.choice((0.0, 0.01, 0.3, 4.0))
        answer, entry.wait = self._answer(own, entry.path)
        entry.size = answer.wire_bytes
        try:
            await asyncio.sleep(seconds)
            entry.status = answer.status
        finally:
            entry.went = self.clock.now()
        if answer.status == 0:
            return failed(request, Trouble.CONNECT, "reset", asked=asked, seconds=seconds)
        if answer.status == 429 and entry.wait and self.rng.random() < 0.5:  # as a date, counted from now
            until = int(entry.went) + int(entry.wait) + 1
            date = (("date", formatdate(entry.went, usegmt=True)), ("retry-after", formatdate(until, usegmt=True)))
            entry.wait = until - int(entry.went)
            answer = replace(answer, headers=date)
        return judged(request, answer, asked=asked, seconds=seconds)

    def _answer(self, own: MoodyHost, path: str) -> tuple[Answer, float]:
        if path == "robots.txt":
            return self._robots(own), 0.0
        match self.rng.choice(own.moods):
            case "fine":
                return Answer(200, body=b"page", wire_bytes=self.rng.randint(0, 900)), 0.0
            case "moved":
                other = self.rng.choice((*self.schedule.hosts, own.name))
                place = self.rng.choice(("a", "b", "private/x"))
                return Answer(301, (("location", f"http://{other}/{place}"),)), 0.0
            case "busy":
                return Answer(503), 0.0
            case "wait":
                seconds = self.rng.choice((2, 30, 700))
                return Answer(429, (("retry-after", str(seconds)),)), float(seconds)
            case "reset":
                return Answer(0), 0.0
        return Answer(404), 0.0

    def _robots(self, own: MoodyHost) -> Answer:
        kind = own.robots
        if kind == "flapping":
            kind = self.rng.choice(("rules", "delay", "none", "failing"))
        match kind:
            case "rules":
                return Answer(200, body=b"User-agent: *\nDisallow: /private/\n")
            case "delay":
                return Answer(200, body=b"User-agent: *\nDisallow: /private/\nCrawl-delay: %d\n" % own.crawl_delay)
            case "failing":
                return Answer(500)
            case "elsewhere":
                return Answer(302, (("location", f"http://{next(iter(self.schedule.hosts))}/robots.txt"),))
        return Answer(404)


def drawn(seed: int) -> Schedule:
    """The schedule of a seed."""
    rng = random.Random(seed)
    names = [f"h{number}.example" for number in range(rng.randint(1, 3))]
    kinds = ("rules", "delay", "none", "failing", "elsewhere", "flapping")
    moods = ("fine", "fine", "fine", "moved", "busy", "wait", "reset", "gone")
    hosts = {
        name: MoodyHost(
            name,
            rng.choice(kinds if place else kinds[:3]),
            rng.choice((2, 5, 100)),
            tuple(rng.sample(moods, rng.randint(2, 6))),
        )
        for place, name in enumerate(names)
    }
    rules = TimetableSettings(
        download_delay=rng.choice((0.0, 0.3, 1.0)),
        concurrent_requests_per_host=rng.choice((1, 1, 2)),
        latency_factor=rng.choice((0.0, 1.0)),
        requests_per_hour=rng.choice((None, None, 4, 9)),
        bytes_per_day=rng.choice((None, None, 5000)),
        largest_body=1000,
    )
    return Schedule(seed, rules, hosts)


def played(seed: int) -> Schedule:
    """A schedule, carried out."""
    schedule = drawn(seed)
    run_virtual(_live_again_and_again(schedule, random.Random(seed + 1)))
    return schedule


async def _live_again_and_again(schedule: Schedule, rng: random.Random) -> None:
    kept: dict[str, bytes] = {}
    for life in range(rng.randint(1, 3)):
        clock, keeper = LoopClock(EPOCH), Keeper(rng, kept)
        robots = RobotsSettings(keep=20.0, keep_at_least=5.0, retry_after_failure=10.0)
        settings = replace(SETTINGS, seed=schedule.seed, timetable=schedule.rules, robots=robots)
        stack = wire(settings, clock, MoodyServers(schedule, rng, clock, life), waits=keeper)
        if life:
            stack.timetable.load(kept, clock.now())
        try:
            async with asyncio.timeout(rng.choice((0.5, 3.0, 60.0, 2000.0))), asyncio.TaskGroup() as group:
                group.create_task(_die(keeper, schedule, clock))
                for _ in range(rng.randint(1, 8)):
                    group.create_task(_call(stack.web, rng, [*schedule.hosts]))
        except TimeoutError:
            pass
        await asyncio.sleep(rng.choice((0.0, 0.5, 5.0)))


async def _die(keeper: Keeper, schedule: Schedule, clock: LoopClock) -> None:
    """As a life is ended, nothing more is kept, whatever its tasks do on their way out."""
    try:
        await asyncio.sleep(1e9)
    finally:
        keeper.dead = True
        schedule.deaths.append(clock.now())


async def _call(web: object, rng: random.Random, names: list[str]) -> None:
    await asyncio.sleep(rng.uniform(0, 20))
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(("a", "b", "c", "private/x"))
        try:
            async with asyncio.timeout(rng.choice((0.2, 30.0, 1e6))):
                await web.fetch(Request(Url(f"http://{rng.choice(names)}/{path}")))  # type: ignore[attr-defined]
        except TimeoutError:
            pass


def broken(schedule: Schedule) -> list[str]:
    """Every rule that a request broke, in words."""
    return [
        f"seed {schedule.seed}, {name}: {wrong}"
        for name, log in schedule.log.items()
        for wrong in _broken_at(schedule, schedule.hosts[name], log)
    ]


def _broken_at(schedule: Schedule, own: MoodyHost, log: list[Logged]) -> list[str]:
    rules, found = schedule.rules, []
    first = next(iter(schedule.hosts.values()))
    lent = own is first and any(other.robots == "elsewhere" for other in schedule.hosts.values())  # read for others
    delay = min(60, own.crawl_delay) if own.robots == "delay" and not lent else 0
    known = [one for one in log if one.path == "robots.txt" and one.status == 200 and _is_heard(schedule, one)]
    for before, after in pairwise(log):
        if after.came - before.came < rules.download_delay - GRAIN:
            found.append(f"{after} came too soon after {before}")
        if known and before.came >= known[0].went and after.came - before.came < delay - GRAIN:
            found.append(f"{after} came before the Crawl-delay was over after {before}")
    backoff = 2 * max(rules.download_delay, 0.5)
    for busy in log:
        least = max(busy.wait, min(backoff, rules.longest_delay)) if busy.status in (429, 503) else 0.0
        if least and _is_heard(schedule, busy):
            early = [one for one in log if busy.went + GRAIN < one.came < busy.went + least - GRAIN]
            found += [f"{one} came during the wait that {busy} asked for" for one in early]
    ruled = first if own.robots == "elsewhere" else own
    if ruled.robots in ("rules", "delay"):
        found += [f"{one} is disallowed" for one in log if one.path.startswith("private/")]
    if own.robots == "failing":
        found += [f"{one} although robots.txt cannot be had" for one in log if one.path != "robots.txt"]
    firsts = {one.life: one for one in reversed(log)}
    if own.robots != "elsewhere" and not lent:
        found += [f"{one} was the first of its life" for one in firsts.values() if one.path != "robots.txt"]
    for one in log:
        under_way = sum(other.came <= one.came < other.went and other.life == one.life for other in log)
        if under_way > rules.concurrent_requests_per_host:
            found.append(f"{under_way} were under way with {one}")
        if rules.requests_per_hour is not None:
            within = sum(one.came - 3600 < other.came <= one.came for other in log)
            if within > rules.requests_per_hour:
                found.append(f"{one} was number {within} of an hour")
    if rules.bytes_per_day is not None and sum(one.size for one in log) > rules.bytes_per_day:
        found.append(f"{sum(one.size for one in log)} bytes in a day")
    return found


def _is_heard(schedule: Schedule, one: Logged) -> bool:
    """Whether what was said can have been kept: not if the life ended before, or right after it."""
    death = schedule.deaths[one.life] if one.life < len(schedule.deaths) else float("inf")
    return one.went + 2 * SLOWEST_COMMIT < death  # a row waits for those before it
