"""What changes on a page although its content does not: clock, advertisement, counter, token.

Noise and server trouble come from a keyed hash, not from a random stream, because the answer to a request must not
depend on earlier requests.
"""

from datetime import UTC, datetime
from hashlib import blake2b

SLOGANS = (
    "Mattresses that forgive. Now 20% off.",
    "Learn the accordion in nine days.",
    "Harbour cruises from 12.50.",
    "Your cat deserves better insurance.",
    "The quiet dishwasher is here.",
    "Fly to Marhaven before Friday.",
    "Soup, but delivered.",
    "One umbrella. Ten years.",
)


def lot(seed: int, *key: object) -> float:
    """A number in [0, 1) that depends only on the seed and the key."""
    return int.from_bytes(_digest(seed, key)) / 2**64


def token(seed: int, *key: object) -> str:
    """Sixteen hexadecimal digits that depend only on the seed and the key."""
    return _digest(seed, key).hex()


def _digest(seed: int, key: tuple[object, ...]) -> bytes:
    return blake2b("|".join(map(str, (seed, *key))).encode(), digest_size=8).digest()


def noise(seed: int, host: str, path: str, now: float, every: float) -> tuple[bytes, bytes, bytes, bytes]:
    """Clock, advertisement, view counter and token of a page in the current interval of `every` seconds."""
    turn = int(now // every)
    key = (host, path, turn)
    clock = datetime.fromtimestamp(turn * every, UTC).strftime("%A %-d %B %Y, %H:%M:%S")
    advertisement = SLOGANS[int(lot(seed, "ad", *key) * len(SLOGANS))]
    views = 100 + turn % 100_000 + int(50 * lot(seed, "views", *key))
    return clock.encode(), advertisement.encode(), f"{views:,}".encode(), token(seed, "token", *key).encode()
