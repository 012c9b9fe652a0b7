"""The two stores agree whatever is done to them, and closing and opening again changes no decision."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from forager.store.protocol import Found, Lease, Version, Visit
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Trouble, Url, UrlId, Validators

T = TypeVar("T")
TIMES = st.integers(0, 20).map(float)
HOSTS = st.sampled_from(["a", "b", "c:81"])
PRINTS = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
VERSIONS = st.builds(
    Version, st.sampled_from(Kind), PRINTS, PRINTS, PRINTS, title=st.text(max_size=3), text=st.text(max_size=9)
)


class TwoStores(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.directory = Path(tempfile.mkdtemp())
        self.memory = Store()
        self.disk = self.run(Store.open(self.directory))
        self.leases: list[Lease] = []

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(call)

    def stores(self) -> tuple[Store, Store]:
        return self.memory, self.disk

    def number(self, draw: int) -> UrlId:
        return UrlId(draw % max(1, self.memory.counts().known))

    @rule(urls=st.lists(st.tuples(HOSTS, st.integers(0, 5), st.none() | TIMES), max_size=5))
    def put(self, urls: list[tuple[str, int, float | None]]) -> None:
        found = [Found(Url(f"https://{host}/{page}"), Channel.LINK, 1.0, due=due) for host, page, due in urls]
        one, other = (self.run(store.put(found)) for store in self.stores())
        assert one == other

    @rule(count=st.integers(0, 5), now=TIMES, seconds=st.integers(1, 9))
    def lease(self, count: int, now: float, seconds: int) -> None:
        one, other = (self.run(store.lease(count, now, seconds=seconds)) for store in self.stores())
        assert one == other
        self.leases += one

    @rule(draws=st.lists(st.integers(0, 17), max_size=3), now=TIMES)
    def lease_by_name(self, draws: list[int], now: float) -> None:
        only = [self.number(draw) for draw in draws] if self.memory.counts().known else []
        one, other = (self.run(store.lease(9, now, seconds=5, only=only)) for store in self.stores())
        assert one == other
        self.leases += one

    @rule()
    def release(self) -> None:
        for store in self.stores():
            self.run(store.release(self.leases[-2:]))

    @rule(
        draw=st.integers(0, 17),
        at=TIMES,
        due=st.none() | TIMES,
        outcome=st.sampled_from(Outcome),
        trouble=st.sampled_from(Trouble),
        changed=st.booleans(),
        etag=st.text(max_size=3),
        version=st.none() | VERSIONS,
    )
    def ack(self, draw: int, at: float, etag: str, **learned: Any) -> None:
        if self.memory.counts().known:
            visit = Visit(self.number(draw), at, validators=Validators(etag, "d"), **learned)
            one, other = (self.run(store.ack(visit)) for store in self.stores())
            assert one == other

    @rule(host=HOSTS, state=st.binary(max_size=3))
    def note_host(self, host: str, state: bytes) -> None:
        async def note(store: Store) -> dict[str, bytes]:
            store.note_host(host, state)
            return await store.noted_hosts()

        one, other = (self.run(note(store)) for store in self.stores())
        assert one == other

    @rule()
    def settle_the_first(self) -> None:
        for version in self.run(self.memory.unsettled())[:1]:
            for store in self.stores():
                self.run(store.settle(version, None))

    @rule()
    def close_and_open_again(self) -> None:
        """Leases end with the process, so the store in memory is given its own back."""
        self.run(self.disk.close())
        self.disk = self.run(Store.open(self.directory))
        self.run(self.memory.release(self.leases))
        self.leases = []

    @rule(now=TIMES)
    def ask(self, now: float) -> None:
        assert self.memory.next_due(now) == self.disk.next_due(now)

    @invariant()
    def they_agree(self) -> None:
        counts = self.memory.counts()
        assert counts == self.disk.counts()
        assert counts.known == counts.pending + counts.leased + counts.done
        for id in map(UrlId, range(counts.known)):
            assert self.memory.known(id) == self.disk.known(id)
            assert self.memory.find(self.memory.url(id)) == id

    def teardown(self) -> None:
        async def history(store: Store) -> tuple[list[Visit], list[Any]]:
            ids = map(UrlId, range(store.counts().known))
            return [visit async for visit in store.visits()], [await store.versions(id) for id in ids]

        one, other = (self.run(history(store)) for store in self.stores())
        assert one == other
        for number in self.run(self.memory.unsettled()):
            assert self.run(self.memory.version(number)) == self.run(self.disk.version(number))
        self.run(self.disk.close())
        self.runner.close()
        shutil.rmtree(self.directory)


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
