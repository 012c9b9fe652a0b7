"""What a page says of itself: its meta, link and JSON-LD elements, each read once for all who ask.

Elements are asked for by their tag: the first question in CSS alone costs as much as all of these together.
"""

from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.lazily import lazily

_LINKED_DATA = "application/ld+json"
Attributes = dict[str, str | None]


class Head:
    """The statements of one page, wherever they stand in its markup; read when they are asked for first."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.nodes: dict[str, list[Mapping[str, object]] | None] = {}
        """The nodes of JSON-LD that was decoded already, by its text; None if it could not be."""

    @lazily
    def metas(self) -> list[Attributes]:
        """The attributes of every meta element, in document order."""
        return [node.attributes for node in self.tree.tags("meta")]

    @lazily
    def links(self) -> list[Attributes]:
        """The attributes of every link element that has a `rel`, in document order."""
        found = [node.attributes for node in self.tree.tags("link")]
        return [attributes for attributes in found if "rel" in attributes]

    @lazily
    def base(self) -> str:
        """What the page wants its links to be joined to, as written; empty if it does not say."""
        found = (node.attributes for node in self.tree.tags("base"))
        return next((attributes["href"] or "" for attributes in found if "href" in attributes), "")

    @lazily
    def meta(self) -> dict[str, str]:
        """What the meta elements state, by name, property, itemprop or http-equiv in lower case; the first one counts."""
        said: dict[str, str] = {}
        for attributes in self.metas:
            content = attributes.get("content") or attributes.get("datetime") or attributes.get("value")
            if not content:
                continue
            for key in ("property", "name", "itemprop", "http-equiv"):
                if name := attributes.get(key):
                    said.setdefault(name.strip().lower(), content)
        return said

    @lazily
    def named(self) -> list[tuple[str, str]]:
        """Name and content of the meta elements that have a name."""
        return [(meta["name"] or "", meta.get("content") or "") for meta in self.metas if "name" in meta]

    @lazily
    def title(self) -> str:
        """The headline if it is part of the title, which often names the site as well; else the whole title."""
        said = self._first("title") or self.meta.get("og:title", "")
        headline = self._first("h1")
        title = " ".join(said.split())
        return headline if headline and headline in title else title

    @lazily
    def linked_data(self) -> list[str]:
        """The text of every JSON-LD script, in document order."""
        return [script.text() for script in self.tree.tags("script") if _is_linked_data(script)]

    def _first(self, tag: str) -> str:
        """The text of the first element with this tag; empty if there is none."""
        found = self.tree.tags(tag)
        return " ".join(found[0].text().split()) if found else ""


def _is_linked_data(script: LexborNode) -> bool:
    kind = script.attributes.get("type")
    return kind is not None and kind.lower().startswith(_LINKED_DATA)
