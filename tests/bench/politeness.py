"""Play random schedules of the whole web stack in virtual time and judge each by the log of its servers.

python tests/bench/politeness.py [--schedules 1000000] [--first 0]

Ends with 1 if any request broke a rule; each is printed with the seed of its schedule.
"""

import argparse
import sys
import time
from collections import Counter

from tests.properties.schedules import broken, played


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    seen, began = Counter[str](), time.process_time()
    for seed in range(given.first, given.first + given.schedules):
        schedule = played(seed)
        wrong = broken(schedule)
        print(*wrong, sep="\n", end="\n" if wrong else "", flush=bool(wrong))
        requests = [one for log in schedule.log.values() for one in log]
        waits = sum(one.status in (429, 503) for one in requests)
        seen.update(schedules=1, broken=len(wrong), requests=len(requests), waits=waits, deaths=len(schedule.deaths))
        if seen["schedules"] % 50_000 == 0:
            print(dict(seen), file=sys.stderr, flush=True)
    print(f"{dict(seen)} in {time.process_time() - began:.0f} processor seconds")
    sys.exit(1 if seen["broken"] else 0)


if __name__ == "__main__":
    main()
