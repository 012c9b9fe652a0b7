"""Counts over time in bounded memory: when all buckets are full, neighbours are merged and buckets last twice as long."""

from collections.abc import Sequence
from dataclasses import dataclass

BUCKETS = 240


@dataclass(frozen=True, slots=True)
class Series:
    """Counts per bucket, by name."""

    start: float
    width: float
    """Seconds that a bucket lasts."""
    counts: dict[str, list[int]]


class Timeline:
    """Counts of several names, from the first event on."""

    def __init__(self, names: Sequence[str], width: float = 1.0, buckets: int = BUCKETS) -> None:
        self.start: float | None = None
        self.width = width
        self._buckets = buckets
        self._counts: dict[str, list[int]] = {name: [0] for name in names}

    def __repr__(self) -> str:
        return f"<Timeline {self._used()} buckets of {self.width:g} s>"

    def add(self, name: str, at: float, count: int = 1) -> None:
        """Count something; what is older than the start counts in the first bucket."""
        if self.start is None:
            self.start = at
        place = int((at - self.start) / self.width)
        counts = self._counts[name]
        counts[place if 0 <= place < len(counts) else self._room(place)] += count

    def series(self) -> Series:
        return Series(self.start or 0.0, self.width, {name: [*counts] for name, counts in self._counts.items()})

    def _room(self, place: int) -> int:
        """Have that bucket; the place where it is then."""
        place = max(0, place)
        while place >= self._buckets:
            self._merge()
            place //= 2
        for counts in self._counts.values():
            counts.extend([0] * (place + 1 - len(counts)))
        return place

    def _used(self) -> int:
        return len(next(iter(self._counts.values())))

    def _merge(self) -> None:
        self.width *= 2
        for counts in self._counts.values():
            if len(counts) % 2:
                counts.append(0)
            counts[:] = [a + b for a, b in zip(counts[::2], counts[1::2], strict=True)]


class LastHour:
    """How often something happened in the last hour, to the minute."""

    __slots__ = ("_counts", "_minute")

    def __init__(self) -> None:
        self._counts = [0] * 60
        self._minute = -1

    def add(self, at: float) -> None:
        minute = int(at // 60)
        if minute > self._minute:
            self._forget(minute)
        self._counts[minute % 60] += 1

    def total(self, now: float) -> int:
        if now // 60 > self._minute:
            self._forget(int(now // 60))
        return sum(self._counts)

    def _forget(self, minute: int) -> None:
        """A later minute has begun: what was counted an hour before it, and the minutes without anything, go."""
        for passed in range(max(self._minute + 1, minute - 59), minute + 1):
            self._counts[passed % 60] = 0
        self._minute = minute


class Trace:
    """A value over time: at most `most` points; when full, every second one goes and new ones come half as often."""

    __slots__ = ("_every", "_most", "_skipped", "points")

    def __init__(self, most: int = 64) -> None:
        self.points: list[tuple[float, float]] = []
        self._most, self._every, self._skipped = most, 1, 0

    def add(self, at: float, value: float) -> None:
        self._skipped += 1
        if self._skipped < self._every and self.points:
            return
        self._skipped = 0
        self.points.append((at, value))
        if len(self.points) >= self._most:
            del self.points[1::2]
            self._every *= 2
