"""Fuzz whatever reads what strangers wrote, guided by coverage (atheris), or by plain mutation where that is not installed.

python tests/bench/fuzz.py TARGET … [--seconds 60 180] [--corpus DIR] [--until 21:30] [--pump SEED]

A target is one of those in tests/fuzzing.py; `all` are all of them.

Every target is run for so many seconds of processor time, one after the other; then, with several numbers, each of them again
for the next number. Inputs that reached something new are kept in the corpus, so a later round, or a later call, goes on from
there; `totals.json` in it adds up seconds and executions, which the table at the end of each round shows.

A finding is an exception that is no `ForagerError`, or an input that takes longer than `SLOWEST`. It ends the round of its
target; the input is kept in `found`, to become a test.

With `--pump` nothing is guided: pieces of samples, of the corpus and of the words that readers look for are repeated until
an input is `PUMPED` bytes long, which finds what takes longer than in proportion to its length.
"""

import argparse
import ast
import importlib.util
import json
import os
import re
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha1
from importlib import import_module
from io import StringIO
from pathlib import Path
from shutil import rmtree

from tests.fuzzing_modules import MODULES

SLOWEST = 3
"""Seconds of processor time, of instrumented code."""
HANGING = 300
"""Seconds by the clock, on however busy a machine."""
LONGEST = 4096
PUMPED, PUMPED_SLOWEST, PUMPED_HANGING = 150_000, 1.5, 60
"""Bytes of a pumped input, and the seconds of processor time above which it is a finding, and is ended."""
GUIDED = importlib.util.find_spec("atheris") is not None
ROOT = Path(__file__).parents[2]


class SlowInputError(Exception):
    """An input takes too long."""


def load() -> None:
    """Load the readers, instrumented if they are to be guided; each target runs in a fork of this process."""
    if not GUIDED:
        return
    import atheris

    os.environ["NUMBA_DISABLE_JIT"] = "1"  # numba cannot compile what atheris has instrumented
    wanted = {module for name in MODULES for module in of_target(name)}
    with (
        redirect_stderr(StringIO()),
        atheris.instrument_imports(
            include=["forager"], exclude=[module for module, _ in modules() if module not in wanted]
        ),
    ):
        import_module("tests.fuzzing")


def fuzz(name: str, seconds: float, corpus: Path) -> None:
    """Guided: never returns."""
    import atheris

    from tests.fuzz_samples import SAMPLES, real_samples
    from tests.fuzzing import TARGETS, attempt, folder

    kept, found = corpus / name, corpus / "found"
    for place in (kept, found):
        place.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate((*SAMPLES[name], *real_samples(name))):
        (kept / f"sample-{number}").write_bytes(sample[:LONGEST])
    dictionary = folder() / "dictionary"
    dictionary.write_text("".join(f"{word}\n" for word in words(name)))
    target, done = TARGETS[name], 0
    began = time.process_time()

    def one(raw: bytes) -> None:
        nonlocal done
        before = time.process_time()
        try:
            attempt(target, raw)
            now = time.process_time()
            if now - before > SLOWEST:
                raise SlowInputError(f"{now - before:.1f} s")
        except Exception:
            (found / f"{name}-{sha1(raw).hexdigest()}").write_bytes(raw)  # atheris does not always
            raise
        done += 1
        if now - began > seconds:  # libFuzzer's own end waits for ever for threads of pyarrow
            print(f"\nexecutions {done} seconds {now - began:.0f}", flush=True)
            rmtree(folder(), ignore_errors=True)
            os._exit(0)

    limits = [f"-timeout={HANGING}", f"-max_len={LONGEST}", "-rss_limit_mb=2048", f"-dict={dictionary}"]
    atheris.Setup([sys.argv[0], str(kept), *limits, f"-artifact_prefix={found}/{name}-"], one)
    atheris.Fuzz()


@cache
def modules() -> list[tuple[str, Path]]:
    """Every module of the program, and its file."""
    paths = sorted((ROOT / "forager").rglob("*.py"))
    return [(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path) for path in paths]


def of_target(name: str) -> dict[str, Path]:
    """The modules that read the input of a target."""
    wanted = tuple(f"forager.{module}." for module in MODULES[name])
    return {module: path for module, path in modules() if f"{module}.".startswith(wanted)}


def constants(name: str) -> list[bytes]:
    """What the readers themselves compare with: the texts in their code."""
    found: dict[bytes, None] = {}
    for path in of_target(name).values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                raw = node.value if isinstance(node.value, bytes) else node.value.encode("utf-8", "surrogatepass")
                if 1 < len(raw) <= 32:
                    found[raw] = None
    return list(found)


def words(name: str) -> list[str]:
    """The same as libFuzzer wants them."""
    return ['"' + "".join(f"\\x{byte:02x}" for byte in raw) + '"' for raw in constants(name)]


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
    print(f"\nexecutions {done} seconds {seconds:.0f}")


