"""Text -> state vector: PrTFIDF over text clusters, without general text, squeezed by tanh (Alg 2).

Words are counted with a vocabulary learned from texts, or, before there is one, by hashing.

PDDP, principal direction divisive partitioning (Boley 1998), finds the clusters. It repeatedly cuts the cluster with
the largest scatter in two, with the plane through its centroid orthogonal to its principal direction; no centred matrix
is needed. PrTFIDF, a probabilistic form of TFIDF (Joachims 1997), measures how near a text is to each cluster: P(C|d) =
Σ_w P(C|w) P(w|d) with P(C|w) = P(w|C) P(C) / P(w). P(w|d) is the share of a word in the document, P(w|C) the mean share
of the word in the documents of C.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from forager.arrays import BoolArray, Float32Array, FloatArray, IntArray
from forager.core.packed import array_text, pack, text_array, unpack
from forager.core.parameters import StateSettings
from forager.errors import InputError

_ROUNDS = 60  # rounds of the power iteration; an approximate direction cuts well enough
_SETTLED = 1e-5


def pddp(documents: sparse.csr_matrix, count: int) -> IntArray:
    """The cluster of each row, 0 … count − 1; fewer clusters if no more can be separated. Deterministic."""
    rows = unit_rows(documents)
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    leaves = [np.arange(rows.shape[0])]
    scatters = [scatter(rows)]
    while len(leaves) < count:
        widest = int(np.argmax(scatters))
        if scatters[widest] <= 0:
            break
        members = leaves[widest]
        right = cut(rows[members])
        if right.all() or not right.any():
            scatters[widest] = 0.0  # this cluster cannot be split
            continue
        leaves[widest], scatters[widest] = members[~right], scatter(rows[members[~right]])
        leaves.append(members[right])
        scatters.append(scatter(rows[members[right]]))
    for label, members in enumerate(leaves):
        labels[members] = label
    return labels


def unit_rows(documents: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows scaled to length 1; empty rows stay empty."""
    rows = sparse.csr_matrix(documents, dtype=np.float64)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(lengths, 1e-300)) @ rows)


def scatter(rows: sparse.csr_matrix) -> float:
    """Σ‖dᵢ − c‖² around the centroid c, computed as Σ‖dᵢ‖² − n‖c‖²; 0 for a single document or for equal ones."""
    if rows.shape[0] < 2:
        return 0.0
    centroid = np.asarray(rows.mean(axis=0)).ravel()
    spread = float(rows.multiply(rows).sum() - rows.shape[0] * dot(centroid, centroid))
    return spread if spread > 1e-9 * rows.shape[0] else 0.0


def cut(rows: sparse.csr_matrix) -> BoolArray:
    """Which rows lie on the positive side of the centroid along the principal direction."""
    centroid = np.asarray(rows.mean(axis=0)).ravel()
    direction = principal(rows, centroid)
    side: BoolArray = rows @ direction - dot(centroid, direction) > 1e-12
    return side


def principal(rows: sparse.csr_matrix, centroid: FloatArray) -> FloatArray:
    """The leading right singular vector of the centred rows, by power iteration that starts at the outermost row."""
    closeness = 2 * (rows @ centroid) - np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    direction = np.asarray(rows[int(np.argmin(closeness))].todense()).ravel() - centroid
    across = sparse.csr_matrix(rows.T)
    direction /= max(dot(direction, direction) ** 0.5, 1e-300)
    for _ in range(_ROUNDS):
        projected = rows @ direction - dot(centroid, direction)
        following = across @ projected - centroid * projected.sum()
        length = dot(following, following) ** 0.5
        if length == 0.0:
            break
        following /= length
        moved = float(np.abs(following - direction).max())
        direction = following
        if moved < _SETTLED:
            break
    return direction


def dot(one: FloatArray, other: FloatArray) -> float:
    """Inner product on one thread, because starting threads for every product costs more than they save."""
    return float(np.einsum("i,i->", one, other))


class PrTFIDF:
    """P(C|w) for every known word; the last class is general text."""

    def __init__(self, of_word: Float32Array) -> None:
        self.of_word = of_word
        """Words × classes; the row of a word never seen in training is all 0."""

    @classmethod
    def of(cls, counts: sparse.csr_matrix, labels: IntArray, classes: int) -> "PrTFIDF":
        """Trains on documents with their classes, 0 … classes − 1, including the general class."""
        shares, kept = word_shares(counts)
        return cls(_posterior(_joint(shares, labels[kept], classes)))

    @classmethod
    def with_general(
        cls, counts: sparse.csr_matrix, labels: IntArray, clusters: int, general: sparse.csr_matrix | None
    ) -> "PrTFIDF":
        """Trains clusters and one more class for general text.

        Without general documents that class is the mean of all documents, with the weight of one class: it then takes
        the same share of every document and has no effect.
        """
        if general is not None and general.shape[0]:
            both = sparse.csr_matrix(sparse.vstack([counts, general]))
            return cls.of(both, np.concatenate([labels, np.full(general.shape[0], clusters)]), clusters + 1)
        shares, kept = word_shares(counts)
        joint = _joint(shares, labels[kept], clusters + 1)
        weight = 1 / (clusters + 1)
        mean = joint.sum(axis=0)
        joint *= 1 - weight
        joint[clusters] = weight * mean
        return cls(_posterior(joint))

    @property
    def classes(self) -> int:
        return int(self.of_word.shape[1])

    def posteriors(self, counts: sparse.csr_matrix) -> Float32Array:
        """P(C|d): documents × classes, each row adds up to 1. Unknown words are ignored; without known words all
        classes are equal.
        """
        known = self.of_word.any(axis=1)
        lengths = np.asarray(counts @ known.astype(np.float32)).ravel()
        sums = np.asarray(counts @ self.of_word)
        shares: Float32Array = np.where(
            lengths[:, None] > 0, sums / np.maximum(lengths, 1)[:, None], np.float32(1 / self.classes)
        ).astype(np.float32)
        return shares


