"""The command line: which verbs there are, and how every one of them ends."""

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from forager.errors import Exit, ForagerError

VERBS = {
    "demo": ("forager.cli.demo:demo", "Watch a living news site being crawled, on this machine alone."),
    "crawl": ("forager.cli.crawl:crawl", "Crawl news sites and tell new stories as they appear."),
    "export": ("forager.cli.export:export", "Write the stories of a crawl to a file."),
    "fetch": ("forager.cli.fetch:fetch", "Fetch one page through all rules and show what is read from it."),
    "robots": ("forager.cli.robots:robots", "Say whether a URL may be fetched, and which rule says so."),
    "settings": ("forager.cli.settings:settings", "Show every setting, its value and where it came from."),
}
"""Each verb with the function behind it (imported only when used) and its line in `forager --help`."""

PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class Verbs(TyperGroup):
    """A command group that imports a verb when it is called, so that `--help` is quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        place, summary = VERBS[cmd_name]
        if "--help" in sys.argv[1:2]:
            return TyperCommand(cmd_name, short_help=summary, rich_markup_mode=None)
        return command(place, cmd_name)


def command(place: str, name: str) -> Any:
    """The function at `module:function` as a command."""
    module, _, function = place.partition(":")
    alone = typer.Typer(**PLAIN)
    alone.command(name)(getattr(importlib.import_module(module), function))
    return typer.main.get_command(alone)


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
    """A focused news crawler that learns where and when to look."""


def run(arguments: list[str] | None = None) -> Any:
    """Run a command; operator errors end in one line and their exit code, bugs in a traceback."""
    try:
        app(args=arguments, prog_name="forager")
    except ForagerError as error:
        sys.stderr.write(f"forager: {error}\n")
        sys.exit(error.exit)
    except KeyboardInterrupt:
        sys.stderr.write("forager: stopped\n")
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(Exit.OUTPUT)
