"""Which elements hold a story, and which are furniture: told by their tags, classes and ids.

Names lie: a whole page may stand in a form, or in a box called after the sidebar beside it. So most furniture is only
suspected: what holds most of the prose of a page is none after all (see `text`). Of *loose* furniture this is believed
sooner than of *fixed*, such as comments and teasers.
"""

import re
from enum import Enum, auto
from functools import lru_cache

from selectolax.lexbor import LexborNode

NAME_CAP = 200
"""Characters of a class or id that are looked at (ours)."""


class Box(Enum):
    """What an element is."""

    NONE = auto()
    STORY = auto()  # it is named after the body of a story
    LOOSE = auto()
    FIXED = auto()
    NEVER = auto()  # whatever stands in it


_NEVER_NAMES = """
nav footer button figure figcaption select menu script style svg iframe video audio object canvas textarea input label
time head template
"""
_NEVER = frozenset(_NEVER_NAMES.split())
_LOOSE = frozenset(("form", "aside", "dialog", "noscript"))
_TRUSTED_TAGS = frozenset(("html", "body", "main", "article", "h1", "p"))
_FIXED_NAMES = re.compile(
    r"comment|disqus|related|recommend|more-(?:from|on|stories)|cookie|consent|gdpr|newsletter|outbrain|taboola|"
    r"most-?(?:read|viewed|popular)|trending|popular|teaser",
    re.IGNORECASE,
)
_LOOSE_NAMES = re.compile(
    r"share|sharing|social|read-?(?:more|next|also)|subscri|signup|privacy|promo|advert|(?:^|[\s_-])ads?(?:$|[\s_-])|sponsor|"
    r"(?<!has-)(?<!with-)sidebar|widget|footer|breadcrumb|byline|author|caption|credit|popup|modal|overlay|paywall|"
    r"(?:^|[\s_-])tags?(?:$|[\s_-])|toolbar|menu|(?:^|[\s_-])nav|navigation|copyright|disclaimer|screen-reader|sr-only|"
    r"visually-hidden|clock|weather|ticker|timestamp|pagination|pager|print-|rating|poll|survey",
    re.IGNORECASE,
)
_STORY_NAMES = re.compile(
    r"(?:^|[\s_-])(?:article|story|entry|post|news|content|page|text|main)[-_]*(?:body|content|text|copy|detail)s?"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def box_of(node: LexborNode, tag: str | None, by_name: bool = True) -> Box:
    """What the element itself is; `by_name`: class and id count besides the tag."""
    if tag in _NEVER:
        return Box.NEVER
    if tag in _LOOSE:
        return Box.LOOSE
    if not by_name or tag in _TRUSTED_TAGS:
        return Box.NONE
    attributes = node.attributes
    if not attributes:
        return Box.NONE
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return Box.LOOSE
    style = attributes.get("style")
    if style and _HIDDEN.search(style[:NAME_CAP]):
        return Box.LOOSE
    if attributes.get("itemprop") == "articleBody":
        return Box.STORY
    class_name, id_name = attributes.get("class") or "", attributes.get("id") or ""
    if not class_name and not id_name:
        return Box.NONE
    return _named(class_name[:NAME_CAP], id_name[:NAME_CAP])


@lru_cache(maxsize=10_000)
def _named(class_name: str, id_name: str) -> Box:
    names = f"{class_name} {id_name}"
    if _FIXED_NAMES.search(names):
        return Box.FIXED
    if _LOOSE_NAMES.search(names):
        return Box.LOOSE
    return Box.STORY if _STORY_NAMES.search(class_name) or _STORY_NAMES.search(id_name) else Box.NONE
