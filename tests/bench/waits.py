"""Kill a crawl of hosts that ask for patience with SIGKILL, resume it, again and again; judge by the server's log.

python tests/bench/waits.py [--kills 100] [--seed 1]

One run has a host for every kind of wait (Retry-After in seconds and as a date, with 429 and 503, a bare 503, Crawl-delay),
one has an hourly budget and one a daily one. Ends with 1 if any request came too early or beyond a budget.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.waits import HOURLY, Waits, kill_and_resume, served_waits

QUICK = "timetable.download_delay=50ms"
DAILY = 40_000
LARGEST = 10_000


def kept_waits(kills: int, seed: int) -> tuple[Waits, list[str]]:
    with tempfile.TemporaryDirectory() as folder, served_waits() as waits:
        kill_and_resume(waits, Path(folder), kills, seed, longest=4.0)
        return waits, waits.broken()


def kept_budget(kills: int, seed: int, *settings: str) -> int:
    """How often a host with a budget was asked."""
    with tempfile.TemporaryDirectory() as folder, served_waits(("free",)) as waits:
        kill_and_resume(waits, Path(folder), kills, seed, QUICK, *settings, longest=0.3)
        return len(waits.log["free"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    waits, broken = kept_waits(given.kills, given.seed)
    print("| host | requests | asked to wait | answers unheard at a kill |\n|---|---|---|---|")
    for kind, log in waits.log.items():
        unheard = sum(not waits.is_heard(heard) for heard in log)
        print(f"| {kind} | {len(log)} | {sum(heard.wait > 0 for heard in log)} | {unheard} |")
    print(f"\n{len(waits.kills)} kills; requests that came too early: {len(broken)}")
    print("\n".join(broken))
    few = max(4, given.kills // 10)
    hourly = kept_budget(few, given.seed, f"timetable.requests_per_hour={HOURLY}")
    sizes = f"timetable.bytes_per_day={DAILY}", f"timetable.largest_body={LARGEST}", f"live.body_limit={LARGEST}"
    daily = kept_budget(few, given.seed, *sizes)
    print(f"{few} kills with {HOURLY} requests an hour: {hourly} were made")
    print(f"{few} kills with {DAILY} bytes a day, {LARGEST} a body at most: {daily} requests were made")
    sys.exit(1 if broken or hourly > HOURLY else 0)


if __name__ == "__main__":
    main()
