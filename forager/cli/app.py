"""The command line: its verbs, and how each of them ends."""

import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from forager.errors import Exit, ForagerError, StoppedError, first_error

P = ParamSpec("P")
R = TypeVar("R")

VERBS: dict[str, dict[str, tuple[str, str]]] = {
    "": {
        "demo": ("forager.cli.crawl:demo", "Watch a living news site being crawled, on this machine alone."),
        "crawl": ("forager.cli.crawl:crawl_command", "Crawl news sites and tell new stories as they appear."),
        "export": ("forager.cli.export:export", "Write the stories of a crawl to a file."),
        "report": (
            "forager.cli.export:report",
            "Write what a crawl found, how soon and at what cost, as one HTML file.",
        ),
        "why": ("forager.cli.why:why", "Say what is known of a page, and why it was visited or not."),
        "focus": ("focus", "Teach a focused crawl its topic."),
        "fetch": ("forager.cli.fetch:fetch_command", "Fetch one page through all rules and show what is read from it."),
        "robots": ("forager.cli.fetch:robots", "Say whether a URL may be fetched, and which rule says so."),
        "import": ("forager.cli.import_:import_", "Turn recordings of any tool into a tape for replays."),
        "replay": ("forager.cli.replay:replay_command", "Let a fleet crawl a recording, in simulated time."),
        "tune": (
            "forager.cli.tune:tune_command",
            "Find better settings on a recording and judge them on its held-out part.",
        ),
        "learn": ("learn", "Learn a recrawl score function, or the states of foragers."),
        "rank": ("forager.cli.rankings:rank_command", "Rank the frontier of a link graph: what to download first."),
        "compare": ("compare", "Compare fleets, recrawl policies or frontier rankings on your data."),
        "settings": ("forager.cli.options:settings", "Show every setting, its value and where it came from."),
    },
    "focus": {
        "mark": ("forager.cli.why:mark_page", "Say whether a page is on the topic of a crawl."),
    },
    "learn": {
        "function": (
            "forager.cli.learn:learn_command",
            "A recrawl score function from a change log (GP4C); the default.",
        ),
        "states": ("forager.cli.learn:learn_states", "Text clusters for the states of foragers, from a corpus."),
    },
    "compare": {
        "fleets": ("forager.cli.compare_fleets:compare_fleets", "Kinds of fleets on a tape, at equal budgets."),
        "policies": ("forager.cli.compare_policies:compare_policies", "Recrawl policies on a change log."),
        "rankings": ("forager.cli.rankings:compare_rankings", "Frontier rankings on a link graph."),
    },
}
"""The verbs of each group: the function to import when the verb is used (or the name of another group), and its help."""

PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class Verbs(TyperGroup):
    """A group of commands that are imported only when called, so that `--help` is quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS[self._table])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS[self._table]:
            return None
        place, summary = VERBS[self._table][cmd_name]
        if getattr(ctx, "listing", False):
            return TyperCommand(cmd_name, short_help=summary, rich_markup_mode=None)
        return group(place, summary) if place in VERBS else command(place, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Makes `forager learn LOG` short for `forager learn function LOG`."""
        if self._table == "learn" and args[0] not in VERBS["learn"]:
            args = ["function", *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        ctx.listing = True
        super().format_commands(ctx, formatter)

    @property
    def _table(self) -> str:
        return self.name if self.name and self.name in VERBS else ""


def group(name: str, summary: str) -> Any:
    """Makes a group of verbs into a command."""
    inner = typer.Typer(cls=Verbs, name=name, no_args_is_help=True, **PLAIN)
    inner.callback()(lambda: None)
    made = typer.main.get_group(inner)
    made.name, made.help = name, summary
    return made


def command(place: str, name: str) -> Any:
    """Makes the function at `module:function` into a command."""
    module, _, function = place.partition(":")
    alone = typer.Typer(**PLAIN)
    alone.command(name)(_stoppable(getattr(_stoppable(importlib.import_module)(module), function)))
    return typer.main.get_command(alone)


def _stoppable(verb: Callable[P, R]) -> Callable[P, R]:
    """Makes a verb clean up and print one line when Ctrl-C or SIGTERM stops it; typer alone prints none."""

    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with _terminable():
                return verb(*args, **kwargs)
        except KeyboardInterrupt:
            raise StoppedError("stopped") from None

    return run


@contextmanager
def _terminable() -> Iterator[None]:
    """Treats SIGTERM like Ctrl-C, so that a verb ends its processes and deletes its temporary files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


app = typer.Typer(cls=Verbs, no_args_is_help=True, **PLAIN)


def _version(wanted: bool) -> None:
    if wanted:
        from forager import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def forager(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A focused news crawler that learns where and when to look.

    Exit codes: 0 done, 1 a bug, 2 wrong options, 3 wrong settings, 4 unusable input, 5 trouble with the run directory, 6 an
    output cannot be written, 130 stopped. Of fetch also: 10 gone, 11 refused, 12 failed, 13 moved, 14 not recorded.
    """


def run(arguments: list[str] | None = None) -> Any:
    """Runs a command; errors of the operator end with one line and their exit code, bugs with a traceback."""
    try:
        app(args=arguments, prog_name="forager")
    except ForagerError as error:
        _end(error)
    except BaseExceptionGroup as group:
        known, others = group.split(ForagerError)
        if known is None or others is not None:
            raise
        first = first_error(known)
        assert isinstance(first, ForagerError)
        _end(first)
    except KeyboardInterrupt:
        sys.stderr.write("forager: stopped\n")
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(Exit.OUTPUT)


def _end(error: ForagerError) -> None:
    """Tells an error in one line and ends the process.

    If the disk failed, at once: a library that finds its objects still in use while Python is taken down, as they
    sometimes are then, would write many lines about it.
    """
    sys.stderr.write(f"forager: {error}\n")
    if error.exit is Exit.STORE:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(error.exit)
    sys.exit(error.exit)
