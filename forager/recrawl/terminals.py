"""What is known of many pages as columns, and the terminals that a score function can read from them (see
`gp.machine`).

A row may stand for one page or for all pages with the same history: pages with equal rows have equal scores. All times
are counted in cycles, whole or not. The terminals include the estimators that GP4C uses for the probability that a page
has changed: CG (Cho & Garcia-Molina) and NAD SAD AAD GAD (Tan & Mitra), from running sums.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from forager.arrays import FloatArray
from forager.recrawl.rhythm import Rhythm, passed


def observed_rate(X: FloatArray, T: FloatArray, prior: float, hope: float = 1.0) -> FloatArray:
    """λ = (X + a) / (T + b) from the *time* observed: the rate that the index of Azar et al. needs.

    The prior is `prior` changes (a) in a time `hope` (b).
    """
    return (X + prior) / (T + hope)


def index_gain(rate: FloatArray, t: FloatArray) -> FloatArray:
    """g = 1 − e^(−λt)(1 + λt) of Azar et al. (PNAS 2018); the freshness index is g / λ, its rate-weighted form g."""
    expected = rate * t
    return 1.0 - np.exp(-expected) * (1.0 + expected)


EMPTY: FloatArray = np.empty(0)
PRIOR = 0.5
"""The prior a of λ = (X + a)/(T + 1) in the terminals `lam`, `azar` and `gain`, and of documents in `pace`; ours."""


def _empty() -> FloatArray:
    return EMPTY


@dataclass(frozen=True, slots=True, eq=False)
class PageStates:
    """Columns of one length; columns that nobody reads may be left empty."""

    now: float
    last: FloatArray
    """The last visit."""
    first: FloatArray = field(default_factory=_empty)
    n: FloatArray = field(default_factory=_empty)
    X: FloatArray = field(default_factory=_empty)
    recent: FloatArray = field(default_factory=_empty)
    """I_n, the change indicator of the last visit."""
    ranked: FloatArray = field(default_factory=_empty)
    """Sum of i · I_i, for AAD."""
    halved: FloatArray = field(default_factory=_empty)
    """G ← G/2 + I_n/2, for GAD."""
    last_change: FloatArray = field(default_factory=_empty)
    """The last visit that saw a change; the first visit if none did."""
    documents: FloatArray = field(default_factory=_empty)
    """New documents brought so far, without those of the first visit, which may have gathered for any time."""
    interval: FloatArray = field(default_factory=_empty)
    """The revisit interval of the adaptive rule."""
    rate: FloatArray = field(default_factory=_empty)
    """λ by maximum likelihood (HACS)."""
    update: FloatArray = field(default_factory=_empty)
    """τ, the last known update (HACS)."""
    news: FloatArray = field(default_factory=_empty)
    """News per busy cycle: documents that appear on a list, texts that appear on any other page."""
    hazard: FloatArray = field(default_factory=_empty)
    """How fast documents leave the page, per cycle."""
    elsewhere: FloatArray = field(default_factory=_empty)
    """On how many other lists a document of this page is found too."""
    length: FloatArray = field(default_factory=_empty)
    """How many documents it shows at a time."""
    hub: FloatArray = field(default_factory=_empty)
    """1 for lists of links, 0 for other pages."""
    inlinks: FloatArray = field(default_factory=_empty)
    """How many known pages link here."""
    day: float = 1.0
    """Cycles in a day, for the time of day."""
    phase: float = 0.0
    """How many cycles of the week had passed at time 0."""
    rhythm: Rhythm = ()
    """How busy each hour of the week is, for the busy time since the last visit; empty: all alike."""

    def __len__(self) -> int:
        return len(self.last)

    def counted_in(self, cycle: float) -> "PageStates":
        """The same states with times counted in cycles of `cycle` seconds."""
        longer = self.day * cycle / 86_400.0
        if longer == 1.0:
            return self
        return replace(
            self,
            now=self.now / longer,
            last=self.last / longer,
            first=self.first / longer,
            last_change=self.last_change / longer,
            update=self.update / longer,
            interval=self.interval / longer,
            rate=self.rate * longer,
            news=self.news * longer,
            hazard=self.hazard * longer,
            day=self.day / longer,
            phase=self.phase / longer,
        )

    @property
    def t(self) -> FloatArray:
        return self.now - self.last

    @property
    def T(self) -> FloatArray:
        """The time observed: from the first to the last visit."""
        return self.last - self.first

    @property
    def hour(self) -> FloatArray:
        """The hour of the day, for every row."""
        return np.full(len(self), hour_of(self.now, self.day, self.phase))

    @property
    def busy(self) -> FloatArray:
        """The busy time since the last visit."""
        hour = self.day / 24.0
        now, last = (passed(self.rhythm, (when + self.phase) / hour) * hour for when in (np.array(self.now), self.last))
        return now - last


def hour_of(now: float, day: float, phase: float) -> float:
    """The hour of the day, 0 to 24; a day has `day` cycles, of which `phase` had passed at time 0."""
    return ((now + phase) / day) % 1.0 * 24.0


BASIC = ("n", "X", "t")
ALL = (*BASIC, "cg", "nad", "sad", "aad", "gad")
EXTENDED = (
    *ALL,
    *("T", "lam", "azar", "gain", "since", "rate", "hacs", "docs", "pace", "hour", "busy", "hub", "inlinks"),
    *("haz", "wlate", "elsewhere", "len"),
)
"""Ours; those that a log cannot tell are not offered."""

TRAILED = frozenset({"hacs"})
"""Terminals that need every interval between visits, not only running sums."""
RHYTHMIC = frozenset({"busy", "wlate"})
"""Terminals that count time by the rhythm of the week."""
WATCHED = frozenset({"rate", "haz", "wlate", "elsewhere", "len"})
"""Terminals that need to know when documents come to a page and leave it."""

TERMINALS = {
    "n": "visits so far",
    "X": "visits that found a change",
    "t": "cycles since the last visit",
    "cg": "expected changes per visit (Cho & Garcia-Molina)",
    "nad": "chance of change, all visits weighing the same",
    "sad": "chance of change by the last visit alone",
    "aad": "chance of change, visits weighing 1, 2, 3 …",
    "gad": "chance of change, visits weighing 1, 2, 4 …",
    "T": "cycles from the first to the last visit",
    "lam": "changes per cycle, (X + 0.5) / (T + 1)",
    "azar": "freshness index of Azar et al.",
    "gain": "azar times lam",
    "since": "cycles since the last change seen",
    "rate": "news per busy cycle: documents that come to a list, also those that go unseen, or texts by maximum likelihood",
    "hacs": "chance of an update since the last known one (HACS)",
    "docs": "new documents per visit",
    "pace": "new documents per cycle, (documents + 0.5) / (T + 1)",
    "hour": "hour of the day",
    "busy": "cycles since the last visit, busy hours of the week counting more than quiet ones",
    "haz": "how fast documents leave the page, per cycle",
    "wlate": "documents whose day of delay a visit saves: those that wait, and those that would be lost",
    "elsewhere": "other lists on which a document of this one is found too",
    "len": "documents that the page shows at a time",
    "hub": "1 for lists of links, else 0",
    "inlinks": "known pages that link here",
}
"""Every terminal by its name in formulas, and what it means."""
