"""Focus: is a document on the topic of the crawl? The topic is given by a query, by example documents, or by both.

Three rules, the best that what is at hand allows:

1. *query*: the share of the query's words that the document has; the rarer a word among the documents read so far, the
   more it counts.
2. *cosine*, with examples and little to compare them with: TF-IDF cosine to the mean of the examples, as a share of
   what the examples themselves reach on average.
3. *classifier*, as soon as there are documents of the crawl to compare with: logistic regression on TF-IDF, the examples
   against those documents. Without examples, the documents that half match the query take their part. It is fitted
   again whenever the number of documents has doubled, the last time at `background`.

A document is on topic if its probability, or its share, reaches the threshold; with a query, either will do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from forager.core.agent_settings import FocusSettings
from forager.core.packed import array_text, pack, text_array, unpack
from forager.core.states import Vocabulary, words

LONGEST_TEXT = 10_000
"""Characters of a document that are judged."""
FIRST_FIT = 25
"""Documents to compare with at the first fit."""
FEWEST_EXAMPLES = 5
"""Examples, given or matched by the query, without which nothing is fitted."""

MOST_OTHERS = 0.2
"""A classifier learned from a query alone that lets more than this share of the other documents pass is not used: the
documents that matched had too little in common."""

_FORM = 1
_WORDS = 30_000
_SMOOTH = 10.0  # scikit-learn's C
_BREAK = "\x00"


class _TfIdf:
    """Unit vectors of (1 + ln count) · idf, with idf = ln((1 + n) / (1 + texts with the word)) + 1."""

    def __init__(self, vocabulary: Vocabulary, idf: NDArray[np.float64]) -> None:
        self.vocabulary, self.idf = vocabulary, idf

    @classmethod
    def of(cls, texts: Sequence[str]) -> "_TfIdf":
        vocabulary = Vocabulary.of(texts, limit=_WORDS, least=1)
        spread = np.asarray((vocabulary.counts(texts) > 0).sum(axis=0), dtype=np.float64).ravel()
        return cls(vocabulary, np.log((1 + len(texts)) / (1 + spread)) + 1)

    def rows(self, texts: Sequence[str]) -> sparse.csr_matrix:
        weighted = sparse.csr_matrix(self.vocabulary.counts(texts), dtype=np.float64)
        weighted.data = (1 + np.log(weighted.data)) * self.idf[weighted.indices]
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        return sparse.csr_matrix(sparse.diags(1 / np.maximum(lengths, 1e-12)) @ weighted)

    def rarity(self, known: Sequence[str]) -> NDArray[np.float64]:
        """The idf of each word; a word that stands in no text is the rarest."""
        places = {word: place for place, word in enumerate(self.vocabulary.words)}
        rarest = float(self.idf.max(initial=1.0))
        return np.array([self.idf[places[word]] if word in places else rarest for word in known])


class Focus:
    """Judges documents as they are read, and learns from them what is off topic. A verdict once given stays."""

    def __init__(self, settings: FocusSettings, examples: Sequence[str] = ()) -> None:
        self.settings = settings
        self.fits = 0
        """How often the classifier was fitted."""
        self._query = sorted(set(words(settings.query)))
        self._examples = [text[:LONGEST_TEXT] for text in examples]
        self._background: list[str] = []
        self._on_topic: set[int] = set()
        self._tfidf = _TfIdf.of(self._examples)
        self._rarity = np.ones(len(self._query))
        self._slopes: NDArray[np.float64] | None = None
        """Of the classifier; then its intercept, and what an example may reach. None until it is fitted."""
        self._centre, self._own = self._middle()

    def __repr__(self) -> str:
        return f"<Focus by {self.rule}, {len(self._on_topic)} documents on topic>"

    @property
    def rule(self) -> str:
        """What decides now."""
        first = "classifier" if self._slopes is not None else "cosine" if self._examples else ""
        return " or ".join(filter(None, (first, "query" if self._query else "")))

    def on_topic(self, version: int) -> bool:
        """The verdict on a document that was read before."""
        return version in self._on_topic

    def of(self, text: str) -> float:
        """How much on topic a text is, from 0 to 1."""
        return float(self._scores([text[:LONGEST_TEXT]])[0])

    def read(self, version: int, text: str) -> bool:
        """Judge a document, then learn from it."""
        text = text[:LONGEST_TEXT]
        verdict = self.of(text) >= self.settings.threshold
        if verdict:
            self._on_topic.add(version)
        self._learn(text)
        return verdict

    def _learn(self, text: str) -> None:
        if len(self._background) >= self.settings.background:
            return
        self._background.append(text)
        count = len(self._background)
        doubled = count >= FIRST_FIT and (count // FIRST_FIT).bit_count() == 1 and count % FIRST_FIT == 0
        if doubled or count == self.settings.background:
            self._fit()

    def _fit(self) -> None:
        self._tfidf = _TfIdf.of([*self._examples, *self._background])
        self._rarity = self._tfidf.rarity(self._query)
        self._centre, self._own = self._middle()
        matched = self._matches(self._background) >= self.settings.threshold / 2
        positive = self._examples or [text for text, match in zip(self._background, matched, strict=True) if match]
        negative = [text for text, match in zip(self._background, matched, strict=True) if not match]
        if len(positive) >= FEWEST_EXAMPLES and negative:
            slopes, accepted = _logistic(self._tfidf.rows(positive), self._tfidf.rows(negative))
            self._slopes = slopes if self._examples or accepted <= MOST_OTHERS else None
            self.fits += 1
        else:
            self._slopes = None

    def _scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        learned = np.zeros(len(texts))
        if self._slopes is not None or self._examples:
            rows = self._tfidf.rows(texts)
            if self._slopes is not None:
                slopes, (intercept, reach) = self._slopes[:-2], self._slopes[-2:]
                learned = np.minimum(1.0, 1 / (1 + np.exp(-(rows @ slopes + intercept))) / reach)
            else:
                learned = np.minimum(1.0, rows @ self._centre / max(self._own, 1e-12))
        return np.maximum(learned, self._matches(texts))

    def _matches(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The share of the query's words in each text, by their rarity; 0 without a query."""
        if not self._query:
            return np.zeros(len(texts))
        has = np.array([[word in found for word in self._query] for found in (set(words(text)) for text in texts)])
        return np.asarray(has @ self._rarity / self._rarity.sum(), dtype=np.float64).reshape(len(texts))

    def _middle(self) -> tuple[NDArray[np.float64], float]:
        """The direction of the examples' mean, and the cosine that they have to it on average."""
        if not self._examples:
            return np.zeros(len(self._tfidf.vocabulary)), 1.0
        rows = self._tfidf.rows(self._examples)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        mean /= max(float(np.linalg.norm(mean)), 1e-12)
        return mean, float((rows @ mean).mean())

    def save(self) -> bytes:
        """Verdicts, and all that decides the next ones."""
        arrays: dict[str, NDArray[np.generic]] = {
            "on_topic": np.array(sorted(self._on_topic), dtype=np.int64),
            "examples": text_array(_BREAK.join(self._examples)),
            "background": text_array(_BREAK.join(self._background)),
            "words": text_array("\n".join(self._tfidf.vocabulary.words)),
            "idf": self._tfidf.idf,
            "rarity": self._rarity,
            "fits": np.array(self.fits),
        }
        if self._slopes is not None:
            arrays["slopes"] = self._slopes
        return pack("focus", _FORM, arrays)

    @classmethod
    def load(cls, saved: bytes, settings: FocusSettings) -> "Focus":
        """As it was, with the examples it had; the verdicts stay even if the query is another one now."""
        held = unpack("focus", _FORM, saved)
        focus = cls(settings, _texts(held["examples"]))
        focus._on_topic = set(np.asarray(held["on_topic"], dtype=np.int64).tolist())
        focus._background = _texts(held["background"])
        if len(held["rarity"]) != len(focus._query):
            focus._fit()
            return focus
        focus._tfidf = _TfIdf(
            Vocabulary(array_text(held["words"]).split("\n")), np.asarray(held["idf"], dtype=np.float64)
        )
        focus._rarity = np.asarray(held["rarity"], dtype=np.float64)
        focus._slopes = np.asarray(held["slopes"], dtype=np.float64) if "slopes" in held else None
        focus._centre, focus._own = focus._middle()
        focus.fits = int(held["fits"])
        return focus


