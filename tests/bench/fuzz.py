"""Fuzz whatever reads what strangers wrote, guided by coverage (atheris), or by plain mutation where that is not installed.

python tests/bench/fuzz.py TARGET [--seconds 60]     one of those in tests/fuzzing.py
python tests/bench/fuzz.py all [--seconds 60]        each in turn, with a table at the end

A finding is an exception that is no `ForagerError`, or an input that takes longer than ten seconds. It ends the run of its
target; the input is printed, to become a test.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import rmtree

SLOWEST = 10
LONGEST = 4096
GUIDED = importlib.util.find_spec("atheris") is not None


def fuzz(name: str, seconds: float) -> None:
    """Guided: never returns."""
    import atheris

    os.environ["NUMBA_DISABLE_JIT"] = "1"  # numba cannot compile what atheris has instrumented
    with atheris.instrument_imports(include=["forager"]):
        from tests.fuzz_samples import SAMPLES, real_samples
        from tests.fuzzing import TARGETS, attempt, folder
    done, until = 0, time.monotonic() + seconds

    def one(raw: bytes) -> None:
        nonlocal done
        attempt(TARGETS[name], raw)
        done += 1
        if time.monotonic() > until:  # libFuzzer's own end waits for ever for threads of pyarrow
            print(f"stat::number_of_executed_units: {done}", flush=True)
            for place in (Path(corpus), folder()):
                rmtree(place, ignore_errors=True)
            os._exit(0)

    with tempfile.TemporaryDirectory() as corpus:
        for number, sample in enumerate((*SAMPLES[name], *real_samples(name))):
            (Path(corpus) / str(number)).write_bytes(sample[:100_000])
        limits = [f"-timeout={SLOWEST}", f"-max_len={LONGEST}", "-rss_limit_mb=2048"]
        atheris.Setup([sys.argv[0], corpus, *limits, "-verbosity=1", f"-artifact_prefix={corpus}/"], one)
        atheris.Fuzz()


def mutate(name: str, seconds: float) -> None:
    """Unguided: cut, repeat, flip and join samples."""
    from forager.chance import stream
    from tests.fuzz_samples import SAMPLES, real_samples
    from tests.fuzzing import TARGETS, attempt

    rng, pool, done = stream(1, f"fuzz {name}"), [*SAMPLES[name], *real_samples(name)], 0
    until = time.process_time() + seconds
    while time.process_time() < until:
        raw = bytearray(pool[rng.integers(len(pool))][:LONGEST])
        for _ in range(rng.integers(1, 6)):
            at, end = sorted(int(cut) for cut in rng.integers(0, len(raw) + 1, 2))
            other = pool[rng.integers(len(pool))]
            start = int(rng.integers(0, len(other) + 1))
            piece = (rng.bytes(int(rng.integers(0, 4))), bytes(raw[at:end]) * 2, other[start : start + end - at], b"")
            raw[at:end] = piece[rng.integers(4)]
        try:
            attempt(TARGETS[name], bytes(raw))
        except Exception:
            print(f"input: {bytes(raw)!r}")
            raise
        done += 1
    print(f"stat::number_of_executed_units: {done}")


def run(name: str, seconds: float) -> tuple[int, str]:
    """Executions, and what was found."""
    command = [sys.executable, __file__, name, "--seconds", str(seconds), "--here"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10 * seconds + 300)
    said = done.stdout + done.stderr
    counted = re.findall(r"number_of_executed_units: (\d+)|^#(\d+)\s", said, re.MULTILINE)
    executions = max((int(one or other) for one, other in counted), default=0)
    if done.returncode == 0:
        return executions, ""
    print(f"--- {name}\n{said[-6000:]}", file=sys.stderr)
    lines = [line for line in said.splitlines() if re.match(r"\w*(Error|Exception|.*timeout)", line)]
    return executions, (lines or ["ended with " + str(done.returncode)])[-1][:120]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        (fuzz if GUIDED else mutate)(given.target, given.seconds)
        return
    from tests.fuzzing import TARGETS

    names = list(TARGETS) if given.target == "all" else [given.target]
    print(
        "guided by coverage (atheris)" if GUIDED else "by plain mutation: `pip install atheris` guides it by coverage"
    )
    print("\n| target | executions | finding |\n|---|---|---|")
    found = False
    for name in names:
        executions, finding = run(name, given.seconds)
        found = found or bool(finding)
        print(f"| {name} | {executions:,} | {finding or 'none'} |", flush=True)
    sys.exit(found)


if __name__ == "__main__":
    main()
