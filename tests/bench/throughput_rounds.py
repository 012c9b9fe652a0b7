"""Contenders measured in turns, and what several rounds say together.

The speed of a machine swings by tens of per cent within minutes if others work on it too. So every round measures all
contenders one after the other, every second one in the opposite order, and a contender is compared with its peer in the
same round: the median of these ratios is told, with the least and the greatest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender in one round."""

    pages: int
    seconds: float
    cpu: float
    """Processor seconds of all its processes."""
    peak: int
    """Bytes."""

    @property
    def rate(self) -> float:
        """Pages a processor second."""
        return self.pages / self.cpu


def together(ran: Sequence[Measured]) -> Measured:
    """Several that ran at the same time, as one."""
    slowest = max(one.seconds for one in ran)
    return Measured(sum(one.pages for one in ran), slowest, sum(one.cpu for one in ran), sum(one.peak for one in ran))


Round = dict[str, Measured]


def in_turns(names: Sequence[str], rounds: int, measure: Callable[[str], Measured]) -> list[Round]:
    """Measure all contenders in each of the rounds."""
    orders = (names if number % 2 == 0 else list(reversed(names)) for number in range(rounds))
    return [{name: measure(name) for name in order} for order in orders]


def table(rounds: Sequence[Round], names: Sequence[str], pages: int, peers: dict[str, str]) -> list[str]:
    """A line for each contender; `peers` are those to compare with, by the heading of their column."""
    columns = ("pages/s", "pages/cpu s", "ms cpu/page", "peak MB")
    head = f"{'':38}" + "".join(f"{column:>13}" for column in columns) + "".join(f"{column:>22}" for column in peers)
    return [head, *(_line(rounds, name, pages, list(peers.values())) for name in names)]


def _line(rounds: Sequence[Round], name: str, pages: int, peers: Sequence[str]) -> str:
    own = [each[name] for each in rounds]
    rate = median(one.rate for one in own)
    figures = (
        f"{median(one.pages / one.seconds for one in own):13.0f}{rate:13.0f}{1000 / rate:13.3f}"
        f"{max(one.peak for one in own) / 1e6:13.0f}"
    )
    fewest = min(one.pages for one in own)
    note = "" if fewest >= pages else f"  only {fewest} pages"
    return f"{name:38}{figures}" + "".join(f"{_paired(rounds, name, peer):>22}" for peer in peers) + note


def _paired(rounds: Sequence[Round], name: str, peer: str) -> str:
    """How many times as many pages as the peer: the median over the rounds, the least and the greatest."""
    ratios = [each[name].rate / each[peer].rate for each in rounds if peer in each]
    return f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if ratios else ""
