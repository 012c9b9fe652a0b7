"""Dates that a page shows its readers: in `<time>` and similar elements, near the headline, and anywhere on a known
day.

A date may belong to another text: a teaser, a comment, the clock of the site. Dates in such elements, or in a link to
another page, are left out. Lists of links count as other texts too, except in a search for the clock time on a known
day.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice

from selectolax.lexbor import LexborNode

from forager.pages.head import Head
from forager.pages.moments import LONGEST, read_moment
from forager.pages.tree import PageTree, heading_link
from forager.terms import Dated, DateSource

SAME_DAY = 36 * 3600.0  # seconds between a day and a moment of that day in any zone (ours)
DAY = 86_400.0

MANY_DAYS = 3  # different days from which on dates that stand together are a list (ours)
HEAD_REACH, HEAD_TEXT = 4, 400
"""Ancestors of a headline, and characters before it (twice as many behind), in which dates are looked for (ours)."""

LINE_CAP = 3_000  # lines of a page in which the clock of a known day is looked for (ours)


_PUBLISHED_HINT = re.compile(r"publi|pubdate|entry-date|post-?date|article-?date|created|issued")
_MODIFIED_HINT = re.compile(r"modif|updat|revis|last-?edit")
_ELSEWHERE = re.compile(r"comment|related|sidebar|widget|teaser|recommend|most-|promo|breaking|ticker|clock")
_PUBLISHED_ON = re.compile(r"\W*(?:publi|posted|veröffentlicht|erschienen|pubblicat|gepubliceerd)", re.IGNORECASE)
_ANOTHER_DAY = re.compile(
    r"updat|modif|aktualisiert|stand:|ge[aä]ndert|mis à jour|actualiz|aggiornat|bijgewerkt|(?:upp|op|opp)dater|©|copyright|"
    r"joined|member since|registrier|mitglied seit|\bbis\b|\buntil\b|jusqu|hasta",
    re.IGNORECASE,
)
_DAY_SHOWN = re.compile(r"(?<!\d)(?:(?:19|20)\d\d(?!\d)|\d\d?\.\s?\d\d?\.\s?\d\d(?!\d))")
_OTHER_TAGS = frozenset(("aside", "nav", "script", "style", "template", "svg"))
_STATED_AS = frozenset(("datePublished", "dateModified", "schema:datePublished", "schema:dateCreated"))
_DATE_CLASS = re.compile("publish-date|published-date|pubdate|post-date|article-date|article__date")
_STAMP_CAP = 60


def read_dates(texts: Iterable[str], source: DateSource) -> Iterator[Dated]:
    """The moments that these texts name."""
    for text in texts:
        if text and (read := read_moment(text)) is not None:
            yield Dated(read.time, source, read.exact, read.zone)


def published_stamps(head: Head) -> Iterator[str]:
    """Dates in `<time>` and its like that may be those of publication, best first."""
    return _stamps(head, _PUBLISHED_HINT, _MODIFIED_HINT, only_marked=False)


def modified_stamps(head: Head) -> Iterator[str]:
    """Those marked as dates of changes."""
    return _stamps(head, _MODIFIED_HINT, _PUBLISHED_HINT, only_marked=True)


def moment_on(day: Dated, head: Head) -> Dated | None:
    """The one moment of that day that stands anywhere on the page; None if there are several."""
    tree, own = head.tree, head.path
    nodes = [node for node in _stamped(tree) if node.tag != "h1"]
    nodes = [node for node in nodes if not _MODIFIED_HINT.search(_marks(node))]
    stamps = (_stamp(node) for node in nodes if not is_elsewhere(node, ("aside", "nav", "a", "blockquote"), own))
    found = _moments(read_dates(stamps, DateSource.TIME), day)
    if not found and _moments(read_dates(_dated_lines(_lines_of(day, tree)), DateSource.TEXT), day):
        found = _moments(_told(read_dates(_dated_lines(list(_lines(tree))), DateSource.TEXT)), day)
    return next(iter(found.values())) if len(found) == 1 else None


def _moments(found: Iterable[Dated], day: Dated) -> dict[float, Dated]:
    """The moments of this day, each once, by the minute."""
    wanted = (day.time + (day.zone or 0.0)) // DAY
    exact = [one for one in found if one.exact and (one.time + (one.zone or 0.0)) // DAY == wanted]
    return {one.time // 60: one for one in reversed(exact)}


def _lines_of(day: Dated, tree: PageTree) -> list[str]:
    """The lines of the whole page that name the year of this day, each with the next one; cheaper than the lines below."""
    text = "" if tree.body is None else tree.body.text(separator="\n")
    year = str(datetime.fromtimestamp(day.time + (day.zone or 0.0), UTC).year)
    lines = text.split("\n") if year in text else []
    named = [place for place, line in enumerate(lines) if year in line and len(line) <= 2 * LONGEST]
    return [line for place in named for line in (lines[place], *lines[place + 1 : place + 2])]


def _lines(tree: PageTree) -> Iterator[str]:
    """The text of a page without what belongs to other texts, a line for each element."""
    waiting = [] if tree.body is None else [tree.body]
    for _ in range(LINE_CAP):
        if not waiting:
            return
        node = waiting.pop()
        if node.tag == "-text":
            yield node.text_content or ""
        elif node.tag not in _OTHER_TAGS and not _ELSEWHERE.search(_names(node)):
            waiting.extend(reversed(list(node.iter(include_text=True))))


def shown_dates(head: Head) -> Iterator[Dated]:
    """Dates near the headline, each on a line of its own; those after it come first."""
    for headline in head.headlines[:2]:
        name, above = headline.text().strip(), headline.parent
        text = ""
        for _ in range(HEAD_REACH):
            if above is None or above.tag == "html":
                break
            text = above.text(separator="\n")
            if len(text) > len(name) + HEAD_TEXT:
                break
            above = above.parent
        place = max(0, text.find(name[:40]))
        behind = text[place + len(name) : place + len(name) + 2 * HEAD_TEXT].split("\n")
        before = text[max(0, place - HEAD_TEXT) : place].split("\n")
        yield from _told(read_dates(_dated_lines(behind), DateSource.TEXT))
        yield from _told(read_dates(_dated_lines(before), DateSource.TEXT))


def _told(found: Iterable[Dated]) -> list[Dated]:
    """Dates that stand together, those with a clock time first; none if they are many different days, as on a list."""
    dates = sorted(found, key=lambda dated: not dated.exact)
    return dates if len({dated.time // DAY for dated in dates}) < MANY_DAYS else []


def _dated_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are little more than a date, each with a clock time on the next line; not dates of changes and
    ends.
    """
    said = [" ".join(line.split()) for line in lines]
    said = [line for line in said if line]
    for line, following in zip(said, [*said[1:], ""], strict=False):
        if _DAY_SHOWN.search(line) and len(line) <= LONGEST and not _ANOTHER_DAY.search(line):
            yield f"{line} {following}" if len(following) <= 20 and ":" in following else line


