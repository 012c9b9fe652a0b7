"""The rhythm of the week: how busy each of its hours is on all pages together, learned from a change log or in a crawl.

Most sites sleep at night and rest on Sundays, so ten hours since the last visit promise little at six in the morning
and much at six in the evening. `passed` counts time by this rhythm: an hour twice as busy as the mean counts as two.

The kernels do the same in a crawl, over rows of a table: one row for each hour of the week, with the documents that
appeared in it and those expected if all hours were alike; and rows with the time passed by the rhythm up to each hour.
"""

import math

import numpy as np

from forager.arrays import FloatArray
from forager.kernel import compiled, inlined, inner
from forager.recrawl.change_log import ChangeLog

Rhythm = tuple[float, ...]
"""The pace in each hour of the week, starting at midnight of a Thursday (UTC), as multiples of the mean; empty: all
alike.
"""

HOURS = 168
_BELIEF = 50.0
"""After this many news items the count of an hour weighs as much as what is known without it; ours."""


def rhythm_of(log: ChangeLog) -> Rhythm:
    """How the documents of a log, or its changes if it has no documents, are spread over the week.

    What a cycle brought is assumed to have appeared evenly since the cycle before. An hour of the week is compared with
    the same hour on all days, and this with the whole day, so that a short log does not claim more than it knows. Empty
    if it is unknown when the log began.
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
    """Time by the rhythm from the first midnight to each of these hours later."""
    if not rhythm:
        return hours
    sums = np.concatenate([[0.0], np.cumsum(rhythm)])
    weeks = np.floor(hours / HOURS)
    result: FloatArray = weeks * HOURS + np.interp(hours - weeks * HOURS, np.arange(HOURS + 1.0), sums)
    return result


@inlined
def busy_clock(passed: FloatArray, begin: int, seconds: float) -> float:
    """Time by the rhythm, in hours, at a time in seconds; `passed`, from index `begin` on, holds that of each hour of a
    week.
    """
    hours = seconds / 3600.0
    weeks = math.floor(hours / HOURS)
    hours -= weeks * HOURS
    place = min(int(hours), HOURS - 1)
    before: float = passed[begin + place]
    part: float = (hours - place) * (passed[begin + place + 1] - before)
    return weeks * HOURS + before + part


@inner
def expect_news(rhythm: FloatArray, since: float, now: float, hazard: float, rate: float) -> None:
    """Adds the documents expected of a list without a rhythm, to those hours from which they are still there.

    `rhythm` has a row for each hour of the week: documents, and expected documents.
    """
    end, left = now / 3600.0, 1.0
    fading = math.exp(-hazard)
    while end > since / 3600.0:
        hour = math.ceil(end) - 1
        length = end - max(float(hour), since / 3600.0)
        rhythm[hour % HOURS, 1] += rate * length * left
        left *= fading
        end = float(hour)


@inner
def spread_news(rhythm: FloatArray, passed: FloatArray, since: float, now: float, hazard: float) -> None:
    """Adds a document that appeared at some time between `since` and `now`: more of it to busy hours and to recent
    ones.

    `passed` holds the time by the rhythm up to each hour of the week.
    """
    fading, total = math.exp(-hazard), 0.0
    for adding in (False, True):
        end, left = now / 3600.0, 1.0
        while end > since / 3600.0:
            hour = math.ceil(end) - 1
            place = hour % HOURS
            part = (end - max(float(hour), since / 3600.0)) * (passed[place + 1, 0] - passed[place, 0]) * left
            if adding:
                rhythm[place, 0] += part / total
            else:
                total += part
            left *= fading
            end = float(hour)


@compiled
def find_rhythm(rhythm: FloatArray, passed: FloatArray) -> None:
    """Computes the time by the rhythm up to each hour of the week; see `rhythm_of`."""
    seen, expected = np.zeros(24), np.zeros(24)
    total, total_expected = 0.0, 0.0
    for hour in range(HOURS):
        seen[hour % 24] += rhythm[hour, 0]
        expected[hour % 24] += rhythm[hour, 1]
        total += rhythm[hour, 0]
        total_expected += rhythm[hour, 1]
    scale = total / total_expected if total_expected > 0 else 0.0
    sum_ = 0.0
    for hour in range(HOURS):
        usual = (seen[hour % 24] + _BELIEF) / (expected[hour % 24] * scale + _BELIEF)
        sum_ += usual * (rhythm[hour, 0] + _BELIEF) / (rhythm[hour, 1] * scale * usual + _BELIEF)
        passed[hour + 1, 0] = sum_
    for hour in range(HOURS):
        passed[hour + 1, 0] *= HOURS / sum_
