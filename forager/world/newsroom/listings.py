"""Lists of the newest articles, as they stood at any moment, with the exact moment of their last change."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forager.world.newsroom.terms import Article, Shift


@dataclass(frozen=True, slots=True)
class Listing:
    """Some articles, newest first, and what identifies this state of the list."""

    articles: tuple[Article, ...]
    key: tuple[tuple[int, int, bool], ...]
    """Number, version shown and whether moved, of each."""
    modified: float
    """When the list became what it is."""
    more: bool = False
    """Older articles follow on another page."""


class Shelf:
    """The articles of one scope (a section, a topic, …) in order of publication."""

    def __init__(self, articles: Sequence[Article], opened: float) -> None:
        self.articles, self.opened = articles, opened
        self._times = [article.published for article in articles]

    def latest(self, now: float, count: int, skip: int = 0, *, texts: bool = False) -> Listing:
        """The newest `count` articles visible now, after the first `skip`.

        A new headline or address is a change of the list; with `texts`, so is any change of a listed article.
        """
        shown: list[Article] = []
        modified, more = self.opened, False
        for article in self._before(now):
            if article.removed is not None and article.removed <= now:
                if len(shown) < count:  # behind a full list nobody saw it go
                    modified = max(modified, article.published, article.removed)
                continue
            modified = max(modified, article.published)
            if skip:
                skip -= 1
            elif len(shown) < count:
                shown.append(article)
                modified = max(modified, _touched(article, now, texts))
            else:
                more = True
                break
        return Listing(tuple(shown), _key(shown, now, texts), modified, more)

    def recent(self, now: float, span: float) -> Listing:
        """All visible articles published during the last `span` seconds; their texts' changes count."""
        shown: list[Article] = []
        modified = self.opened
        for article in self._before(now):
            if article.published <= now - span:
                if article.removed is None or article.removed > article.published + span:
                    modified = max(modified, article.published + span)  # it has just fallen off the end
                    break
                continue
            modified = max(modified, article.published)
            if article.removed is not None and article.removed <= now:
                modified = max(modified, article.removed)
            else:
                shown.append(article)
                modified = max(modified, _touched(article, now, texts=True))
        return Listing(tuple(shown), _key(shown, now, True), modified)

    def _before(self, now: float) -> Iterator[Article]:
        """Newest first."""
        for place in range(bisect_right(self._times, now) - 1, -1, -1):
            yield self.articles[place]


def _touched(article: Article, now: float, texts: bool) -> float:
    """When what a list shows of an article last changed; its publication if never."""
    last = max(
        (c.at for c in article.changes if c.at <= now and (texts or c.shift is Shift.TITLE)), default=article.published
    )
    return max(last, article.moved) if article.moved is not None and article.moved <= now else last


def _key(shown: Sequence[Article], now: float, texts: bool) -> tuple[tuple[int, int, bool], ...]:
    return tuple(
        (a.number, a.version(now) if texts else a.title_version(now), a.moved is not None and a.moved <= now)
        for a in shown
    )
