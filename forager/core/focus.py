"""Focus: is a document on the topic of the crawl? The topic is given by a query, by examples, by what people mark, or by
several of these.

A document is its words and the character n-grams of its words, hashed, as TF-IDF; n-grams tell inflected words, compounds
and scripts without spaces apart. Logistic regression holds the examples against the latest documents of the crawl itself,
which are mostly off topic, but not all (learning from positive and unlabelled examples). With a query alone, the documents
that match it are the examples, and its own words are hidden from the regression: what else these documents have in
common is the topic, and if they have nothing in common, nothing is learned.

By cross-validation, examples and documents get scores from a regression that has not seen them; new texts are judged by
the mean of these regressions, so that their scores compare. T(t) is the share of the examples that reach a score t, A(t)
that of the documents. The best ratio A/T bounds the share π of documents on topic (Garg et al. 2021), and π·T(t)/A(t)
estimates the precision at t. The threshold is the lowest score that promises the precision asked for, with a margin; a
topic so rare that hardly a document of the crawl is on it gets one from the odds of the regression. A document's
probability is a logistic curve over its score, from the means and variances of both samples and π.

It says "cannot tell yet" as long as there are too few examples or documents, no threshold promises the precision asked
for, or two halves of the examples disagree on what passes. Such a document is rewarded like any new one, so
that the crawl goes on as if it had no topic instead of starving; but it is told only if a later verdict is for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit
from scipy.stats import norm

from forager.arrays import BoolArray, FloatArray
from forager.core.packed import array_text, packing, text_array, unpack
from forager.core.parameters import FocusSettings
from forager.core.states import words
from forager.terms import Verdict

LONGEST_TEXT = 5_000
"""Characters of a document that are judged."""
FIRST_FIT = 50
"""Documents to compare with at the first fit; then whenever they have doubled."""
FEWEST_EXAMPLES = 5
"""Examples, given, marked or matched by the query, without which nothing is fitted."""
MOST_MATCHES = 60
"""Documents that match the query best; only they are taken for examples."""
GOOD_MATCH = 0.6
"""The share of the query's words, by rarity, that makes a document an example."""
MARGIN = 0.5
"""The estimated share of wrong documents may be this part of what was asked for: estimates are hopeful."""
ODDS = 0.5
"""A score of this part of the log-odds of the precision asked for is always enough."""
LEAST_RECALL = 0.1
"""A threshold that fewer of the examples reach is none …"""
LEAST_MATCHES = 0.3
"""… and one that fewer of the documents reach that match a query: too few of them have something in common."""

CLEARLY_APART = 2.5
"""Standard deviations of the documents' scores by which examples lie above them where they need no further check …"""
AGREED = 0.6
"""… and otherwise the share of what passes on which two halves of the examples must agree …"""
FEWEST_AGREED = 3
"""… among at least so many."""

_FORM = 2
_BITS = 18
_WIDTH = 2**_BITS
_SMOOTH = 1.0  # scikit-learn's C
_FOLDS = 5


@cache
def _hashers() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import HashingVectorizer  # slow to import, and few crawls have a focus

    plain = {"n_features": _WIDTH, "norm": None, "alternate_sign": False, "dtype": np.float32}
    return HashingVectorizer(analyzer=str.split, **plain), HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), **plain
    )


def count_terms(texts: Sequence[str]) -> sparse.csr_matrix:
    """How often each text has each hashed word and each hashed n-gram."""
    spaced = [" ".join(_words(text)) for text in texts]
    return sparse.hstack([hasher.transform(spaced) for hasher in _hashers()]).tocsr().astype(np.float32)


def _words(text: str) -> list[str]:
    return words(text[:LONGEST_TEXT].encode("utf-8", "replace").decode())


def _rarities(counts: sparse.csr_matrix) -> NDArray[np.float32]:
    spread = np.bincount(counts.indices, minlength=2 * _WIDTH)
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + spread)) + 1, dtype=np.float32)


