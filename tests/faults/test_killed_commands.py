"""Commands that write files are killed at random moments; see `commands`, and tests/bench/crash.py for many kills."""

from pathlib import Path

import pytest

from tests.faults.commands import WRITINGS, Writing, killed, write_log, write_tape
from tests.store.test_upgrade import old  # noqa: F401 - a fixture

KILLS = 3


@pytest.mark.parametrize("writing", WRITINGS, ids=[writing.name for writing in WRITINGS])
def test_what_a_killed_command_leaves_is_whole_or_absent_and_in_the_end_right(
    old: Path,  # noqa: F811 - the fixture
    writing: Writing,
) -> None:
    write_log(old / "log.csv")
    write_tape(old / "news")
    assert killed(writing, old, old / "work", KILLS, 1) == []
