"""How soon stories are found, and how many of them: the headline figures.

For each story that was there to be found: when it was published (or could first be seen), when it was found, and when
it vanished. A story counts as found if that happened while it was young.
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