def _weighed(counts: sparse.csr_matrix, rarity: NDArray[np.float32]) -> sparse.csr_matrix:
    """(1 + ln count) · idf; words and n-grams are unit vectors each."""
    rows = counts.astype(np.float64)
    rows.data = (1 + np.log(rows.data)) * rarity[rows.indices]
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    half = 2 * row + (rows.indices >= _WIDTH)
    lengths = np.sqrt(np.bincount(half, rows.data**2, minlength=2 * rows.shape[0]))
    rows.data /= np.maximum(lengths[half], 1e-12)
    return rows


@dataclass(frozen=True, slots=True)
class Topic:
    """What was learned of a topic at one time."""

    rarity: NDArray[np.float32]
    slopes: NDArray[np.float32]
    intercept: float
    threshold: float
    """The score from which on a document is on topic; infinite as long as that cannot be told."""
    curve: tuple[float, float]
    """Slope and intercept of the probability over the score."""
    precision: float
    recall: float
    """As estimated, of what passes the threshold."""
    doubt: str
    """Why it cannot tell yet; empty if it can."""

    def scores(self, counts: sparse.csr_matrix) -> FloatArray:
        return np.asarray(_weighed(counts, self.rarity) @ self.slopes + self.intercept, dtype=np.float64)

    def probability(self, score: float) -> float:
        slope, intercept = self.curve
        return float(expit(slope * score + intercept))

    def verdict(self, score: float) -> Verdict:
        if self.doubt:
            return Verdict.UNSURE
        return Verdict.ON if score >= self.threshold else Verdict.OFF

    def telling(self, text: str, most: int = 8) -> list[tuple[str, float]]:
        """The words of a text that speak most for or against the topic, the strongest first.

        The parts of a text are shared among the words that they stand in, so that these add up to its score.
        """
        counts = count_terms([text])
        if not counts.nnz:
            return []
        parts = _weighed(counts, self.rarity).multiply(self.slopes).tocsr()
        each = np.zeros(2 * _WIDTH)
        each[counts.indices] = 1 / counts.data
        each[parts.indices] *= parts.data
        each[np.setdiff1d(counts.indices, parts.indices)] = 0
        known, times = np.unique(np.array(_words(text)), return_counts=True)
        shares = np.asarray(count_terms(known.tolist()) @ each).ravel() * times
        order = np.argsort(-np.abs(shares), kind="stable")[:most]
        return [(str(known[place]), float(shares[place])) for place in order if shares[place]]


