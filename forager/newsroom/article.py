"""The nouns of the newsroom: an article and what happens to it."""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum


class Shift(StrEnum):
    """How a change shows."""

    TEXT = "text"  # a sentence and a note
    TITLE = "title"  # the headline as well
    ENTRY = "entry"  # a new entry of a live blog


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """A change of the main text."""

    at: float
    shift: Shift


@dataclass(frozen=True, slots=True)
class Article:
    """An article with its whole fate; every time is in whole seconds, UTC since the epoch."""

    number: int
    """Its place in the order of publication over all papers."""
    paper: int
    section: int
    """Which section of its paper."""
    topic: int
    author: str
    published: float
    path: str
    """Where it stands at first."""
    changes: tuple[ArticleChange, ...] = ()
    live: bool = False
    removed: float | None = None
    """From then on its URL answers 410."""
    moved: float | None = None
    """From then on `path` answers 301 and the article stands at `moved_path`."""
    moved_path: str = ""
    copy_of: int | None = None
    """The article it is a copy of, printed earlier by another paper."""
    front: bool = False
    """Chosen for the top of the home page."""

    def version(self, now: float) -> int:
        """How many changes have happened; 0 is the first text."""
        return bisect_right(self.changes, now, key=lambda change: change.at)

    def title_version(self, now: float) -> int:
        """The version that brought the present headline."""
        return max(
            (turn for turn, c in enumerate(self.changes, 1) if c.shift is Shift.TITLE and c.at <= now), default=0
        )

    def path_at(self, now: float) -> str:
        return self.moved_path if self.moved is not None and self.moved <= now else self.path

    def visible(self, now: float) -> bool:
        """Published and not removed."""
        return self.published <= now and (self.removed is None or now < self.removed)
