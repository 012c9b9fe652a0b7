"""An article of the newsroom, and what happens to it."""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum


class Shift(StrEnum):
    """What a change affects."""

    TEXT = "text"  # a sentence and a note
    TITLE = "title"  # the headline too
    ENTRY = "entry"  # a new entry of a live blog


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """A change of the main text."""

    at: float
    shift: Shift


@dataclass(frozen=True, slots=True)
class Article:
    """An article with everything that will happen to it; times are in whole seconds, UTC since the epoch."""

    number: int
    """Its number in the order of publication over all papers."""
    paper: int
    section: int
    """Index of its section in its paper."""
    topic: int
    author: str
    published: float
    path: str
    """Its first path."""
    changes: tuple[ArticleChange, ...] = ()
    live: bool = False
    removed: float | None = None
    """When its URL begins to answer 410."""
    moved: float | None = None
    """When `path` begins to answer 301, because the article moves to `moved_path`."""
    moved_path: str = ""
    copy_of: int | None = None
    """The article that it copies, printed earlier by another paper."""
    front: bool = False
    """Whether it is at the top of the home page."""

    def version(self, now: float) -> int:
        """Number of changes so far; 0 is the first text."""
        return bisect_right(self.changes, now, key=lambda change: change.at)

    def title_version(self, now: float) -> int:
        """Returns the version that introduced the current headline."""
        return max(
            (turn for turn, c in enumerate(self.changes, 1) if c.shift is Shift.TITLE and c.at <= now), default=0
        )

    def changed(self, version: int) -> float:
        """Returns when it became this version."""
        return self.changes[version - 1].at if version else self.published

    def path_at(self, now: float) -> str:
        return self.moved_path if self.moved is not None and self.moved <= now else self.path

    def visible(self, now: float) -> bool:
        """Whether it is published and not removed."""
        return self.published <= now and (self.removed is None or now < self.removed)
