"""Two sides ask the same hosts: the fleet and the recrawl cycle. At each host they take turns by their shares.

A host has as many slots as it may have requests at once. While both sides wait for one, the side that got less than its
share goes first; what one side leaves unspent goes to the other.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

MEMORY = 0.98
"""Of each turn what was spent before counts this much less, so that an idle hour earns no monopoly later. Ours."""


@dataclass(slots=True)
class _Host:
    busy: int = 0
    spent: list[float] = field(default_factory=lambda: [0.0, 0.0])
    waiting: tuple[deque[asyncio.Future[None]], deque[asyncio.Future[None]]] = field(
        default_factory=lambda: (deque(), deque())
    )


class Shares:
    """Grants turns at hosts; side 0 is the fleet, side 1 the recrawl cycle."""

    def __init__(self, recrawl_share: float, slots: int = 1) -> None:
        self.weights = (1 - recrawl_share, recrawl_share)
        self.slots = slots
        self.turns = [0, 0]
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    def __repr__(self) -> str:
        return f"<Shares fleet {self.turns[0]} turns, recrawl {self.turns[1]}, {len(self._hosts)} hosts>"

    @asynccontextmanager
    async def turn(self, name: str, side: int) -> AsyncIterator[None]:
        """Hold a slot of the host; wait for it if need be."""
        host = self._hosts[name]
        if host.busy >= self.slots:
            waiter = asyncio.get_running_loop().create_future()
            host.waiting[side].append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._leave(host)  # the slot was granted in the same moment: hand it on
                raise
        else:
            host.busy += 1
        self._charge(host, side)
        try:
            yield
        finally:
            self._leave(host)

    def _charge(self, host: _Host, side: int) -> None:
        self.turns[side] += 1
        host.spent = [spent * MEMORY for spent in host.spent]
        host.spent[side] += 1

    def _leave(self, host: _Host) -> None:
        """Give the slot to the next in turn, or free it."""
        for side in sorted((0, 1), key=lambda side: host.spent[side] / max(self.weights[side], 1e-9)):
            queue = host.waiting[side]
            while queue:
                waiter = queue.popleft()
                if not waiter.done():
                    waiter.set_result(None)
                    return
        host.busy -= 1
