"""What tables alone tell of pages: which are lists, when a page that was only linked to was shown first, and what makes a
document new."""

import numpy as np

from forager.imports.stays import Versions
from forager.imports.values import Floats, Ids
from forager.world.tape.columns import SETTLING

LISTED = 5
"""So many links that were not there before must appear on a page, and it is a list."""


def lists(versions: Versions, rows: Ids, targets: Ids) -> Ids:
    """The pages on which new links keep appearing; `targets[i]` is linked from the version `rows[i]`."""
    page, _ = _later_links(versions, rows, targets)
    return np.flatnonzero(np.bincount(page, minlength=1) >= LISTED)


def shown_first(versions: Versions, rows: Ids, targets: Ids) -> tuple[Ids, Floats]:
    """The pages without a version of their own, and when each was first linked to."""
    pages, which = np.unique(targets, return_inverse=True)
    first = np.full(len(pages), np.inf)
    np.minimum.at(first, which, versions.time[rows])
    own = np.isin(pages, versions.page)
    return pages[~own], first[~own]


def told_identity(versions: Versions, rows: Ids, targets: Ids) -> str:
    """What makes a document new, if nothing is dated: its `text`, if more pages changed theirs without new links than new
    pages came; else its `url`, or its first `link` if most new pages were only linked to."""
    if versions.published is not None or not len(versions):
        return "url"
    start = versions.time.min() + SETTLING
    own, begun = np.unique(versions.page), _first(versions.page, versions.time)
    came, linked = int((begun[own] > start).sum()), int((shown_first(versions, rows, targets)[1] > start).sum())
    order = np.lexsort((versions.time, versions.text, versions.page))
    page, text, time = versions.page[order], versions.text[order], versions.time[order]
    new = np.append(True, (page[1:] != page[:-1]) | (text[1:] != text[:-1])) & (time > begun[page])
    listed, at = _later_links(versions, rows, targets)
    told = set(zip(listed.tolist(), at.tolist(), strict=True))
    changes = sum(pair not in told for pair in zip(page[new].tolist(), time[new].tolist(), strict=True))
    if changes > came + linked:
        return "text"
    return "link" if linked > came else "url"


def _later_links(versions: Versions, rows: Ids, targets: Ids) -> tuple[Ids, Floats]:
    """Page and time of every link that appeared on a page after its first version."""
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0)
    span = int(targets.max()) + 1
    link, which = np.unique(versions.page[rows] * span + targets, return_inverse=True)
    appeared = _first(which, versions.time[rows])
    page = link // span
    later = appeared > _first(versions.page, versions.time)[page]
    return page[later], appeared[later]


def _first(of: Ids, time: Floats) -> Floats:
    """The first time of each number."""
    first = np.full(int(of.max()) + 1, np.inf)
    np.minimum.at(first, of, time)
    return first
