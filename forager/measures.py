"""The measures of a crawl: delay and coverage, efficiency, freshness, and the quality of a revisit schedule.

Delay and coverage say how soon a crawl finds stories, and how many. Each story has a time of publication (or when it
could first be seen), a time when it was found, and a time when it vanished. A story counts as found if the crawl found
it while it was young.

Efficiency compares the relevant documents with the downloads and with the documents that the fleet sent.

Freshness and age describe the copies we hold (Cho & Garcia-Molina). `outdated_at` is when each page first changed after
our copy (inf: not yet). Copies of pages that never change do not count: they need no visits, and there are so many that
they would hide the others.

ChangeRate and NDCG measure the revisit schedule of one cycle (GP4C).
"""

from dataclasses import dataclass

import numpy as np

from forager.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Delay:
    """Delays in seconds; nan where there are no stories."""

    stories: int
    """Stories that could be found."""
    found: int
    """Stories found while young."""
    median: float
    p90: float
    """Nine in ten of the found stories had a delay below this."""
    coverage: float
    """Share of the stories that were found."""
    lasting: float
    """Coverage of the stories that stayed online for long. This leaves out tickers, which write most texts."""
    late: float
    """Mean delay, where a missed story counts as `max_age`."""


def delay(
    published: FloatArray,
    found: FloatArray,
    *,
    vanished: FloatArray | None = None,
    max_age: float = 86400.0,
    lasts: float = 21600.0,
) -> Delay:
    """Computes delay and coverage from the times of stories.

    `found` is nan for stories never found, `vanished` for those that stayed. A story counts as lasting if it stayed
    online for `lasts` seconds (6 h); without `vanished` all do.
    """
    took = np.maximum(found - published, 0.0)  # found before its stated date: no delay
    in_time = found_young(published, found, max_age)
    lived = np.full(len(published), np.inf) if vanished is None else vanished - published
    lasted = ~(lived < lasts)  # True for nan
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


def found_young(published: FloatArray, found: FloatArray, max_age: float = 86400.0) -> BoolArray:
    """Which stories were found while young; `found` is nan for stories never found."""
    return np.asarray(found - published <= max_age)


def quantile(delays: FloatArray, share: float) -> float:
    """The delay that this share of the stories stayed below; nan without stories."""
    return float(np.quantile(delays, share)) if len(delays) else float("nan")


def _share(flags: BoolArray) -> float:
    return float(flags.mean()) if len(flags) else float("nan")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Counts of a run, or of a part of it, and their ratios; nan where there is nothing to divide by."""

    downloaded: int
    """Pages downloaded, including repeats but not copies shared between foragers."""
    sent: int
    """Documents sent to the reinforcing agent."""
    relevant: int
    """Documents that the reinforcing agent accepted."""
    found_urls: int
    """Distinct URLs seen."""

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
        """Distinct URLs seen per download."""
        return ratio(self.found_urls, self.downloaded)

    @property
    def requests_per_story(self) -> float:
        """Downloads per relevant document."""
        return ratio(self.downloaded, self.relevant)


def ratio(part: float, whole: float) -> float:
    """Quotient; nan if there is nothing to divide by."""
    return part / whole if whole else float("nan")


def freshness(outdated_at: FloatArray, now: float) -> float:
    """Share of copies that are current; 1 if there are none."""
    return float(np.count_nonzero(outdated_at > now)) / len(outdated_at) if len(outdated_at) else 1.0


def age(outdated_at: FloatArray, now: float) -> float:
    """Mean seconds since the copies went out of date; a current copy has age 0."""
    return float(np.maximum(0.0, now - outdated_at).mean()) if len(outdated_at) else 0.0


def change_rate(changed: BoolArray) -> float:
    """Share of downloads whose page had changed; `changed` has one entry per download."""
    return float(np.count_nonzero(changed)) / len(changed) if len(changed) else 0.0


def discounts(k: int) -> FloatArray:
    """Weights of ranks 1 … k: 1 / max(1, ln i). Ranks below the base of the logarithm get no discount (our reading)."""
    return 1.0 / np.maximum(1.0, np.log(np.arange(1, k + 1, dtype=np.float64)))


def dcg(relevant: BoolArray) -> float:
    """Discounted cumulative gain of a ranking, best rank first."""
    return float(discounts(len(relevant))[relevant].sum())


def ndcg(relevant: BoolArray, relevant_in_all: int) -> float:
    """DCG divided by the DCG of the ideal ranking, which puts min(k, `relevant_in_all`) ones first; 0 if that is 0.

    The ideal uses all pages, not only the downloaded ones (our reading of the papers' figures for Rand).
    """
    ideal = discounts(min(len(relevant), relevant_in_all)).sum()
    return dcg(relevant) / float(ideal) if ideal else 0.0
