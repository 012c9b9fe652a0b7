"""A run directory with very many known URLs, by the store's own rows and columns, ten thousand URLs at a time.

Asking the store for each of them takes 50 µs a URL; here it is a fifth of that, so that ten million take minutes.
"""

from collections.abc import Callable

import numpy as np

from forager.core.page_table import PageTable
from forager.store.disk import Batch, Disk
from forager.store.protocol import Found, Visit
from forager.store.rows import Packer, versions_table
from forager.store.snapshot import FOUND, add_urls
from forager.store.store import Store
from forager.terms import Channel, Outcome, Url, UrlId, Validators

BLOCK = 10_000


def validators(id: int) -> Validators:
    return Validators(f'"{id:016x}"', "Fri, 17 May 2024 09:00:00 GMT")


async def enter_many(store: Store, url: Callable[[int], Url], count: int, now: float, *, visited: bool = True) -> range:
    """Bring the store to so many known URLs, the new ones visited once or never; their numbers. Nothing may be under way."""
    disk, ledger = store._archive, store._ledger
    assert isinstance(disk, Disk) and disk._writing is not None
    versions, new = versions_table(Packer()), range(len(ledger.urls), count)
    cells = {"found": now, "channel": Channel.LINK, "source": -1, "depth": 0, "published": None, "due": now}
    for begin in range(new.start, new.stop, BLOCK):
        ids = range(begin, min(begin + BLOCK, new.stop))
        urls = tuple(url(id) for id in ids)
        add_urls(ledger, tuple(ids), urls, [(cells[name],) * len(ids) for name in FOUND])
        anchor = "A headline of usual length"
        batch = Batch(
            urls=[
                (UrlId(id), Found(one, Channel.LINK, now, anchor=anchor, due=now))
                for id, one in zip(ids, urls, strict=True)
            ]
        )
        for id in ids if visited else ():
            visit = Visit(UrlId(id), now, Outcome.FETCHED, 200, validators=validators(id), due=now + 3600)
            ledger.visits += 1
            ledger.columns.visited(visit, ledger.visits, None)
            batch.learned[visit.id] = None
            batch.visits.append((ledger.visits, visit))
        if visited:
            ledger.outcomes[Outcome.FETCHED.value] += len(ids)
        batch.finish(ledger)
        await disk._writing.transact(batch.statements(versions))
    ledger.turns.fill(np.array(ledger.columns.due), np.array(ledger.columns.seen))
    return new


def note_visits(statistics: PageTable, ids: range, now: float) -> None:
    """Enter one visit of each of these pages into the statistics."""
    statistics.reserve(ids.stop)
    for id in ids:
        statistics.record(UrlId(id), now, version=id)