@dataclass(frozen=True, slots=True)
class FocusLesson:
    """All that is learned from, of one moment: it can be learned beside the crawl."""

    examples: sparse.csr_matrix
    refused: sparse.csr_matrix
    """What people have marked as off topic."""
    documents: sparse.csr_matrix
    """Of the crawl, unlabelled."""
    marked: BoolArray
    """Which of the examples people have marked."""
    hidden: NDArray[np.int64]
    """Terms that do not count: those of the query, if it chose the examples."""
    precision: float

    def learn(self) -> Topic:
        """Fit, cross-validate, choose the threshold."""
        rows = sparse.vstack([self.examples, self.refused, self.documents]).tocsr()
        rarity = _rarities(rows)
        rarity[self.hidden] = 0.0
        rows = _weighed(rows, rarity)
        sides = np.repeat([1, 0, 0], [self.examples.shape[0], self.refused.shape[0], self.documents.shape[0]])
        sides, among = sides.astype(np.int64), np.unique(rows.indices)
        slopes, intercept, unseen = _fitted(rows[:, among], sides, self._weights(sides))
        own, refused, others = np.split(unseen, [self.examples.shape[0], len(sides) - self.documents.shape[0]])
        threshold, curve, precision, recall = _threshold(own, others, self.precision)
        threshold = _above_refused(threshold, own[self.marked], refused, self.precision)
        wide = np.zeros(2 * _WIDTH, dtype=np.float32)
        wide[among] = slopes
        doubt = ""
        if recall < LEAST_RECALL or (len(self.hidden) and (own >= threshold).mean() < LEAST_MATCHES):
            doubt = f"no threshold promises a precision of {self.precision:g}"
        elif not _is_confirmed(own[self.marked], refused, threshold, self.precision):
            apart = (own.mean() - others.mean()) / max(float(others.std()), 1e-12)
            passing = max(FEWEST_AGREED, int((others >= threshold).sum()))
            if apart < CLEARLY_APART and self._agreement(rows[:, among], sides, passing) < AGREED:
                doubt = "the examples are too few, or have too little in common"
        return Topic(rarity, wide, intercept, threshold, curve, precision, recall, doubt)

    def _weights(self, sides: NDArray[np.int64]) -> FloatArray:
        """Both sides weigh the same; what people have refused counts five times."""
        weights = np.ones(len(sides))
        few = self.examples.shape[0]
        weights[few : few + self.refused.shape[0]] = 5.0
        weights[sides == 1] = weights[sides == 0].sum() / few
        return weights

    def _agreement(self, rows: sparse.csr_matrix, sides: NDArray[np.int64], passing: int) -> float:
        """The share of the documents that would pass by one half of the examples and by the other half as well.

        Corrected for chance: 0 if the halves know nothing, 1 if they agree.
        """
        few, documents, best = self.examples.shape[0], self.documents.shape[0], []
        for half in (0, 1):
            kept = np.concatenate([np.arange(few)[half::2], np.arange(few, len(sides))])
            own = sides[kept]
            weights = np.where(own == 1, (own == 0).sum() / max(1, own.sum()), 1.0)
            _, _, unseen = _fitted(rows[kept], own, weights)
            best.append(np.argsort(-unseen[-documents:], kind="stable")[:passing])
        chance = passing / documents
        return float((len(np.intersect1d(best[0], best[1])) / passing - chance) / max(1 - chance, 1e-12))


def _regression() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=_SMOOTH, max_iter=1000, solver="liblinear", dual=True, random_state=0)


def _fitted(
    rows: sparse.csr_matrix, sides: NDArray[np.int64], weights: FloatArray
) -> tuple[FloatArray, float, FloatArray]:
    """The score of each row by a fit that has not seen it, and slopes and intercept of the mean of these fits."""
    unseen, folds = np.zeros(len(sides)), min(_FOLDS, *np.bincount(sides).tolist())
    slopes, intercept = np.zeros(rows.shape[1]), 0.0
    dealt = np.zeros(len(sides), dtype=np.int64)
    for side in (0, 1):  # every fold has its share of both sides, spread over time
        dealt[sides == side] = np.arange((sides == side).sum()) % folds
    for fold in range(folds):
        left_out = dealt == fold
        part = _regression().fit(rows[~left_out], sides[~left_out], sample_weight=weights[~left_out])
        unseen[left_out] = part.decision_function(rows[left_out])
        slopes += part.coef_[0] / folds
        intercept += float(part.intercept_[0]) / folds
    return slopes, intercept, unseen


def _threshold(own: FloatArray, others: FloatArray, wanted: float) -> tuple[float, tuple[float, float], float, float]:
    """Threshold, curve of probability, and precision and recall to be expected.

    What is on topic by the estimated precision is also more likely so than not.
    """
    scores = np.sort(np.concatenate([own, others]))
    spread = max(float(own.std(ddof=1)), 0.1)
    reached = norm.sf((scores - own.mean()) / spread)
    passing = 1 - np.searchsorted(np.sort(others), scores, side="left") / len(others)
    half = 0.5 / len(others)
    ample = reached > 0.05
    share = float(min(1.0, np.min((passing[ample] + half) / reached[ample])))
    precision = np.minimum(1.0, share * reached / np.maximum(passing, half))
    curve = _probability_curve(own, others, share)
    good = np.flatnonzero(precision >= 1 - MARGIN * (1 - wanted))
    threshold = max(float(scores[good[0]]), -curve[1] / curve[0]) if len(good) and curve[0] else np.inf
    threshold = min(threshold, ODDS * float(logit(wanted)))
    place = min(int(np.searchsorted(scores, threshold)), len(scores) - 1)
    return threshold, curve, float(precision[place]), float(norm.sf((threshold - own.mean()) / spread))


