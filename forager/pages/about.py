"""What a page tells of its story besides text and dates: headline, authors, lead, picture, section, tags, paywall.

Sources, best first: JSON-LD, Open Graph and other meta elements, then what the page shows (`rel=author`, bylines,
breadcrumbs, `rel=tag`). The headline is the one that a reader sees: the `h1` element that agrees with one of the
statements. The name of the site is removed from it.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.dates import is_elsewhere
from forager.pages.head import Head
from forager.pages.language import contradicts, language_of, words_in
from forager.pages.moments import read_moment
from forager.pages.urls import host
from forager.terms import About

LEAD_CAP = 1_000  # characters of a lead (ours)
SENTENCE = 60  # characters of a paragraph behind the headline from which on it is no byline (ours)
NAME_CAP = 100  # characters of an author, a section or a tag (ours)
LONG_TEXT = 500  # characters of a text whose words are believed against what the page states of its language (ours)
MOST = 30  # authors and tags that are told at most (ours)

_AUTHOR_META = (
    "author", "article:author", "parsely-author", "dc.creator", "dcterms.creator", "sailthru.author", "byl",
    "cxenseparse:author", "og:article:author",
)  # fmt: skip
_LEAD_META = ("og:description", "description", "twitter:description", "dc.description", "sailthru.description")
_IMAGE_META = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "thumbnail")
_SECTION_META = ("article:section", "og:article:section", "parsely-section", "section", "cxenseparse:category")
_TAG_META = ("article:tag", "og:article:tag", "news_keywords", "parsely-tags", "keywords", "tags", "sailthru.tags")
_SITE_META = ("og:site_name", "application-name", "apple-mobile-web-app-title", "al:ios:app_name", "dc.publisher")
_SEPARATOR = re.compile(r"\s+[|\-–—·•»«:~/]+\s+|\s*\|\s*|\s+::\s+")
_LETTERS = re.compile(r"[\W_]+")
_BY = re.compile(
    r"^\s*(?:(?:written|posted|published|reported|story|text|words|autor(?:in)?|auteur|author)s?\s*)*"
    r"(?:by|von|par|por|di|da|door|av|af|od|przez|autor(?:in)?|author|text)?\s*(?::|\s)\s*",
    re.IGNORECASE,
)
_SHORT_AND = re.compile(r"^[^,;/|]*\s[ey]\s[^,;/|]*$")
_EMAIL = re.compile(r"\S+@\S+")
_LABEL = re.compile(r"[^\W\d_]{2,15}:\s+")  # "Interview: "
_PICTURE = re.compile(r"f?ph?oto|foto|фото|bild|image|picture|video", re.IGNORECASE)
_REPORTER = re.compile(r"(?:記者|记者)[:：\s]*([^／/、，]+).*")  # 記者林宸誼／即時報導: reporter and kind of text
_WORK_BY = re.compile(r"^[^,;|]{1,25}\sby\s")  # "Analysis by"
_BETWEEN = re.compile(
    r"\s*(?:[,;/|•·](?:\s*(?:and|und|et|y|e|&)\s)?|\s(?:and|und|et|y|e|en|och|og|&|with|mit)\s)\s*", re.IGNORECASE
)
_NO_NAME = re.compile(r"©|https?:|www\.|@|\d{3}|^\W*$|[<>{}]|\.(?:txt|html?|php|com|net|org|info)\b", re.IGNORECASE)
_AND = re.compile(r"and|und|et|y|e|en|och|og|with|mit", re.IGNORECASE)
_DEGREE = re.compile(
    r"(?:ph\.?\s?d|m\.?\s?d|m\.?\s?s|m\.?\s?a|b\.?\s?a|b\.?\s?sc|m\.?\s?sc|m\.?p\.?h|mba|ll\.?[bm]|r\.?\s?d|r\.?\s?n|rdn|ldn|"
    r"dds|dvm|do|esq|jr|sr|i{2,3})\.?",
    re.IGNORECASE,
)
"""What stands behind a name and is none."""
_PARTICLE_NAMES = "von van vom zu zur der den de del della di da do dos das du la le el al bin ibn ben af av"
_PARTICLES = frozenset(_PARTICLE_NAMES.split())
_BYLINE = re.compile("[bB]yline|author-name|authorName|article-author|article__author|author__name")
_STANDFIRST = re.compile("teaser|lead|intro|standfirst|subtitle|sub-?head|dek|summary")


def about(head: Head, text: str, *, language: str = "") -> About:
    """Everything that the page tells; `language` is what it states, `text` its main text."""
    return About(
        authors=_authors(head),
        lead=_lead(head),
        image=_image(head),
        section=_section(head),
        tags=_tags(head),
        language=_language(language, text),
        paywalled=_paywalled(head),
        word_count=words_in(text),
    )


def plain_text(said: object, cap: int, *, marked_up: bool = True) -> str:
    """One line of plain text without halves of characters, and without markup if it may have any; empty if there is no
    text.
    """
    if not isinstance(said, str):
        return ""
    said = said[: 4 * cap]
    if marked_up and "&" in said:
        said = html.unescape(html.unescape(said))
    if marked_up and "<" in said:
        said = LexborHTMLParser(said).text(separator=" ")
    if not said.isascii():
        said = said.encode("utf-8", "replace").decode()
    return " ".join(said.split())[:cap]


# headline


def headline(head: Head, cap: int) -> str:
    """The headline that a reader sees, else the title of the page; empty if it has none."""
    site = site_names(head)
    stated = [plain_text(node.get("headline"), cap) for node in head.stories[:1]]
    titles = [head.meta.get("og:title", ""), next((one.text() for one in head.tree.tags("title")), "")]
    stated += [without_site(plain_text(title, cap, marked_up=False), site) for title in titles]
    texts = (node.text(separator=" ") for node in head.headlines[:10])
    shown = [one for text in texts if (one := plain_text(text, cap, marked_up=False))]
    shorter = [one[: cut.start()] for one in stated for cut in list(_SEPARATOR.finditer(one))[-1:]]
    said = [one for one in stated if one]
    agreed = _agreed(said, shown, shorter) or _alike(said, shown)
    if not agreed:  # the first heading names a section
        headings = (node.text(separator=" ") for tag in ("h2", "h3") for node in head.tree.tags(tag)[:5])
        others = [plain_text(text, cap, marked_up=False) for text in headings]
        agreed = _agreed(said, others) or ("" if shown else _alike(said, others))
    own = [one for one in shown if not _names_site(one, site)]
    named = [*own, stated[-1]] if len(own) == 1 else [stated[-1], *own]  # with several, none is surely the headline
    return agreed or next((one for one in (*stated[:-1], *named, *shown) if one), "")


def _agreed(stated: Sequence[str], shown: Sequence[str], shorter: Sequence[str] = ()) -> str:
    """What a statement and the page agree on: the very same, or one that is part of the other.

    `shorter` are statements without their last part, which may be the name of the site.
    """
    ours = [(one, _LETTERS.sub("", one.casefold())) for one in shown]
    for said in stated:
        wanted = _LETTERS.sub("", said.casefold())
        for one, letters in ours:
            if letters == wanted:
                return one if one.count(" ") == said.count(" ") else said
    for said in stated:
        wanted = _LETTERS.sub("", said.casefold())
        for one, letters in ours:
            if len(letters) >= 12 and letters in wanted:
                return one
            if len(wanted) >= 12 and wanted in letters:  # a kicker stands before it
                return said
    for said in shorter:
        wanted = _LETTERS.sub("", said.casefold())
        if len(wanted) >= 12 and any(letters.endswith(wanted) for _, letters in ours):
            return said.strip()
    return ""


def _alike(stated: Sequence[str], shown: Sequence[str]) -> str:
    """The text shown in nearly the same words as a statement."""
    for said in stated:
        words = set(said.casefold().split())
        for one in shown:
            if 2 * len(words & set(one.casefold().split())) >= len(words):
                return one
    return ""


def site_names(head: Head) -> set[str]:
    """Possible names of the site, as letters in lower case: as stated, and by its host."""
    names = {head.meta[name] for name in _SITE_META if name in head.meta}
    names.update(node.text(separator=" ") for node in head.mastheads[:2])
    for node in head.stories[:1]:
        names.update(_names(node.get("publisher"), head))
    domain = host(head.url).removeprefix("www.")
    names.update((domain, domain.rpartition(".")[0], domain.split(".")[-2] if "." in domain else domain))
    return {letters for name in names if (letters := _LETTERS.sub("", name.casefold()))}


def without_site(title: str, names: Iterable[str]) -> str:
    """A title without the name of the site before or behind it."""
    known = set(names)
    for _ in range(2):
        cuts = list(_SEPARATOR.finditer(title))
        if cuts and _names_site(title[cuts[-1].end() :], known):
            title = title[: cuts[-1].start()]
        elif cuts and _names_site(title[: cuts[0].start()], known):
            title = title[cuts[0].end() :]
    return title.strip()


def _names_site(part: str, names: set[str]) -> bool:
    letters = _LETTERS.sub("", part.casefold())
    bare = letters.removeprefix("the").removesuffix("com").removesuffix("de")
    return bool(letters) and any(
        letters == name or (len(bare) > 3 and bare in (name, name.removeprefix("the"))) for name in names
    )


# authors


def _authors(head: Head) -> tuple[str, ...]:
    names = site_names(head)
    for node in head.stories:
        said = node.get("author") or node.get("creator")
        found = _tidy_names(_names(said, head), names - _people(said, head))
        if found:
            return found
    for key in _AUTHOR_META:
        found = _tidy_names(head.every.get(key, ()), names)
        if found:
            return found
    found_below = (_tidy_names([text], names) for text in _bylines(head))
    return next(filter(None, found_below), ())


def _names(said: object, head: Head) -> Iterator[str]:
    """The names in a person, an organisation, a text or a list of these; a reference is looked up."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, list):
        for one in said[:MOST]:
            yield from _names(one, head)
    elif isinstance(said, dict):
        name = said.get("name")
        if not name:
            referred = head.identified.get(str(said.get("@id")), {}).get("name")
            name = referred if isinstance(referred, str) else None  # a list might refer to others, and they back to it
        if not name and ("familyName" in said or "givenName" in said):
            name = f"{said.get('givenName') or ''} {said.get('familyName') or ''}"
        if not isinstance(name, dict):
            yield from _names(name, head)


