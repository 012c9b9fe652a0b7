"""Learns a topic: from examples and the documents of a crawl, which texts are on topic, and which links lead to them.

A document is represented by its words and the character n-grams of its words, hashed and weighted by TF-IDF; the
n-grams help with inflected words, compounds, and scripts without spaces. Logistic regression separates the examples
from the latest documents of the crawl, which are mostly off topic, but not all (learning from positive and unlabelled
examples). With a query alone, the documents that match it are the examples, and its words are hidden from the
regression: the topic is what else these documents have in common. If they have nothing in common, nothing is learned.

Copies of the examples are left out of the documents. Documents that score like an example are likely on topic and do
not count as off topic. Those of them that a second regression is sure of become examples of a third one, but no more
than there were examples; so a topic follows the news. Documents that follow each other stay in the same fold of the
cross-validation, because a story and its next version are not independent.

Each example and document gets its score from a regression that has not seen it, and a new text the mean score of all of
these regressions, so that scores can be compared. The threshold is the score that a certain share of the examples
misses; a higher precision needs a larger share. There is no estimate of the resulting precision behind this: from
thirty examples such estimates were wrong by factors of two and three in both directions, because a neighbouring topic
looks like this one. The share was chosen on topics of the Reuters newswire, where a precision of .71 to .78 came out on
average for .8; in crawls of other weeks it was .65, and lower for topics with close neighbours. A score far above all
documents is always enough. The topic is in doubt if the threshold is not clearly above the documents and the scores of
the documents by two halves of the examples are hardly correlated. Whether both halves pass the same documents says
little: on a common topic so many documents pass that the halves rarely pass the same ones.

The probability of a document is a logistic curve over its score. It follows from the means and variances of the
examples and of the documents below the threshold, and from the share of documents that pass.

The threshold holds for a document found anywhere. A document from a list that is mostly on topic is more likely to be
on topic before a word of it is read: the odds of that list (see `topic_map`), compared with those of a list that says
nothing, lower its threshold by the score that would change the odds as much.

A link has few words, and they say less than a document. What they say is learned from the headlines of documents above
and below the threshold, scored by the same regressions: by how much such a score changes the odds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from forager.arrays import BoolArray, FloatArray
from forager.core.states import words
from forager.terms import Verdict

LONGEST_TEXT = 5_000
"""Characters of a document that are read."""
LONGEST_HEAD = 200
"""Characters of a headline that are read."""
FEWEST_WORDS = 3
"""Words below which neither a headline nor a link says anything."""
FEWEST_EXAMPLES = 5
"""Examples, given, marked or matched by the query, below which nothing is learned."""
STRICT = 0.45
"""The share of the examples that misses the threshold is the precision asked for, less this: .35 for .8."""
LIKELY = 0.15
"""Documents are likely on topic, and do not count as off topic, if they score more than this share of the examples
does.
"""
MOST_LIKELY = 0.5
"""At most this share of the documents is taken to be likely on topic."""
COPY = 0.9
"""A document at least this similar to an example is a copy of it, and left out."""
LEAST_MATCHES = 0.3
"""A threshold does not count if less than this share of the documents that match the query reaches it: too few of them
have something in common.
"""
ALWAYS, CLEARLY = 8.0, 2.5
"""Standard deviations above the documents from which on a score is always enough, and a threshold needs no further
check.
"""
AGREED, STILL_AGREED = 0.8, 0.65
"""Otherwise the scores that the documents get by two halves of the examples must have at least this correlation: the
first value holds until a verdict was possible, the second from then on, so that the verdict does not waver.
"""
PLAIN, MOST = 0.2, 0.8
"""A list speaks for its documents if more than the first share is on topic, but never more than a list with the second
share would (ours).
"""
MOST_ODDS = 30.0
"""The words of a link change its odds by at most this factor."""

WIDTH = 2**18
"""Number of columns for hashed words; as many for hashed n-grams follow."""
TERMS = 2 * WIDTH
_SMOOTH = 1.0  # scikit-learn's C
_FOLDS = 5


@cache
def _hashers() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import HashingVectorizer  # slow to import, and few crawls have a focus

    plain = {"n_features": WIDTH, "norm": None, "alternate_sign": False, "dtype": np.float32}
    return HashingVectorizer(analyzer=str.split, **plain), HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), **plain
    )


def count_terms(texts: Sequence[str]) -> sparse.csr_matrix:
    """How often each text has each hashed word and each hashed n-gram."""
    spaced = [" ".join(_words(text)) for text in texts]
    return sparse.hstack([hasher.transform(spaced) for hasher in _hashers()]).tocsr().astype(np.float32)


def count_documents(texts: Sequence[str]) -> sparse.csr_matrix:
    """The terms of each text, followed by those of its headline, which is its first line."""
    heads = [text.lstrip().split("\n", 1)[0][:LONGEST_HEAD] for text in texts]
    return sparse.hstack([count_terms(texts), count_heads(heads)]).tocsr()


def count_heads(texts: Sequence[str]) -> sparse.csr_matrix:
    """The terms of each headline; none if it is too short to say anything."""
    return count_terms([text if len(_words(text)) >= FEWEST_WORDS else "" for text in texts])


def no_documents() -> sparse.csr_matrix:
    return sparse.csr_matrix((0, 2 * TERMS), dtype=np.float32)


def _words(text: str) -> list[str]:
    return words(text[:LONGEST_TEXT].encode("utf-8", "replace").decode())


def rarities(counts: sparse.csr_matrix) -> NDArray[np.float32]:
    """The inverse document frequency of each term."""
    spread = np.bincount(counts.indices, minlength=TERMS)
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + spread)) + 1, dtype=np.float32)


def _weighed(counts: sparse.csr_matrix, rarity: NDArray[np.float32]) -> sparse.csr_matrix:
    """(1 + ln count) · idf; words and n-grams are scaled to length 1 separately."""
    rows = counts.astype(np.float64)
    rows.data = (1 + np.log(rows.data)) * rarity[rows.indices]
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    half = 2 * row + (rows.indices >= WIDTH)
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
    """The score from which on a document is on topic."""
    curve: tuple[float, float]
    """Slope and intercept of the log-odds over the score of a document."""
    head_curve: tuple[float, float]
    """Slope and intercept of what a headline adds to the log-odds, over its score."""
    doubt: str
    """Why there is no verdict yet; empty if there is one."""

    def scores(self, counts: sparse.csr_matrix) -> FloatArray:
        """The scores of texts by their terms; further columns are ignored."""
        return np.asarray(_weighed(counts[:, :TERMS], self.rarity) @ self.slopes + self.intercept, dtype=np.float64)

    def probability(self, score: float) -> float:
        slope, intercept = self.curve
        return float(expit(slope * score + intercept))

    def verdict(self, score: float, share: float = 0.0) -> Verdict:
        """Whether a text with this score is on topic. `share` is that of the list where it was found: the greater it
        is, the lower is the threshold.
        """
        if self.doubt:
            return Verdict.UNSURE
        more, slope = float(logit(min(max(share, PLAIN), MOST)) - logit(PLAIN)), self.curve[0]
        return Verdict.ON if score >= self.threshold - (more / slope if slope else 0.0) else Verdict.OFF

    def odds(self, heads: Sequence[str]) -> FloatArray:
        """The factor by which each headline changes the odds of its document; 1 if it says nothing."""
        if self.doubt:
            return np.ones(len(heads))
        counts, (slope, intercept) = count_heads(heads), self.head_curve
        most = np.log(MOST_ODDS)
        found = np.exp(np.clip(slope * self.scores(counts) + intercept, -most, most))
        return np.where(np.diff(counts.indptr) > 0, found, 1.0)

    def telling(self, text: str, most: int = 8) -> list[tuple[str, float]]:
        """The words of a text that speak most for or against the topic, the strongest first.

        The score of each n-gram is shared among the words that contain it, so that the words add up to the score of the
        text.
        """
        counts = count_terms([text])
        if not counts.nnz:
            return []
        parts = _weighed(counts, self.rarity).multiply(self.slopes).tocsr()
        each = np.zeros(TERMS)
        each[counts.indices] = 1 / counts.data
        each[parts.indices] *= parts.data
        each[np.setdiff1d(counts.indices, parts.indices)] = 0
        known, times = np.unique(np.array(_words(text)), return_counts=True)
        shares = np.asarray(count_terms(known.tolist()) @ each).ravel() * times
        order = np.argsort(-np.abs(shares), kind="stable")[:most]
        return [(str(known[place]), float(shares[place])) for place in order if shares[place]]


@dataclass(frozen=True, slots=True)
class FocusLesson:
    """All that a lesson learns from, as rows of `count_documents`. It is fixed, so that it can be learned beside the
    crawl.
    """

    examples: sparse.csr_matrix
    refused: sparse.csr_matrix
    """What people have marked as off topic."""
    documents: sparse.csr_matrix
    """Documents of the crawl, unlabelled."""
    marked: BoolArray
    """Which of the examples were marked by people."""
    hidden: NDArray[np.int64]
    """Terms that do not count: those of the query, if it selected the examples."""
    precision: float
    could_tell: bool
    """Whether a verdict was possible after the previous lesson."""

    def learn(self) -> Topic:
        """Fits, cross-validates, and chooses the threshold."""
        few, labelled = self.examples.shape[0], self.examples.shape[0] + self.refused.shape[0]
        counts = sparse.vstack([self.examples, self.refused, self.documents]).tocsr()
        rarity = rarities(counts[:, :TERMS])
        rarity[self.hidden] = 0.0
        rows = _weighed(counts[:, :TERMS], rarity)
        likeness = (rows[labelled:] @ rows[:few].T).max(axis=1).toarray().ravel() / 2
        kept = np.append(np.arange(labelled), labelled + np.flatnonzero(likeness < COPY))
        counts, rows = counts[kept], rows[kept]
        sides, among = np.zeros(rows.shape[0], dtype=np.int64), np.unique(rows.indices)
        sides[:few] = 1
        rows, weights = rows[:, among], self._weights(len(sides))
        unseen = _unseen(_fits(rows, sides, weights), rows)
        others = unseen[labelled:]
        unclear = others >= max(np.quantile(unseen[:few], LIKELY), np.quantile(others, 1 - MOST_LIKELY))
        weights[labelled:][unclear] = 0
        others = _unseen(_fits(rows, sides, weights), rows)[labelled:]
        sure = np.argsort(-others, kind="stable")[: min(few, int((others >= 0).sum()))]
        sides[labelled + sure], weights[labelled + sure] = 1, 1
        fits = _fits(rows, sides, weights)
        unseen = _unseen(fits, rows)
        own, refused, others = np.split(unseen, [few, labelled])
        middle = float(np.median(others))
        width = max(1.4826 * float(np.median(np.abs(others - middle))), 1e-12)  # what is on topic hardly counts
        threshold = min(float(np.quantile(own, max(0.0, self.precision - STRICT))), middle + ALWAYS * width)
        threshold = _above_refused(threshold, own[self.marked], refused, self.precision)
        doubt = ""
        if len(self.hidden) and (own >= threshold).mean() < LEAST_MATCHES:
            doubt = "too few of the documents that match the query have something in common"
        elif not _is_confirmed(own[self.marked], refused, threshold, self.precision):
            agreed = STILL_AGREED if self.could_tell else AGREED
            if threshold < middle + CLEARLY * width and self._agreement(rows) < agreed:
                doubt = "the examples are too few, or have too little in common"
        said = np.diff(counts[:, TERMS:].indptr) > 0
        heads = _unseen(fits, _weighed(counts[:, TERMS:], rarity)[:, among])
        on = (unseen >= threshold) | (sides == 1)
        slopes = np.zeros(TERMS, dtype=np.float32)
        slopes[among] = np.mean([fit.slopes for fit in fits], axis=0)
        intercept = float(np.mean([fit.intercept for fit in fits]))
        head_curve = _odds_curve(heads[said & on], heads[said & ~on])
        return Topic(rarity, slopes, intercept, threshold, _chance_curve(own, others, threshold), head_curve, doubt)

    def _weights(self, rows: int) -> FloatArray:
        """The weights of rows; those that people have refused count five times."""
        weights, few = np.ones(rows), self.examples.shape[0]
        weights[few : few + self.refused.shape[0]] = 5.0
        return weights

    def _agreement(self, rows: sparse.csr_matrix) -> float:
        """The correlation between the scores that documents get by one half of the examples and by the other half."""
        few, scores = self.examples.shape[0], []
        weights, documents = self._weights(rows.shape[0]), rows.shape[0] - few - self.refused.shape[0]
        for half in (0, 1):
            kept = np.concatenate([np.arange(few)[half::2], np.arange(few, len(weights))])
            fits = _fits(rows[kept], (kept < few).astype(np.int64), weights[kept])
            scores.append(_unseen(fits, rows[kept])[-documents:])
        first, second = (one - one.mean() for one in scores)
        return float(first @ second / max(np.sqrt((first @ first) * (second @ second)), 1e-12))


class _Fit(NamedTuple):
    """A regression that has not seen some of the rows."""

    left_out: BoolArray
    slopes: FloatArray
    intercept: float


def _fits(rows: sparse.csr_matrix, sides: NDArray[np.int64], weights: FloatArray) -> list[_Fit]:
    """One regression for each fold, from the rows that have a weight; both sides weigh the same.

    Each fold has its share of both sides, and rows that follow each other: a story and its next version are not
    independent.
    """
    from sklearn.linear_model import LogisticRegression

    known, on = weights > 0, sides == 1
    folds, dealt, fits = min(_FOLDS, *np.bincount(sides[known]).tolist()), np.full(len(sides), -1), []
    weights = np.where(on, weights[~on].sum() / on.sum(), weights)
    for side in (0, 1):
        own = np.flatnonzero(known & (sides == side))
        dealt[own] = np.arange(len(own)) * folds // len(own)
    for fold in range(folds):
        kept = known & (dealt != fold)
        model = LogisticRegression(C=_SMOOTH, max_iter=1000, solver="liblinear", dual=True, random_state=0)
        model.fit(rows[kept], sides[kept], sample_weight=weights[kept])
        fits.append(_Fit(~kept, model.coef_[0], float(model.intercept_[0])))
    return fits


def _unseen(fits: Sequence[_Fit], rows: sparse.csr_matrix) -> FloatArray:
    """For each row its mean score by the regressions that have not seen it."""
    scores, times = np.zeros((2, rows.shape[0]))
    for fit in fits:
        scores[fit.left_out] += rows[fit.left_out] @ fit.slopes + fit.intercept
        times += fit.left_out
    return np.asarray(scores / times, dtype=np.float64)


def _above_refused(threshold: float, marked: FloatArray, refused: FloatArray, wanted: float) -> float:
    """The threshold, raised until the marked documents above it have the precision asked for, too."""
    for score in np.sort(refused[refused >= threshold]):
        yes, no = (marked >= threshold).sum(), (refused >= threshold).sum()
        if yes >= wanted * (yes + no):
            break
        threshold = float(np.nextafter(score, np.inf))
    return threshold


def _is_confirmed(marked: FloatArray, refused: FloatArray, threshold: float, wanted: float) -> bool:
    """Whether people have marked enough documents above the threshold, and found them precise enough."""
    yes, no = int((marked >= threshold).sum()), int((refused >= threshold).sum())
    return yes + no >= 2 * FEWEST_EXAMPLES and yes >= wanted * (yes + no)


def _chance_curve(own: FloatArray, others: FloatArray, threshold: float) -> tuple[float, float]:
    """Slope and intercept of the log-odds of being on topic.

    Documents below the threshold are taken to be off topic; documents on topic are assumed to pass as often as the
    examples do.
    """
    slope, intercept = _odds_curve(own, others[others < threshold])
    share = ((others >= threshold).sum() + 0.5) / (len(others) + 1) / max(0.1, (own >= threshold).mean())
    return slope, intercept + float(logit(min(share, 0.9)))


def _odds_curve(on: FloatArray, off: FloatArray) -> tuple[float, float]:
    """Slope and intercept of what a score adds to the log-odds, for two normal distributions of the same width; 0 if
    there are too few scores.
    """
    if min(len(on), len(off)) < 2:
        return 0.0, 0.0
    high, low = float(on.mean()), float(off.mean())
    width = max((float(on.var(ddof=1)) + float(off.var())) / 2, 0.01)
    slope = max(0.0, (high - low) / width)
    return slope, -slope * (high + low) / 2
