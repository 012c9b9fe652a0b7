"""Decides when each host may be visited; never waits.

The rules, per host:

- a visit starts at least `download_delay` after the last one started and after its answer began: until then nobody
  knows when a busy server took the request up, and it must not see the next one sooner;
- this delay is at least `download_delay`, and at least the Crawl-delay of its robots.txt, a multiple of its
  smoothed latency (a slow server is asked less often, as in Scrapy's AutoThrottle) and the back-off (doubled by each
  429 or 503, halved by each success);
- nothing starts before a block is over (Retry-After, or the back-off right after a 429 or 503);
- at most `concurrent_requests_per_host` visits run at a time;
- in any hour at most `requests_per_hour` visits start, in any day at most `bytes_per_day` arrive. Bookings count as
  spent, each with the largest body it may bring, so nothing can exceed a budget.

A visit is reserved, started when its turn has come, and given back when it has ended, however it ended.

The state that the next run needs is one row per host, to be kept whenever `news` returns one: its delay, if longer than
the usual one, its block, and, with budgets, what is spent and booked. Starts need no row: a resumed crawl assumes that
every host was asked just now. So no host is asked too early even if the last request before a kill was never kept, the
crawl writes next to nothing, and resuming costs one delay.

A sliding window counts what was spent in the last hour or day, in bounded memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from forager.errors import SettingsError, StoreError
from forager.web.web_settings import DAY, HOUR, TimetableSettings


@dataclass(slots=True)
class Window:
    """Amount spent in the last `span` seconds: never too low; it may include up to a hundredth of the span too much."""

    span: float
    entries: list[tuple[float, float, float]] = field(default_factory=list)
    """First time, last time, amount; entries within a hundredth of the span are merged, so there are about a hundred."""

    def add(self, amount: float, now: float) -> None:
        if self.entries and now - self.entries[-1][0] < self.span / 100:
            first, _, before = self.entries.pop()
            self.entries.append((first, now, before + amount))
        else:
            self.entries.append((now, now, amount))

    def total(self, now: float) -> float:
        while self.entries and self.entries[0][1] + self.span <= now:
            del self.entries[0]
        return sum(amount for _, _, amount in self.entries)

    def falls_below(self, level: float, now: float) -> float:
        """Returns when the total will be at most `level` if nothing more is added."""
        left = self.total(now)
        for _, last, amount in self.entries:
            if left <= level:
                break
            left, now = left - amount, last + self.span
        return now


GRAIN = 1e-6
"""Resolution in seconds; timers, and floats at the current epoch, are hardly finer."""

_BUSY = frozenset({429, 503})
_SMALLEST_BACKOFF = 0.5
_SMALLEST_SWEEP = 1024
_NOT_KEPT = 0.25
"""Seconds: a delay up to this is not kept, and every host waits at least this long after a resume (ours)."""


@dataclass(frozen=True, slots=True)
class Booking:
    """Permission for one visit to a host; `at` is when, as known now."""

    host: str
    at: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Permits no visit now, and says why; `until` is when to ask again."""

    host: str
    until: float
    why: str


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What an answer says about its host."""

    seconds: float
    """Time from the request to the last byte."""
    status: int = 0
    """HTTP status; 0 if no answer came."""
    wire_bytes: int = 0
    retry_after: float | None = None
    """Seconds, if the server gave them."""
    begun: float | None = None
    """When the answer began, if that is known."""


@dataclass(slots=True)
class _Host:
    """State of one host."""

    started: float = float("-inf")
    blocked: float = float("-inf")
    crawl_delay: float = 0.0
    latency: float = 0.0
    backoff: float = 0.0
    booked: int = 0
    active: int = 0
    why: str = ""
    """The reason for the block."""
    starts: Window = field(default_factory=lambda: Window(HOUR))
    bytes: Window = field(default_factory=lambda: Window(DAY))


class Timetable:
    """The state of every host, for the whole crawl."""

    def __init__(self, settings: TimetableSettings | None = None) -> None:
        self.settings = settings or TimetableSettings()
        budget, largest = self.settings.bytes_per_day, self.settings.largest_body
        if budget is not None and budget < largest:
            raise SettingsError(f"bytes_per_day: {budget} is less than one body may bring ({largest}); raise it")
        self._hosts: dict[str, _Host] = {}
        self._kept: dict[str, tuple[float, ...]] = {}
        """The last kept state of hosts; the others are in the initial state."""
        self._since = float("-inf")
        """When the crawl was resumed; any host may have been asked until then."""
        self._sweep_at = _SMALLEST_SWEEP

    def __repr__(self) -> str:
        booked = sum(host.booked for host in self._hosts.values())
        active = sum(host.active for host in self._hosts.values())
        slowed = sum(host.backoff > 0 for host in self._hosts.values())
        return f"<Timetable {len(self._hosts)} hosts, {booked} booked, {active} under way, {slowed} backing off>"

    # Queries.

    def delay(self, host: str) -> float:
        """Returns the current number of seconds between two starts."""
        known = self._hosts.get(host)
        return self._delay(known) if known else self.settings.download_delay

    def latency(self, host: str) -> float:
        """Seconds that an answer usually takes, 0 if none has come."""
        known = self._hosts.get(host)
        return known.latency if known else 0.0

    def allowed_at(self, host: str, now: float) -> float:
        """Returns the earliest start of one more visit, by delays, blocks, bookings and budgets."""
        known = self._hosts.get(host)
        if known is None:
            return now
        refused = self._spent(host, known, now)
        return max(self._expected(known, now), refused.until if refused else now)

    def wait(self, booking: Booking, now: float) -> float:
        """Seconds until the booked visit may start; 0: now. Ask again after waiting, because the rules may have
        changed."""
        host = self._hosts[booking.host]
        wait = max(host.started + self._delay(host), host.blocked) - now
        return wait if wait > GRAIN else 0.0

    def waits(self, now: float) -> list[Refusal]:
        """Lists the hosts that are blocked, and until when."""
        return [
            Refusal(name, host.blocked, host.why)
            for name, host in self._hosts.items()
            if host.why and host.blocked > now
        ]

    # Decisions.

    def reserve(self, host: str, now: float) -> Booking | Refusal:
        """Books one visit; every booking must be given back."""
        self._sweep(now)
        known = self._host(host)
        refused = self._spent(host, known, now)
        if refused is not None:
            return refused
        at = self._expected(known, now)
        if at - now > self.settings.longest_wait:
            why = "is blocked" if known.blocked > now else "has too many visits booked"
            return Refusal(host, at - self.settings.longest_wait, f"{host} {why} for another {at - now:.0f} s")
        known.booked += 1
        return Booking(host, at)

    def start(self, booking: Booking, now: float) -> bool:
        """Starts the booked visit if its turn has come; otherwise returns False and changes nothing."""
        host = self._hosts[booking.host]
        if self.wait(booking, now) > 0 or host.active >= self.settings.concurrent_requests_per_host:
            return False
        host.booked -= 1
        host.active += 1
        host.started = now
        if self.settings.requests_per_hour is not None:
            host.starts.add(1, now)
        return True

    def give_back(self, booking: Booking, *, started: bool) -> None:
        """Ends a booking whose visit has ended or will not be made."""
        host = self._hosts[booking.host]
        if started:
            host.active -= 1
        else:
            host.booked -= 1

    # Learning.

    def set_crawl_delay(self, host: str, seconds: float) -> None:
        """Sets the Crawl-delay of robots.txt; 0 if it has none."""
        known = self._host(host) if seconds > 0 else self._hosts.get(host)
        if known is not None:
            known.crawl_delay = seconds

    def block(self, host: str, until: float, why: str = "") -> Refusal | None:
        """Blocks starts before `until`; returns the block if it is new."""
        known = self._host(host)
        if until <= known.blocked:
            return None
        known.blocked, known.why = until, why
        return Refusal(host, until, why)

    def note(self, host: str, facts: HostFacts | None, now: float) -> Refusal | None:
        """Learns from a visit that ended now; None: it was cancelled, and the number of bytes is unknown.

        Returns the wait that begins with this answer, if any.
        """
        known = self._host(host)
        if self.settings.bytes_per_day is not None:
            known.bytes.add(self.settings.largest_body if facts is None else facts.wire_bytes, now)
        if facts is None:
            return None
        if facts.begun is not None:
            known.started = max(known.started, min(facts.begun, now))
        wait = None
        if facts.status in _BUSY:
            known.backoff = min(self.settings.longest_delay, 2 * max(self._delay(known), _SMALLEST_BACKOFF))
            wait = self.block(host, now + known.backoff, f"it answered with status {facts.status}")
        elif 200 <= facts.status < 500:
            halved = known.backoff / 2
            known.backoff = halved if halved > max(self.settings.download_delay, _SMALLEST_BACKOFF) else 0.0
        if 200 <= facts.status < 400 or facts.seconds > known.latency:  # errors are fast: they count only if slow
            known.latency = (known.latency + facts.seconds) / 2 if known.latency else facts.seconds
        if facts.retry_after is not None:
            until = now + min(facts.retry_after, self.settings.longest_block)
            wait = self.block(host, until, f"it answered with status {facts.status} and Retry-After") or wait
        return wait

    # Saving.

    def news(self, host: str) -> bytes | None:
        """The state of a host to keep now; None if nothing that matters to the next run has changed since the last
        call."""
        known = self._hosts.get(host)
        if known is None:
            return None
        binding = self._binding(known)
        if binding == self._kept.get(host, self._binding(_Host())):
            return None
        self._kept[host] = binding
        return msgspec.msgpack.encode(known)

    def load(self, kept: Mapping[str, bytes], now: float) -> None:
        """Resumes with the kept state of hosts. No request counts as later than now, even if the clock was set back."""
        self._since = now
        try:
            self._hosts = {name: msgspec.msgpack.decode(raw, type=_Host) for name, raw in kept.items()}
        except msgspec.MsgspecError as error:
            raise StoreError(f"the kept timetable cannot be read ({error}); start a new run directory") from None
        for name, host in self._hosts.items():
            host.started = now
            for window in (host.starts, host.bytes):
                window.entries = [(min(first, now), min(last, now), amount) for first, last, amount in window.entries]
            host.blocked = max(now + _NOT_KEPT, min(host.blocked, now + self.settings.longest_block))
            if host.booked + host.active:  # it is unknown whether booked visits were started, and what any brought
                host.starts.add(host.booked, now)
                host.bytes.add((host.booked + host.active) * self.settings.largest_body, now)
                host.booked = host.active = 0
            self._kept[name] = self._binding(host)

    # The rules.

    def _delay(self, host: _Host) -> float:
        stretched = min(self.settings.longest_delay, max(self.settings.latency_factor * host.latency, host.backoff))
        return max(self.settings.download_delay, host.crawl_delay, stretched)

    def _binding(self, host: _Host) -> tuple[float, ...]:
        """Returns what the next run must know, without the usual delay and without a block that is none."""
        delay = self._delay(host)
        spent: tuple[float, ...] = ()
        if self.settings.requests_per_hour is not None or self.settings.bytes_per_day is not None:
            ends = [window.entries[-1][1] if window.entries else 0.0 for window in (host.starts, host.bytes)]
            spent = (*ends, host.booked + host.active)
        is_usual = delay <= max(_NOT_KEPT, self.settings.download_delay)
        return 0.0 if is_usual else delay, host.blocked if host.why else 0.0, *spent

    def _expected(self, host: _Host, now: float) -> float:
        delay = self._delay(host)
        return max(now, host.started + delay, host.blocked) + host.booked * delay

    def _spent(self, name: str, host: _Host, now: float) -> Refusal | None:
        hourly, daily = self.settings.requests_per_hour, self.settings.bytes_per_day
        at_most = (host.booked + host.active + 1) * self.settings.largest_body
        if hourly is not None and host.starts.total(now) + host.booked >= hourly:
            until = host.starts.falls_below(hourly - 1 - host.booked, now)
            return Refusal(name, max(until, now + GRAIN), f"{name} has had its {hourly} requests of this hour")
        if daily is not None and host.bytes.total(now) + at_most > daily:
            until = host.bytes.falls_below(daily - at_most, now)
            return Refusal(name, max(until, now + GRAIN), f"{name} has given its {daily} bytes of this day")
        return None

    def _host(self, name: str) -> _Host:
        known = self._hosts.get(name)
        if known is None:
            known = self._hosts[name] = _Host(self._since, self._since + _NOT_KEPT)
        return known

    def _sweep(self, now: float) -> None:
        """Forgets idle hosts whenever the number of hosts has doubled."""
        if len(self._hosts) < self._sweep_at:
            return
        self._hosts = {name: host for name, host in self._hosts.items() if not self._idle(host, now)}
        self._kept = {name: kept for name, kept in self._kept.items() if name in self._hosts}
        self._sweep_at = max(_SMALLEST_SWEEP, 2 * len(self._hosts))

    def _idle(self, host: _Host, now: float) -> bool:
        quiet = max(host.started, host.blocked) + max(self.settings.forget_after, self._delay(host)) <= now
        unspent = host.starts.total(now) == 0 and host.bytes.total(now) == 0
        return quiet and unspent and host.booked == host.active == 0
