"""Does what an open page of the dashboard does: listens to the stream, and asks for its page every two seconds.

python tests/bench/dashboard_watcher.py ADDRESS
"""

import asyncio
import sys

import aiohttp


async def watch(address: str) -> None:
    """Until killed."""
    async with aiohttp.ClientSession() as client, asyncio.TaskGroup() as group:
        group.create_task(_listen(client, address))
        while True:
            async with client.get(f"{address}api/now") as answer:
                await answer.read()
            await asyncio.sleep(2.0)


async def _listen(client: aiohttp.ClientSession, address: str) -> None:
    async with client.get(f"{address}api/stream", timeout=aiohttp.ClientTimeout()) as stream:
        async for _ in stream.content:
            pass


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1]))