def pump(name: str, seconds: float, corpus: Path, seed: int) -> None:
    """Unguided: long inputs of one or two pieces again and again."""
    from forager.chance import stream
    from forager.pages.page import load_slow_parts
    from tests.fuzz_samples import SAMPLES, real_samples
    from tests.fuzzing import TARGETS, attempt

    load_slow_parts()
    rng, done, found = stream(seed, f"pump {name}"), 0, corpus / "found"
    found.mkdir(parents=True, exist_ok=True)
    kept = [path.read_bytes() for path in sorted((corpus / name).glob("*"))]
    pool = [*SAMPLES[name] * (1 + len(kept) // 10), *(sample[:20_000] for sample in real_samples(name)), *kept]
    known = constants(name)
    for sample in SAMPLES[name]:
        attempt(TARGETS[name], sample)  # what is loaded and compiled at the first use is no finding

    def piece(sample: bytes) -> bytes:
        at, size = int(rng.integers(len(sample) + 1)), int(rng.geometric(0.1))
        return known[rng.integers(len(known))] if rng.random() < 0.3 else sample[at : at + size] or b"\n"

    until = time.process_time() + seconds
    while (before := time.process_time()) < until:
        resource.setrlimit(resource.RLIMIT_CPU, (int(before) + PUMPED_HANGING, resource.RLIM_INFINITY))
        sample = pool[rng.integers(len(pool))]
        at, end = sorted(int(cut) for cut in rng.integers(0, len(sample) + 1, 2))
        inner = [piece(sample) + piece(sample) * int(rng.integers(2)) for _ in range(rng.integers(1, 3))]
        middle = b"".join(one * (PUMPED // len(inner) // len(one)) for one in inner)
        raw = sample[:at] + middle + sample[end if rng.random() < 0.5 else at :]
        (path := found / f"pumped-{name}-{os.getpid()}").write_bytes(raw)
        attempt(TARGETS[name], raw)
        if (took := time.process_time() - before) > PUMPED_SLOWEST:
            raise SlowInputError(f"{took:.1f} s for {inner}")
        path.unlink()
        done += 1
    print(f"\nexecutions {done} seconds {seconds:.0f}")


def run(name: str, work: Callable[[], None]) -> tuple[int, float, str]:
    """Executions, processor seconds, and what was found."""
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if child == 0:
            for stream in (1, 2):
                os.dup2(told.fileno(), stream)
            try:
                work()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        told.seek(0)
        said = told.read().decode(errors="replace")
    counted = re.search(r"^executions (\d+) seconds (\d+)", said, re.MULTILINE)
    if status == 0 and counted is not None:
        return int(counted[1]), float(counted[2]), ""
    print(f"--- {name}\n{said[-6000:]}", file=sys.stderr, flush=True)
    tried = max(map(int, re.findall(r"^#(\d+)\s", said, re.MULTILINE)), default=0)
    lines = [line for line in said.splitlines() if re.match(r"[\w.]*(Error|Exception|.*timeout)", line)]
    return tried, 0.0, (lines or [f"ended with {os.waitstatus_to_exitcode(status)}"])[-1][:120]


def campaign(names: list[str], rounds: list[float], corpus: Path, until: str, seed: int | None) -> bool:
    """Run all rounds, as far as there is time; whether something was found. With a seed, pump."""
    corpus.mkdir(parents=True, exist_ok=True)
    kept, found = corpus / "totals.json", False
    totals: dict[str, list[float]] = json.loads(kept.read_text()) if kept.exists() else {}
    for seconds in rounds:
        for name in names:
            if until and datetime.now(UTC).strftime("%H:%M") >= until:
                break
            if seed is not None:
                work = partial(pump, name, seconds, corpus, seed)
            else:
                work = partial(fuzz, name, seconds, corpus) if GUIDED else partial(mutate, name, seconds)
            executions, spent, finding = run(name, work)
            before = totals.get(name, [0, 0.0])
            totals[name] = [before[0] + executions, before[1] + spent]
            kept.write_text(json.dumps(totals))
            found = found or bool(finding)
            print(f"{name}: {executions:,} in {spent:.0f} s, {finding or 'no finding'}", flush=True)
        print("\n| target | executions | processor s | inputs kept |\n|---|---|---|---|")
        for name, (executed, spent) in totals.items():
            count = sum(1 for _ in (corpus / name).glob("*"))
            print(f"| {name} | {executed:,.0f} | {spent:.0f} | {count:,} |", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    parser.add_argument("--seconds", type=float, nargs="+", default=[60.0])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--until", default="", help="time of the day (UTC) after which no target begins")
    parser.add_argument("--pump", type=int, metavar="SEED")
    given = parser.parse_args()
    if given.pump is None:
        guide = "coverage (atheris)" if GUIDED else "plain mutation: `pip install atheris` guides it by coverage"
        print(f"guided by {guide}", flush=True)
        load()
    names = list(MODULES) if given.targets == ["all"] else given.targets
    with tempfile.TemporaryDirectory() as aside:
        sys.exit(campaign(names, given.seconds, given.corpus or Path(aside), given.until, given.pump))


if __name__ == "__main__":
    main()