def word_shares(counts: sparse.csr_matrix) -> tuple[sparse.csr_matrix, BoolArray]:
    """P(w|d) of the documents that have words, and which ones they are."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    kept = lengths > 0
    return sparse.csr_matrix(sparse.diags(1 / lengths[kept]) @ counts[kept]), kept


def _joint(shares: sparse.csr_matrix, labels: IntArray, classes: int) -> FloatArray:
    """P(w|C) P(C): classes × words."""
    count = len(labels)
    member = sparse.csr_matrix((np.ones(count), (labels, np.arange(count))), shape=(classes, count))
    return np.asarray((member @ shares).todense(), dtype=np.float64) / max(1, count)


def _posterior(joint: FloatArray) -> Float32Array:
    """P(C|w): words × classes."""
    word = joint.sum(axis=0)
    return np.ascontiguousarray((joint / np.where(word > 0, word, 1.0)).T.astype(np.float32))


_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]{{1,2}}|[^\W\d_{_IDEOGRAPHS}]{{2,}}")
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Runs of at least two letters in lower case, of any script; pairs of characters in scripts that write no spaces."""
    return _WORD.findall(text.lower())


def link_words(anchor: str, url: str) -> str:
    """What a link tells of its target: its anchor, and the path of its URL."""
    return f"{anchor} {_HOST.sub('', url)}"


class Vocabulary:
    """The known words, each with its column."""

    def __init__(self, known: Sequence[str]) -> None:
        self.words = tuple(known)
        self._columns = {word: column for column, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, texts: Iterable[str], *, limit: int, least: int) -> "Vocabulary":
        """The `limit` words that occur in most texts, and in at least `least`; alphabetically if equal."""
        spread: Counter[str] = Counter()
        for text in texts:
            spread.update(set(words(text)))
        ranked = sorted((-count, word) for word, count in spread.items() if count >= least)
        return cls([word for _, word in ranked[:limit]])

    def counts(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """How often each known word occurs in each text: texts × words."""
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


def hashed(texts: Sequence[str], dimension: int) -> Float32Array:
    """States before anything was learned: each word adds ±1 to the component given by its checksum; rows have length 1,
    or 0.
    """
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
"""Number of characters of a page that make its state; later ones add little."""


def document(title: str, text: str) -> str:
    """The text of a page from which its state is made."""
    return f"{title}\n{text}"[:LONGEST_TEXT]


class States:
    """Converts texts to states, by hashing until clusters were learned. Learned states never change; train others
    instead.
    """

    def __init__(
        self,
        settings: StateSettings,
        vocabulary: Vocabulary | None = None,
        classifier: PrTFIDF | None = None,
        version: int = 0,
        sample: Float32Array | None = None,
    ) -> None:
        self.settings = settings
        self.version = version
        """0 for hashed words; states of different versions cannot be compared."""
        self.sample = np.zeros((0, settings.dimension), dtype=np.float32) if sample is None else sample
        """States of some training texts; call `profit.check_rate` with them before use."""
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
        """Number of known words; 0 with hashing, where all count."""
        return 0 if self._vocabulary is None else len(self._vocabulary)

    def train(self, texts: Sequence[str], general: Sequence[str] = ()) -> "States":
        """Learns clusters from these texts; `general` is text of no particular topic, if there is any."""
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

    def of(self, texts: Sequence[str]) -> Float32Array:
        """A state for each text, all computed in one product; components from −1 to 1."""
        return self._read(texts)[0]

    def estimate(self, links: Sequence[str], linking: Float32Array) -> Float32Array:
        """Estimates the states of unvisited pages from the links to them (anchor and address) and the state of the
        linking page.

        `linking` is one state for all links of a page, or one row per link.
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

    def _read(self, texts: Sequence[str]) -> tuple[Float32Array, Float32Array]:
        """A state for each text, and the number of its known words."""
        if self._vocabulary is None or self._classifier is None:
            lengths = np.array([len(words(text)) for text in texts], dtype=np.float32)
            return hashed(texts, self.settings.dimension), lengths
        counts = self._vocabulary.counts(texts)
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float32).ravel()
        return self._squeezed(self._classifier.posteriors(counts)), lengths

    def _squeezed(self, posteriors: Float32Array) -> Float32Array:
        """tanh(c·(P(Cᵢ|A) − 1/(K+1))) for i = 1 … K; the general class is dropped."""
        even = 1 / posteriors.shape[1]
        squeezed: Float32Array = np.tanh(self.settings.scale * (posteriors[:, :-1] - even)).astype(np.float32)
        return squeezed


def tfidf(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """(1 + ln count) · idf, with idf = ln((1 + texts) / (1 + texts with the word)) + 1."""
    weighted = sparse.csr_matrix(counts, dtype=np.float64, copy=True)
    spread = np.bincount(weighted.indices, minlength=weighted.shape[1])
    idf = np.log((1 + weighted.shape[0]) / (1 + spread)) + 1
    weighted.data = (1 + np.log(weighted.data)) * idf[weighted.indices]
    return weighted
