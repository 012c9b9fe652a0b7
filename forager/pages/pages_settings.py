"""The settings of reading pages."""

from dataclasses import dataclass

from forager.units import Count


@dataclass(frozen=True, slots=True)
class PagesSettings:
    """Caps that keep a hostile page cheap, and the name by which pages address us."""

    max_links: Count = 5000
    """Different links read from one page; the rest is ignored (ours)."""
    max_anchor: Count = 200
    """Characters kept of an anchor text or title (ours)."""
    max_depth: Count = 512
    """Nested elements at most; a page is cut where it goes deeper (ours; browsers stop there too)."""
    robots_agent: str = "forager"
    """The name under which meta robots and X-Robots-Tag may give us rules of our own (ours)."""
