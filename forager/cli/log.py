"""The log of a crawl: one line for each event, for people or as JSON, on standard error and in the run directory.

    DEBUG     every fetch, every reinforcement                                  -v
    INFO      stories, births and deaths of foragers, recrawl cycles that did something, pages that are gone or refused
    WARNING   fetches that failed: no answer, a server error, a host that wants to be left alone    also with -q

Times are UTC on the crawl's clock. The file `crawl.log` holds at least INFO.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, TextIO

import msgspec

from forager.cli.options import LogFormat
from forager.clock import Clock
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Learned, Reinforced, Scheduled, Told
from forager.output.fields import iso_moment as iso
from forager.report.text import shown, shown_moment, span, visitor
from forager.terms import NOBODY, Outcome, Trouble

FILE = "crawl.log"
LATEST = 8


class Level(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30


class Log:
    """A reader of the journal that writes lines; whoever else has something to say calls `say`."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, form: LogFormat | None = None) -> None:
        """Without a form, lines of text; but on a terminal the live view (see `progress`), and only warnings beside it."""
        self.quiet, self.form = quiet, form or LogFormat.TEXT
        self.view = sys.stderr.isatty() and form is None and not (quiet or verbose)
        self.level = Level.DEBUG if verbose else Level.WARNING if quiet or self.view else Level.INFO
        self.latest: deque[Told] = deque(maxlen=LATEST)
        """Stories, for the live view."""
        self._file: TextIO | None = None

    def __repr__(self) -> str:
        return f"<Log from {self.level.name} as {self.form.value}>"

    @property
    def is_for_people(self) -> bool:
        """Whether others may write a line beside it."""
        return not self.quiet and self.form is LogFormat.TEXT

    @contextmanager
    def kept_in(self, run_dir: Path) -> Iterator[None]:
        """As long as this lasts, lines go to the run's log file too; if it cannot be written, the crawl goes on without."""
        try:
            self._file = (run_dir / FILE).open("a", encoding="utf-8", errors="backslashreplace", buffering=1)
        except OSError as error:
            self._give_up(error)
        try:
            yield
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, Told):
            self.latest.append(event)
        level, name, text = self._told(event)
        if level >= min(self.level, Level.INFO):
            fields = {field: getattr(event, field) for field in event.__slots__ if field != "at"}
            self.say(name, text, at=event.at, level=level, **fields)

    def say(self, name: str, text: str, *, at: float, level: Level = Level.INFO, **fields: Any) -> None:
        """One line: what happened in a word, the same in a sentence, and, as JSON, its fields."""
        if self.form is LogFormat.JSON:
            line = msgspec.json.encode({"time": iso(at), "level": level.name, "event": name, **fields}).decode()
        else:
            line = f"{shown_moment(at)} {level.name:<7} {name:<9} {text}"
        if level >= self.level:
            _write(line)
        if self._file is not None and level >= min(self.level, Level.INFO):
            try:
                self._file.write(line + "\n")
            except OSError as error:
                self._file = None
                self._give_up(error)

    def saying(self, name: str, clock: Clock) -> Callable[[str], None]:
        """Says sentences under one word, each when it is told."""
        return lambda text: self.say(name, text, at=clock.now(), message=text)

    def dashboard(self, clock: Clock) -> Callable[[str], None]:
        """Says where the dashboard is, even to those who want to hear nothing else."""

        def say(address: str) -> None:
            if self.form is LogFormat.JSON:
                self.say("dashboard", "", at=clock.now(), level=Level.WARNING, address=address)
            else:
                _write(f"Dashboard: {address}")

        return say

    def _give_up(self, error: OSError) -> None:
        _write(f"forager: {FILE} cannot be written ({error.strerror}); the crawl goes on without it")

    def _told(self, event: Event) -> tuple[Level, str, str]:
        match event:
            case Told():
                how = f"{event.site}, {span(event.delay)} after publication, found by {event.via.value}"
                return Level.INFO, "story", f"{shown(event.title) or '(no title)'} ({how}) {shown(event.url)}"
            case Fetched():
                return _level(event), event.outcome.value, _fetched(event)
            case Born():
                parent = "" if event.parent == NOBODY else f", child of {event.parent}"
                return Level.INFO, "born", f"forager {event.forager}, {event.kind}{parent}"
            case Deleted():
                return Level.INFO, "deleted", f"forager {event.forager}, with a score of {event.score:.1f}"
            case Scheduled():
                text = f"{event.chosen} of {event.known} known pages are worth a look by {event.policy}"
                return Level.DEBUG, "schedule", text
            case CycleDone():
                text = f"{_times(event.visits, 'visit')} to pages seen before, {_times(event.changes, 'change')}"
                rates = f"ChangeRate {event.change_rate:.2f}, NDCG {event.ndcg:.2f}"
                return (Level.INFO if event.visits else Level.DEBUG), "cycle", f"{text}, {rates}, by {event.policy}"
            case Learned():
                fate = "in use from now on" if event.replaced else f"{event.verdict}, so not used"
                text = f"{shown(event.formula)}: {event.fitness} {event.new:.3f} on held-out pages, the present one "
                return Level.INFO, "learned", f"{text}{event.old:.3f}; {fate}"
            case Reinforced():
                return Level.DEBUG, "earned", f"forager {event.forager}: {event.amount:+g}"


def _write(line: str) -> None:
    """A line on standard error; once nobody reads that any more, nowhere: the crawl goes on, and its log file tells."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end of the process


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _level(event: Fetched) -> Level:
    if event.outcome is Outcome.FAILED:
        return Level.WARNING
    return Level.DEBUG if event.trouble is Trouble.NONE else Level.INFO


def _fetched(event: Fetched) -> str:
    status = f" ({event.status})" if event.status else ""
    news = ", changed" if event.changed else ""
    links = f", {event.new_links} new links" if event.new_links else ""
    error = f": {shown(event.error)}" if event.error else ""
    return f"{shown(event.url)}{status} for {visitor(event.by)} in {event.seconds:.2f} s{news}{links}{error}"
