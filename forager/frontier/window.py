"""A sliding window: how much was spent in the last hour, or day, in bounded memory."""

from dataclasses import dataclass, field


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
