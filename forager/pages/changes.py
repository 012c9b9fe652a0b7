"""What counts as a change of a page (design: bytes, main text, or a new link)."""

from enum import StrEnum

from forager.terms import Kind


class Change(StrEnum):
    """Which difference between two versions counts."""

    AUTO = "auto"  # a new link for hubs, feeds and sitemaps; the main text for everything else
    BYTES = "bytes"
    TEXT = "text"
    LINKS = "links"


def has_changed(rule: Change, kind: Kind, *, bytes_differ: bool, text_differs: bool, new_links: int) -> bool:
    """Whether a later version of a page is a change; `new_links` counts links the page never had before."""
    if rule is Change.AUTO:
        rule = Change.LINKS if kind in (Kind.HUB, Kind.FEED, Kind.SITEMAP) else Change.TEXT
    if rule is Change.LINKS:
        return new_links > 0
    return text_differs if rule is Change.TEXT else bytes_differ
