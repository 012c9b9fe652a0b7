"""PrTFIDF: a probabilistic reading of TFIDF classification (Joachims 1997).

P(C|d) = Σ_w P(C|w) P(w|d) with P(C|w) = P(w|C) P(C) / P(w). P(w|d) are the word shares of the document, P(w|C) the mean
of the word shares of the documents of C.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class PrTFIDF:
    """P(C|w) for every known word; the last class is general text."""

    def __init__(self, of_word: NDArray[np.float32]) -> None:
        self.of_word = of_word
        """Words × classes; a row of a word never seen in training is all 0."""

    @classmethod
    def of(cls, counts: sparse.csr_matrix, labels: NDArray[np.int64], classes: int) -> "PrTFIDF":
        """Trained on documents with their classes, 0 … classes − 1; the general class is among them."""
        shares, kept = word_shares(counts)
        return cls(_posterior(_joint(shares, labels[kept], classes)))

    @classmethod
    def with_general(
        cls, counts: sparse.csr_matrix, labels: NDArray[np.int64], clusters: int, general: sparse.csr_matrix | None
    ) -> "PrTFIDF":
        """Clusters and one class more for general text.

        Without general documents that class is made of the mean of all documents, with the weight of one class: it
        then takes the same share of every document and says nothing.
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

    def posteriors(self, counts: sparse.csr_matrix) -> NDArray[np.float32]:
        """P(C|d): documents × classes, rows sum to 1. Unknown words are left out; without known ones all are alike."""
        known = self.of_word.any(axis=1)
        lengths = np.asarray(counts @ known.astype(np.float32)).ravel()
        sums = np.asarray(counts @ self.of_word)
        shares: NDArray[np.float32] = np.where(
            lengths[:, None] > 0, sums / np.maximum(lengths, 1)[:, None], np.float32(1 / self.classes)
        ).astype(np.float32)
        return shares


def word_shares(counts: sparse.csr_matrix) -> tuple[sparse.csr_matrix, NDArray[np.bool_]]:
    """P(w|d) of the documents that have words, and which ones they are."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    kept = lengths > 0
    return sparse.csr_matrix(sparse.diags(1 / lengths[kept]) @ counts[kept]), kept


def _joint(shares: sparse.csr_matrix, labels: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """P(w|C) P(C): classes × words."""
    count = len(labels)
    member = sparse.csr_matrix((np.ones(count), (labels, np.arange(count))), shape=(classes, count))
    return np.asarray((member @ shares).todense(), dtype=np.float64) / max(1, count)


def _posterior(joint: NDArray[np.float64]) -> NDArray[np.float32]:
    """P(C|w): words × classes."""
    word = joint.sum(axis=0)
    return np.ascontiguousarray((joint / np.where(word > 0, word, 1.0)).T.astype(np.float32))
