"""The rhythm of the week: how busy each of its hours is on all pages together, learned from a change log.

Most sites sleep at night and rest on Sundays, so ten hours since the last visit promise little at six in the morning and
much at six in the evening. `passed` counts time by this rhythm: an hour twice as busy as the mean counts as two.
"""

import numpy as np

from forager.arrays import FloatArray
from forager.recrawl.change_log import ChangeLog

Rhythm = tuple[float, ...]
"""The pace in each hour of the week from a Thursday's midnight on (UTC), as multiples of the mean; empty: all alike."""

HOURS = 168
_BELIEF = 50.0
"""News after which an hour is believed half by its own count, half by what is known without it; ours."""


def rhythm_of(log: ChangeLog) -> Rhythm:
    """How the documents of a log, or its changes if it tells of no documents, spread over the week.

    What a cycle brought appeared evenly since the cycle before. An hour of the week is compared with the same hour on
    all days, and this with the whole day, so that a short log tells no more than it knows. Empty if nobody knows when
    the log began.
    """
    if np.isnan(log.start):
        return ()
    if log.documents is None:
        news = log.changed.sum(axis=0).astype(np.float64)
    else:
        appeared = log.documents.appeared()
        news = np.bincount(appeared[(appeared > 0) & (appeared < log.cycles)], minlength=log.cycles).astype(np.float64)
    hour, phase = 3600.0 / log.cycle, log.start / 3600.0 % HOURS
    ends = np.arange(log.cycles + 1) / hour + phase - 1.0 / hour
    parts = max(1, round(1.0 / hour))
    middle = np.linspace(ends[:-1], ends[1:], 2 * parts + 1)[1::2].T.ravel()
    place = np.floor(middle).astype(np.int64) % HOURS
    seen = np.bincount(place[parts:], np.repeat(news, parts)[parts:] / parts, minlength=HOURS)
    time = np.bincount(place[parts:], minlength=HOURS) / (parts * hour)
    if not seen.sum():
        return ()
    time *= seen.sum() / time.sum()  # the news expected if all hours were alike
    by_hour = (seen.reshape(7, 24).sum(axis=0) + _BELIEF) / (time.reshape(7, 24).sum(axis=0) + _BELIEF)
    usual = np.tile(by_hour, 7)
    pace = usual * (seen + _BELIEF) / (time * usual + _BELIEF)
    return tuple(float(value) for value in pace / pace.mean())


def passed(rhythm: Rhythm, hours: FloatArray) -> FloatArray:
    """Time by the rhythm from the first midnight to so many hours later."""
    if not rhythm:
        return hours
    sums = np.concatenate([[0.0], np.cumsum(rhythm)])
    weeks = np.floor(hours / HOURS)
    result: FloatArray = weeks * HOURS + np.interp(hours - weeks * HOURS, np.arange(HOURS + 1.0), sums)
    return result
