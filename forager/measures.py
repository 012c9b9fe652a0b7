"""The figures by which crawls are judged: delay and coverage, efficiency, freshness, and the quality of a schedule.

Delay and coverage say how soon stories are found, and how many of them. For each story that was there to be found: when
it was published (or could first be seen), when it was found, and when it vanished. A story counts as found if that
happened while it was young.

Efficiencies say what the downloads and sent documents of a fleet brought.

Freshness and age are those of the copies we hold (Cho & Garcia-Molina), from when each copy went out of date.
`outdated_at` is when each page first changed after our copy (inf: not yet); `steady` more copies are of pages that
never change, so that nobody has to look at them.

ChangeRate and NDCG say how good the revisit schedule of one cycle was (GP4C).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Delay:
    """Delays in seconds; nan where there is no story to speak of."""

    stories: int
    """There to be found."""
    found: int
    """Found while young."""
    median: float
    p90: float
    """The delay that nine in ten of the found stories stayed below."""
    coverage: float
    """Share of the stories that was found."""
    lasting: float
    """The same among stories that lasted; tickers, which write most texts, do not count."""
    late: float
    """Mean delay, a missed story counted as `max_age`."""


def delay(
    published: NDArray[np.float64],
    found: NDArray[np.float64],
    *,
    vanished: NDArray[np.float64] | None = None,
    max_age: float = 86400.0,
    lasts: float = 21600.0,
) -> Delay:
    """The figures for stories given by their times.

    `found` is nan for stories never found, `vanished` for those that stayed. A story lasted if it was there for `lasts`
    seconds (6 h); without `vanished` all did.
    """
    took = np.maximum(found - published, 0.0)  # found before its stated date: at once
    in_time = found_young(published, found, max_age)
    lived = np.full(len(published), np.inf) if vanished is None else vanished - published
    lasted = ~(lived < lasts)  # true for nan
    delays = took[in_time]
    return Delay(
        stories=len(published),
        found=int(in_time.sum()),
        median=quantile(delays, 0.5),
        p90=quantile(delays, 0.9),
        coverage=_share(in_time),
        lasting=_share(in_time[lasted]),
        late=float(np.where(in_time, took, max_age).mean()) if len(published) else float("nan"),
    )


def found_young(
    published: NDArray[np.float64], found: NDArray[np.float64], max_age: float = 86400.0
) -> NDArray[np.bool_]:
    """Which stories were found while they were young; `found` is nan for stories never found."""
    return np.asarray(found - published <= max_age)


def quantile(delays: NDArray[np.float64], share: float) -> float:
    """The delay that this share of the stories stayed below; nan without stories."""
    return float(np.quantile(delays, share)) if len(delays) else float("nan")


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else float("nan")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Counts of a run, or of a part of it, and their ratios; nan where there is nothing to divide by."""

    downloaded: int
    """Pages downloaded, repeats included, shared copies not."""
    sent: int
    """Documents sent to the reinforcing agent."""
    relevant: int
    """Those that it accepted."""
    found_urls: int
    """Distinct URLs met."""

    @property
    def download(self) -> float:
        """Download efficiency: relevant documents per download."""
        return ratio(self.relevant, self.downloaded)

    @property
    def submission(self) -> float:
        """Sent efficiency: relevant documents per document sent; 1 if no two foragers send the same."""
        return ratio(self.relevant, self.sent)

    @property
    def relative_found_url(self) -> float:
        """Distinct URLs met per download."""
        return ratio(self.found_urls, self.downloaded)

    @property
    def requests_per_story(self) -> float:
        """Downloads per relevant document."""
        return ratio(self.downloaded, self.relevant)


def ratio(part: float, whole: float) -> float:
    """A quotient, nan if there is nothing to divide by."""
    return part / whole if whole else float("nan")


def series(
    hits: NDArray[np.float64], tries: NDArray[np.float64], *, start: float, end: float, window: float = 10800.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hits per try in windows (3 h, reconstructed) from the times of both: the windows' beginnings and their ratios.

    A window without tries has nan; the last one may be cut short by the end. Times outside of start … end are left out.
    """
    beginnings = np.arange(start, end, window)
    edges = np.append(beginnings, end)
    above = np.histogram(hits[hits < end], bins=edges)[0].astype(np.float64)
    below = np.histogram(tries[tries < end], bins=edges)[0].astype(np.float64)
    return beginnings, np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


FloatArray = NDArray[np.float64]


def freshness(outdated_at: FloatArray, now: float, steady: int = 0) -> float:
    """Share of copies that are current; 1 if there are none."""
    copies = len(outdated_at) + steady
    return (float(np.count_nonzero(outdated_at > now)) + steady) / copies if copies else 1.0


def age(outdated_at: FloatArray, now: float, steady: int = 0) -> float:
    """Mean time since the copies went out of date; a current copy has age 0."""
    copies = len(outdated_at) + steady
    return float(np.maximum(0.0, now - outdated_at).sum()) / copies if copies else 0.0


def change_rate(changed: NDArray[np.bool_]) -> float:
    """Downloaded pages that had changed / downloaded pages; `changed` is one entry per download."""
    return float(np.count_nonzero(changed)) / len(changed) if len(changed) else 0.0


def discounts(k: int) -> FloatArray:
    """The worth of ranks 1 … k: 1 / max(1, ln i). Ranks below the log base are not discounted (our reading)."""
    return 1.0 / np.maximum(1.0, np.log(np.arange(1, k + 1, dtype=np.float64)))


def dcg(relevant: NDArray[np.bool_]) -> float:
    """Discounted cumulative gain of a ranking, best rank first."""
    return float(discounts(len(relevant))[relevant].sum())


def ndcg(relevant: NDArray[np.bool_], relevant_in_all: int) -> float:
    """DCG over that of the ideal, which puts min(k, `relevant_in_all`) ones first; 0 if nothing was relevant.

    The ideal is drawn from all pages, not from the downloaded ones (our reading of the papers' figures for Rand).
    """
    ideal = discounts(min(len(relevant), relevant_in_all)).sum()
    return dcg(relevant) / float(ideal) if ideal else 0.0
