"""The command line: its verbs, and how each of them ends."""

import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from enum import EnumType
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from forager.errors import Exit, ForagerError, OutputError, StoppedError, first_error
from forager.report.phrases import shown

P = ParamSpec("P")
R = TypeVar("R")

VERBS: dict[str, dict[str, tuple[str, str]]] = {
    "": {
        "demo": ("forager.cli.crawl:demo", "Watch a living news site being crawled, on this machine alone."),
        "crawl": ("forager.cli.crawl:crawl_command", "Crawl news sites and report new stories as they appear."),
        "export": ("forager.cli.export:export", "Write the stories of a crawl to a file."),
        "report": ("forager.cli.export:report", "Write the results of a crawl as one HTML file."),
        "why": ("forager.cli.why:why", "Say what is known of a page, and why it was visited or not."),
        "focus": ("focus", "Teach a focused crawl its topic."),
        "fetch": ("forager.cli.fetch:fetch_command", "Fetch one page by all rules and show what is read from it."),
        "robots": ("forager.cli.fetch:robots", "Say whether a URL may be fetched, and which rule says so."),
        "import": ("forager.cli.import_:import_", "Turn recordings of any tool into a tape for replays."),
        "replay": ("forager.cli.replay:replay_command", "Let a fleet crawl a recording, in simulated time."),
        "tune": ("forager.cli.tune:tune_command", "Search better settings on a recording, and judge them."),
        "learn": ("learn", "Learn a recrawl score function, or the states of foragers."),
        "rank": ("forager.cli.rankings:rank_command", "Rank the frontier of a link graph: what to download first."),
        "compare": ("compare", "Compare fleets, recrawl policies or frontier rankings."),
        "settings": ("forager.cli.options:settings", "Show every setting, its value and where it came from."),
    },
    "focus": {"mark": ("forager.cli.why:mark_page", "Say whether a page is on the topic of a crawl.")},
    "learn": {
        "function": ("forager.cli.learn:learn_command", "A score function from a change log (GP4C); the default."),
        "states": ("forager.cli.learn:learn_states", "Text clusters for the states of foragers, from a corpus."),
    },
    "compare": {
        "fleets": ("forager.cli.compare_fleets:compare_fleets", "Kinds of fleets on a tape, at equal budgets."),
        "policies": ("forager.cli.compare_policies:compare_policies", "Recrawl policies on a change log."),
        "rankings": ("forager.cli.rankings:compare_rankings", "Frontier rankings on a link graph."),
    },
}
"""The verbs of each group: the function to import when the verb is used (or the name of another group), and its help."""

UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer does not offer it by name
LONGEST = 1000
"""Characters of an error that are told (ours)."""
PLACEHOLDERS: dict[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH"}
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
        """Makes `forager learn LOG` short for `forager learn function LOG`; suggests a verb for a misspelt one."""
        verbs = VERBS[self._table]
        if self._table == "learn" and args[0] not in verbs:
            args = ["function", *args]
        elif args[0] not in verbs:
            close = get_close_matches(args[0], verbs, n=1)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {close[0]}?" if close else ""))
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
    verb = getattr(_stoppable(importlib.import_module)(module), function)
    alone = typer.Typer(**PLAIN)
    alone.command(name)(_stoppable(verb))
    made, hints = typer.main.get_command(alone), get_type_hints(verb)
    parameters: list[Any] = [*made.params]
    for one in parameters:  # typer itself would show types of Python, and braces
        if one.param_type_name == "argument":
            one.metavar = one.metavar or one.name.upper()
            usage = (one.metavar if one.required else f"[{one.metavar}]") + ("" if one.nargs == 1 else "...")
            one.get_usage_pieces = partial(_told, [usage])
            one.display_type_rich = partial(_told, "")
        elif one.metavar is None:
            one.metavar = _placeholder(hints.get(one.name))
    return made


def _told(said: R, ctx: Any) -> R:
    return said


def _placeholder(hint: Any) -> str | None:
    """What `--help` shows for the value of an option; None leaves it to typer, which names the choices of a `Literal`."""
    if isinstance(hint, EnumType):
        return f"<{'|'.join(map(str, hint))}>"
    within = next((part for part in get_args(hint) if part is not type(None)), None)
    return PLACEHOLDERS.get(hint) or (None if within is None else _placeholder(within))


def _stoppable(verb: Callable[P, R]) -> Callable[P, R]:
    """Makes a verb clean up and print one line when Ctrl-C or SIGTERM stops it; typer alone prints none."""

    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with _terminable():
                return verb(*args, **kwargs)
        except (ForagerError, typer.Exit):
            raise
        except BaseException as error:
            if _is_stop(error):
                raise StoppedError("stopped") from None
            raise

    return run


def _is_stop(error: BaseException | None) -> bool:
    """Whether this is Ctrl-C, or happened because of it: a compiler that is interrupted fails in its own way."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_stop(error.__context__))


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


EXITS = (
    "Exit codes: 0 done, 1 a bug, 2 wrong options, 3 wrong settings, 4 unusable input, 5 trouble with the run directory, "
    "6 an output cannot be written, 130 stopped. Of fetch also: 10 gone, 11 refused, 12 failed, 13 moved, 14 not recorded."
)
app = typer.Typer(cls=Verbs, no_args_is_help=True, epilog=EXITS, **PLAIN)


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

    Begin with `forager demo`; `forager VERB --help` explains a verb.
    """


def run(arguments: list[str] | None = None) -> Any:
    """Runs a command; errors of the operator end with one line and their exit code, bugs with a traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the end of the process
    try:
        sys.exit(_called(arguments))
    except UsageError as error:
        sys.stderr.write(_usage_line(error))
        sys.exit(Exit.USAGE)
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
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still to be written when Python ends
        _end(OutputError(f"standard output: cannot be written: {error.strerror}"))


def _called(arguments: list[str] | None) -> int:
    try:
        return app(args=arguments, prog_name="forager", standalone_mode=False) or Exit.OK
    except SystemExit:  # typer's answer to a pipe that nobody reads any more
        return Exit.OUTPUT


def _usage_line(error: Any) -> str:
    """What is wrong with the options, in one line; the help if there are none."""
    said, path = error.format_message(), error.ctx.command_path if error.ctx else "forager"
    if said.startswith("Usage:"):
        return f"{said}\n"
    said = said.removeprefix("Invalid value: ").replace("Value error, ", "").rstrip(".")
    return f"{path}: {said}{' ' if said.endswith('?') else '; '}see {path} --help\n"


def _end(error: ForagerError) -> None:
    """Tells an error in one line, in which text of files cannot steer the terminal, and ends the process."""
    sys.stderr.write(f"forager: {shown(str(error), LONGEST)}\n")
    sys.exit(error.exit)
