"""Compares fleets: means and spreads over repeats, and paired tests on the same random seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forager.simulation.jobs import Played
from forager.simulation.replay_account import ReplayFigures

FIGURES: Mapping[str, Callable[[ReplayFigures], float]] = {
    "downloaded": lambda one: one.efficiency.downloaded,
    "sent": lambda one: one.efficiency.sent,
    "relevant": lambda one: one.efficiency.relevant,
    "found_urls": lambda one: one.efficiency.found_urls,
    "download_efficiency": lambda one: one.efficiency.download,
    "sent_efficiency": lambda one: one.efficiency.submission,
    "relative_found_url": lambda one: one.efficiency.relative_found_url,
    "requests_per_story": lambda one: one.efficiency.requests_per_story,
    "freshness": lambda one: one.freshness,
    "age_hours": lambda one: one.age / 3600,
    "delay_median_s": lambda one: one.delay.median,
    "delay_p90_s": lambda one: one.delay.p90,
    "coverage": lambda one: one.delay.coverage,
    "lasting": lambda one: one.delay.lasting,
    "lasting_coverage": lambda one: one.delay.lasting,
    "late_hours": lambda one: one.delay.late / 3600,
    "unrecorded_share": lambda one: one.unrecorded_share,
    "recrawl_share": lambda one: one.recrawl_share,
    "recrawl_hits": lambda one: one.recrawl_hits,
    "fleet_hits": lambda one: one.fleet_hits,
}
"""Every figure of a replay by name."""


@dataclass(frozen=True, slots=True)
class FleetRow:
    """All repeats of one kind of fleet at one budget on one graph."""

    kind: str
    budget: float
    rewired: bool
    repeats: tuple[Played, ...]

    def values(self, figure: str) -> list[float]:
        """Values of a figure, one per repeat."""
        return [FIGURES[figure](played.figures) for played in self.repeats]

    def mean(self, figure: str) -> float:
        """Mean over repeats; nan if no repeat has the figure."""
        known = [value for value in self.values(figure) if not np.isnan(value)]
        return float(np.mean(known)) if known else float("nan")

    def sd(self, figure: str) -> float:
        """Sample standard deviation over repeats; nan for fewer than two."""
        known = [value for value in self.values(figure) if not np.isnan(value)]
        return float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")

    def curve(self, figure: str) -> tuple[list[float], list[float]]:
        """Hours since the start, and `freshness` or `efficiency`: accepted documents per download, in windows of three
        hours.
        """
        samples = [played.samples for played in self.repeats]
        length = min(map(len, samples))
        start = samples[0][0].at - 3600 if length else 0.0
        hours = [(sample.at - start) / 3600 for sample in samples[0][:length]]
        if figure == "freshness":
            each = np.array([[sample.freshness for sample in one[:length]] for one in samples])
            return hours, _mean_over_repeats(each)
        accepted = np.array([[0] * 3 + [sample.accepted for sample in one[:length]] for one in samples], dtype=float)
        downloads = np.array([[0] * 3 + [sample.downloads for sample in one[:length]] for one in samples], dtype=float)
        spent = downloads[:, 3:] - downloads[:, :-3]
        ratio = np.divide(accepted[:, 3:] - accepted[:, :-3], spent, out=np.full(spent.shape, np.nan), where=spent > 0)
        return hours, _mean_over_repeats(ratio)


def _mean_over_repeats(each: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    known = ~np.isnan(each)
    total = np.where(known, each, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return [float(value) for value in np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)]


def rows_of(played: Sequence[Played], repeats: int, rewired: Callable[[Played], bool]) -> list[FleetRow]:
    """Groups jobs, in order, into rows of `repeats` each."""
    groups = [tuple(played[begin : begin + repeats]) for begin in range(0, len(played), repeats)]
    return [FleetRow(group[0].job.kind.value, group[0].job.budget, rewired(group[0]), group) for group in groups]


def paired(one: FleetRow, other: FleetRow, figure: str) -> tuple[float, float]:
    """Mean difference one − other over repeats with the same seeds, and the p of a paired t-test (nan if unknown)."""
    pairs = zip(one.values(figure), other.values(figure), strict=True)
    differences = np.array([a - b for a, b in pairs if not np.isnan(a - b)])
    if not len(differences):
        return float("nan"), float("nan")
    mean = float(differences.mean())
    if len(differences) < 2 or np.ptp(differences) == 0:
        return mean, float("nan")
    import scipy.stats  # slow to import

    return mean, float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)
