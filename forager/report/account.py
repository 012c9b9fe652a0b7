"""The account of a run, computed from the events of its journal: what it found, how soon, at what cost, what went
wrong.

It is the only source of the figures shown: summary, `--json`, `statistics.json`, report, dashboard and metrics. The
cost per event does not grow with the run. It keeps eight bytes per story and one bit per known URL; everything else is
bounded. The account is saved with the state of the crawl. After a crash, it reads the missing part again from the
stored visits and stories, so that it covers the whole run, not only the last process.
"""

import math
from array import array
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from forager.arrays import FloatArray
from forager.engine.scope import REFUSALS
from forager.engine.stories import fetched, told
from forager.errors import StoreError
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Told, TopicJudged
from forager.measures import quantile, ratio
from forager.pages.urls import site
from forager.report.phrases import json_number
from forager.store.store import Store
from forager.terms import NOBODY, Outcome, Trouble, Url, UrlId, Verdict

KEPT = "account"
"""Name of the account in the store."""
SITES, REASONS, EXAMPLES, BUCKETS = 1000, 20, 5, 240
"""Limits (ours): sites, reasons per kind of error at a site, example URLs per kind, and time buckets."""
REASON = 200
"""Characters of a reason that are kept (ours)."""
OTHERS = "(other sites)"
COUNTED = ("requests", "stories", "errors", "born", "deleted", "looks", "changes", "judged", "ndcg")
"""What is counted over time; the last four come from finished recrawl cycles."""

CountsByName = dict[str, int]


@dataclass(slots=True)
class Timeline:
    """Counts over time in bounded memory: when all buckets are full, neighbours merge and buckets become twice as long."""

    counts: dict[str, list[float]] = field(default_factory=lambda: {name: [0] for name in COUNTED})
    start: float | None = None
    """Time of the first count."""
    width: float = 1.0
    """Length of a bucket in seconds."""
    buckets: int = BUCKETS

    def add(self, name: str, at: float, count: float = 1) -> None:
        """Adds a count; times before the start count in the first bucket."""
        if self.start is None:
            self.start = at
        place = int((at - self.start) / self.width)
        counts = self.counts[name]
        counts[place if 0 <= place < len(counts) else self._room(place)] += count

    @property
    def end(self) -> float:
        """End of the last bucket."""
        return (self.start or 0.0) + self.width * len(self.counts[COUNTED[0]])

    def _room(self, place: int) -> int:
        """Makes room for a bucket; returns its place, which merging may change."""
        place = max(0, place)
        while place >= self.buckets:
            self._merge()
            place //= 2
        for counts in self.counts.values():
            counts.extend([0] * (place + 1 - len(counts)))
        return place

    def _merge(self) -> None:
        self.width *= 2
        for counts in self.counts.values():
            if len(counts) % 2:
                counts.append(0)
            counts[:] = [a + b for a, b in zip(counts[::2], counts[1::2], strict=True)]


class Delays:
    """Delays of stories in the order in which they were found, eight bytes each."""

    __slots__ = ("_seconds",)

    def __init__(self, packed: bytes = b"") -> None:
        self._seconds = array("d", packed)

    def __repr__(self) -> str:
        return f"<Delays {len(self):,}, median {_quantile(self.values, 0.5)} s>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Delays) and self._seconds == other._seconds

    def __len__(self) -> int:
        return len(self._seconds)

    @property
    def values(self) -> FloatArray:
        return np.array(self._seconds, dtype=np.float64)

    @property
    def unknown(self) -> int:
        """Stories of which no delay is known: the dates of these name only the day."""
        return int(np.isnan(self.values).sum())

    def add(self, seconds: float | None) -> None:
        self._seconds.append(math.nan if seconds is None else seconds)

    def extend(self, other: "Delays") -> None:
        self._seconds.extend(other._seconds)

    def pack(self) -> bytes:
        return self._seconds.tobytes()


@dataclass(slots=True)
class Side:
    """Visits of the fleet, or of the recrawl cycle."""

    outcomes: CountsByName = field(default_factory=dict)
    changed: int = 0
    """Visits that found a change."""
    stories: int = 0

    @property
    def visits(self) -> int:
        return sum(self.outcomes.values())

    @property
    def requests(self) -> int:
        """Visits without those that a rule refused, which made no request."""
        return self.visits - self.outcomes.get(Outcome.REFUSED.value, 0)

    def add(self, other: "Side") -> None:
        """Adds the counts of another side."""
        _sum(self.outcomes, other.outcomes)
        self.changed += other.changed
        self.stories += other.stories


