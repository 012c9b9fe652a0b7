"""From a response to a page: combines the other files of this package and survives anything.

A `Page` is lazy: a caller that wants the links does not pay for dates or text. Whatever the bytes, nothing here raises;
what could not be read is empty, and `trouble` says why.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from forager.pages import feeds, kinds, sitemaps, text
from forager.pages import fingerprints as prints
from forager.pages.about import about, headline
from forager.pages.dates import PageDates
from forager.pages.head import Head, PageTree, RobotsMeta, lazily, read_robots_meta
from forager.pages.language import language_of
from forager.pages.links import PageLinks, says_only_a_text
from forager.pages.markup import GZIP, Form, form_of_body, inflated_body, to_utf8, within_depth
from forager.pages.pages_settings import PagesSettings
from forager.pages.urls import UrlMemo, path
from forager.terms import NOTHING, About, Dated, DateSource, Kind, Link, Response, Url

T = TypeVar("T")

_DEFAULTS = PagesSettings()


def load_slow_parts() -> None:
    """Loads what only few pages need and what takes long to load. Call it early where a later call must not be slow."""
    import charset_normalizer  # noqa: F401
    from htmldate.extractors import get_external_parser, month_words

    month_words()
    get_external_parser().get_date_data("no date")  # takes a second: it is tried in every language


LONG = 400_000  # bytes of HTML that take longer to read than an event loop should be held
LONG_LIST = 10_000  # the same for anything else
_HTML = re.compile(rb"<html|<!doctype html", re.IGNORECASE)


class Page:
    """What can be read from one response; each answer is computed when it is first asked for."""

    def __init__(self, response: Response, memo: UrlMemo | None = None, settings: PagesSettings = _DEFAULTS) -> None:
        self.url: Url = response.url
        self.response = response  # the answer that it was read from
        self.trouble = "" if response.body else "empty body"
        """Why something could not be read, as far as it was tried; empty if all went well."""
        self._memo = memo
        self._settings = settings

    @property
    def is_long(self) -> bool:
        """Whether it may take long to read: a list of thousands of pages, a very large page, or anything compressed."""
        body = self.response.body
        is_html = _HTML.search(body, 0, 1000) is not None
        return len(body) > (LONG if is_html else LONG_LIST) or body.startswith(GZIP)

    def read_ahead(self) -> None:
        """Computes what takes long; another thread may do so before anybody else asks."""
        for _ in (self.text_print, self.kind, self.related, self.robots, self.latest_dates, self.entry_prints):
            pass
        for target in self.targets[:1]:
            self.link(target)

    @lazily
    def kind(self) -> Kind:
        head = self._head
        if head is not None:
            return self._attempt(
                "kind", lambda: kinds.kind_of(head, lambda: self._all_links, lambda: self.text), Kind.OTHER
            )
        if self._feed is not None:
            return Kind.FEED
        return Kind.SITEMAP if self._sitemap is not None else Kind.OTHER

    @lazily
    def links(self) -> tuple[Link, ...]:
        """Links of the text and head of a page, entries of a feed, URLs and further sitemaps of a sitemap."""
        if self._feed is not None:
            return self._feed.links
        if self._sitemap is not None:
            return self._sitemap.sitemaps + self._sitemap.links
        own = self._own_feeds
        return tuple(link for link in self._all_links if link.url not in own)

    @lazily
    def _all_links(self) -> tuple[Link, ...]:
        """The links of an HTML page, its own feeds too."""
        read = self._links
        return () if read is None else self._attempt("links", read.all, ())

    @lazily
    def _own_feeds(self) -> set[Url]:
        """The feeds of an article alone, such as that of its comments, which bring no other story."""
        read = self._links
        return set() if read is None or not read.own_feeds or self.kind is not Kind.ARTICLE else read.own_feeds

    @lazily
    def targets(self) -> tuple[Url, ...]:
        """The URLs of the `links` in their order, each once; for an HTML page much cheaper than the links themselves."""
        read = self._links
        if read is None:
            return tuple(dict.fromkeys(link.url for link in self.links))
        own = self._own_feeds
        return tuple(url for url in read.urls if url not in own) if own else read.urls

    def link(self, target: Url) -> Link:
        """The link to this one of the `targets`."""
        read = None if "links" in self.__dict__ else self._links
        if read is None:
            return self._by_target[target]
        return self._attempt("link", lambda: read.to(target), Link(target))

    @lazily
    def related(self) -> set[Url]:
        """Those of the `targets` that have more than a text, such as a relation; cheaper than the links themselves."""
        read = None if "links" in self.__dict__ else self._links
        if read is None:
            return {link.url for link in self.links if not says_only_a_text(link)}
        return read.related

    @lazily
    def title(self) -> str:
        """The headline that a reader sees, without the name of the site."""
        if self._feed is not None:
            return self._feed.title
        return self._from_head("title", lambda head: headline(head, self._settings.max_anchor), "")

    @lazily
    def canonical(self) -> Url | None:
        """What the page calls its own URL."""
        read = self._links
        return None if read is None else read.canonical

    @lazily
    def lang(self) -> str:
        """The language as the page states it, in lower case (`en-gb`); empty if it does not."""
        stated = self._from_head("lang", _stated_lang, "") or self.response.header("content-language")
        return stated.partition(",")[0].strip().lower().replace("_", "-")[:35]

    @lazily
    def about(self) -> About:
        """What the page tells of its story besides title, text and dates."""
        return self._from_head("about", lambda head: about(head, self.text, language=self.lang), NOTHING)

    @property
    def authors(self) -> tuple[str, ...]:
        return self.about.authors

    @property
    def lead(self) -> str:
        """The description or teaser."""
        return self.about.lead

    @property
    def image(self) -> str:
        """The URL of its picture; empty if it names none."""
        return self.about.image

    @property
    def section(self) -> str:
        return self.about.section

    @property
    def tags(self) -> tuple[str, ...]:
        return self.about.tags

    @property
    def language(self) -> str:
        """The language that the page states, else that of its words; empty if neither is known."""
        return self.about.language

    @property
    def paywalled(self) -> bool | None:
        """None if the page does not say."""
        return self.about.paywalled

    @property
    def word_count(self) -> int:
        """The number of words in the main text."""
        return self.about.word_count

    @lazily
    def latest_dates(self) -> Mapping[Url, float]:
        """When pages that a list names were published at the latest, by the times beside their headlines, or by their
        last modification in a sitemap.
        """
        if self._sitemap is not None:
            return self._sitemap.modified
        read = self._links
        return {} if read is None else self._attempt("dates of links", lambda: read.latest_dates, {})

    def announced(self, target: Url) -> feeds.Entry | None:
        """What a feed says of one of its targets; see `feeds.told_by`."""
        return None if self._feed is None else self._feed.entries.get(target)

    @lazily
    def published(self) -> Dated | None:
        return self.published_but(())

    def published_but(self, ignored: Collection[DateSource]) -> Dated | None:
        """The publication date without these sources, which are wrong on this site."""
        return self._attempt("published", lambda: self._published(ignored), None)

    def _published(self, ignored: Collection[DateSource]) -> Dated | None:
        dates = self._dates
        return None if dates is None else dates.published(ignored=ignored, lang=self.lang or language_of(self.text))

    @lazily
    def modified(self) -> Dated | None:
        dates = self._dates
        return None if dates is None else self._attempt("modified", lambda: dates.modified, None)

    @lazily
    def text(self) -> str:
        """The main text of an HTML page; the entries of a feed or sitemap, one a line."""
        if self._head is not None:
            return self._from_head("text", text.story_text, "")
        return "\n".join(link.title or link.anchor or link.url for link in self.links)

    @lazily
    def byte_print(self) -> int:
        return prints.byte_print(self.response.body)

    @lazily
    def text_print(self) -> int:
        """Fingerprint of the text without the page's own address; of the bytes if the page has no text."""
        if self.kind is Kind.OTHER:
            return self.byte_print
        plain = prints.without_address(self.text, path(self.url)) if self._tree is not None else self.text
        return prints.text_print(plain, tidy=self._tree is not None)

    @lazily
    def simhash(self) -> int:
        return prints.simhash(self.text)

    @lazily
    def robots(self) -> RobotsMeta:
        """What the page asks of robots; the links are read in any case."""
        headers = [value for name, value in self.response.headers if name == "x-robots-tag"]
        nothing: list[tuple[str, str]] = []
        metas = self._from_head("robots", lambda head: head.named, nothing)
        return read_robots_meta(metas, headers, self._settings.robots_agent)

    def __del__(self) -> None:
        tree = self.__dict__.get("_tree")
        if tree is not None:
            tree.forget()

    def __repr__(self) -> str:
        state = self.trouble or "readable"
        return f"<Page {self.url} {self._form.name.lower()}, {len(self._body)} bytes, {state}>"

    @lazily
    def _body(self) -> bytes:
        return self._attempt("body", lambda: inflated_body(self.response.body, sitemaps.BYTE_CAP), b"")

    @lazily
    def _form(self) -> Form:
        return self._attempt("form", lambda: form_of_body(self._body, self.response.header("content-type")), Form.OTHER)

    @lazily
    def _tree(self) -> PageTree | None:
        return self._attempt("markup", self._parse, None) if self._form is Form.HTML else None

    @lazily
    def _head(self) -> Head | None:
        return None if self._tree is None else Head(self._tree, self.url)

    @lazily
    def _dates(self) -> PageDates | None:
        head, served = self._head, self.response.header("last-modified")
        return None if head is None else PageDates(head, last_modified=served, now=self.response.asked)

    @lazily
    def _links(self) -> PageLinks | None:
        head = self._head
        if head is None:
            return None
        return self._attempt("links", lambda: PageLinks(head, memo=self._memo, settings=self._settings), None)

    @lazily
    def _by_target(self) -> dict[Url, Link]:
        return {link.url: link for link in self.links}

    @lazily
    def _feed(self) -> feeds.Feed | None:
        if self._form is not Form.FEED:
            return None
        content_type = self.response.header("content-type")
        return self._found("feed", lambda: feeds.read_feed(self._body, self.url, content_type))

    @lazily
    def entry_prints(self) -> dict[Url, int]:
        """For each entry of a feed a fingerprint of what it says of its page; empty if this is not a feed in XML."""
        if self._form is not Form.FEED:
            return {}
        return self._attempt("entries", lambda: feeds.entry_prints(self._body, self.url), {})

    @lazily
    def _sitemap(self) -> sitemaps.Sitemap | None:
        if self._form is not Form.SITEMAP:
            return None
        return self._found("sitemap", lambda: sitemaps.read_sitemap(self._body, self.url))

    def _parse(self) -> PageTree:
        markup = to_utf8(self._body, self.response.header("content-type"))
        kept = within_depth(markup, self._settings.max_depth)
        if len(kept) < len(markup):
            self._note(f"markup: nested too deeply, read {len(kept)} of {len(markup)} bytes")
        return PageTree(kept)

    def _from_head(self, what: str, work: Callable[[Head], T], otherwise: T) -> T:
        head = self._head
        return otherwise if head is None else self._attempt(what, lambda: work(head), otherwise)

    def _found(self, what: str, work: Callable[[], T | None]) -> T | None:
        found = self._attempt(what, work, None)
        if found is None:
            self._note(f"{what}: cannot be read")
        return found

    def _attempt(self, what: str, work: Callable[[], T], otherwise: T) -> T:
        """The one place that catches every error, because hostile bytes may hit a bug in any parser."""
        try:
            return work()
        except Exception as error:
            self._note(f"{what}: {type(error).__name__}: {str(error)[:200]}")
            return otherwise

    def _note(self, trouble: str) -> None:
        self.trouble = self.trouble or trouble


def _stated_lang(head: Head) -> str:
    root = head.tree.root
    by_root = None if root is None else root.attributes.get("lang")
    others = map(head.meta.get, ("content-language", "og:locale", "dc.language"))
    return by_root or next(filter(None, others), "")