def _above_refused(threshold: float, marked: FloatArray, refused: FloatArray, wanted: float) -> float:
    """The threshold, raised until the marked documents above it have the precision, too."""
    for score in np.sort(refused[refused >= threshold]):
        yes, no = (marked >= threshold).sum(), (refused >= threshold).sum()
        if yes >= wanted * (yes + no):
            break
        threshold = float(np.nextafter(score, np.inf))
    return threshold


def _is_confirmed(marked: FloatArray, refused: FloatArray, threshold: float, wanted: float) -> bool:
    """Whether people have marked enough documents above the threshold, and found them as precise as asked for."""
    yes, no = int((marked >= threshold).sum()), int((refused >= threshold).sum())
    return yes + no >= 2 * FEWEST_EXAMPLES and yes >= wanted * (yes + no)


def _probability_curve(own: FloatArray, others: FloatArray, share: float) -> tuple[float, float]:
    """Slope and intercept of the log-odds of being on topic: two normal curves of the same width.

    One is that of the examples, the other that of the documents without the best of them, which are as many as are on
    topic.
    """
    off = np.sort(others)[: max(2, round((1 - share) * len(others)))]
    high, low = float(own.mean()), float(off.mean())
    width = max((float(own.var(ddof=1)) + float(off.var())) / 2, 0.01)
    slope = max(0.0, (high - low) / width)
    prior = float(np.clip(share, 1e-4, 1 - 1e-4))
    return slope, float(np.log(prior / (1 - prior)) - slope * (high + low) / 2)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is thought of a text now, and which of its words speak for (+) or against (−) it."""

    verdict: Verdict
    probability: float | None
    """None as long as nothing was learned."""
    words: list[tuple[str, float]]
    doubt: str
    """Why it cannot be told yet; empty if it can."""


class Focus:
    """Judges documents as they are read, and learns from them what is off topic.

    A verdict once given stays, unless it was "cannot tell yet" or people mark the document.
    """

    def __init__(self, settings: FocusSettings, examples: Sequence[str] = (), refused: Sequence[str] = ()) -> None:
        self.settings = settings
        self.topic: Topic | None = None
        """What was learned last."""
        self.lessons = 0
        self.read_so_far = 0
        self.verdicts: dict[int, Verdict] = {}
        """Of all documents that were read, by version."""
        self._query = np.unique(count_terms([settings.query]).indices)
        self._given = count_terms(examples) if examples else _nothing()
        self._refused = count_terms(refused) if refused else _nothing()
        self._marked: dict[int, tuple[bool, sparse.csr_matrix]] = {}
        """What people say, by version."""
        self._documents: dict[int, sparse.csr_matrix] = {}
        """The latest of the crawl, by version."""
        self._next = FIRST_FIT
        """The next lesson is due when so many documents were read."""

    def __repr__(self) -> str:
        said = self.doubt or "can tell"
        return f"<Focus {self.count(Verdict.ON)} of {len(self.verdicts)} documents on topic; {said}>"

    @property
    def doubt(self) -> str:
        """Why it cannot tell yet; empty if it can."""
        if self.topic is not None:
            return self.topic.doubt
        if self.read_so_far < FIRST_FIT:
            return f"it has read {self.read_so_far} documents, and needs {FIRST_FIT}"
        examples = self._given.shape[0] + sum(is_yes for is_yes, _ in self._marked.values())
        if len(self._query):
            return (
                f"of {self.read_so_far} documents too few, fewer than {FEWEST_EXAMPLES}, have most words of the query; fewer "
                "or commoner words would help, or examples"
            )
        return f"it has {examples} examples, and needs {FEWEST_EXAMPLES}"

    def count(self, verdict: Verdict) -> int:
        return sum(one is verdict for one in self.verdicts.values())

    def on_topic(self, version: int) -> bool:
        """Whether a document is rewarded: it is on topic, or that cannot be told yet."""
        return self.verdicts.get(version, Verdict.OFF) is not Verdict.OFF

    @property
    def waiting(self) -> list[int]:
        """The documents of which it could not tell, if it can now."""
        if self.topic is None or self.topic.doubt:
            return []
        return [version for version, verdict in self.verdicts.items() if verdict is Verdict.UNSURE]

    def judge(self, text: str) -> Judgement:
        """What is thought of a text now; nothing is learned from it."""
        if self.topic is None:
            return Judgement(Verdict.UNSURE, None, [], self.doubt)
        (score,) = self.topic.scores(count_terms([text]))
        return Judgement(
            self.topic.verdict(score), self.topic.probability(score), self.topic.telling(text), self.topic.doubt
        )

    def read(self, version: int, text: str) -> Verdict:
        """Judge a document, then learn from it at the next lesson."""
        return self.take(version, count_terms([text]))

    def take(self, version: int, counts: sparse.csr_matrix) -> Verdict:
        """As `read`, of a document whose terms are counted."""
        self.verdicts[version] = verdict = self._verdict(counts)
        self.read_so_far += 1
        self._documents[version] = counts
        if len(self._documents) > self.settings.background:
            del self._documents[next(iter(self._documents))]
        return verdict

    def judge_again(self, version: int, text: str) -> Verdict:
        """The verdict on a document of which it could not tell before."""
        self.verdicts[version] = verdict = self._verdict(count_terms([text]))
        return verdict

    def mark(self, version: int, text: str, yes: bool) -> None:
        """People say what a document is; the next lesson is due at once."""
        self._marked[version] = yes, count_terms([text])
        self.verdicts[version] = Verdict.ON if yes else Verdict.OFF
        self._next = min(self._next, max(FIRST_FIT, self.read_so_far))

    def _verdict(self, counts: sparse.csr_matrix) -> Verdict:
        if self.topic is None:
            return Verdict.UNSURE
        (score,) = self.topic.scores(counts)
        return self.topic.verdict(score)

    # Learning.

    @property
    def is_due(self) -> bool:
        """Whether there is a lesson to learn."""
        return self.read_so_far >= self._next

    def lesson(self) -> FocusLesson | None:
        """What is to be learned now; None if there are too few examples. Until the next one, nothing is due."""
        half = max(FIRST_FIT, self.settings.background // 2)
        self._next = self.read_so_far + min(self.read_so_far, half)
        plain = [counts for version, counts in self._documents.items() if version not in self._marked]
        documents = sparse.vstack(plain).tocsr() if plain else _nothing()
        yes = [counts for is_yes, counts in self._marked.values() if is_yes]
        no = [counts for is_yes, counts in self._marked.values() if not is_yes]
        examples = sparse.vstack([self._given, *yes]).tocsr()
        few = examples.shape[0]
        hidden = np.zeros(0, dtype=np.int64)
        if few < FEWEST_EXAMPLES and len(self._query):
            match = self._matches(documents)
            best = np.argsort(-match, kind="stable")[:MOST_MATCHES]
            best = np.sort(best[match[best] >= GOOD_MATCH])
            examples = sparse.vstack([examples, documents[best]]).tocsr()
            documents = documents[np.setdiff1d(np.arange(documents.shape[0]), best)]
            hidden = self._query
        if examples.shape[0] < FEWEST_EXAMPLES or documents.shape[0] < FIRST_FIT // 2:
            return None
        marked = np.zeros(examples.shape[0], dtype=np.bool_)
        marked[self._given.shape[0] : few] = True
        refused = sparse.vstack([self._refused, *no]).tocsr()
        return FocusLesson(examples, refused, documents, marked, hidden, self.settings.precision)

    def adopt(self, topic: Topic) -> None:
        """Judge by what was learned."""
        self.topic = topic
        self.lessons += 1

    def _matches(self, documents: sparse.csr_matrix) -> FloatArray:
        """The share of the query's words in each document, by their rarity."""
        asked = self._query[self._query < _WIDTH]
        weights = _rarities(documents)[asked].astype(np.float64)
        return np.asarray((documents[:, asked] > 0) @ weights / weights.sum(), dtype=np.float64).ravel()

    # Saving.

    def saving(self) -> Callable[[], bytes]:
        """Verdicts, and all that decides the next ones; packed when the answer is called."""
        yes = np.array([is_yes for is_yes, _ in self._marked.values()], dtype=np.bool_)
        held = [self._given, self._refused, *(counts for _, counts in self._marked.values()), *self._documents.values()]
        arrays: dict[str, NDArray[np.generic]] = {
            "versions": np.array(list(self.verdicts), dtype=np.int64),
            "verdicts": np.array([_ORDER.index(one) for one in self.verdicts.values()], dtype=np.int8),
            "marked": np.array(list(self._marked), dtype=np.int64),
            "yes": yes,
            "documents": np.array(list(self._documents), dtype=np.int64),
            "sizes": np.array([self._given.shape[0], self._refused.shape[0]], dtype=np.int64),
            "counted": np.array([self.lessons, self.read_so_far, self._next], dtype=np.int64),
            "ends": np.concatenate([np.diff(one.indptr) for one in held]).cumsum(dtype=np.int64),
            "terms": np.concatenate([one.indices for one in held]).astype(np.int32),
            "counts": np.minimum(np.concatenate([one.data for one in held]), 255).astype(np.uint8),
            "query": text_array(self.settings.query),
        }
        topic = self.topic
        if topic is not None:
            figures = [topic.intercept, topic.threshold, *topic.curve, topic.precision, topic.recall]
            arrays |= {"rarity": topic.rarity, "slopes": topic.slopes, "figures": np.array(figures)}
            arrays["doubt"] = text_array(topic.doubt)
        return packing("focus", _FORM, arrays)

    def save(self) -> bytes:
        return self.saving()()

    @classmethod
    def load(cls, saved: bytes, settings: FocusSettings) -> "Focus":
        """As it was, with the examples it had; the verdicts stay even if query or precision are others now."""
        held = unpack("focus", _FORM, saved)
        focus = cls(settings)
        ends = np.concatenate([[0], np.asarray(held["ends"], dtype=np.int64)])
        terms = np.asarray(held["terms"], dtype=np.int32), np.asarray(held["counts"], dtype=np.float32)
        rows = sparse.csr_matrix((terms[1], terms[0], ends), shape=(len(ends) - 1, 2 * _WIDTH))
        given, refused = np.asarray(held["sizes"]).tolist()
        marked, documents = (np.asarray(held[name], dtype=np.int64).tolist() for name in ("marked", "documents"))
        focus._given, focus._refused, rest = rows[:given], rows[given : given + refused], given + refused
        says = zip(marked, np.asarray(held["yes"]).tolist(), strict=True)
        focus._marked = {version: (yes, rows[rest + place]) for place, (version, yes) in enumerate(says)}
        rest += len(marked)
        focus._documents = {version: rows[rest + place] for place, version in enumerate(documents)}
        verdicts = zip(np.asarray(held["versions"]).tolist(), np.asarray(held["verdicts"]).tolist(), strict=True)
        focus.verdicts = {version: _ORDER[verdict] for version, verdict in verdicts}
        focus.lessons, focus.read_so_far, focus._next = np.asarray(held["counted"]).tolist()
        if "figures" in held:
            intercept, threshold, slope, start, precision, recall = np.asarray(held["figures"]).tolist()
            rarity, slopes = (np.asarray(held[name], dtype=np.float32) for name in ("rarity", "slopes"))
            doubt = array_text(held["doubt"])
            focus.topic = Topic(rarity, slopes, intercept, threshold, (slope, start), precision, recall, doubt)
        if array_text(held["query"]) != settings.query:
            focus._next = focus.read_so_far
        return focus


_ORDER = tuple(Verdict)


def _nothing() -> sparse.csr_matrix:
    return sparse.csr_matrix((0, 2 * _WIDTH), dtype=np.float32)