@dataclass(slots=True)
class SiteAccount:
    """Results and costs of one site, or of several together."""

    fleet: Side = field(default_factory=Side)
    recrawl: Side = field(default_factory=Side)
    wire_bytes: int = 0
    delays: Delays = field(default_factory=Delays)
    channels: CountsByName = field(default_factory=dict)
    """Stories by the channel that first found their URL."""
    errors: dict[str, CountsByName] = field(default_factory=dict)
    """Errors of requests: by kind, then by reason."""
    refusals: dict[str, CountsByName] = field(default_factory=dict)
    """Visits refused by a rule or a budget: by kind, then by rule."""
    last_error: str = ""
    last_story: float | None = None

    @property
    def stories(self) -> int:
        return len(self.delays)

    @property
    def requests(self) -> int:
        return self.fleet.requests + self.recrawl.requests

    @property
    def requests_per_story(self) -> float | None:
        return json_number(ratio(self.requests, self.stories), 2)

    @property
    def outcomes(self) -> CountsByName:
        """All visits by outcome; most frequent first."""
        total: CountsByName = {}
        _sum(total, self.fleet.outcomes)
        _sum(total, self.recrawl.outcomes)
        return _most_first(total)

    @property
    def not_modified(self) -> int:
        return self.outcomes.get(Outcome.UNCHANGED.value, 0)

    @property
    def changes(self) -> int:
        """Visits that found a change."""
        return self.fleet.changed + self.recrawl.changed

    @property
    def error_counts(self) -> CountsByName:
        """Errors by kind; most frequent first."""
        return _most_first({kind: sum(reasons.values()) for kind, reasons in self.errors.items()})

    def side(self, by: int) -> Side:
        return self.recrawl if by == NOBODY else self.fleet

    def delay(self, share: float) -> float | None:
        """The delay that this share of the stories stayed below, in seconds; None without stories."""
        return _quantile(self.delays.values, share)

    def add(self, other: "SiteAccount") -> None:
        """Adds the counts of another site."""
        self.fleet.add(other.fleet)
        self.recrawl.add(other.recrawl)
        self.wire_bytes += other.wire_bytes
        self.delays.extend(other.delays)
        _sum(self.channels, other.channels)
        for mine, theirs in ((self.errors, other.errors), (self.refusals, other.refusals)):
            for kind, reasons in theirs.items():
                _sum(mine.setdefault(kind, {}), reasons)

    def facts(self) -> dict[str, Any]:
        """The account as JSON values."""
        return {
            "stories": self.stories,
            "delay_median_s": self.delay(0.5),
            "delay_p90_s": self.delay(0.9),
            "requests": self.requests,
            "not_modified": self.not_modified,
            "wire_bytes": self.wire_bytes,
            "outcomes": self.outcomes,
            "channels": _most_first(self.channels),
            "errors": self.error_counts,
        }


@dataclass(slots=True)
class CycleCounts:
    """The finished recrawl cycles."""

    done: int = 0
    visits: int = 0
    """Visits to pages that had been visited before."""
    changes: int = 0
    judged: int = 0
    """Cycles that found a change; in others every order is equally good."""
    ndcg: float = 0.0
    """Sum of NDCG over the cycles in `judged`."""

    def facts(self) -> dict[str, Any]:
        return {
            "done": self.done,
            "visits": self.visits,
            "changes": self.changes,
            "change_rate": json_number(ratio(self.changes, self.visits), 4),
            "ndcg": json_number(ratio(self.ndcg, self.judged), 4),
        }


