"""The default rule of a crawl as a score function of histories, so that what is learned can be held against it.

A page brings documents at a rate drawn towards the mean of its kind, the more so the more alike the pages of a kind are.
After t hours a list is worth λt of them, a single text 1 − e^(−λt), and what brings documents seldom goes a little
further forward. The crawl itself knows more: which links just appeared, and which neighbours just had news.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.states import States

FloatArray = NDArray[np.float64]
LIKE_MOST = 1000.0
"""However alike pages are, after so many hours of watching a page counts for itself as much as its kind does."""


@dataclass(frozen=True, slots=True)
class Foretelling:
    """What the crawl foretells documents by; as `forager.expectation` has it."""

    hub_rate: float = 0.5
    text_rate: float = 0.01
    prior_hours: float = 10.0
    prior_weight: float = 10.0
    breadth: float = 0.25
    text_breadth: float = 0.12
    max_age_hours: float = 24.0
    """A page promises no more than what it brings in this time."""


FORETELLING = Foretelling()


@dataclass(frozen=True, slots=True)
class Expected:
    """The documents expected of a visit, more or less."""

    by: Foretelling

    def scores(self, states: States) -> FloatArray:
        hour = states.day / 24.0
        lists = states.hub > 0 if len(states.hub) else np.zeros(len(states), dtype=np.bool_)
        watched, waited = states.T / hour, np.minimum(states.t / hour, self.by.max_age_hours)
        scores = np.empty(len(states))
        for kind, usual, breadth in (
            (lists, self.by.hub_rate, self.by.breadth),
            (~lists, self.by.text_rate, self.by.text_breadth),
        ):
            mean, rate = self._rates(states.documents[kind], watched[kind], usual)
            if kind is not lists:
                rate = _unhidden(rate, states.n[kind], watched[kind])
            news = rate * waited[kind]
            scores[kind] = (news if kind is lists else -np.expm1(-news)) * (mean / rate) ** breadth
        return scores

    def _rates(self, documents: FloatArray, hours: FloatArray, usual: float) -> tuple[float, FloatArray]:
        """The mean rate of a kind, and that of each of its pages."""
        first = self.by.prior_weight * self.by.prior_hours
        mean = float((documents.sum() + usual * first) / (hours.sum() + first))
        guess = self.by.prior_weight * self.by.max_age_hours**2
        excess = float(((documents - mean * hours) ** 2).sum() - mean * hours.sum())
        variance = (excess + guess * mean / self.by.prior_hours) / (float((hours**2).sum()) + guess)
        like = LIKE_MOST if mean >= variance * LIKE_MOST else max(self.by.prior_hours, mean / variance)
        return mean, (documents + like * mean) / (hours + like)


def _unhidden(rate: FloatArray, visits: FloatArray, hours: FloatArray) -> FloatArray:
    """The rate of single texts, of which several changes look like one: −ln(1 − share) / gap."""
    again = (visits > 1) & (hours > 0)
    gap = np.where(again, hours, 1.0) / np.maximum(visits - 1.0, 1.0)
    return np.where(again, -np.log1p(-np.minimum(rate * gap, 0.95)) / gap, rate)
