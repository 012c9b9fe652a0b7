"""A run directory with very many known URLs, by the store's own rows and columns, ten thousand URLs at a time.

Asking the store for each of them takes 50 µs a URL; here it is a fifth of that, so that ten million take minutes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forager.core.page_table import PageTable
from forager.foragers.sighting import NO_LINKS, Sightings
from forager.store.batch import Batch
from forager.store.columns import Columns
from forager.store.loading import _add_states, _add_urls
from forager.store.protocol import Found, Visit
from forager.store.rows import Codec, Row, state_row, url_row, visit_row
from forager.store.sqlite import SqliteStore
from forager.terms import Channel, Outcome, Url, UrlId, Validators

BLOCK = 10_000


@dataclass(frozen=True, slots=True)
class Alike:
    """The rows of one URL that was visited once, as the store makes them; others differ in few cells."""

    url: Row
    state: Row
    visit: Row

    @classmethod
    def at(cls, now: float) -> "Alike":
        found = Found(Url("https://a.example/"), Channel.LINK, now, anchor="A headline of usual length", due=now)
        visit = Visit(UrlId(0), now, Outcome.FETCHED, 200, validators=validators(0), due=now + 3600)
        columns = Columns()
        columns.append(found)
        columns.visited(visit, 1, None)
        return cls(url_row(UrlId(0), found), state_row(UrlId(0), columns), visit_row(1, visit))

    def urls(self, ids: range, urls: list[Url]) -> list[Row]:
        return [(id, url, *self.url[2:]) for id, url in zip(ids, urls, strict=True)]

    def states(self, ids: range, seen: range) -> list[Row]:
        """`seen` holds the numbers of the visits."""
        row, date = self.state, validators(0).last_modified
        return [
            (id, *row[1:7], number, *row[8:11], f'{date}\n"{id:016x}"') for id, number in zip(ids, seen, strict=True)
        ]

    def visits(self, ids: range, seen: range) -> list[Row]:
        row = self.visit
        return [(number, id, *row[2:11], f'"{id:016x}"', *row[12:]) for id, number in zip(ids, seen, strict=True)]


def validators(id: int) -> Validators:
    return Validators(f'"{id:016x}"', "Fri, 17 May 2024 09:00:00 GMT")


def enter_many(store: SqliteStore, url: Callable[[int], Url], count: int, now: float, *, visited: bool = True) -> range:
    """Bring the store to so many known URLs, the new ones visited once or never; their numbers. Nothing may be under way."""
    ledger, codec, alike = store._ledger, Codec(), Alike.at(now)
    new = range(len(ledger.urls), count)
    for begin in range(new.start, new.stop, BLOCK):
        ids = range(begin, min(begin + BLOCK, new.stop))
        batch = Batch(urls=alike.urls(ids, [url(id) for id in ids]))
        cells = list(zip(*batch.urls, strict=True))
        _add_urls(ledger, *cells[:4], (-1,) * len(ids), *cells[5:8])
        if visited:
            seen = range(ledger.visits + 1, ledger.visits + 1 + len(ids))
            batch.states, batch.visits = alike.states(ids, seen), alike.visits(ids, seen)
            _add_states(ledger.columns, *zip(*batch.states, strict=True))
            ledger.visits += len(ids)
            ledger.outcomes[Outcome.FETCHED.value] += len(ids)
            batch.tallies = {f"outcome {Outcome.FETCHED.value}": ledger.outcomes[Outcome.FETCHED.value]}
        batch.write(store._connection, codec)
    ledger.turns.fill(np.array(ledger.columns.due), np.array(ledger.columns.seen))
    return new


def note_visits(statistics: PageTable, ids: range, now: float) -> None:
    """Enter one visit of each of these pages into the statistics."""
    statistics.reserve(ids.stop)
    none, no = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
    urls = np.arange(ids.start, ids.stop)
    statistics.visit_many(Sightings(urls, np.full(len(ids), now), none, no, no, none - 1, none, none, NO_LINKS, no))