@dataclass(slots=True)
class Account:
    """Receives every event once and provides the figures at any time."""

    sites: dict[str, SiteAccount] = field(default_factory=dict)
    visits: int = 0
    stories: int = 0
    """Number of stories so far; stored stories from this number on have not been counted yet."""
    pages: int = 0
    """Distinct pages that were fetched."""
    fetched: bytearray = field(default_factory=bytearray)
    """One bit per URL number: whether it was fetched."""
    told: bytearray = field(default_factory=bytearray)
    """One bit per URL number: whether it is a story."""
    born: int = 0
    deleted: int = 0
    cycles: CycleCounts = field(default_factory=CycleCounts)
    topics: CountsByName = field(default_factory=dict)
    """Documents by what is said of their topic; empty if every topic will do."""
    examples: dict[str, list[Url]] = field(default_factory=dict)
    """Example URLs by the kind of error that they first had."""
    timeline: Timeline = field(default_factory=Timeline)
    began: float | None = None
    ended: float | None = None

    def __repr__(self) -> str:
        return f"<Account {self.stories:,} stories, {self.visits:,} visits, {len(self.sites):,} sites>"

    def hear(self, event: Event) -> None:
        self.began = event.at if self.began is None else self.began
        self.ended = event.at if self.ended is None else max(self.ended, event.at)
        match event:
            case Fetched():
                self._fetched(event)
            case Told():
                self._told(event)
            case Born():
                self._born(event)
            case Deleted():
                self.deleted += 1
                self.timeline.add("deleted", event.at)
            case CycleDone():
                self._cycle_done(event)
            case TopicJudged():
                _count(self.topics, event.verdict)
                if event.before:
                    self.topics[event.before] -= 1

    def _site(self, name: str) -> SiteAccount:
        """The account of a site; sites beyond the limit share one."""
        account = self.sites.get(name)
        if account is None:
            if len(self.sites) >= SITES:
                name = OTHERS
            account = self.sites[name] = self.sites.get(name) or SiteAccount()
        return account

    def _fetched(self, event: Fetched) -> None:
        account = self._site(site(event.url))
        side = account.side(event.by)
        self.visits += 1
        _count(side.outcomes, event.outcome._value_)  # `value` takes five times as long
        side.changed += event.changed
        account.wire_bytes += event.wire_bytes
        if event.outcome is Outcome.FETCHED:
            self.pages += _set(self.fetched, event.id)
        if event.outcome is Outcome.REFUSED:
            self._trouble(account.refusals, REFUSALS.get(event.trouble, event.trouble.value), event)
            return
        self.timeline.add("requests", event.at)
        if event.trouble is not Trouble.NONE:
            kind = f"status {event.status}" if event.trouble is Trouble.STATUS else event.trouble.value
            account.last_error = event.error[:REASON] or kind
            self._trouble(account.errors, kind, event)
            self.timeline.add("errors", event.at)

    def _trouble(self, kinds: dict[str, CountsByName], kind: str, event: Fetched) -> None:
        reasons, reason = kinds.setdefault(kind, {}), event.error[:REASON]
        _count(reasons, reason if reason in reasons or len(reasons) < REASONS else "")
        examples = self.examples.setdefault(kind, [])
        if len(examples) < EXAMPLES and event.url not in examples:
            examples.append(event.url)

    def _told(self, event: Told) -> None:
        account = self._site(event.site)
        self.stories += 1
        account.side(event.by).stories += 1
        account.delays.add(event.delay)
        account.last_story = event.at
        _count(account.channels, event.via._value_)
        _set(self.told, event.id)
        self.timeline.add("stories", event.at)

    def _born(self, event: Born) -> None:
        """Counts a birth. Numbers follow the order of birth; foragers alive when a crawl resumes are announced again."""
        if event.forager >= self.born:
            self.born = event.forager + 1
            self.timeline.add("born", event.at)

    def _cycle_done(self, event: CycleDone) -> None:
        cycles, timeline = self.cycles, self.timeline
        cycles.done += 1
        cycles.visits += event.visits
        cycles.changes += event.changes
        timeline.add("looks", event.at, event.visits)
        timeline.add("changes", event.at, event.changes)
        if event.changes:
            cycles.judged += 1
            cycles.ndcg += event.ndcg
            timeline.add("judged", event.at)
            timeline.add("ndcg", event.at, event.ndcg)

    @property
    def total(self) -> SiteAccount:
        """All sites together; it costs as much as there are sites."""
        total = SiteAccount()
        for one in self.sites.values():
            total.add(one)
        return total

    @property
    def alive(self) -> int:
        return self.born - self.deleted

    def is_told(self, id: UrlId) -> bool:
        return id >> 3 < len(self.told) and bool(self.told[id >> 3] >> (id & 7) & 1)

    def facts(self) -> dict[str, Any]:
        """The account as JSON values."""
        total = self.total
        return total.facts() | {
            "pages": self.pages,
            "day_only": total.delays.unknown,
            "requests_per_story": total.requests_per_story,
            "changes": total.changes,
            "visits": self.visits,
            "budget": {"fleet": total.fleet.requests, "recrawl": total.recrawl.requests},
            **self.topic_facts(),
            "cycles": self.cycles.facts(),
            "foragers": {"alive": self.alive, "born": self.born, "deleted": self.deleted},
            "sites": {name: account.facts() for name, account in sorted(self.sites.items())},
        }

    def topic_facts(self) -> CountsByName:
        """How many documents are on topic, off topic, or undecided."""
        names = {"on_topic": Verdict.ON, "off_topic": Verdict.OFF, "cannot_tell": Verdict.UNSURE}
        return {name: self.topics.get(verdict.value, 0) for name, verdict in names.items()}

    # Saving and loading.

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self, enc_hook=Delays.pack)

    @classmethod
    def load(cls, saved: bytes) -> "Account":
        try:
            return msgspec.msgpack.decode(saved, type=cls, dec_hook=lambda kind, packed: kind(packed))
        except (msgspec.MsgspecError, ValueError) as error:
            raise StoreError(f"the kept account cannot be read ({error}); start a new run directory") from None


async def recall_account(store: Store) -> Account:
    """The account of the run so far: as last saved, plus what was stored since."""
    saved = await store.recall(KEPT)
    account = Account() if saved is None else Account.load(saved)
    async for visit in store.visits(after=account.visits):
        account.hear(fetched(visit, store.url(visit.id)))
    async for story in store.stories(account.stories):
        account.hear(told(story))
    return account


def _count(counts: CountsByName, name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _set(bits: bytearray, id: int) -> bool:
    """Sets a bit; returns whether it was not set before."""
    place, bit = id >> 3, 1 << (id & 7)
    if place >= len(bits):
        bits.extend(bytes(max(64, place + 1 - len(bits), len(bits) // 8)))
    was = bits[place] & bit
    bits[place] |= bit
    return not was


def _sum(counts: CountsByName, more: CountsByName) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _most_first(counts: CountsByName) -> CountsByName:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _quantile(delays: FloatArray, share: float) -> float | None:
    """The delay that this share of the stories whose delay is known stayed below; None without any."""
    return json_number(quantile(delays[~np.isnan(delays)], share), 3)
