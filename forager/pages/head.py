"""What a page says of itself: its meta, link and JSON-LD elements, each read once for all who ask."""

from functools import cached_property

from selectolax.lexbor import LexborHTMLParser

_LINKED_DATA = 'script[type^="application/ld+json" i]'
Attributes = dict[str, str | None]


class Head:
    """The statements of one page, wherever they stand in its markup; read when they are asked for first."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.decoded: dict[str, object] = {}
        """JSON-LD that was decoded already, by its text."""

    @cached_property
    def metas(self) -> list[Attributes]:
        """The attributes of every meta element, in document order."""
        return [node.attributes for node in self.tree.css("meta")]

    @cached_property
    def links(self) -> list[Attributes]:
        """The attributes of every link element that has a `rel`, in document order."""
        return [node.attributes for node in self.tree.css("link[rel]")]

    @cached_property
    def base(self) -> str:
        """What the page wants its links to be joined to, as written; empty if it does not say."""
        node = self.tree.css_first("base[href]")
        return (node.attributes.get("href") or "") if node is not None else ""

    @cached_property
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

    @cached_property
    def linked_data(self) -> list[str]:
        """The text of every JSON-LD script, in document order."""
        return [script.text() for script in self.tree.css(_LINKED_DATA)]