def _stamped(tree: PageTree) -> list[LexborNode]:
    """The headlines, and the elements that are marked as dates."""
    return list(islice(filter(_is_stamp, tree.marked), _STAMP_CAP))


def _is_stamp(node: LexborNode) -> bool:
    tag = node.tag
    if tag == "h1" or tag == "time":
        return True
    attributes = node.attributes
    stated = f"{attributes.get('itemprop') or ''} {attributes.get('property') or ''}"
    if not _STATED_AS.isdisjoint(stated.split()):
        return True
    names = attributes.get("class") or ""
    return _DATE_CLASS.search(names) is not None or (tag == "abbr" and "published" in names.split())


def _stamps(head: Head, wanted: re.Pattern[str], other: re.Pattern[str], *, only_marked: bool) -> Iterator[str]:
    """Dates in `<time>` and its like: first those marked as wanted, then those nearest the headline."""
    marked: list[LexborNode] = []
    before: list[LexborNode] = []
    after: list[LexborNode] = []
    nodes = _stamped(head.tree)
    headline_seen = all(node.tag != "h1" for node in nodes)
    for node in nodes:
        if node.tag == "h1":
            headline_seen = True
            continue
        marks = _marks(node)
        if wanted.search(marks):
            marked.append(node)
        elif not only_marked and not other.search(marks):
            (after if headline_seen else before).append(node)
    for node in marked:
        if not is_elsewhere(node, ("aside", "nav", "footer"), head.path):
            yield _stamp(node)
    for node in chain(after, reversed(before)):
        if not is_elsewhere(node, ("aside", "nav", "footer", "a", "li", "blockquote"), head.path):
            yield _stamp(node)


def _marks(node: LexborNode) -> str:
    """The words of an element that hint at what its date means, in lower case; the class of its parent counts too."""
    attributes = node.attributes
    words = [attributes.get(key) or "" for key in ("itemprop", "class", "id", "property")]
    if "pubdate" in attributes:
        words.append("pubdate")
    if node.parent is not None:
        words.append(node.parent.attributes.get("class") or "")
    return " ".join(words).lower()


def _stamp(node: LexborNode) -> str:
    """What an element states as its date; what it shows instead, if that is called the publication date and is another
    day.
    """
    attributes = node.attributes
    stated = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    shown = node.text(separator=" ").strip()
    if stated and _PUBLISHED_ON.match(shown):
        ours, theirs = read_moment(stated), read_moment(shown)
        if ours is not None and theirs is not None and abs(ours.time - theirs.time) > SAME_DAY:
            return shown
    return stated or shown


def is_elsewhere(node: LexborNode, tags: tuple[str, ...], own: str) -> bool:
    """Whether an element belongs to another text: it is within one of these elements, or in one with such a name.

    The footer of the article with the headline belongs to it; many themes state the date there.
    """
    in_footer = False
    above = node.parent
    for _ in range(8):
        if above is None or above.tag in ("body", "main"):
            break
        names = _names(above)
        if above.tag == "article":
            in_footer = in_footer and not _has_headline(above, own)
        elif above.tag == "footer" or "footer" in names:
            in_footer = True
        elif above.tag == "a" and len(own) > 1 and own in (above.attributes.get("href") or ""):
            pass  # a link of the page to itself
        elif above.tag in tags or _ELSEWHERE.search(names):
            return True
        above = above.parent
    return in_footer


def _has_headline(article: LexborNode, own: str) -> bool:
    """Whether an article has a headline of its own, and not one that links to another page as those of teasers do."""
    heading = article.css_first("h1, h2")
    return heading is not None and (heading.tag == "h1" or heading_link(heading, own)[0] in ("", own))


def _names(node: LexborNode) -> str:
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
