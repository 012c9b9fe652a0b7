"""The frames between a crawl and the processes that fetch for it."""

import asyncio
import socket

from forager.world.fetching_jobs import LENGTH, Frames, Outbox


class Counting(asyncio.Protocol):
    """Notes what arrives."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)


async def connected() -> tuple[asyncio.Transport, asyncio.Transport, Counting]:
    """Both ends of a connection, and what listens at the second."""
    ours, theirs = socket.socketpair()
    loop, counting = asyncio.get_running_loop(), Counting()
    sender, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
    receiver, _ = await loop.create_connection(lambda: counting, sock=theirs)
    return sender, receiver, counting


def test_the_records_of_one_round_of_the_loop_go_together() -> None:
    async def work() -> None:
        sender, receiver, counting = await connected()
        outbox = Outbox(sender)
        for record in (b"one", b"", b"three"):
            outbox.put(record)
        await asyncio.sleep(0.05)
        assert len(counting.pieces) == 1
        assert list(map(bytes, Frames().fed(counting.pieces[0]))) == [b"one", b"", b"three"]
        outbox.put(b"later")
        await asyncio.sleep(0.05)
        assert counting.pieces[1:] == [LENGTH.pack(5) + b"later"]
        sender.close()
        receiver.close()

    asyncio.run(work())


def test_nothing_is_sent_over_a_connection_that_ends_in_the_same_round() -> None:
    async def work() -> None:
        sender, receiver, counting = await connected()
        Outbox(sender).put(b"too late")
        sender.close()
        await asyncio.sleep(0.05)
        assert counting.pieces == []
        receiver.close()

    asyncio.run(work())


def test_a_frame_may_arrive_in_pieces() -> None:
    frames, sent = Frames(), LENGTH.pack(3) + b"abc" + LENGTH.pack(2) + b"de"
    assert [[bytes(record) for record in frames.fed(sent[at : at + 4])] for at in range(0, len(sent), 4)] == [
        [], [b"abc"], [], [b"de"]
    ]  # fmt: skip
