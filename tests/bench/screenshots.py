"""Pictures of the dashboard and the report of a real `forager demo`: desktop, phone, dark, empty.

    python tests/bench/screenshots.py FOLDER [--seconds 60] [-s KEY=VALUE ...]

The demo is stopped when the pictures are taken; those of README are among them.
"""

import argparse
import asyncio
import re
import signal
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.dashboard.browser import Tab, browsing
from tests.dashboard.crawling import corrected_article, crawling, lively

LIVE = "document.getElementById('link').textContent === 'live'"
LOOKS = (("", False, 1160, False), ("-dark", True, 1160, False), ("-phone", False, 390, True))
PAGES = (("now", ""), ("fleet", "fleet"), ("sites", "sites"), ("recrawl", "recrawl"))


async def main() -> None:
    """Run the demo, look, and write one PNG for each view."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the pictures")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the demo runs before it is looked at")
    parser.add_argument("-s", "--set", action="append", default=[], help="a setting of the demo")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as run:
        async with browsing() as tab:
            await _demo(tab, options, Path(run) / "demo")
            await _report(tab, Path(run) / "demo" / "report.html", options.folder)
            await _story(tab, options.folder, Path(run) / "story")
            await _empty(tab, options.folder)
    for picture in sorted(options.folder.glob("*.png")):
        print(f"{picture}  {picture.stat().st_size / 1000:.0f} kB")


async def _demo(tab: Tab, options: argparse.Namespace, run: Path) -> None:
    overrides = [part for one in [f"demo.folder={run}", *options.set] for part in ("-s", one)]
    command = [sys.executable, "-m", "forager", "demo", "-q", "--time-limit", "1h", *overrides]
    demo = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert demo.stderr is not None
    found = re.search(r"http://\S+", (await demo.stderr.readline()).decode())
    assert found is not None, "the demo did not say where its dashboard is"
    try:
        await asyncio.sleep(options.seconds)
        await _pages(tab, found[0], options.folder)
    finally:
        demo.send_signal(signal.SIGINT)  # it finishes, and writes its report
        await demo.communicate()


async def _pages(tab: Tab, address: str, folder: Path) -> None:
    await tab.look(width=1160, height=760)
    for name, path in PAGES:
        await _take(tab, address + path, folder / f"{name}.png", choose=name == "fleet")
    await tab.look(width=1160, height=760, dark=True)
    for name, path in PAGES:
        await _take(tab, address + path, folder / f"{name}-dark.png")
    await tab.look(width=390, height=844, phone=True)
    for name, path in PAGES:
        await _take(tab, address + path, folder / f"{name}-phone.png", height=2400)


async def _story(tab: Tab, folder: Path, run: Path) -> None:
    """A corrected article, in a crawl that is sent to see the correction."""
    async with crawling(lively(), run) as running:
        address = f"{running.address}page?url={quote(await corrected_article(running), safe='')}"
        for name, dark, width, phone in LOOKS:
            await tab.look(width=width, height=760, dark=dark, phone=phone)
            await _take(tab, address, folder / f"page{name}.png")


async def _take(tab: Tab, address: str, path: Path, *, choose: bool = False, height: int | None = None) -> None:
    await tab.open(address)
    await tab.until(LIVE)
    await tab.until("!document.querySelector('main').innerText.includes('Looking it up')")
    await asyncio.sleep(1.5)
    if choose:
        await tab.value("document.querySelector('tbody button')?.click()")
        await asyncio.sleep(0.7)
        await tab.value("scrollTo(0, 0)")
    await tab.picture(path, height=height)


async def _empty(tab: Tab, folder: Path) -> None:
    """The dashboard before anything has happened."""
    await tab.look(width=1160, height=760)
    async with crawling(lively(), run=False) as fresh:
        for name, path in PAGES:
            await _take(tab, fresh.address + path, folder / f"{name}-empty.png")


async def _report(tab: Tab, page: Path, folder: Path) -> None:
    for name, dark, width, phone in LOOKS:
        await tab.look(width=width, height=1000, dark=dark, phone=phone)
        await tab.open(page.resolve().as_uri())
        await tab.until("document.readyState === 'complete'")
        await asyncio.sleep(0.7)
        await tab.picture(folder / f"report{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
