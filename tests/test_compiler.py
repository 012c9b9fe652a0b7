"""A crawl begins at once: its machine code is made by another process, loaded by another thread, and never waited for."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import forager
from forager.arrays import IntArray
from forager.compiler import COMPILING, IN_USE, TURN, UNCOMPILED, argument_form, compiler_beside, type_of
from forager.kernel import Kernel, _switch, as_loaded, compiled, load_numba
from tests.virtual import crawl_newsroom

BESIDE = """if True:
    import asyncio, os, signal, sys
    import numpy as np
    from forager.compiler import compiler_beside
    from forager.core.page_row import highest

    async def main():
        lines = []
        async with compiler_beside(lines.append, lambda: None) as compiler:
            assert highest(np.array([3, 7, 5])) == 7
            {meanwhile}
            await asyncio.to_thread(compiler.settled.wait)
            assert highest(np.array([3, 8, 5])) == 8
            await asyncio.sleep(0)
        print(*lines, highest._loaded is not None, sep="\\n")

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a program started in the background ignores it
    asyncio.run(main())
"""
"""A kernel is called as a crawl calls it; what was said meanwhile, and whether it is machine code in the end."""


def beside(cache: Path, meanwhile: str = "", package: Path | None = None) -> list[str]:
    script = BESIDE.replace("{meanwhile}", meanwhile)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache), "HOME": str(cache)}
    command = [sys.executable, "-c", script]
    told = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=package, timeout=240
    )
    return told.stdout.splitlines()


def test_what_is_not_on_disk_is_compiled_once_and_then_loaded(tmp_path: Path) -> None:
    assert beside(tmp_path) == [COMPILING, IN_USE, "True"]
    assert beside(tmp_path) == [IN_USE, "True"]


def test_a_crawl_goes_on_uncompiled_if_the_compiler_is_killed(tmp_path: Path) -> None:
    kill = "while compiler._process is None: await asyncio.sleep(0.01)\n            compiler._process.kill()"
    assert beside(tmp_path, kill) == [COMPILING, UNCOMPILED, "False"]


def test_a_crawl_goes_on_uncompiled_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """Neither where the user says, nor beside the sources, nor at home: everywhere a file is in the way."""
    shutil.copytree(Path(forager.__file__).parent, tmp_path / "forager", ignore=lambda *_: {"__pycache__"})
    (tmp_path / "forager" / "core" / "__pycache__").touch()
    (tmp_path / "file").touch()
    assert beside(tmp_path / "file", package=tmp_path) == [COMPILING, UNCOMPILED, "False"]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_compiler_ends_with_its_crawl(end: signal.Signals, tmp_path: Path) -> None:
    wait = "while compiler._process is None: await asyncio.sleep(0.01)\n"
    wait += "            print(compiler._process.pid, flush=True); compiler._process.send_signal(19)"  # it stands still
    crawl = subprocess.Popen(
        [sys.executable, "-c", BESIDE.replace("{meanwhile}", wait)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert crawl.stdout is not None
    compiler = int(crawl.stdout.readline())
    crawl.send_signal(end)
    with suppress(ProcessLookupError):
        os.kill(compiler, signal.SIGCONT)
    crawl.communicate(timeout=60)
    assert has_ended(compiler)


def has_ended(process: int) -> bool:
    """Within a while; one that nobody waits for has ended, too."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_a_crawl_that_changes_to_machine_code_has_the_same_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel is plain Python for three calls and is then loaded, so the sides are mixed as in no real crawl."""
    compiled = crawl_newsroom(1.5).journal.getvalue()
    for kernel in _switch.loaded:  # by other tests in this process
        monkeypatch.setattr(kernel, "_loaded", None)
    calls: dict[tuple[object, ...], int] = {}

    def want(kernel: Kernel[..., object], args: tuple[object, ...]) -> None:
        forms = tuple(map(argument_form, args))
        calls[kernel, forms] = calls.get((kernel, forms), 0) + 1
        if calls[kernel, forms] == 3:
            assert kernel.load(tuple(map(type_of, forms)))

    with as_loaded(want):
        assert crawl_newsroom(1.5).journal.getvalue() == compiled
    assert len(calls) > 15
    assert max(calls.values()) == 3  # never asked for again


@compiled
def _largest(values: IntArray) -> int:
    return int(values.max())


def test_who_was_loaded_compiles_other_calls_afterwards() -> None:
    asked: list[object] = []
    usual, small = np.array([1, 2]), np.array([1, 5, 2], np.int16)
    assert _largest(usual) == 2  # compiled, and on disk
    with as_loaded(lambda kernel, args: asked.append(kernel)):
        assert isinstance(_largest, Kernel) and _largest.load((type_of(argument_form(usual)),))
        assert _largest(usual) == 2
        assert not asked
        assert _largest(small) == 5
    assert asked == [_largest]
    assert _largest(small) == 5


def test_each_crawl_of_a_program_loads_its_kernels_without_piling_them_up() -> None:
    values = np.array([1, 2])
    assert isinstance(_largest, Kernel) and _largest(values) == 2
    for _ in range(3):
        assert _largest.load((type_of(argument_form(values)),))
    assert list(_switch.loaded).count(_largest) == 1  # all of them are gone through when a crawl begins and ends


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(3),
        np.zeros((3, 4))[:, ::2],
        np.zeros((3, 4)).T,
        np.frombuffer(b"12345678", np.int64),
        np.zeros(2, [("a", np.int32), ("b", np.bool_)]),
        np.zeros(2, [("a", np.int32), ("b", np.bool_)])[0],
        1,
        0.5,
        True,
        np.float32(2),
        (1, np.zeros(2)),
    ],
)
def test_the_form_of_an_argument_gives_the_type_that_numba_sees(value: object) -> None:
    assert type_of(argument_form(value)) == load_numba().typeof(value)


async def test_threads_take_short_turns_beside_a_crawl_and_usual_ones_after_all() -> None:
    usual = sys.getswitchinterval()
    first, second = (compiler_beside(lambda line: None, lambda: None) for _ in range(2))
    async with first:
        await second.__aenter__()
        assert sys.getswitchinterval() == pytest.approx(TURN)
    await second.__aexit__(None, None, None)
    assert sys.getswitchinterval() == usual


@pytest.mark.parametrize("compiled_before", [True, False])
def test_the_loop_of_a_crawl_is_never_busy_for_long(tmp_path: Path, compiled_before: bool) -> None:
    """By processor time, so that others on this machine do not count; the best of three, should anything else disturb."""
    longest = []
    for number in range(3):
        folder = {} if compiled_before else {"NUMBA_CACHE_DIR": str(tmp_path / str(number))}
        command, here = [sys.executable, "-m", "tests.loop_watch", "8"], os.environ | folder
        done = subprocess.run(command, env=here, capture_output=True, check=True, timeout=240)
        watched = json.loads(done.stdout)
        assert watched["stories"] > 5
        assert compiled_before or COMPILING in watched["log"]
        longest.append((watched["busy_ms"], watched["by"]))
        if longest[-1][0] < 50:
            return
    pytest.fail(f"the loop was busy for too long: {longest}")
