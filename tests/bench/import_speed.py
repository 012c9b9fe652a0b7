"""How long an import takes: a million lines of each format, and the same lines split by a plain Python loop.

python tests/bench/import_speed.py [--lines 1000000] [--pages 200000]
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from forager.importers.files import import_files
from forager.importers.streams import sources
from forager.importers.tables import import_tables

START = 1_772_409_600


def rows(lines: int, pages: int) -> Iterator[tuple[str, int, str]]:
    """URL, time and digest of captures, sorted as an index is: by page, then by time."""
    rng = np.random.default_rng(1)
    page = np.sort(rng.integers(0, pages, lines))
    moment = START + rng.integers(0, 365 * 86_400, lines)
    order = np.lexsort((moment, page))
    content = rng.integers(0, 3, lines)
    for p, t, c in zip(page[order].tolist(), moment[order].tolist(), content.tolist(), strict=True):
        yield f"https://site{p % 50:02}.example/news/2026/03/story-{p}.html", t, f"{p * 3 + c:032X}"


def stamp(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y%m%d%H%M%S}"


def cdx(found: list[tuple[str, int, str]]) -> str:
    return " CDX N b a m s k r M S V g\n" + "".join(
        f"key)/{url[8:]} {stamp(at)} {url} text/html 200 {digest} - - 4711 123456 crawl.warc.gz\n"
        for url, at, digest in found
    )


def cdxj(found: list[tuple[str, int, str]]) -> str:
    return "".join(
        f'key)/{url[8:]} {stamp(at)} {{"url": "{url}", "mime": "text/html", "status": "200", "digest": "{digest}",'
        f' "length": "4711", "offset": "123456", "filename": "crawl.warc.gz"}}\n'
        for url, at, digest in found
    )


def log(found: list[tuple[str, int, str]]) -> str:
    return "url,time,digest\n" + "".join(f"{url},{at},{digest}\n" for url, at, digest in found)


def plain_loop(path: Path) -> int:
    """The peer: split every line, parse its time, remember the last digest of each URL."""
    last: dict[str, str] = {}
    versions = 0
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            fields = line.split()
            datetime.strptime(fields[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
            if last.get(fields[2]) != fields[5]:
                last[fields[2]] = fields[5]
                versions += 1
    return versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=200_000)
    asked = parser.parse_args()
    found = list(rows(asked.lines, asked.pages))
    print(f"{asked.lines:,} captures of {asked.pages:,} pages")
    print(f"{'what':30} {'seconds':>8} {'CPU seconds':>11} {'lines/CPU s':>12} {'versions':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("index.cdx", cdx), ("index.cdxj", cdxj), ("log.csv", log)):
            path = Path(folder) / name
            path.write_text(write(found), encoding="utf-8")
            timed(name, asked.lines, lambda path=path: import_files(sources([str(path)]), origin="bench").tape.versions)
        timed("index.cdx, plain loop", asked.lines, lambda: plain_loop(Path(folder) / "index.cdx"))
        tables = Path(folder) / "tables"
        tables.mkdir()
        urls, times, digests = zip(*found, strict=True)
        write_table(tables / "versions.parquet", url=urls, time=times, digest=digests)
        rng = np.random.default_rng(2)
        some = rng.integers(0, len(found), 2 * len(found)).tolist()
        other = rng.integers(0, len(found), 2 * len(found)).tolist()
        write_table(
            tables / "links.parquet",
            url=[urls[one] for one in some],
            time=[times[one] for one in some],
            target=[urls[one] for one in other],
        )
        timed("tables, 2 links a version", asked.lines, lambda: import_tables(tables, origin="bench").tape.versions)
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB, rows of the bench included"
    )


def write_table(path: Path, **columns: object) -> None:
    pyarrow.parquet.write_table(pa.table(columns), path)


def timed(what: str, lines: int, work: Callable[[], int]) -> None:
    begun, used = time.perf_counter(), time.process_time()
    versions = work()
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    print(f"{what:30} {seconds:8.2f} {used:11.2f} {lines / used:12,.0f} {versions:10,}")


if __name__ == "__main__":
    main()
