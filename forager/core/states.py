"""Text -> state vector: PrTFIDF over text clusters, general text dismissed, squeezed by tanh (Alg 2).

Words are counted with a vocabulary learned from texts, or with none at all (hashing).
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from forager.core.classifier import PrTFIDF
from forager.core.clusters import pddp
from forager.core.packed import array_text, pack, text_array, unpack
from forager.core.parameters import StateSettings
from forager.errors import InputError

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]{{1,2}}|[^\W\d_{_IDEOGRAPHS}]{{2,}}")
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Runs of at least two letters in lower case, of any script; where words are not spaced, pairs of characters."""
    return _WORD.findall(text.lower())


def link_words(anchor: str, url: str) -> str:
    """What a link tells about its target: its anchor and the path of its URL, as one text."""
    return f"{anchor} {_HOST.sub('', url)}"


class Vocabulary:
    """The words that count, each with its column."""

    def __init__(self, known: Sequence[str]) -> None:
        self.words = tuple(known)
        self._columns = {word: column for column, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, texts: Iterable[str], *, limit: int, least: int) -> "Vocabulary":
        """The `limit` words that stand in most texts, and in no fewer than `least`; alphabetically if equal."""
        spread: Counter[str] = Counter()
        for text in texts:
            spread.update(set(words(text)))
        ranked = sorted((-count, word) for word, count in spread.items() if count >= least)
        return cls([word for _, word in ranked[:limit]])

    def counts(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """How often each known word stands in each text: texts × words."""
        columns: list[int] = []
        ends = [0]
        find = self._columns.get
        for text in texts:
            columns.extend(column for word in words(text) if (column := find(word)) is not None)
            ends.append(len(columns))
        counts = sparse.csr_matrix(
            (np.ones(len(columns), dtype=np.float32), np.asarray(columns, dtype=np.int32), np.asarray(ends)),
            shape=(len(texts), len(self)),
        )
        counts.sum_duplicates()
        return counts


def hashed(texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """States before anything is learned: a word adds ±1 to the component of its checksum; rows of length 1, or 0."""
    out = np.zeros((len(texts), dimension), dtype=np.float32)
    for row, text in zip(out, texts, strict=True):
        for word, count in Counter(words(text)).items():
            print_ = zlib.crc32(word.encode())
            row[print_ % dimension] += count if print_ & 0x8000_0000 else -count
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
    return out


_FORM = 2
_SAMPLE = 200
LONGEST_TEXT = 20_000
"""Characters of a page that make its state: what comes later says little more."""


def document(title: str, text: str) -> str:
    """What of a page makes its state."""
    return f"{title}\n{text}"[:LONGEST_TEXT]


class States:
    """From texts to states: hashed words until clusters are learned. A learned one never changes; train another."""

    def __init__(
        self,
        settings: StateSettings,
        vocabulary: Vocabulary | None = None,
        classifier: PrTFIDF | None = None,
        version: int = 0,
        sample: NDArray[np.float32] | None = None,
    ) -> None:
        self.settings = settings
        self.version = version
        """0 for hashed words; states of different versions cannot be compared."""
        self.sample = np.zeros((0, settings.dimension), dtype=np.float32) if sample is None else sample
        """States of some of the texts that these were learned from: `td.check_rate` of them before use."""
        self._vocabulary = vocabulary
        self._classifier = classifier

    def __repr__(self) -> str:
        learned = f"{len(self._vocabulary)} words" if self._vocabulary is not None else "hashed words"
        return f"<States version {self.version}: {self.settings.dimension} components of {learned}>"

    @property
    def trained(self) -> bool:
        return self._classifier is not None

    @property
    def words(self) -> int:
        """How many words are known; 0 for hashed words, where all are."""
        return 0 if self._vocabulary is None else len(self._vocabulary)

    def train(self, texts: Sequence[str], general: Sequence[str] = ()) -> "States":
        """Clusters learned from these texts; `general` is text of no particular topic, if there is any."""
        settings = self.settings
        vocabulary = Vocabulary.of([*texts, *general], limit=settings.vocabulary, least=settings.least_texts)
        if not len(vocabulary):
            raise InputError("these texts share no words: give more of them, or lower states.least_texts")
        counts = vocabulary.counts(texts)
        labels = pddp(tfidf(counts) if settings.weighting == "tfidf" else counts, settings.dimension)
        general_counts = vocabulary.counts(general) if general else None
        classifier = PrTFIDF.with_general(counts, labels, settings.dimension, general_counts)
        trained = States(settings, vocabulary, classifier, self.version + 1)
        trained.sample = trained.of(texts[:: -(-len(texts) // _SAMPLE)])
        return trained

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A state for each text, all in one product; components from −1 to 1."""
        return self._read(texts)[0]

    def estimate(self, links: Sequence[str], linking: NDArray[np.float32]) -> NDArray[np.float32]:
        """States of pages not yet seen, from what their links say (anchor and address) and the linking page's state.

        `linking` is one state for all links of a page, or one row for each.
        """
        told, known = self._read(links)
        share = (known / (known + np.float32(self.settings.link_words)))[:, None]
        return np.asarray(share * told + (1 - share) * linking, dtype=np.float32)

    def save(self) -> bytes:
        arrays: dict[str, NDArray[np.generic]] = {"version": np.array(self.version)}
        if self._vocabulary is not None and self._classifier is not None:
            arrays["words"] = text_array("\n".join(self._vocabulary.words))
            arrays["of_word"] = self._classifier.of_word
            arrays["sample"] = self.sample
        return pack("states", _FORM, arrays)

    @classmethod
    def load(cls, saved: bytes, settings: StateSettings) -> "States":
        held = unpack("states", _FORM, saved)
        version = int(held["version"])
        if "words" not in held:
            return cls(settings, version=version)
        classifier = PrTFIDF(np.asarray(held["of_word"], dtype=np.float32))
        if classifier.classes != settings.dimension + 1:
            raise InputError(
                f"saved states have {classifier.classes - 1} components, settings want {settings.dimension}: "
                "set states.dimension accordingly or train them again"
            )
        vocabulary, sample = Vocabulary(array_text(held["words"]).split("\n")), held["sample"]
        return cls(settings, vocabulary, classifier, version, np.asarray(sample, dtype=np.float32))

    def _read(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """A state for each text, and how many of its words are known."""
        if self._vocabulary is None or self._classifier is None:
            lengths = np.array([len(words(text)) for text in texts], dtype=np.float32)
            return hashed(texts, self.settings.dimension), lengths
        counts = self._vocabulary.counts(texts)
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float32).ravel()
        return self._squeezed(self._classifier.posteriors(counts)), lengths

    def _squeezed(self, posteriors: NDArray[np.float32]) -> NDArray[np.float32]:
        """tanh(c·(P(Cᵢ|A) − 1/(K+1))) for i = 1 … K; the general class is dropped."""
        even = 1 / posteriors.shape[1]
        squeezed: NDArray[np.float32] = np.tanh(self.settings.scale * (posteriors[:, :-1] - even)).astype(np.float32)
        return squeezed


def tfidf(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """(1 + ln count) · idf, with idf = ln((1 + texts) / (1 + texts with the word)) + 1."""
    weighted = sparse.csr_matrix(counts, dtype=np.float64, copy=True)
    spread = np.bincount(weighted.indices, minlength=weighted.shape[1])
    idf = np.log((1 + weighted.shape[0]) / (1 + spread)) + 1
    weighted.data = (1 + np.log(weighted.data)) * idf[weighted.indices]
    return weighted
