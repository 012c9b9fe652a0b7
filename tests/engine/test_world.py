"""Turns at a host: shares are kept while both sides wait, and nothing is left unused; and what a page of many links shows."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from forager.clock import LoopClock, WallClock, run_virtual
from forager.core.page_table import Introduced
from forager.engine.ingest import PIECE
from forager.engine.world import Shares, WebWorld
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Channel, Outcome, Request, Response, Url
from tests.engine.intake import ingest_for

T = TypeVar("T")


def _turns(share: float, askers: dict[int, int], seconds: float) -> Counter[int]:
    """Let so many askers of each side use one host for a while, one second a turn; the turns each side got."""

    async def main() -> Counter[int]:
        shares, got = Shares(share), Counter[int]()

        async def ask(side: int) -> None:
            while True:
                async with shares.turn("host", side):
                    got[side] += 1
                    await asyncio.sleep(1.0)

        try:
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for side, count in askers.items():
                    for _ in range(count):
                        group.create_task(ask(side))
        except TimeoutError:
            pass
        return got

    return run_virtual(main())


def test_while_both_sides_wait_each_gets_its_share() -> None:
    got = _turns(0.8, {0: 10, 1: 2}, 1000.5)
    assert abs(got[1] / sum(got.values()) - 0.8) < 0.03


def test_what_one_side_leaves_goes_to_the_other() -> None:
    assert _turns(0.8, {0: 3}, 100.5) == {0: 101}


def test_one_host_is_asked_one_at_a_time_and_hosts_do_not_wait_for_each_other() -> None:
    async def main() -> tuple[int, float]:
        shares, busy, most = Shares(0.5), Counter[str](), 0

        async def ask(host: str) -> None:
            nonlocal most
            async with shares.turn(host, 0):
                busy[host] += 1
                most = max(most, busy[host])
                await asyncio.sleep(1.0)
                busy[host] -= 1

        async with asyncio.TaskGroup() as group:
            for number in range(40):
                group.create_task(ask(f"host {number % 4}"))
        return most, asyncio.get_running_loop().time()

    assert run_virtual(main()) == (1, 10.0)  # 40 turns of a second at 4 hosts


def test_a_cancelled_waiter_gives_its_turn_away() -> None:
    async def main() -> bool:
        shares = Shares(0.5)

        async def ask() -> None:
            async with shares.turn("host", 0):
                await asyncio.sleep(1.0)

        async with asyncio.TaskGroup() as group:
            group.create_task(ask())
            await asyncio.sleep(0.1)
            waiting = group.create_task(ask())
            await asyncio.sleep(0.1)
            waiting.cancel()
            group.create_task(ask())
        async with asyncio.timeout(0.5), shares.turn("host", 1):
            return True

    assert run_virtual(main())


async def in_place(work: Callable[[], T]) -> T:
    """Not the one of simulated time, in which nothing is taken in pieces."""
    return work()


class Listing:
    """A web of one sitemap of a thousand pages."""

    async def fetch(self, request: Request) -> Response:
        entries = "".join(f"<url><loc>http://e.org/story-{one}</loc></url>" for one in range(1000))
        body = f"<urlset>{entries}</urlset>".encode()
        return Response(request.url, Outcome.FETCHED, 60.0, status=200, body=body)


def test_a_page_of_very_many_links_is_taken_in_whole_though_in_pieces() -> None:
    async def main() -> None:
        store, url = Store(), Url("http://e.org/sitemap.xml")
        (id,) = store.enter([Found(url, Channel.SEED, at=0.0, due=0.0)])
        ingest, pieces = ingest_for(store, [url], offload=in_place), []

        def addresses(begin: int) -> list[Introduced]:
            pieces.append(store.counts().known)
            return []

        ingest.table.addresses = addresses
        world = WebWorld(Listing(), ingest, LoopClock(100.0), Shares(0.5))
        async with world:
            (sighting,) = await world.visit([id])
        assert sighting.links.tolist() == [*range(1, 1001)]
        assert store.counts().known == 1001
        known_at = [1 + PIECE, 1 + 2 * PIECE, 1 + 3 * PIECE, 1 + 4 * PIECE]
        assert pieces == [*known_at, *(1001 for _ in known_at)]  # first links are entered, then their dates

    run_virtual(main())


class Articles:
    """A web in which every page is there at once."""

    async def fetch(self, request: Request) -> Response:
        return Response(request.url, Outcome.FETCHED, 60.0, status=200, body=f"<p>{request.url}</p>".encode())


async def test_of_pages_that_arrive_at_once_one_is_read_in_a_turn_of_the_loop() -> None:
    store, home = Store(), Url("http://e.org/")
    ids = store.enter([Found(Url(f"http://{n}.e.org/"), Channel.SEED, at=0.0, due=0.0) for n in range(20)])
    turn, read_in = 0, list[int]()
    ingest = ingest_for(store, [home], offload=in_place, on_page=lambda page: read_in.append(turn))
    world = WebWorld(Articles(), ingest, WallClock(), Shares(0.5))

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        counting = group.create_task(count_turns())
        async with world:
            await world.visit(ids)
        counting.cancel()
    assert len(read_in) == len(set(read_in)) == 20
    assert turn < 100
