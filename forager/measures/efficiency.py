"""What downloads and sent documents brought: the efficiencies of a fleet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
