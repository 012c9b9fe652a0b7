"""Optional traps for crawlers: places where a crawl can continue forever without finding a story.

There are two endless calendars, search facets that can be combined, an archive with a hundred thousand pages, a maze of
folders, and pages that say *not found* with status 200. The last trap is links with a visitor number, which change with
every rendering and are added with the other noise; they all show the home page.
"""

from datetime import date, timedelta
from urllib.parse import parse_qs, parse_qsl, urlencode

from forager.newsroom.noise import token

Links = tuple[tuple[str, str], ...]

FACETS = {
    "sort": ("new", "old", "read"),
    "form": ("text", "video", "audio"),
    "length": ("short", "long"),
    "show": ("10", "50"),
}
LAST_PAGE = 100_000
PLACES = {
    "/calendar/": "calendar",
    "/events/": "calendar in folders",
    "/search?": "facets",
    "/archive?": "pagination",
    "/browse/": "maze",
    "/old/": "soft 404",
    "/?sid=": "session",
    "/?visitor=": "session",
}
_DOORS = (
    ("/calendar/2026-03-02", "Calendar"),
    ("/events/2026/03/02/", "Events"),
    ("/search?sort=new", "Search"),
    ("/archive?page=1", "Archive"),
    ("/browse/all/", "Browse"),
    ("/old/index", "Old site"),
)


def footer_links(traps: bool) -> Links:
    """A link that robots.txt forbids and, with traps, the links into them."""
    forbidden = (("/internal/login", "Staff"),)
    return forbidden + _DOORS if traps else forbidden


def visitor_links(mark: str) -> str:
    """HTML links that carry a visitor number: under a well-known parameter name, and under an unknown one."""
    return f'<a href="/?sid={mark}">Your account</a> <a href="/?visitor={mark}">Home</a> '


def trap_links(path: str, query: str) -> Links:
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
            for facet, values in FACETS.items()
            for value in values
        )
    if path == "/archive":
        text = parse_qs(query).get("page", ["1"])[0]
        page = int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 1
        others = (page - 1, page + 1, page + 2, page + 10)
        return tuple((f"/archive?page={other}", f"Page {other}") for other in others if 1 <= other <= LAST_PAGE)
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
