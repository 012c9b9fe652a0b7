"""JSON-LD as news pages write it: which node is the page's own story, and what it states.

Broken JSON is common: comments and CDATA marks round it, raw control characters, a comma too many. What no cleaning mends
is searched for the plain pattern `"datePublished": "…"`.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping

import msgspec

from forager.pages.head import Head

Node = Mapping[str, object]

NODE_CAP = 2000
"""Nodes of one page that are looked at (ours); large product lists hold thousands."""

_OTHERS = """
comment comments review reviews itemListElement liveBlogUpdate image associatedMedia video audio citation mentions
author publisher isPartOf hasPart about relatedLink recordedAt breadcrumb
"""
_OTHER_PROPERTIES = frozenset(_OTHERS.split())
"""Properties whose nodes are about something else than the page's own story."""

_WRAPPING = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|^\s*//.*$|(?<=[\[{}\],])[ \t]*//[^\"\n]*$", re.MULTILINE)
_EXTRA_COMMA = re.compile(r",(?=\s*[}\]])")


def stated_dates(head: Head, name: str, path: str = "") -> list[str]:
    """The values of a date property, the best story's first; a story whose own URL ends in `path` is the best."""
    found: list[tuple[int, str]] = []
    for text in head.linked_data:
        if name not in text:
            continue
        nodes = _read(head, text)
        if nodes is None:
            found += [(2, value) for value in re.findall(rf'"{name}"\s*:\s*"([^"]{{4,60}})"', text)]
        for node in nodes or ():
            value = node.get(name)
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, str | int):
                found.append((_rank(node, path), str(value)))
    return [value for _, value in sorted(found, key=lambda ranked: ranked[0])]


def story_nodes(head: Head, path: str = "") -> list[Node]:
    """The nodes of stories, the best first: that at this path before others."""
    if path not in head.stories:
        ranked = [(_rank(node, path), node) for node in all_nodes(head)]
        head.stories[path] = [node for rank, node in sorted(ranked, key=lambda pair: pair[0]) if rank <= 1]
    return head.stories[path]


def stated_body(head: Head, path: str = "") -> str:
    """The text of the story as JSON-LD states it; empty if it does not."""
    if not any('"articleBody"' in text for text in head.linked_data):
        return ""
    said = (node.get("articleBody") for node in story_nodes(head, path))
    return max((body for body in said if isinstance(body, str)), key=len, default="")


def all_nodes(head: Head) -> Iterator[Node]:
    """Every node that can be read and is not about something else than the page, in document order."""
    for text in head.linked_data:
        yield from _read(head, text) or ()


def _read(head: Head, text: str) -> list[Node] | None:
    if text not in head.nodes:
        content = _decoded(text)
        head.nodes[text] = None if content is None else list(_nodes(content))
    return head.nodes[text]


def _decoded(text: str) -> object:
    """The parsed JSON, mended if that is easy; `None` if it is not."""
    try:
        decoded: object = msgspec.json.decode(text)
        return decoded
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        mended: object = json.loads(_EXTRA_COMMA.sub("", _WRAPPING.sub("", text)).strip().rstrip(";"), strict=False)
        return mended
    except (ValueError, RecursionError):
        return None


def _nodes(content: object) -> Iterator[Node]:
    """Every object in it, outermost first, leaving out those about something else."""
    waiting: deque[object] = deque([content])
    for _ in range(NODE_CAP):
        if not waiting:
            return
        node = waiting.popleft()
        if isinstance(node, list):
            waiting.extend(node[:NODE_CAP])
        elif isinstance(node, dict):
            yield node
            waiting.extend(
                value for key, value in node.items() if key not in _OTHER_PROPERTIES and isinstance(value, dict | list)
            )


def _rank(node: Node, path: str) -> int:
    """0 for the story at this path, 1 for any story, 2 for a page or an untyped node, 3 for anything else."""
    kind = node.get("@type")
    names = " ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "")
    if "Article" in names or "Posting" in names or names == "Report" or ("headline" in node and "author" in node):
        return 0 if path.strip("/") and _address(node).rstrip("/").endswith(path.rstrip("/")) else 1
    return 2 if not names or "Page" in names else 3


def _address(node: Node) -> str:
    """The URL a node gives itself, without query and fragment; empty if none."""
    for key in ("url", "mainEntityOfPage", "@id"):
        value = node.get(key)
        if isinstance(value, dict):
            value = value.get("@id")
        if isinstance(value, str) and value:
            return value.partition("#")[0].partition("?")[0]
    return ""
