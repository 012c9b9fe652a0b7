"""Traps for crawlers, on demand: a calendar without end, and search facets that can be combined for ever.

Session numbers in links, the third trap, change with every rendering and are put on a page with the other noise.
"""

from datetime import date, timedelta
from urllib.parse import parse_qsl, urlencode

Links = tuple[tuple[str, str], ...]

FACETS = {
    "sort": ("new", "old", "read"),
    "form": ("text", "video", "audio"),
    "length": ("short", "long"),
    "show": ("10", "50"),
}


def footer_links(traps: bool) -> Links:
    """A door that robots.txt forbids and, with traps, the ways into them."""
    forbidden = (("/internal/login", "Staff"),)
    return (*forbidden, ("/calendar/2026-03-02", "Calendar"), ("/search?sort=new", "Search")) if traps else forbidden


def trap_links(path: str, query: str) -> Links:
    """Where a trap page leads; nothing if the path is no trap."""
    if path.startswith("/calendar/"):
        try:
            day = date.fromisoformat(path.removeprefix("/calendar/"))
            days = (day - timedelta(1), day + timedelta(1), day + timedelta(7))
        except (ValueError, OverflowError):
            return ()
        return tuple((f"/calendar/{other}", f"{other:%-d %B %Y}") for other in days)
    if path == "/search":
        chosen = dict(parse_qsl(query))
        return tuple(
            (f"/search?{urlencode(chosen | {facet: value})}", f"{facet}: {value}")
            for facet, values in FACETS.items()
            for value in values
        )
    return ()
