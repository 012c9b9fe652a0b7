import numpy as np
import pytest
from scipy import sparse

from forager.core.states import PrTFIDF


def naive(counts: np.ndarray, labels: np.ndarray, classes: int, document: np.ndarray) -> np.ndarray:
    """P(C|d) = Σ_w P(w|C) P(C) / P(w) · P(w|d), word by word, as the formula stands."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    out = np.zeros(classes)
    known = document * (shares.sum(axis=0) > 0)
    for c in range(classes):
        if not (labels == c).any():
            continue
        for w in np.flatnonzero(known):
            in_class = shares[labels == c].mean(axis=0)[w]
            out[c] += in_class * (labels == c).mean() / shares.mean(axis=0)[w] * known[w] / known.sum()
    return out


def test_two_small_classes_as_worked_out_by_hand() -> None:
    # class 0: "a a b" and "a b": P(a|0) = (2/3 + 1/2)/2 = 7/12; class 1: "b": P(b|1) = 1. P(0) = 2/3, P(1) = 1/3.
    # P(a) = 7/18, P(b) = 5/18 + 6/18 = 11/18. P(0|a) = 1, P(0|b) = (5/12 · 2/3)/(11/18) = 5/11.
    counts = sparse.csr_matrix(np.array([[2.0, 1.0], [1.0, 1.0], [0.0, 1.0]]))
    model = PrTFIDF.of(counts, np.array([0, 0, 1]), 2)
    assert model.of_word == pytest.approx(np.array([[1, 0], [5 / 11, 6 / 11]]))
    # "a b b b": 1/4 · 1 + 3/4 · 5/11 = 13/22
    assert model.posteriors(sparse.csr_matrix([[1.0, 3.0]])) == pytest.approx(np.array([[13 / 22, 9 / 22]]))


def test_it_matches_the_formula_on_random_documents_and_rows_sum_to_one() -> None:
    rng = np.random.default_rng(4)
    counts = rng.poisson(0.7, (40, 25)).astype(float)
    counts[:, 0] += 1  # no empty document
    counts[:, 24] = 0  # a word never seen in training
    labels = rng.integers(0, 5, 40)
    model = PrTFIDF.of(sparse.csr_matrix(counts), labels, 5)
    fresh = rng.poisson(0.7, (10, 25)).astype(float)
    fresh[:, 1] += 1
    found = model.posteriors(sparse.csr_matrix(fresh))
    assert found.sum(axis=1) == pytest.approx(np.ones(10), abs=1e-5)
    for row, document in zip(found, fresh, strict=True):
        assert row == pytest.approx(naive(counts, labels, 5, document), abs=1e-5)


def test_a_document_without_known_words_belongs_to_all_classes_alike() -> None:
    model = PrTFIDF.of(sparse.csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0]])), np.array([0, 1]), 2)
    assert model.posteriors(sparse.csr_matrix(np.array([[0.0, 0.0], [0.0, 5.0]]))).tolist() == [[0.5, 0.5]] * 2


def test_without_general_text_the_general_class_takes_an_even_share() -> None:
    counts = sparse.csr_matrix(np.eye(3))
    model = PrTFIDF.with_general(counts, np.array([0, 1, 2]), 3, None)
    # each word belongs to one cluster by 3/4 and to the general class by 1/4
    assert model.posteriors(sparse.csr_matrix([[0.0, 2.0, 0.0]])) == pytest.approx(np.array([[0, 0.75, 0, 0.25]]))


def test_general_text_takes_the_words_that_are_everywhere() -> None:
    counts = sparse.csr_matrix(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    general = sparse.csr_matrix(np.array([[2.0, 0.0, 0.0]] * 2))
    model = PrTFIDF.with_general(counts, np.array([0, 1]), 2, general)
    # word 0: 1/2 · 1/4 in each cluster, 1 · 1/2 in general text: 1/6, 1/6, 4/6; words 1 and 2 belong to their clusters
    assert model.of_word == pytest.approx(np.array([[1 / 6, 1 / 6, 4 / 6], [1, 0, 0], [0, 1, 0]]))
