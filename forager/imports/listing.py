"""What tables alone tell of pages: which are lists, when a page that was only linked to was shown first, and what makes a
document new."""

import numpy as np

from forager.imports.stays import Versions
from forager.imports.values import Floats, Ids
from forager.world.tape.columns import SETTLING

LISTED = 5
"""So many links that were not there before must appear on a page, and it is a list."""


LaterLinks = tuple[Ids, Floats]
"""Page and time of every link that appeared on a page after its first version."""


def lists(later: LaterLinks) -> Ids:
    """The pages on which new links keep appearing."""
    return np.flatnonzero(np.bincount(later[0], minlength=1) >= LISTED)


def shown_first(versions: Versions, rows: Ids, targets: Ids) -> tuple[Ids, Floats]:
    """The pages without a version of their own, and when each was first linked to."""
    first = _first(targets, versions.time[rows])
    first[versions.page[versions.page < len(first)]] = np.inf
    pages = np.flatnonzero(first < np.inf)
    return pages, first[pages]


def told_identity(versions: Versions, rows: Ids, targets: Ids, later: LaterLinks) -> str:
    """What makes a document new, if nothing is dated: its `text`, if more pages changed theirs without new links than new
    pages came; else its `url`, or its first `link` if most new pages were only linked to."""
    if versions.published is not None or not len(versions):
        return "url"
    start = versions.time.min() + SETTLING
    begun = _first(versions.page, versions.time)
    came, linked = (
        int(((begun > start) & (begun < np.inf)).sum()),
        int((shown_first(versions, rows, targets)[1] > start).sum()),
    )
    order = np.lexsort((versions.time, versions.text, versions.page))
    page, text, time = versions.page[order], versions.text[order], versions.time[order]
    new = np.append(True, (page[1:] != page[:-1]) | (text[1:] != text[:-1])) & (time > begun[page])
    told = set(zip(later[0].tolist(), later[1].tolist(), strict=True))
    changes = sum(pair not in told for pair in zip(page[new].tolist(), time[new].tolist(), strict=True))
    if changes > came + linked:
        return "text"
    return "link" if linked > came else "url"


def later_links(versions: Versions, rows: Ids, targets: Ids) -> LaterLinks:
    """The links that appeared later; `targets[i]` is linked from the version `rows[i]`, the versions are in order."""
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0)
    count = len(versions)
    target, row = np.divmod(np.sort(targets * count + rows), count)
    page = versions.page[row]
    first = np.append(True, (target[1:] != target[:-1]) | (page[1:] != page[:-1]))
    page, time = page[first], versions.time[row[first]]
    later = time > _first(versions.page, versions.time)[page]
    return page[later], time[later]


def _first(of: Ids, time: Floats) -> Floats:
    """The first time of each number; inf where there is none."""
    first = np.full(int(of.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, of, time)
    return first
