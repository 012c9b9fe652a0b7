"""How often headline, authors, lead, section and language of real pages are read right.

    python tests/bench/fields_quality.py [--show]

Gold is `tests/quality/fields.json`: what the sources of 102 pages of `news-html-gold`, drawn by a hash of their names, say
to someone who reads them; pages that are no story were left out. `titles` and `sections` hold what may be told, `authors`
all that must be, `others` what may stand among them (agencies, the site itself). `leads` are the beginnings of what may be
told as lead: what the source states of this story or shows below its headline, and nothing where there is only the name of
the site, its motto or the headline again. A field that the source leaves open is not judged. `seen`: the rules were first
mended with these pages in sight, the others were judged afterwards; since then, failures of all were looked at.
Data: `../shared/data`, or $FORAGER_DATA.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forager.pages.page import Page
from tests.bench.gold_quality import gold, seen

GOLD = Path(__file__).parent.parent / "quality" / "fields.json"
_LETTERS = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    return _LETTERS.sub("", text.casefold())


def verdicts(page: Page, wanted: dict[str, Any]) -> Iterator[tuple[str, bool, object]]:
    """For each field that gold judges: its name, whether it is right, and what was read."""
    yield "title", letters(page.title) in map(letters, wanted["titles"]), page.title
    if "authors" in wanted:
        ours = set(map(letters, page.authors)) - set(map(letters, wanted.get("others", ())))
        yield "authors", ours == set(map(letters, wanted["authors"])), page.authors
    begins = [letters(page.lead).startswith(letters(lead)) for lead in wanted["leads"]]
    yield "lead", any(begins) if begins else not page.lead, page.lead
    if "sections" in wanted:
        yield "section", letters(page.section) in map(letters, wanted["sections"]), page.section
    yield "language", page.language.partition("-")[0] == wanted["language"], page.language


def judged() -> Iterator[tuple[str, bool, str, bool, object]]:
    """File, whether it was seen, field, whether it is right, and what was read."""
    wanted = json.loads(GOLD.read_text())
    for case, body in gold():
        if case["file"] in wanted:
            known = wanted[case["file"]]
            for field, right, read in verdicts(seen(case["url"], body), known):
                yield case["file"], known["seen"], field, right, read


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="name what is read wrong")
    show = parser.parse_args().show
    right: Counter[tuple[str, bool]] = Counter()
    total: Counter[tuple[str, bool]] = Counter()
    for file, was_seen, field, is_right, read in judged():
        total[field, was_seen] += 1
        right[field, was_seen] += is_right
        if show and not is_right:
            print(f"    {field}: {read!r} {file}")
    for field in ("title", "authors", "lead", "section", "language"):
        seen_ones, others = (f"{right[field, one]} of {total[field, one]}" for one in (True, False))
        print(f"{field:10} seen {seen_ones:10} others {others}")


if __name__ == "__main__":
    main()
