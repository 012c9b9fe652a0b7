"""Fertile and barren ground: where on a site documents stand, and where a crawl could go on for ever and find none.

Calendars, facets, endless pages, mazes of folders, numbers of visitors in links, *not found* that says *fine*: traps differ,
but in all of them one page follows the other in the same place, none is a document, none reveals a new one, and many are
copies. A *place* is a folder of the first or second level, a path with parameters, or a path with these very parameters.
After some different pages without any yield it is barren: new links there do not enter the crawl, and those that entered
are passed by, but for one in twenty. The first that yields something opens the place again. Where links lead to it, or from
it, that read like headlines, patience is five times as long: what sections promise is seen only when articles are visited.
Each yield earns as much patience again, so that a lucky find (a box of headlines on every page) opens no trap for good.
"""

from dataclasses import dataclass

import msgspec

from forager.errors import StoreError
from forager.terms import Url

_LEVELS = 2
_ONE_IN = 20
_HOPE = 5
_HEADLINE = 25
"""Characters of an anchor from which on it may be a headline, not the name of a section or a number."""
_PRINTS = 20_000
"""Texts remembered, to tell copies: some 2 MB."""


@dataclass(slots=True)
class GroundPlace:
    """What the pages of a place were, as they were first seen."""

    pages: int = 0
    copies: int = 0
    """Pages that say, or show, that they are another page of the site."""
    yields: int = 0
    """Documents among the other pages, and new documents that these revealed."""
    hope: bool = False
    """A link that reads like a headline stood on a page of this place, or leads to one."""

    def is_barren(self, patience: int) -> bool:
        if self.copies >= max(patience, 0.9 * self.pages):
            return True
        longer = _HOPE * (1 + self.yields) if self.hope or self.yields else 1
        return self.pages >= patience * longer


class Ground:
    """Learns the places of all sites from pages seen for the first time."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self._places: dict[str, GroundPlace] = {}
        self._barren: set[str] = set()
        self._prints: dict[tuple[str, int], Url] = {}
        self._passed = 0

    def __repr__(self) -> str:
        return f"<Ground of {len(self._places)} places, {len(self._barren)} of them barren>"

    def is_barren(self, url: Url) -> bool:
        """Whether a URL lies in a place where nothing is to be expected."""
        return bool(self._barren) and any(place in self._barren for place in places(url))

    def passes_by(self, url: Url) -> bool:
        """Whether a known page is left alone; of those in barren places all but one in twenty are."""
        if not self.is_barren(url):
            return False
        self._passed += 1
        return self._passed % _ONE_IN > 0

    def is_fertile(self, place: str) -> bool:
        """Whether a place has yielded anything."""
        known = self._places.get(place)
        return known is not None and known.yields > 0

    def met(self, url: Url, anchor: str, source: Url) -> None:
        """A new link was met on a page."""
        if len(anchor) >= _HEADLINE:
            for name in (*places(url), *places(source)):
                place = self._place(name)
                if not place.hope:
                    place.hope = True
                    self._judge(name, place)

    def seen(self, url: Url, *, document: bool = False, canonical: str = "", text_print: int = 0) -> None:
        """A page was seen for the first time; `canonical` is the address it gives for itself.

        One that names another page as the true one speaks against the narrowest of its places, and against those in which
        that page lies as well: beside `/?visitor=1`, a copy of the home page, other parameters may well matter.
        """
        found, again = places(url), self._stood_elsewhere(url, text_print)
        other = url if again else Url(canonical) if canonical and canonical != url else None
        if other is not None:
            found = [name for name in found if name in places(other) or name == found[-1]]
        for name in found:
            place = self._place(name)
            place.pages += 1
            place.copies += other is not None
            place.yields += document and other is None
            self._judge(name, place)

    def revealed(self, source: Url) -> None:
        """A page brought the first link to a new document."""
        for name in places(source):
            if name in self._places:
                self._places[name].yields += 1
                self._judge(name, self._places[name])

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self._places)

    def load(self, saved: bytes) -> None:
        """Take over what another one learned."""
        try:
            self._places = msgspec.msgpack.decode(saved, type=dict[str, GroundPlace])
        except msgspec.MsgspecError as error:
            raise StoreError(f"the kept ground cannot be read ({error}); start a new run directory") from None
        for name, place in self._places.items():
            self._judge(name, place)

    def _place(self, name: str) -> GroundPlace:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = GroundPlace()
        return place

    def _judge(self, name: str, place: GroundPlace) -> None:
        if place.is_barren(self.patience):
            self._barren.add(name)
        else:
            self._barren.discard(name)

    def _stood_elsewhere(self, url: Url, text_print: int) -> bool:
        """Whether another page of the host had this text before."""
        if not text_print:
            return False
        first = self._prints.setdefault((url.split("/", 3)[2], text_print), url)
        if len(self._prints) > _PRINTS:
            del self._prints[next(iter(self._prints))]
        return first != url


def places(url: Url) -> list[str]:
    """The places in which a URL lies, from the widest to the narrowest; none if it stands at the top of its site."""
    path, _, query = url.partition("?")
    parts = path.split("/")
    found = ["/".join(parts[: 4 + level]) + "/" for level in range(min(len(parts) - 4, _LEVELS))]
    if query:
        names = "&".join(field.partition("=")[0] for field in query.split("&"))
        found += [f"{path}?", f"{path}?{names}"]
    return found
