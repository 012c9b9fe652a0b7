"""Turns at a host: shares are kept while both sides wait, and nothing is left unused."""

import asyncio
from collections import Counter

from forager.clock import run_virtual
from forager.engine.world import Shares


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
