"""Reads what an address tells of a page before the first visit: its form, the date in it, and marks for its state.

The *form* of an address is its host and path with the parts that differ from page to page replaced:
`/2026/11/17/a-storm-is-coming/` becomes `/#/#/#/-`, `/tag/storm/feed/` becomes `/tag/*/*`, `/news?page=2` becomes
`/news?page`. Pages with the same form usually come from the same template and are alike, so what some of them turned
out to be is a good guess for the others.
"""

import re
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.terms import Url

_SLUG = re.compile(r"[^\W\d_]*\d|(?:[^\W_]+[-_+.,]){2,}[^\W_]")
"""The name of a single page: it holds a number, or at least three words."""
_DAY = re.compile(r"/((?:19|20)\d\d)(?:[/-](\d\d?)(?:[/-](\d\d?))?)?(?=/|-|$)")
_ZONES = timedelta(hours=14)
"""Roughly how many seconds after the end of a day in UTC that day ends in the last time zone."""
_LONGEST = 24
"""Maximum number of characters of a word; anything longer names a single page."""

MARKS, SHAPES = 6, 256
"""The number of marks of an address, and of values that a mark can have; 0 means that nothing is known."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"\d+")
_LONG = 3
"""Number of words from which on the last part of an address is taken for a headline."""


class Forms:
    """Gives all pages whose addresses have the same form one number: that of the first such page."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self.count = 0

    def __repr__(self) -> str:
        return f"<Forms: {len(self._first)} of {self.count} addresses>"

    def add(self, urls: Iterable[Url]) -> tuple[IntArray, FloatArray]:
        """Registers the next addresses; returns for each the first page of the same form, and the latest possible time
        of publication (nan if the address has no date).
        """
        places, latest = [], []
        for url in urls:
            places.append(self._first.setdefault(form_of(url), self.count))
            latest.append(latest_of(url))
            self.count += 1
        return np.array(places, dtype=np.int64), np.array(latest, dtype=np.float64)


def form_of(url: Url) -> str:
    """The form of an address."""
    address, _, query = url.partition("?")
    host, *parts = address.partition("://")[2].rstrip("/").split("/")
    named = [part if place == 0 and _form(part) == "*" else _form(part) for place, part in enumerate(parts)]
    names = "&".join(field.partition("=")[0] for field in query.split("&")) if query else ""
    return f"{host}/{'/'.join(named)}?{names}"


def names_one_page(form: str) -> bool:
    """Whether addresses of this form end in the name or number of a single page."""
    return form.partition("?")[0].rpartition("/")[2].partition(".")[0] in ("-", "#")


def _form(part: str) -> str:
    """The form of one part of a path: `#` for a number, `-` for the name of a single page, `*` for any other word. A
    file extension is kept.
    """
    name, dot, ending = part.rpartition(".")
    if not dot or len(ending) > 5:
        name, ending = part, ""
    kind = "#" if name.isdigit() else "-" if len(name) > _LONGEST or _SLUG.match(name) else "*"
    return f"{kind}.{ending}" if ending else kind


def latest_of(url: Url) -> float:
    """The end of the day, month or year in an address, in the last time zone; nan if there is no date."""
    found = _DAY.search(url)
    if found is None:
        return np.nan
    year, month, day = (int(number) if number else 0 for number in found.groups())
    try:
        if day:
            end = datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
        elif month:
            end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        else:
            end = datetime(year + 1, 1, 1, tzinfo=UTC)
    except ValueError:
        return np.nan
    return (end + _ZONES).timestamp()


def address_marks(url: str, anchor: str | None = None, region: str = "") -> list[int]:
    """Describes a page that nobody has visited, by the shape of its address and, if known, of the link to it.

    The marks are: site and section; site, depth and file extension; the form; the template of the last part, in which
    numbers keep their first digit and their length, and headlines only their length; the same without the site, so that
    sites learn from each other; the length of the anchor, and where on its page the link stands.
    """
    host, _, rest = url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    *folders, last = path.split("/")
    stem, _, ending = last.partition(".")
    words_in, digits = len(_WORD.findall(stem)), max((len(one) for one in _NUMBER.findall(stem)), default=0)
    template = "headline" if words_in >= _LONG else _NUMBER.sub(lambda one: one[0][0] + "#" * len(one[0][1:]), stem)
    shape = f"{len(folders)}.{ending}.{min(words_in, _LONG)}.{min(digits, 9)}.{bool(query)}"
    link = "?" if anchor is None else f"{min(len(_WORD.findall(anchor)), 8)}.{region}"
    told = (
        f"{host}/{folders[0] if folders else ''}",
        f"{host} {len(folders)} {ending}",
        form_of(Url(url)),
        f"{host} {len(folders)} {template}",
        shape,
        link,
    )
    return [zlib.crc32(f"{place}{one}".encode()) % (SHAPES - 1) + 1 for place, one in enumerate(told)]
