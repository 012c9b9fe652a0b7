"""Furniture of a page: elements that are no part of a story, told by their tags, classes and ids."""

import re
from functools import lru_cache

from selectolax.lexbor import LexborNode

NAME_CAP = 200
"""Characters of a class or id that are looked at (ours)."""

_TAG_NAMES = """
nav aside footer form button figure figcaption select dialog menu template noscript script style svg iframe video audio
object canvas textarea input label time head
"""
_TAGS = frozenset(_TAG_NAMES.split())
_TRUSTED_TAGS = frozenset(("html", "body", "main", "article", "h1", "p"))
_NAMES = re.compile(
    r"comment|disqus|share|sharing|social|related|recommend|read-?(?:more|next|also)|more-(?:from|on|stories)|newsletter|"
    r"subscri|signup|cookie|consent|gdpr|privacy|promo|advert|(?:^|[\s_-])ads?(?:$|[\s_-])|sponsor|(?<!has-)(?<!with-)sidebar|"
    r"widget|footer|breadcrumb|byline|author|caption|credit|popup|modal|overlay|paywall|outbrain|taboola|most-?(?:read|viewed|"
    r"popular)|trending|popular|(?:^|[\s_-])tags?(?:$|[\s_-])|toolbar|menu|(?:^|[\s_-])nav|navigation|copyright|disclaimer|"
    r"screen-reader|sr-only|visually-hidden|clock|weather|ticker|timestamp|pagination|pager|print-|teaser|rating|poll|survey",
    re.IGNORECASE,
)


def is_furniture(node: LexborNode, tag: str | None, by_name: bool) -> bool:
    """Whether the element itself is furniture; `by_name`: class and id count besides the tag."""
    if tag in _TAGS:
        return True
    if not by_name or tag in _TRUSTED_TAGS:
        return False
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    class_name, id_name = attributes.get("class") or "", attributes.get("id") or ""
    return bool(class_name or id_name) and _is_named(class_name[:NAME_CAP], id_name[:NAME_CAP])


@lru_cache(maxsize=10_000)
def _is_named(class_name: str, id_name: str) -> bool:
    return _NAMES.search(f"{class_name} {id_name}") is not None
