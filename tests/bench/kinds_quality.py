"""How often articles are taken for articles and lists for lists, on real pages.

    python tests/bench/kinds_quality.py [--show]

Articles: the pages of `news-html-gold`, by where their gold comes from. Lists: the first version of every section page of
`frontpages-html`, without imprint and contact pages. Both are read from `../shared/data`, or from $FORAGER_DATA.
"""

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from forager.pages.page import Page
from forager.pages.urls import canonical
from forager.terms import Kind, Outcome, Response, Url
from forager.warc.captures import captures
from forager.warc.reader import Broken

DATA = Path(os.environ.get("FORAGER_DATA", "../shared/data"))
NO_LIST = re.compile(r"impressum|kontakt|imprint|datenschutz|agb|hilfe|service|newsletter|abo", re.IGNORECASE)


def respond(url: str, body: bytes) -> Response:
    """The page as if it had just been fetched."""
    return Response(Url(url), Outcome.FETCHED, 0.0, status=200, headers=(("content-type", "text/html"),), body=body)


def articles() -> Iterator[tuple[str, str, bytes]]:
    """Source, address and bytes of every gold page."""
    folder = DATA / "news-html-gold"
    for case in json.loads((folder / "gold.json").read_text()):
        yield (
            "zyte" if "text" in case else case["source"],
            case["url"],
            gzip.decompress((folder / case["file"]).read_bytes()),
        )


def lists() -> Iterator[tuple[str, str, bytes]]:
    """Site, address and bytes of the first version of every section page."""
    seen: set[str] = set()
    for path in sorted((DATA / "frontpages-html").glob("*.warc.zst")):
        for capture in captures([path]):
            if isinstance(capture, Broken):
                continue
            url = capture.request.url
            if url not in seen and not NO_LIST.search(url) and capture.response.body:
                seen.add(url)
                yield path.name.removesuffix(".warc.zst"), url, capture.response.body


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="name the pages that are taken for the other kind")
    show = parser.parse_args().show
    for wanted, pages in ((Kind.ARTICLE, articles()), (Kind.HUB, lists())):
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for source, url, body in pages:
            found = Page(respond(canonical(url) or url, body)).kind
            total[source] += 1
            right[source] += found is wanted
            if show and found is not wanted:
                print("   ", found.value, url)
        print(
            f"{wanted.value}: {right.total()} of {total.total()}: "
            + ", ".join(f"{k} {right[k]}/{total[k]}" for k in total)
        )


if __name__ == "__main__":
    main()