def _people(said: object, head: Head) -> set[str]:
    """The letters of names of two or more words that are stated to be people; a site may be named after one."""
    if isinstance(said, list):
        return {letters for one in said[:MOST] for letters in _people(one, head)}
    if not isinstance(said, dict):
        return set()
    named = said if "name" in said else head.identified.get(str(said.get("@id")), {})
    kind, name = named.get("@type"), named.get("name")
    is_person = kind == "Person" or (isinstance(kind, list) and "Person" in kind)
    return {_LETTERS.sub("", name.casefold())} if is_person and isinstance(name, str) and " " in name.strip() else set()


def _bylines(head: Head) -> Iterator[str]:
    """The texts of bylines, but not of those of comments and of other stories."""
    for node in islice(filter(_is_byline, head.tree.marked), 10):
        if not is_elsewhere(node, ("aside", "nav"), head.path):
            named = node.css_first("[itemprop~=name], [rel~=author], a")
            text = (node if named is None else named).text(separator=" ")
            if node.tag == "meta":
                text = node.attributes.get("content") or ""
            yield text


def _is_byline(node: LexborNode) -> bool:
    attributes = node.attributes
    names = attributes.get("class") or ""
    return (
        node.tag == "address"
        or _BYLINE.search(names) is not None
        or "author" in names.split()
        or "author" in (attributes.get("rel") or "").split()
        or "author" in (attributes.get("itemprop") or "").split()
    )


