"""Settings of reading pages."""

from dataclasses import dataclass

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
