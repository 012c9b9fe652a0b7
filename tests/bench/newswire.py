"""Tapes of a real news stream, the Reuters newswire of spring 1987, for any command that takes a tape.

    python tests/bench/newswire.py FOLDER
    forager compare fleets FOLDER/lists.tape --budget 6/h --budget 12/h --warm-up 48h
    forager compare fleets FOLDER/site.tape --budget 30/h --budget 60/h --warm-up 48h
    forager learn FOLDER/lists.tape --fitness discovery --terminals extended --k 6 --train-until 50% -O FOLDER/function.json
    forager compare policies FOLDER/lists.tape --k 6 --from 50% --policy azar-rate --policy t2 --policy FOLDER/function.json

On `lists.tape` a story is found when a list that shows it is looked at; on `site.tape` its own page must be downloaded.
What is real of it and what is ours: see `tests/newswire_corpora.py`.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpora import CorpusMissing
from newswire_corpora import stories, write_tables

from forager.importers.tables import import_tables
from forager.tape.tape import save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        count = len(stories())
    except CorpusMissing as reason:
        sys.exit(f"skipped: {reason}")
    for name in ("lists", "site"):
        write_tables(folder / name, articles=name == "site")
        tape = import_tables(folder / name, origin=f"newswire, {name}").tape
        save(tape, folder / f"{name}.tape")
        print(f"{folder / name}.tape: {count:,} stories, {tape.pages:,} pages, {tape.versions:,} versions")


if __name__ == "__main__":
    main()
