"""When news is published: a Poisson process whose rate follows the hour of the day and the day of the week."""

import numpy as np
from numpy.typing import NDArray

HOURLY = np.array(
    [
        [0.3, 0.2, 0.2, 0.2, 0.3, 0.6],
        [1.1, 1.6, 1.8, 1.7, 1.5, 1.5],
        [1.6, 1.5, 1.4, 1.4, 1.5, 1.6],
        [1.4, 1.2, 1.0, 0.8, 0.6, 0.4],
    ]
).ravel()
"""Rate of each hour (UTC), up to a factor: quiet nights, busy mornings, a second rise in the late afternoon."""

_MONDAY = 4 * 86400  # the first Monday after the epoch, 1970-01-05


def hourly_rates(
    per_day: float, weekend: float, since: float, until: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The slots of one hour, or what of it lies in [since, until), and the expected articles in each.

    Slots are given by their edges. The mean over a week of whole days is `per_day`.
    """
    hours = np.arange(np.floor(since / 3600), np.ceil(until / 3600) + 1) * 3600
    edges = np.clip(hours, since, until)
    weekday = ((hours[:-1] - _MONDAY) // 86400) % 7
    daily = np.where(weekday >= 5, weekend, 1.0) * 7 / (5 + 2 * weekend)
    hour = (hours[:-1] // 3600 % 24).astype(int)
    return edges, per_day / 86400 * daily * (HOURLY / HOURLY.mean())[hour] * np.diff(edges)


def publication_times(
    per_day: float, weekend: float, since: float, until: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Times in [since, until), in whole seconds, sorted."""
    edges, expected = hourly_rates(per_day, weekend, since, until)
    counts = rng.poisson(expected)
    starts, lengths = np.repeat(edges[:-1], counts), np.repeat(np.diff(edges), counts)
    return np.sort(np.floor(starts + rng.random(len(starts)) * lengths))
