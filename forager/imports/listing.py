"""What links alone tell of pages: which are lists, and when a page that was only linked to was shown first."""

import numpy as np

from forager.imports.stays import Versions
from forager.imports.values import Floats, Ids

LISTED = 5
"""So many links that were not there before must appear on a page, and it is a list."""


def lists(versions: Versions, rows: Ids, targets: Ids) -> Ids:
    """The pages on which new links keep appearing; `targets[i]` is linked from the version `rows[i]`."""
    if not len(rows):
        return np.empty(0, np.int64)
    page, time = versions.page[rows], versions.time[rows]
    span = int(targets.max()) + 1
    link, which = np.unique(page * span + targets, return_inverse=True)
    appeared = np.full(len(link), np.inf)
    np.minimum.at(appeared, which, time)
    owner = link // span
    begun = np.full(int(versions.page.max()) + 1, np.inf)
    np.minimum.at(begun, versions.page, versions.time)
    later = np.bincount(owner[appeared > begun[owner]], minlength=1)
    return np.flatnonzero(later >= LISTED)


def shown_first(versions: Versions, rows: Ids, targets: Ids) -> tuple[Ids, Floats]:
    """The pages without a version of their own, and when each was first linked to."""
    pages, which = np.unique(targets, return_inverse=True)
    first = np.full(len(pages), np.inf)
    np.minimum.at(first, which, versions.time[rows])
    own = np.isin(pages, versions.page)
    return pages[~own], first[~own]
