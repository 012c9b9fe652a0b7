"""The dates that a list states beside its links: each item of the list has a headline that leads somewhere, and a time.

An item is the largest element with no other time in it. A page that shows fewer than `FEWEST` such items is no list of dated
pages: a single time is that of the page itself.
"""

from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.moments import Moment, read_moment

FEWEST = 3
DAY, ZONES = 86_400.0, 14 * 3600.0
_TIMES_MOST = 500
_HEADLINES = "h1 a[href], h2 a[href], h3 a[href], h4 a[href], h5 a[href], h6 a[href]"


def latest(moment: Moment) -> float:
    """The last moment that may be meant: the end of the day if no hour is given, in the last time zone if none is given."""
    return moment.time + (0.0 if moment.exact else DAY) + (ZONES if moment.zone is None else 0.0)


def item_dates(tree: LexborHTMLParser) -> dict[str, float]:
    """For the headlines of a list, by where they lead as written, the latest time that is stated beside them."""
    times = tree.css("time[datetime]")[:_TIMES_MOST]
    inside = Counter(number for node in times for number, _ in _above(node))
    found: dict[str, float] = {}
    for node in times:
        moment = read_moment(node.attributes.get("datetime") or "")
        href = _headline(node, inside) if moment is not None else ""
        if moment is not None and href:
            found[href] = max(latest(moment), found.get(href, 0.0))
    return found if len(found) >= FEWEST else {}


def _above(node: LexborNode) -> Iterator[tuple[int, LexborNode]]:
    above = node.parent
    while above is not None:
        yield above.mem_id, above
        above = above.parent


def _headline(node: LexborNode, inside: Counter[int]) -> str:
    """Where the headline of an item leads to which a time belongs; empty if there is not exactly one."""
    item = None
    for number, above in _above(node):
        if inside[number] > 1:
            break
        item = above
    links = [] if item is None else item.css(_HEADLINES)
    targets = {link.attributes.get("href") or "" for link in links}
    return targets.pop() if len(targets) == 1 else ""
