"""Log of a crawl: one line per event, as text or JSON, on standard error and in the run directory.

    DEBUG     every fetch, every reinforcement                                  -v
    INFO      stories, births and deaths of foragers, recrawl cycles that did something, pages that are gone or refused
    WARNING   failed fetches: no answer, a server error, a host that asks for a pause               also with -q

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
from forager.events import (
    AskedToWait,
    Born,
    CycleDone,
    Deleted,
    Event,
    Fetched,
    Learned,
    Reinforced,
    Resumed,
    Scheduled,
    Told,
    TopicJudged,
)
from forager.output.fields import iso_moment as iso
from forager.report.phrases import amount, shown, shown_moment, span, visitor
from forager.store.rundir import own_file
from forager.terms import NOBODY, Outcome, Trouble

FILE = "crawl.log"
LATEST = 8


class Level(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30


class CrawlLog:
    """A journal reader that writes log lines; other parts log through `say`."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, form: LogFormat | None = None) -> None:
        """`form` None writes lines of text; but on a terminal it shows the live view (see `runner`) and only
        warnings."""
        self.quiet, self.form = quiet, form or LogFormat.TEXT
        self.view = sys.stderr.isatty() and form is None and not (quiet or verbose)
        self.level = Level.DEBUG if verbose else Level.WARNING if quiet or self.view else Level.INFO
        self.latest: deque[Told] = deque(maxlen=LATEST)
        """The latest stories, for the live view."""
        self._file: TextIO | None = None
        self._resumed = float("-inf")

    def __repr__(self) -> str:
        return f"<CrawlLog from {self.level.name} as {self.form.value}>"

    @property
    def is_for_people(self) -> bool:
        """Whether other parts may write their own lines to standard error."""
        return not self.quiet and self.form is LogFormat.TEXT

    @contextmanager
    def kept_in(self, run_dir: Path) -> Iterator[None]:
        """Also writes lines to the run's log file inside this context; if that fails, the crawl continues without it."""
        try:
            self._file = open(  # noqa: SIM115 - closed below
                run_dir / FILE, "a", encoding="utf-8", errors="backslashreplace", buffering=1, opener=own_file
            )
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
        """Logs one line: the event's name, a sentence and, in JSON, its fields."""
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
        """Returns a function that logs sentences under this name at the current time."""
        return lambda text: self.say(name, text, at=clock.now(), message=text)

    def dashboard(self, clock: Clock) -> Callable[[str], None]:
        """Returns a function that logs the address of the dashboard, even in quiet mode; no file gets its token."""

        def say(address: str) -> None:
            file = self._file
            if self.form is LogFormat.JSON:
                self._file = None if "?" in address else file
                self.say("dashboard", "", at=clock.now(), level=Level.WARNING, address=address)
                self._file = file
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
            case Resumed():
                self._resumed = event.at
                text = f"{amount(event.known, 'known page')}, {event.stories:,} stories told before"
                return Level.INFO, "resumed", f"{text}, {amount(event.foragers, 'forager')}"
            case Born():
                parent = "" if event.parent == NOBODY else f", child of {event.parent}"
                level = Level.DEBUG if event.at < self._resumed else Level.INFO  # told in an earlier run
                return level, "born", f"forager {event.forager}, {event.kind}{parent}"
            case Deleted():
                return Level.INFO, "deleted", f"forager {event.forager}, with a score of {event.score:.1f}"
            case Scheduled():
                text = f"{event.chosen} of {event.known} known pages are worth a look by {event.policy}"
                return Level.DEBUG, "schedule", text
            case CycleDone():
                text = f"{amount(event.visits, 'visit')} to pages seen before, {amount(event.changes, 'change')}"
                rates = f"ChangeRate {event.change_rate:.2f}, NDCG {event.ndcg:.2f}"
                return (Level.INFO if event.visits else Level.DEBUG), "cycle", f"{text}, {rates}"
            case Learned():
                fate = "in use from now on" if event.replaced else f"{event.verdict}, so not used"
                text = f"{shown(event.formula)}: {event.fitness} {event.new:.3f} on held-out pages, the present one "
                return Level.INFO, "learned", f"{text}{event.old:.3f}; {fate}"
            case TopicJudged():
                return Level.DEBUG, "topic", f"version {event.version}: {event.verdict}"
            case AskedToWait():
                text = f"{shown(event.host)} is left alone until {shown_moment(event.until)}: {event.why}"
                return Level.WARNING, "wait", text
            case Reinforced():
                return Level.DEBUG, "earned", f"forager {event.forager}: {event.amount:+g}"


def _write(line: str) -> None:
    """Writes a line to standard error. If that is closed, the crawl continues, and its log file still has the line."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end of the process


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
