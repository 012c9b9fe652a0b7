"""Errors that the operator can fix: each has a one-line message that says what to do, and an exit code."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    BUG = 1  # an unexpected error: please report it
    USAGE = 2  # wrong options or arguments
    SETTINGS = 3  # config.yaml, -s or FORAGER_… is wrong
    INPUT = 4  # a seed file, recording, table or other input cannot be used
    STORE = 5  # the run directory is busy, damaged, too new or not writable
    OUTPUT = 6  # an output file cannot be written
    GONE = 10  # fetch: the page is not there (4xx)
    REFUSED = 11  # fetch: we may not ask (robots, address guard, budget)
    FAILED = 12  # fetch: network trouble, 5xx, or a cap was hit
    MOVED = 13  # fetch: a redirect that was not followed
    UNRECORDED = 14  # fetch: the recording has no capture
    INTERRUPTED = 130  # stopped by a second Ctrl-C


class ForagerError(Exception):
    """Error that the operator can fix; the message is one line that says how, without unprintable characters."""

    exit = Exit.BUG

    def __init__(self, message: str) -> None:
        shown = "".join(sign if sign.isprintable() else " " for sign in message)
        super().__init__(" ".join(shown.split()))


class SettingsError(ForagerError):
    exit = Exit.SETTINGS


class InputError(ForagerError):
    exit = Exit.INPUT


class StoreError(ForagerError):
    exit = Exit.STORE


class OutputError(ForagerError):
    exit = Exit.OUTPUT


class StoppedError(ForagerError):
    """The user pressed Ctrl-C; in a command that first finishes its work, a second time."""

    exit = Exit.INTERRUPTED


def first_error(error: BaseException) -> BaseException:
    """The first error of a group; tasks that fail together mostly fail for the same reason."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