def _texts(saved: NDArray[np.generic]) -> list[str]:
    return array_text(saved).split(_BREAK) if len(saved) else []


def _logistic(positive: sparse.csr_matrix, negative: sparse.csr_matrix) -> tuple[NDArray[np.float64], float]:
    """Slopes and intercept of a logistic regression, both sides weighing the same, and what an example may reach.

    Beside them, the share of the others that would pass at half of that. What an example may reach is the mean
    probability of examples that the fit has not seen, by cross-validation. The documents of the crawl are not all off
    topic, and examples are few, so that it is well below 1; probabilities are given as shares of it (Elkan and Noto
    2008, learning from positive and unlabelled examples).
    """
    from sklearn.linear_model import LogisticRegression  # slow to import, and few crawls have a focus
    from sklearn.model_selection import cross_val_predict

    sides = np.repeat([1, 0], [positive.shape[0], negative.shape[0]])
    rows = sparse.vstack([positive, negative]).tocsr()
    regression = LogisticRegression(class_weight="balanced", C=_SMOOTH, max_iter=1000)
    unseen = cross_val_predict(regression, rows, sides, cv=min(5, *np.bincount(sides)), method="predict_proba")
    regression.fit(rows, sides)
    reach = float(unseen[sides == 1, 1].mean())
    accepted = float((unseen[sides == 0, 1] >= reach / 2).mean())
    return np.concatenate([regression.coef_[0], regression.intercept_, [reach]]), accepted
