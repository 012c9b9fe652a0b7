"""When each host may be visited: decides, never waits.

The rules, per host:

- between two starts lie at least `download_delay`, the Crawl-delay of its robots.txt, a multiple of its smoothed
  latency (a slow server is asked less often, as in Scrapy's AutoThrottle) and the back-off (doubled by each 429 or 503,
  halved by each success);
- nothing starts before a block is over (Retry-After, or the back-off right after a 429 or 503);
- at most `concurrent_requests_per_host` visits are under way;
- in any hour at most `requests_per_hour` visits start, in any day at most `bytes_per_day` arrive. What is booked counts
  as spent, each visit with the largest body it may bring, so nothing can exceed a budget.

A visit is reserved, started when its turn has come, and given back when it has ended, however it ended.

What was spent in the last hour, or day, is counted by a sliding window in bounded memory.
"""

from dataclasses import dataclass, field, replace

import msgspec

from forager.errors import SettingsError, StoreError
from forager.web.web_settings import DAY, HOUR, TimetableSettings


@dataclass(slots=True)
class Window:
    """What was spent in the last `span` seconds: never too little, at most a hundredth of the span too long."""

    span: float
    entries: list[tuple[float, float, float]] = field(default_factory=list)
    """First time, last time, amount; those of a hundredth of the span are one, so there are about a hundred at most."""

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
        """When the total will be at most `level` if nothing more is added."""
        left = self.total(now)
        for _, last, amount in self.entries:
            if left <= level:
                break
            left, now = left - amount, last + self.span
        return now


GRAIN = 1e-6
"""Seconds; timers are no finer than this, and floats of the present epoch hardly."""

_BUSY = frozenset({429, 503})
_SMALLEST_BACKOFF = 0.5
_SMALLEST_SWEEP = 1024


