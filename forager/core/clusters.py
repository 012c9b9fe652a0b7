"""PDDP: principal direction divisive partitioning (Boley 1998), written from its description.

All documents are one cluster at first. Again and again the cluster with the largest scatter is cut in two by the plane
through its centroid, orthogonal to its principal direction. Centred matrices are never formed: only sparse products.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_ROUNDS = 60  # of the power iteration; a direction need not be exact to cut well
_SETTLED = 1e-5


def pddp(documents: sparse.csr_matrix, count: int) -> NDArray[np.int64]:
    """The cluster of each row, 0 … count − 1; fewer clusters if no more can be cut apart. Deterministic."""
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
            scatters[widest] = 0.0  # cannot be split
            continue
        leaves[widest], scatters[widest] = members[~right], scatter(rows[members[~right]])
        leaves.append(members[right])
        scatters.append(scatter(rows[members[right]]))
    for label, members in enumerate(leaves):
        labels[members] = label
    return labels


def unit_rows(documents: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows scaled to unit Euclidean length; empty ones stay empty."""
    rows = sparse.csr_matrix(documents, dtype=np.float64)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(lengths, 1e-300)) @ rows)


def scatter(rows: sparse.csr_matrix) -> float:
    """Σ‖dᵢ − c‖² around the centroid c, as Σ‖dᵢ‖² − n‖c‖²; 0 for a single document or equal ones."""
    if rows.shape[0] < 2:
        return 0.0
    centroid = np.asarray(rows.mean(axis=0)).ravel()
    spread = float(rows.multiply(rows).sum() - rows.shape[0] * dot(centroid, centroid))
    return spread if spread > 1e-9 * rows.shape[0] else 0.0


def cut(rows: sparse.csr_matrix) -> NDArray[np.bool_]:
    """Which rows lie on the positive side of the centroid along the principal direction."""
    centroid = np.asarray(rows.mean(axis=0)).ravel()
    direction = principal(rows, centroid)
    side: NDArray[np.bool_] = rows @ direction - dot(centroid, direction) > 1e-12
    return side


def principal(rows: sparse.csr_matrix, centroid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The leading right singular vector of the centred rows, by power iteration from the row farthest out."""
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


def dot(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The inner product without threads: waking them for every product costs more than it saves."""
    return float(np.einsum("i,i->", one, other))
