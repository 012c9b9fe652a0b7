"""What disturbs a crawler: noise, which changes a page although its content does not, and optional traps.

Noise and server trouble come from a keyed hash, not from a random stream, because the answer to a request must not
depend on earlier requests.

A trap is a place where a crawl can continue forever without finding a story: two endless calendars, search facets that
can be combined, an archive with a hundred thousand pages, a maze of folders, and pages that say *not found* with status
200. The last trap is links with a visitor number, which change with every rendering; they all show the home page.
"""

from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from urllib.parse import parse_qs, parse_qsl, urlencode

_SLOGANS = (
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
    """Returns a number in [0, 1) that depends only on the seed and the key."""
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
    advertisement = _SLOGANS[int(lot(seed, "ad", *key) * len(_SLOGANS))]
    views = 100 + turn % 100_000 + int(50 * lot(seed, "views", *key))
    return clock.encode(), advertisement.encode(), f"{views:,}".encode(), token(seed, "token", *key).encode()


_Links = tuple[tuple[str, str], ...]

_FACETS = {
    "sort": ("new", "old", "read"),
    "form": ("text", "video", "audio"),
    "length": ("short", "long"),
    "show": ("10", "50"),
}
_LAST_PAGE = 100_000
_DOORS = (
    ("/calendar/2026-03-02", "Calendar"),
    ("/events/2026/03/02/", "Events"),
    ("/search?sort=new", "Search"),
    ("/archive?page=1", "Archive"),
    ("/browse/all/", "Browse"),
    ("/old/index", "Old site"),
)


def footer_links(traps: bool) -> _Links:
    """Returns a link that robots.txt forbids and, with traps, the links into them."""
    forbidden = (("/internal/login", "Staff"),)
    return forbidden + _DOORS if traps else forbidden


def visitor_links(mark: str) -> str:
    """HTML links that carry a visitor number: under a well-known parameter name, and under an unknown one."""
    return f'<a href="/?sid={mark}">Your account</a> <a href="/?visitor={mark}">Home</a> '


def trap_links(path: str, query: str) -> _Links:
    """Links of a trap page; none if the path is no trap."""
    if path.startswith("/calendar/"):
        return tuple((f"/calendar/{day}", f"{day:%-d %B %Y}") for day in _days(path.removeprefix("/calendar/")))
    if path.startswith("/events/"):
        days = _days(path.removeprefix("/events/").rstrip("/").replace("/", "-"))
        return tuple((f"/events/{day:%Y/%m/%d}/", f"Events of {day:%-d %B %Y}") for day in days)
    if path == "/search":
        chosen = dict(parse_qsl(query))
        return tuple(
            (f"/search?{urlencode(chosen | {facet: value})}", f"{facet}: {value}")
            for facet, values in _FACETS.items()
            for value in values
        )
    if path == "/archive":
        text = parse_qs(query).get("page", ["1"])[0]
        page = int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 1
        others = (page - 1, page + 1, page + 2, page + 10)
        return tuple((f"/archive?page={other}", f"Page {other}") for other in others if 1 <= other <= _LAST_PAGE)
    if path.startswith("/browse/"):
        return tuple((f"{path}{name}/", f"Shelf {name}") for name in _names(path, 3))
    if path.startswith("/old/"):
        return tuple((f"/old/{name}", f"Perhaps you were looking for {name}?") for name in _names(path, 3))
    return ()


def _days(text: str) -> tuple[date, ...]:
    """Neighbours of a day: the day before and after it, and a week later."""
    try:
        day = date.fromisoformat(text)
        return day - timedelta(1), day + timedelta(1), day + timedelta(7)
    except (ValueError, OverflowError):
        return ()


def _names(path: str, count: int) -> tuple[str, ...]:
    return tuple(token(0, path, number)[:6] for number in range(count))
