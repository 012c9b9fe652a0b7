"""Two ways to start a `forager` process that will be killed: as a user does, or forked from one that has everything loaded.

The second saves the seconds of loading; what is killed is a process and process group of its own in both cases.
"""

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self


class Command:
    """`forager …` started afresh."""

    def __init__(self, arguments: list[str], errors: Path) -> None:
        with errors.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "forager", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout: float) -> int:
        """The exit code; of a killed process the signal, negative."""
        return self._process.wait(timeout)


class Forked:
    """A process forked by a `Nursery`."""

    def __init__(self, pid: int, nursery: "subprocess.Popen[str]") -> None:
        self.pid, self._nursery = pid, nursery

    def is_alive(self) -> bool:
        """A process that has ended stays visible until the nursery has noticed, a moment later."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def wait(self, timeout: float) -> int:
        assert self._nursery.stdout is not None
        return int(self._nursery.stdout.readline())


class Nursery:
    """A process that has crawled before and forks one life after the other; enter it with `with`."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.faults.launching"]
        folder = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, start_new_session=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=30)

    def start(self, arguments: list[str], errors: Path, largest_file: int = resource.RLIM_INFINITY) -> Forked:
        """`largest_file`: bytes beyond which no file can grow."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([arguments, str(errors), largest_file]) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()), self._process)


@cache
def nursery() -> Nursery:
    """One for all tests of this process; it ends with it."""
    entered = Nursery().__enter__()
    atexit.register(entered.__exit__, None, None, None)
    return entered


def _raise_children() -> None:
    """Fork a life for each line of standard input; tell its number, and at its end how it ended."""
    import forager.cli.crawl  # noqa: F401
    from forager.cli.app import run
    from tests.virtual import crawl_newsroom

    crawl_newsroom(0.1)  # loads what is compiled
    for line in sys.stdin:
        arguments, errors, largest_file = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
            nothing, file = os.open(os.devnull, os.O_RDWR), os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number, source in enumerate((nothing, nothing, file)):
                os.dup2(source, number)
            run(arguments)
            sys.exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _raise_children()
