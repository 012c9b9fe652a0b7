"""What holds for all tests.

In CI the examples are the same every time: a search for new ones belongs to a developer's machine. A test that needs a
program which is not there is skipped, but fails in CI, where all of them are installed. A test that hangs fails after a
while (`timeout` in pyproject.toml), and a process of tests that does not end after its last test is ended.
"""

import asyncio
import faulthandler
import os
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import suppress
from types import FrameType

import pytest
from hypothesis import settings

IN_CI = bool(os.environ.get("CI"))
LAST_BREATH = 120.0
"""Seconds that a process of tests may take to end."""

settings.register_profile("ci", derandomize=True)
if IN_CI:
    settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*programs): the test needs one of these programs")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        if not any(map(shutil.which, mark.args)):
            (pytest.fail if IN_CI else pytest.skip)(f"{' or '.join(mark.args)} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer() -> Generator[None, bool, bool]:
    """Where the test hangs says little if a loop runs: where its tasks wait is told as well."""
    done = yield
    fail = signal.getsignal(signal.SIGALRM)

    def tell_tasks(number: int, frame: FrameType | None) -> None:
        with suppress(RuntimeError):
            for task in asyncio.all_tasks():
                task.print_stack()
        if callable(fail):
            fail(number, frame)

    if callable(fail):
        signal.signal(signal.SIGALRM, tell_tasks)
    return done


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    faulthandler.dump_traceback_later(LAST_BREATH, exit=True, file=sys.__stderr__ or sys.stderr)
