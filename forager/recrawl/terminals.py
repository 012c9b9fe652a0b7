"""What is known of many pages as columns, and the terminals a score function can read from them.

A row may stand for one page or for all pages with the same history: pages with equal rows have equal scores.
All times are counted in cycles, whole or not. Among the terminals are the estimators that GP4C uses for how likely a page
has changed: CG (Cho & Garcia-Molina) and NAD SAD AAD GAD (Tan & Mitra), from running sums.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from forager.arrays import FloatArray
from forager.recrawl.list_estimates import SMALL
from forager.recrawl.rhythm import Rhythm, passed


def cg(n: FloatArray, X: FloatArray) -> FloatArray:
    """−ln((n − X + 0.5) / (n + 0.5)), the expected changes per visit interval."""
    return -np.log((n - X + 0.5) / (n + 0.5))


def nad_rate(n: FloatArray, X: FloatArray) -> FloatArray:
    """All visits weigh the same: X / n; 0 before the first visit."""
    return X / np.maximum(n, 1.0)


def aad_rate(n: FloatArray, ranked: FloatArray) -> FloatArray:
    """Visit i weighs i / (1 + … + n); `ranked` is the sum of i · I_i."""
    return 2.0 * ranked / np.maximum(n * (n + 1.0), 1.0)


def gad_rate(n: FloatArray, halved: FloatArray) -> FloatArray:
    """Visit i weighs 2^(i−1) / (2^n − 1); `halved` is the running G ← G/2 + I_n/2."""
    return halved / (1.0 - np.exp2(-np.maximum(n, 1.0)))


def changed_since(rate: FloatArray, t: FloatArray) -> FloatArray:
    """φ = 1 − exp(−λ t), the chance of a change within `t` at the given rate."""
    return 1.0 - np.exp(-rate * t)


def observed_rate(X: FloatArray, T: FloatArray, prior: float, hope: float = 1.0) -> FloatArray:
    """λ = (X + a) / (T + b) from the *time* observed: the rate the index of Azar et al. wants.

    The prior is `prior` changes (a) in a time `hope` (b).
    """
    return (X + prior) / (T + hope)


def index_gain(rate: FloatArray, t: FloatArray) -> FloatArray:
    """g = 1 − e^(−λt)(1 + λt) of Azar et al. (PNAS 2018); the freshness index is g / λ, its rate-weighted form g."""
    expected = rate * t
    return 1.0 - np.exp(-expected) * (1.0 + expected)


EMPTY: FloatArray = np.empty(0)
PRIOR = 0.5
"""Prior a of λ = (X + a)/(T + 1) in the terminals `lam`, `azar` and `gain`, and of documents in `pace`; ours."""


def _empty() -> FloatArray:
    return EMPTY


@dataclass(frozen=True, slots=True, eq=False)
class PageStates:
    """Columns of one length; those that nobody reads may be left empty."""

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
    """New documents brought so far; not what the first visit found, which had gathered for nobody knows how long."""
    interval: FloatArray = field(default_factory=_empty)
    """The revisit interval of the adaptive rule."""
    rate: FloatArray = field(default_factory=_empty)
    """λ by maximum likelihood (HACS)."""
    update: FloatArray = field(default_factory=_empty)
    """τ, the last known update (HACS)."""
    news: FloatArray = field(default_factory=_empty)
    """News per busy cycle: documents that appear on a list, texts that appear on any other page."""
    hazard: FloatArray = field(default_factory=_empty)
    """How fast they leave the page, per cycle."""
    elsewhere: FloatArray = field(default_factory=_empty)
    """On how many other lists a document of this one is found too."""
    length: FloatArray = field(default_factory=_empty)
    """Documents that it shows at a time."""
    hub: FloatArray = field(default_factory=_empty)
    """1 for lists of links, 0 for other pages."""
    inlinks: FloatArray = field(default_factory=_empty)
    """How many known pages link here."""
    day: float = 1.0
    """Cycles in a day, for the time of day …"""
    phase: float = 0.0
    """… and how many of them were over when the week began in which time was 0."""
    rhythm: Rhythm = ()
    """How busy each hour of the week is, for the busy time since the last visit; empty: all alike."""

    def __len__(self) -> int:
        return len(self.last)

    def counted_in(self, cycle: float) -> "PageStates":
        """The same states with times counted in cycles of so many seconds."""
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


def _lam(s: PageStates) -> FloatArray:
    return observed_rate(s.X, s.T, PRIOR)


def _hour(s: PageStates) -> FloatArray:
    return np.full(len(s), hour_of(s.now, s.day, s.phase))


def hour_of(now: float, day: float, phase: float) -> float:
    """The hour of the day, 0 to 24, when a day has `day` cycles of which `phase` were over at 0."""
    return ((now + phase) / day) % 1.0 * 24.0


def _busy(s: PageStates) -> FloatArray:
    hour = s.day / 24.0
    now, last = (passed(s.rhythm, (when + s.phase) / hour) * hour for when in (np.array(s.now), s.last))
    return now - last


def waiting_of_many(hours: FloatArray, hazard: FloatArray, longest: float = 24.0) -> FloatArray:
    """K of many pages; see `list_estimates.waiting`, of which it is the same formula."""
    u = np.minimum(np.maximum(hours, 0.0), longest)
    x = np.maximum(hazard * u, 1e-300)
    left, mu = np.exp(-x), np.maximum(hazard, 1e-300)
    few = x < SMALL
    with np.errstate(all="ignore"):
        first = np.where(few, u * u * (1 / 2 - x / 3 + x * x / 8), (1 - left * (1 + x)) / (mu * mu))
        second = np.where(
            few, u * u * u * (1 / 3 - x / 4 + x * x / 10), (2 - left * (x * x + 2 * x + 2)) / (mu * mu * mu)
        )
        saved = (first * (1 + longest * hazard) - hazard * second) / (longest * hours)
    return np.where(hours > 0, saved, 0.0)


def _wlate(s: PageStates) -> FloatArray:
    hours = 24.0 / s.day
    return _told(s.news, s) * _busy(s) * waiting_of_many(s.t * hours, _told(s.hazard, s) / hours)


def _told(column: FloatArray, s: PageStates) -> FloatArray:
    """The column, or zeros where nobody knows."""
    return column if len(column) else np.zeros(len(s))


TERMINALS: Mapping[str, Callable[[PageStates], FloatArray]] = {
    "n": lambda s: s.n,
    "X": lambda s: s.X,
    "t": lambda s: s.t,
    "cg": lambda s: cg(s.n, s.X),
    "nad": lambda s: changed_since(nad_rate(s.n, s.X), s.t),
    "sad": lambda s: changed_since(s.recent, s.t),
    "aad": lambda s: changed_since(aad_rate(s.n, s.ranked), s.t),
    "gad": lambda s: changed_since(gad_rate(s.n, s.halved), s.t),
    "T": lambda s: s.T,
    "lam": _lam,
    "azar": lambda s: index_gain(_lam(s), s.t) / _lam(s),
    "gain": lambda s: index_gain(_lam(s), s.t),
    "since": lambda s: s.now - s.last_change,
    "rate": lambda s: _told(s.news, s),
    "hacs": lambda s: changed_since(_told(s.rate, s), s.now - _told(s.update, s)),
    "docs": lambda s: _told(s.documents, s) / np.maximum(s.n, 1.0),
    "pace": lambda s: observed_rate(_told(s.documents, s), s.T, PRIOR),
    "hour": _hour,
    "busy": _busy,
    "haz": lambda s: _told(s.hazard, s),
    "wlate": _wlate,
    "elsewhere": lambda s: _told(s.elsewhere, s),
    "len": lambda s: _told(s.length, s),
    "hub": lambda s: _told(s.hub, s),
    "inlinks": lambda s: _told(s.inlinks, s),
}
"""Every terminal by its name in formulas; the estimators are the scores of the baselines of the same name."""

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

MEANINGS = {
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
