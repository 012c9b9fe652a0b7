"""A warm start: archives give histories to pages that we never visited, so the first cycle of a crawl knows rates.

Each capture counts as a visit of the page, other content as a change. Captures not later than the last visit known are left
out, so the same archive can be given again when a crawl goes on.
"""

from collections.abc import Iterable

import numpy as np

from forager.core.page_table import PageTable
from forager.engine.scope import Scope
from forager.recrawl.change_log import Captured
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Channel, Url, UrlId

HOUR = 3600.0
BATCH = 1000
"""Pages entered into the store at once."""


async def warm_up(captured: Iterable[Captured], store: Store, table: PageTable, scope: Scope) -> tuple[int, int]:
    """Enter the captures of all pages that belong to the crawl; how many pages and captures that were."""
    pages = captures = 0
    batch: list[Captured] = []
    for one in captured:
        url = Url(one.url)
        if store.find(url) is not None or not scope.objection(url, 1):
            batch.append(one)
        if len(batch) == BATCH:
            pages, captures = pages + len(batch), captures + await _enter(batch, store, table)
            batch = []
    return pages + len(batch), captures + await _enter(batch, store, table)


async def _enter(batch: list[Captured], store: Store, table: PageTable) -> int:
    found = [
        Found(Url(one.url), Channel.ARCHIVE, float(one.when[0]), depth=1, due=float(one.when[-1])) for one in batch
    ]
    captures = 0
    for id, one in zip(await store.put(found), batch, strict=True):
        new = one.when > table.history.last(id)
        captures += int(np.count_nonzero(new))
        _note(id, one.when[new].tolist(), one.changed[new].tolist(), table)
        watched = np.minimum(np.diff(one.when[new]), table.max_age).sum() / HOUR
        table.foretell(id, float(watched), float(np.count_nonzero(one.changed[new][1:])))
    return captures


def _note(id: UrlId, when: list[float], changed: list[bool], table: PageTable) -> None:
    for at, saw in zip(when, changed, strict=True):
        table.recall(np.array([id]), np.array([at]), np.array([saw]))
