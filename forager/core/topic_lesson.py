"""A lesson of the focus: from examples and the documents of a crawl it learns which texts are on topic, and which links
promise one.

A document is its words and the character n-grams of its words, hashed, as TF-IDF; n-grams tell inflected words, compounds
and scripts without spaces apart. Logistic regression holds the examples against the latest documents of the crawl itself,
which are mostly off topic, but not all (learning from positive and unlabelled examples). With a query alone, the documents
that match it are the examples, and its own words are hidden from the regression: what else these documents have in
common is the topic, and if they have nothing in common, nothing is learned.

Copies of the examples are left out of the documents. Those that score like an example are likely on topic and are not held
against the topic; of them those that a second regression is sure of become examples of the third, but no more than were
given: so a topic follows the news. What came one after the other stays in one part of a cross-validation, because a story and
its next version know each other.

By cross-validation, examples and documents get scores from a regression that has not seen them; new texts are judged by
the mean of these regressions, so that their scores compare. The threshold is the score that a part of the examples misses,
a greater part for a higher precision. No estimate of the precision of what passes stands behind that: from thirty examples
it was wrong by factors of two and three both ways, because a topic that is near looks like this one. The part was chosen on
topics of the Reuters newswire, where .71 to .78 came out on average for .8; in crawls of other weeks .65, of topics with near
relatives less.
A score far above all documents is always enough. The topic is doubted if the threshold is not clearly above the documents,
and two halves of the examples disagree: the scores that they give to documents hardly go together. How many of the documents
that would pass by one half pass by the other as well is no guide: of a topic that is common too many pass to be the same ones.

A document's probability is a logistic curve over its score, from the means and variances of the examples and of the
documents below the threshold, and from the share of the documents that pass.

The threshold is for what stands anywhere. A document on a list that is mostly on topic is likelier to be so before a word of
it is read: the odds of the list's share (see `topic_map`), against those of a share that says nothing yet, lower the
threshold by what a text would have to say for as much.

A link has few words, and they say less than a document. What they say is learned from the headlines of documents above and
below the threshold, which the same regressions score: by how much such a score changes the odds.
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
"""Characters of a document that are judged."""
LONGEST_HEAD = 200
"""Characters of a headline that are judged …"""
FEWEST_WORDS = 3
"""… and words without which neither it nor a link says anything."""
FEWEST_EXAMPLES = 5
"""Examples, given, marked or matched by the query, without which nothing is fitted."""
STRICT = 0.45
"""The precision asked for, less this, is the part of the examples that misses the threshold: .35 for .8."""
LIKELY = 0.15
"""Documents are likely on topic, and not held against the examples, if they score more than this share of the examples …"""
MOST_LIKELY = 0.5
"""… but no more than this share of the documents."""
COPY = 0.9
"""A document this much like an example is the example, and not one of the documents that are mostly off topic."""
LEAST_MATCHES = 0.3
"""A threshold that fewer of the documents reach that match a query is none: too few of them have something in common."""
ALWAYS, CLEARLY = 8.0, 2.5
"""Standard deviations above the documents where a score is always enough, and where a threshold needs no further check …"""
AGREED, STILL_AGREED = 0.8, 0.65
"""… and otherwise the correlation of the documents' scores by two halves of the examples; the first until it can tell, then the
second, so that it does not waver."""
PLAIN, MOST = 0.2, 0.8
"""A list of which a greater share than this is on topic speaks for what it shows, but no more than with this one (ours)."""
MOST_ODDS = 30.0
"""The words of a link change its odds by no more than this factor."""

WIDTH = 2**18
"""Numbers of hashed words; as many of hashed n-grams come after them."""
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
    """The terms of each text, and after them those of its headline, which is its first line."""
    heads = [text.lstrip().split("\n", 1)[0][:LONGEST_HEAD] for text in texts]
    return sparse.hstack([count_terms(texts), count_heads(heads)]).tocsr()


def count_heads(texts: Sequence[str]) -> sparse.csr_matrix:
    """The terms of each headline, none of one that is too short to say anything."""
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
    """(1 + ln count) · idf; words and n-grams are unit vectors each."""
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
    """Slope and intercept of the log-odds over the score of a document …"""
    head_curve: tuple[float, float]
    """… and of what a headline adds to them, over its score."""
    doubt: str
    """Why it cannot tell yet; empty if it can."""

    def scores(self, counts: sparse.csr_matrix) -> FloatArray:
        """Of texts, by their terms; what follows them does not count."""
        return np.asarray(_weighed(counts[:, :TERMS], self.rarity) @ self.slopes + self.intercept, dtype=np.float64)

    def probability(self, score: float) -> float:
        slope, intercept = self.curve
        return float(expit(slope * score + intercept))

    def verdict(self, score: float, share: float = 0.0) -> Verdict:
        """`share` is that of the list where the document was found; the greater its odds, the less the text must say."""
        if self.doubt:
            return Verdict.UNSURE
        more, slope = float(logit(min(max(share, PLAIN), MOST)) - logit(PLAIN)), self.curve[0]
        return Verdict.ON if score >= self.threshold - (more / slope if slope else 0.0) else Verdict.OFF

    def odds(self, heads: Sequence[str]) -> FloatArray:
        """The factor by which each headline changes the odds of what it stands for; 1 if it says nothing."""
        if self.doubt:
            return np.ones(len(heads))
        counts, (slope, intercept) = count_heads(heads), self.head_curve
        most = np.log(MOST_ODDS)
        found = np.exp(np.clip(slope * self.scores(counts) + intercept, -most, most))
        return np.where(np.diff(counts.indptr) > 0, found, 1.0)

    def telling(self, text: str, most: int = 8) -> list[tuple[str, float]]:
        """The words of a text that speak most for or against the topic, the strongest first.

        The parts of a text are shared among the words that they stand in, so that these add up to its score.
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
    """All that is learned from, of one moment, in rows of `count_documents`: it can be learned beside the crawl."""

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
    could_tell: bool
    """After the lesson before."""

    def learn(self) -> Topic:
        """Fit, cross-validate, choose the threshold."""
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
        """What people have refused counts five times."""
        weights, few = np.ones(rows), self.examples.shape[0]
        weights[few : few + self.refused.shape[0]] = 5.0
        return weights

    def _agreement(self, rows: sparse.csr_matrix) -> float:
        """The correlation of the scores that documents get by one half of the examples with those by the other half."""
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
    """One regression for each fold, of the rows that have a weight; both sides weigh the same.

    Every fold has its share of both sides, and what came one after the other: a story and its next version are not told apart
    by chance.
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
    """The mean score of each row by the regressions that have not seen it."""
    scores, times = np.zeros((2, rows.shape[0]))
    for fit in fits:
        scores[fit.left_out] += rows[fit.left_out] @ fit.slopes + fit.intercept
        times += fit.left_out
    return np.asarray(scores / times, dtype=np.float64)


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


def _chance_curve(own: FloatArray, others: FloatArray, threshold: float) -> tuple[float, float]:
    """Slope and intercept of the log-odds of being on topic.

    Off topic are the documents below the threshold; of those on topic, as large a part passes as of the examples.
    """
    slope, intercept = _odds_curve(own, others[others < threshold])
    share = ((others >= threshold).sum() + 0.5) / (len(others) + 1) / max(0.1, (own >= threshold).mean())
    return slope, intercept + float(logit(min(share, 0.9)))


def _odds_curve(on: FloatArray, off: FloatArray) -> tuple[float, float]:
    """Slope and intercept of what a score adds to the log-odds: two normal curves of the same width; 0 of too few."""
    if min(len(on), len(off)) < 2:
        return 0.0, 0.0
    high, low = float(on.mean()), float(off.mean())
    width = max((float(on.var(ddof=1)) + float(off.var())) / 2, 0.01)
    slope = max(0.0, (high - low) / width)
    return slope, -slope * (high + low) / 2
