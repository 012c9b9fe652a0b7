"""Frozen behaviour: the journals that fixed crawls and replays must give, line for line.

`journals.json` holds, for each case, the number of lines and a digest of every block of them, so that a difference is
found where it begins. A change that wants another behaviour writes the file anew in the same commit, and says why:

    FORAGER_GOLDEN=write pytest -n 0 tests/golden/test_journals.py
"""

import json
import os
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from forager.core.parameters import ForagerKind
from forager.events import Event, Journal, event_line
from forager.settings import PRESETS, load_settings
from forager.simulation.jobs import Job, replay_of
from forager.simulation.replay import Replay, ReplayPlan, default_seeds
from tests.bench.replay_speed import site
from tests.simulation.small_tape import paper
from tests.virtual import crawl_newsroom

KEPT = Path(__file__).with_name("journals.json")
BLOCK = 100
"""Lines that share a digest."""
PAPER = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in PRESETS["paper"].items()]


def live(*overrides: str) -> list[bytes]:
    """A virtual newsroom, crawled for three hours."""
    return crawl_newsroom(3, *overrides).journal.getvalue().splitlines()


def replayed(*overrides: str, hours: float = 8) -> list[bytes]:
    """A synthetic site of 4,000 versions, watched."""
    tape, settings, lines = site(4000), load_settings(Path("/dev/null"), overrides).settings, []

    def hear(event: Event) -> None:
        lines.append(event_line(event).rstrip())

    Replay(
        tape,
        ReplayPlan(120.0, default_seeds(tape)[:4], end=tape.start + hours * 3600),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        seed=3,
        recrawl=settings.recrawl,
        tell=Journal([hear]).write,
    ).run()
    return lines


def compared(*overrides: str) -> list[bytes]:
    """The figures of unwatched replays of a small paper, one line for each kind of forager."""
    tape, settings, lines = paper(), load_settings(Path("/dev/null"), overrides).settings, []
    for kind in ForagerKind:
        replay = replay_of(tape, Job(Path("none"), kind, 30.0, 5, default_seeds(tape), settings))
        replay.run()
        lines.append(f"{kind.value} {replay.figures()!r}".encode())
    return lines


CASES: dict[str, Callable[[], list[bytes]]] = {
    "live": live,
    "live RL": lambda: live("forager.kind=RL"),
    "live WLRL": lambda: live("forager.kind=WLRL"),
    "live BFS": lambda: live("forager.kind=BFS"),
    "live fleet alone": lambda: live("crawl.recrawl_share=0"),
    "live with a policy": lambda: live("crawl.policy=t2"),
    "live by the link graph": lambda: live("crawl.ordering=mixed"),
    "replay": replayed,
    "replay RL": lambda: replayed("forager.kind=RL"),
    "replay WLRL": lambda: replayed("forager.kind=WLRL"),
    "replay BFS": lambda: replayed("forager.kind=BFS"),
    "replay of the paper": lambda: replayed(*PAPER),
    "replay of the paper RL": lambda: replayed(*PAPER, "forager.kind=RL"),
    "replay of the paper WLRL": lambda: replayed(*PAPER, "forager.kind=WLRL"),
    "replay fleet alone": lambda: replayed("crawl.recrawl_share=0"),
    "replay with a policy": lambda: replayed("crawl.policy=azar-rate"),
    "replay with a formula": lambda: replayed("crawl.policy=t * (X + 0.1) / (n + 1)"),
    "replay by the link graph": lambda: replayed("crawl.ordering=mixed"),
    "replay with relative scores": lambda: replayed("reinforcing.scores.relative=true"),
    "compare": compared,
    "compare in the paper's mode": lambda: compared(*PAPER),
}


def rounded(text: bytes) -> bytes:
    """A line whose fractions are cut to six digits: the last bits of a logarithm differ from processor to processor."""
    return re.sub(
        rb"\d+\.\d+(e-?\d+)?", lambda found: f"{float(found[0]):.{6 if float(found[0]) < 1 else 3}f}".encode(), text
    )


def digests(lines: list[bytes]) -> list[str]:
    """One short digest for every block of lines."""
    blocks = [
        [rounded(event_line) for event_line in lines[begin : begin + BLOCK]] for begin in range(0, len(lines), BLOCK)
    ]
    return [sha256(b"\n".join(block)).hexdigest()[:12] for block in blocks]


@pytest.mark.parametrize("case", CASES)
def test_the_journal_is_the_one_that_was_frozen(case: str) -> None:
    lines = CASES[case]()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("FORAGER_GOLDEN") == "write":
        kept[case] = {"lines": len(lines), "digests": digests(lines)}
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
        return
    ours = digests(lines)
    for number, (now, then) in enumerate(zip(ours, kept[case]["digests"], strict=False)):
        assert now == then, f"differs from the kept journal within lines {number * BLOCK} to {(number + 1) * BLOCK}"
    assert len(lines) == kept[case]["lines"]