@dataclass(frozen=True, slots=True)
class Booking:
    """The right to visit a host once; `at` is when, by what is known now."""

    host: str
    at: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """No visit now, and why; `until` is when it is worth asking again."""

    host: str
    until: float
    why: str


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What an answer tells about its host."""

    seconds: float
    """From asking to the last byte."""
    status: int = 0
    """0: no answer came."""
    wire_bytes: int = 0
    retry_after: float | None = None
    """Seconds, if the server said so."""


@dataclass(slots=True)
class _Host:
    """What the timetable knows of one host."""

    started: float = float("-inf")
    blocked: float = float("-inf")
    crawl_delay: float = 0.0
    latency: float = 0.0
    backoff: float = 0.0
    booked: int = 0
    active: int = 0
    starts: Window = field(default_factory=lambda: Window(HOUR))
    bytes: Window = field(default_factory=lambda: Window(DAY))


class Timetable:
    """One for the whole crawl; it owns the state of every host."""

    def __init__(self, settings: TimetableSettings | None = None) -> None:
        self.settings = settings or TimetableSettings()
        budget, largest = self.settings.bytes_per_day, self.settings.largest_body
        if budget is not None and budget < largest:
            raise SettingsError(f"bytes_per_day: {budget} is less than one body may bring ({largest}); raise it")
        self._hosts: dict[str, _Host] = {}
        self._sweep_at = _SMALLEST_SWEEP

    def __repr__(self) -> str:
        booked = sum(host.booked for host in self._hosts.values())
        active = sum(host.active for host in self._hosts.values())
        slowed = sum(host.backoff > 0 for host in self._hosts.values())
        return f"<Timetable {len(self._hosts)} hosts, {booked} booked, {active} under way, {slowed} backing off>"

    # Asking.

    def delay(self, host: str) -> float:
        """Seconds between two starts, as of now."""
        known = self._hosts.get(host)
        return self._delay(known) if known else self.settings.download_delay

    def allowed_at(self, host: str, now: float) -> float:
        """When one more visit could start: `now` or later, by delays, blocks, bookings and budgets."""
        known = self._hosts.get(host)
        if known is None:
            return now
        refused = self._spent(host, known, now)
        return max(self._expected(known, now), refused.until if refused else now)

    def wait(self, booking: Booking, now: float) -> float:
        """Seconds until the booked visit may start; 0: now. Ask again after waiting, the rules may have changed."""
        host = self._hosts[booking.host]
        wait = max(host.started + self._delay(host), host.blocked) - now
        return wait if wait > GRAIN else 0.0

    # Deciding.

    def reserve(self, host: str, now: float) -> Booking | Refusal:
        """Book one visit; every booking must be given back."""
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
        """Start the booked visit if its turn has come; False changes nothing."""
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
        """The visit has ended, or will not be made."""
        host = self._hosts[booking.host]
        if started:
            host.active -= 1
        else:
            host.booked -= 1

    # Learning.

    def set_crawl_delay(self, host: str, seconds: float) -> None:
        """What robots.txt asks for; 0 if it does not."""
        known = self._hosts.get(host)
        if known is None and seconds > 0:
            known = self._hosts[host] = _Host()
        if known is not None:
            known.crawl_delay = seconds

    def block(self, host: str, until: float) -> None:
        """No start before `until`."""
        known = self._host(host)
        known.blocked = max(known.blocked, until)

    def note(self, host: str, facts: HostFacts | None, now: float) -> None:
        """Learn from a visit that ended now; None: it was broken off, and nobody knows how many bytes came."""
        known = self._host(host)
        if self.settings.bytes_per_day is not None:
            known.bytes.add(self.settings.largest_body if facts is None else facts.wire_bytes, now)
        if facts is None:
            return
        if facts.status in _BUSY:
            known.backoff = min(self.settings.longest_delay, 2 * max(self._delay(known), _SMALLEST_BACKOFF))
            known.blocked = max(known.blocked, now + known.backoff)
        elif 200 <= facts.status < 500:
            halved = known.backoff / 2
            known.backoff = halved if halved > max(self.settings.download_delay, _SMALLEST_BACKOFF) else 0.0
        if 200 <= facts.status < 400 or facts.seconds > known.latency:  # errors are quick: they only count if slow
            known.latency = (known.latency + facts.seconds) / 2 if known.latency else facts.seconds
        if facts.retry_after is not None:
            known.blocked = max(known.blocked, now + min(facts.retry_after, self.settings.longest_block))

    # Keeping.

    def save(self, now: float) -> bytes:
        """Blocks, delays and what is spent of the budgets, for the next run; bookings end with this one."""
        kept = {name: replace(host, booked=0, active=0) for name, host in self._hosts.items()}
        return msgspec.msgpack.encode({name: host for name, host in kept.items() if not self._idle(host, now)})

    def load(self, raw: bytes, now: float) -> None:
        """Take over what another timetable saved; nothing was started later than now, whatever its clock said."""
        try:
            self._hosts = msgspec.msgpack.decode(raw, type=dict[str, _Host])
        except msgspec.MsgspecError as error:
            raise StoreError(f"the kept timetable cannot be read ({error}); start a new run directory") from None
        for host in self._hosts.values():
            host.started = min(host.started, now)
            host.blocked = min(host.blocked, now + self.settings.longest_block)

    # The rules.

    def _delay(self, host: _Host) -> float:
        stretched = min(self.settings.longest_delay, max(self.settings.latency_factor * host.latency, host.backoff))
        return max(self.settings.download_delay, host.crawl_delay, stretched)

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
            known = self._hosts[name] = _Host()
        return known

    def _sweep(self, now: float) -> None:
        """Forget idle hosts whenever their number has doubled: what is kept is what still matters."""
        if len(self._hosts) < self._sweep_at:
            return
        self._hosts = {name: host for name, host in self._hosts.items() if not self._idle(host, now)}
        self._sweep_at = max(_SMALLEST_SWEEP, 2 * len(self._hosts))

    def _idle(self, host: _Host, now: float) -> bool:
        quiet = max(host.started, host.blocked) + max(self.settings.forget_after, self._delay(host)) <= now
        unspent = host.starts.total(now) == 0 and host.bytes.total(now) == 0
        return quiet and unspent and host.booked == host.active == 0