def _tidy_names(said: Iterable[str], site: set[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for text in said:
        line = _EMAIL.sub("", _BY.sub("", f" {plain_text(text, 4 * NAME_CAP)}", count=1))
        line = _REPORTER.sub(r"\1", line)
        label = _LABEL.match(line)
        if "://" in line or "www." in line or (label is not None and _PICTURE.match(line)) or _is_date(line):
            continue
        line = _WORK_BY.sub("", line[label.end() :] if label is not None else line, count=1)
        for name in _people_in(line):
            name = name.strip(" .:-–—\u200b")
            letters = _LETTERS.sub("", name.casefold())
            if _DEGREE.fullmatch(name):
                continue
            if 2 < len(name) <= NAME_CAP // 2 and letters not in site and not _NO_NAME.search(name):
                found.setdefault(letters, name)
    return tuple(found.values())[:MOST]


def _people_in(line: str) -> list[str]:
    """The names in a line. The name of an office stays whole, and so does a name with a short "and" in it, such as José
    Volta e Pinto.
    """
    if not _may_be_people(line):
        return [line]
    names = _BETWEEN.split(line)
    return names if all(" " in name.strip() for name in names) or not _SHORT_AND.search(line) else [line]


def _is_date(line: str) -> bool:
    return any(map(str.isdigit, line)) and read_moment(line) is not None


def _may_be_people(line: str) -> bool:
    """Whether a line may name several people; names of offices have small words in them."""
    words = line.replace(",", " ").split()
    return len(words) <= 2 or not any(
        word.isalpha() and word.islower() and word not in _PARTICLES and not _AND.fullmatch(word) for word in words[1:]
    )


# lead, picture, section, tags, paywall


def _lead(head: Head) -> str:
    said = [node.get("description") for node in head.stories[:1]]
    said += [head.meta.get(name) for name in _LEAD_META]
    return next((lead for one in said if (lead := plain_text(one, LEAD_CAP))), "") or _standfirst(head)


def _standfirst(head: Head) -> str:
    """The paragraph that a page marks as its lead, right after the headline."""
    behind = [node.next for node in head.tree.tags("h1")[:3]]
    behind = [one.next if one is not None and one.tag == "-text" else one for one in behind]
    named = (one for one in behind if one is not None and _STANDFIRST.search(one.attributes.get("class") or ""))
    texts = (plain_text(one.text(), LEAD_CAP, marked_up=False) for one in named)
    return next((lead for lead in texts if len(lead) >= SENTENCE), "")


def _image(head: Head) -> str:
    said: list[object] = [head.meta.get(name) for name in _IMAGE_META]
    said += [_picture(node.get("image")) for node in head.stories[:1]]
    said += [link.get("href") for link in head.links if link["rel"] == "image_src"]
    for one in said:
        address = plain_text(one, 2 * LEAD_CAP)
        if address and not address.startswith("data:"):
            joined = urljoin(head.url, address)
            if joined.startswith(("http://", "https://")) and len(urlsplit(joined).path) > 1:
                return joined
    return ""


def _picture(said: object) -> object:
    if isinstance(said, list):
        return _picture(said[0]) if said else None
    return said.get("url") or said.get("contentUrl") if isinstance(said, dict) else said


def _section(head: Head) -> str:
    said: list[object] = []
    for node in head.stories[:1]:
        stated = node.get("articleSection")
        said += stated if isinstance(stated, list) else [stated]
    said += [head.meta.get(name) for name in _SECTION_META]
    found = next((section for one in said if (section := plain_text(one, NAME_CAP))), "")
    if found:
        return found.partition(",")[0] if found.count(",") > found.count(", ") or found.count(",") > 1 else found
    shown = head.tree.css_first("a[rel~=category], [itemprop~=articleSection]")
    if shown is None:
        return ""
    inner = None if shown.tag == "a" else shown.css_first("a")
    return plain_text(shown.attributes.get("content") or (inner or shown).text(), NAME_CAP)


def _tags(head: Head) -> tuple[str, ...]:
    said: list[object] = []
    for node in head.stories[:1]:
        stated = node.get("keywords")
        said += stated if isinstance(stated, list) else [stated]
    for name in _TAG_META:
        if not any(said):
            said += head.every.get(name, ())
    if not any(said):
        said += [node.text() for node in head.tree.css("a[rel~=tag]:not([rel~=category])")[:MOST]]
    tags: dict[str, str] = {}
    for one in said:
        for tag in re.split(r"\s*[,;]\s*", plain_text(one, 4 * LEAD_CAP)):
            if 1 < len(tag) <= NAME_CAP:
                tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())[:MOST]


def _paywalled(head: Head) -> bool | None:
    for node in head.stories:
        free = str(node.get("isAccessibleForFree", "")).strip().lower()
        if free in ("true", "false", "1", "0", "http://schema.org/false", "http://schema.org/true"):
            return free.endswith("false") or free == "0"
    tier = head.meta.get("article:content_tier", "").strip().lower()
    return {"free": False, "locked": True, "metered": True}.get(tier)


def _language(stated: str, text: str) -> str:
    """The language that is stated; that of the words if none is stated, or if a long text is surely in another
    language.
    """
    if stated and (len(text) < LONG_TEXT or not contradicts(text, stated.partition("-")[0])):
        return stated
    return language_of(text) or stated
