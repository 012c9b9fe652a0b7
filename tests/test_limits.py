"""Tests that hang, or lack a program, are seen: in a small suite with our own configuration."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HANGING = {
    "loop": "async def test_one() -> None:\n    await asyncio.Event().wait()  # for ever\n",
    "process": "def test_one() -> None:\n    subprocess.run(['sleep', '60'])  # for ever\n",
    "thread": "def test_one() -> None:\n    threading.Event().wait()  # for ever\n",
}
AFTERWARDS = "\ndef test_two() -> None:\n    assert True\n"


def run_suite(folder: Path, text: str, *words: str, ci: bool = False) -> subprocess.CompletedProcess[str]:
    """Tests of such a text, run as ours are, in a process of their own."""
    (folder / "test_some.py").write_text(
        f"import asyncio\nimport subprocess\nimport threading\n\nimport pytest\n\n\n{text}"
    )
    (folder / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    environment = {name: value for name, value in os.environ.items() if name != "CI" and "PYTEST" not in name}
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}", "-n", "1"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *words, str(folder)],
        env=environment | ({"CI": "true"} if ci else {}),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.parametrize("kind", list(HANGING))
def test_a_test_that_hangs_fails_with_a_traceback_and_the_next_one_runs(tmp_path: Path, kind: str) -> None:
    began = time.monotonic()
    done = run_suite(tmp_path, HANGING[kind] + AFTERWARDS, "--timeout=2")
    assert time.monotonic() - began < 55  # the process that it waits for would take longer
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "for ever" in done.stdout  # the line on which it hangs
    assert "Timeout" in done.stdout


def test_a_suite_that_does_not_end_is_ended(tmp_path: Path) -> None:
    waits = "def test_one() -> None:\n    threading.Thread(target=threading.Event().wait).start()  # not a daemon\n"
    conftest = (ROOT / "tests" / "conftest.py").read_text()
    assert "LAST_BREATH = 120.0" in conftest
    (tmp_path / "test_some.py").write_text(f"import threading\n\n\n{waits}")
    (tmp_path / "conftest.py").write_text(conftest.replace("LAST_BREATH = 120.0", "LAST_BREATH = 2.0"))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={tmp_path}", "-n", "0"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert done.returncode != 0
    assert "most recent call first" in done.stderr


def test_a_program_that_is_missing_skips_a_test_but_fails_in_ci(tmp_path: Path) -> None:
    text = f'@pytest.mark.needs("no-such-program")\ndef test_one() -> None:\n    pass\n{AFTERWARDS}'
    text += '\n@pytest.mark.needs("no-such-program", "sh")\ndef test_three() -> None:\n    pass\n'
    assert "2 passed, 1 skipped" in run_suite(tmp_path, text).stdout
    assert "no-such-program is not installed" in run_suite(tmp_path, text, ci=True).stdout
