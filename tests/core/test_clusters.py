import numpy as np
import pytest
from scipy import sparse

from forager.core.states import pddp, principal, scatter, unit_rows


def topics(count: int, each: int, rng: np.random.Generator) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Documents of 40 words, 30 of them from their topic's own ten words, ten from twenty that all share."""
    rows = []
    for topic in range(count):
        for _ in range(each):
            row = np.zeros(20 + 10 * count)
            np.add.at(row, rng.integers(0, 20, 10), 1)
            np.add.at(row, 20 + 10 * topic + rng.integers(0, 10, 30), 1)
            rows.append(row)
    return sparse.csr_matrix(np.array(rows)), np.repeat(np.arange(count), each)


def test_obvious_topics_are_told_apart() -> None:
    documents, truth = topics(3, 20, np.random.default_rng(0))
    labels = pddp(documents, 3)
    assert [len(set(labels[truth == topic].tolist())) for topic in range(3)] == [1, 1, 1]
    assert len(set(labels.tolist())) == 3


def test_of_many_topics_nearly_every_document_is_with_its_own() -> None:
    documents, truth = topics(8, 20, np.random.default_rng(0))
    labels = pddp(documents, 12)
    with_own = sum(np.bincount(truth[labels == label]).max() for label in range(12))
    assert with_own >= 0.9 * len(truth)  # a topic that lies in a cutting plane may lose some


def test_the_same_documents_give_the_same_clusters() -> None:
    documents, _ = topics(5, 10, np.random.default_rng(1))
    assert (pddp(documents, 12) == pddp(documents.copy(), 12)).all()


def test_equal_documents_are_never_cut_apart() -> None:
    documents = sparse.csr_matrix(np.array([[1.0, 0.0]] * 4 + [[0.0, 2.0]] * 3))
    labels = pddp(documents, 5)
    assert labels.tolist() in ([0] * 4 + [1] * 3, [1] * 4 + [0] * 3)


def test_empty_documents_and_an_empty_corpus_do_no_harm() -> None:
    assert len(set(pddp(sparse.csr_matrix((3, 4)), 2).tolist())) == 1
    assert pddp(sparse.csr_matrix((0, 4)), 2).tolist() == []


def test_scatter_is_the_sum_of_squared_distances_from_the_centroid() -> None:
    # (1, 0), (0, 1): centroid (.5, .5), each at squared distance .5
    assert scatter(sparse.csr_matrix(np.eye(2))) == pytest.approx(1.0)


def test_the_principal_direction_is_the_leading_singular_vector_of_the_centred_rows() -> None:
    rows = unit_rows(
        sparse.csr_matrix(np.random.default_rng(2).poisson(1.0, (30, 8)).astype(float) * [9, 5, 1, 1, 1, 1, 1, 1])
    )
    dense = rows.toarray()
    expected = np.linalg.svd(dense - dense.mean(axis=0))[2][0]
    assert abs(principal(rows, dense.mean(axis=0)) @ expected) == pytest.approx(1.0, abs=1e-4)
