"""Pictures of the dashboard of a real crawl of the Newsroom: desktop, phone, dark, empty, and the report of the run.

python tests/bench/screenshots.py FOLDER [--seconds 40]
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.reports.account import read_account
from forager.reports.report import report
from forager.store.reader import SqliteReader
from tests.dashboard.browser import Tab, browsing
from tests.dashboard.crawling import Running, corrected_article, crawling, lively

LIVE = "document.getElementById('link').textContent === 'live'"


async def main() -> None:
    """Crawl, look, and write one PNG for each view."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the pictures")
    parser.add_argument("--seconds", type=float, default=40.0, help="how long to crawl before looking")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as run:
        async with crawling(lively(), Path(run)) as running, browsing() as tab:
            await asyncio.sleep(options.seconds)
            await _pages(tab, running, options.folder)
            await _empty(tab, options.folder)
        await _report(Path(run), options.folder)
    for picture in sorted(options.folder.glob("*.png")):
        print(f"{picture}  {picture.stat().st_size / 1000:.0f} kB")


async def _pages(tab: Tab, running: Running, folder: Path) -> None:
    await tab.look(width=1200, height=820)
    for name, path in (("now", ""), ("fleet", "fleet"), ("sites", "sites"), ("recrawl", "recrawl")):
        await _take(tab, running.address + path, folder / f"{name}.png")
    corrected = await corrected_article(running)
    await _take(tab, f"{running.address}page?url={quote(corrected, safe='')}", folder / "page.png")
    await tab.look(width=1200, height=820, dark=True)
    await _take(tab, running.address, folder / "now-dark.png")
    await tab.look(width=390, height=844, phone=True)
    await _take(tab, running.address, folder / "now-phone.png")
    await tab.value("document.querySelectorAll('section')[2].scrollIntoView()")
    await tab.picture(folder / "stories-phone.png")
    await _take(tab, f"{running.address}fleet", folder / "fleet-phone.png")


async def _take(tab: Tab, address: str, path: Path) -> None:
    await tab.open(address)
    await tab.until(LIVE)
    await asyncio.sleep(2.5)
    await tab.picture(path)


async def _empty(tab: Tab, folder: Path) -> None:
    """The dashboard before anything has happened."""
    await tab.look(width=1200, height=820)
    async with crawling(lively(), run=False) as fresh:
        await _take(tab, fresh.address, folder / "empty.png")


async def _report(run: Path, folder: Path) -> None:
    reader = await SqliteReader.open(run)
    try:
        page = folder / "report.html"
        page.write_text(report(await read_account(reader), "demo"), encoding="utf-8")
    finally:
        await reader.close()
    async with browsing() as tab:
        await tab.look(width=1200, height=1400)
        await tab.open(page.resolve().as_uri())
        await asyncio.sleep(1.0)
        await tab.picture(folder / "report.png")


if __name__ == "__main__":
    asyncio.run(main())
