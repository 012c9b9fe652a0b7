"""The settings of reading pages, and what counts as a change of a page (design: bytes, main text, or a new link)."""

from dataclasses import dataclass
from enum import StrEnum

from forager.terms import LISTS, Kind
from forager.units import Count


@dataclass(frozen=True, slots=True)
class PagesSettings:
    """Limits that keep a hostile page cheap, and our name in pages."""

    max_links: Count = 5000
    """Maximum number of different links read from one page (ours)."""
    max_anchor: Count = 200
    """Maximum number of characters of an anchor text or title (ours)."""
    max_depth: Count = 512
    """Maximum depth of nested elements; deeper parts are cut off (ours; browsers have the same limit)."""
    robots_agent: str = "forager"
    """Our name in meta robots and X-Robots-Tag, under which pages may give us rules of our own (ours)."""


class Change(StrEnum):
    """Which difference between two versions counts."""

    AUTO = "auto"  # a new link for hubs, feeds and sitemaps; the main text for everything else
    BYTES = "bytes"
    TEXT = "text"
    LINKS = "links"


def has_changed(rule: Change, kind: Kind, *, bytes_differ: bool, text_differs: bool, new_links: int) -> bool:
    """Whether a later version of a page is a change; `new_links` counts links the page never had before."""
    if rule is Change.AUTO:
        rule = Change.LINKS if kind in LISTS else Change.TEXT
    if rule is Change.LINKS:
        return new_links > 0
    return text_differs if rule is Change.TEXT else bytes_differ
