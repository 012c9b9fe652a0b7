"""A headless Chromium, driven over its DevTools protocol: no driver, no further package."""

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--remote-debugging-port=0",
)
PATIENCE = 40.0
BROWSERS = "chromium", "chromium-browser", "google-chrome"


def executable() -> str:
    """Where Chromium is."""
    return next(filter(None, map(shutil.which, BROWSERS)), BROWSERS[0])


class Tab:
    """One page of the browser, with all that it complained about and asked for."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, session: str) -> None:
        self._socket, self._session = socket, session
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []
        self.requests: list[str] = []

    async def read(self) -> None:
        """Take in what the browser says, until it is closed."""
        async for raw in self._socket:
            said = json.loads(raw.data)
            if "id" in said:
                waiter = self._waiting.pop(said["id"], None)
                if waiter is not None and not waiter.done():
                    waiter.set_result(said)
            else:
                self._hear(said["method"], said.get("params", {}))

    def _hear(self, method: str, about: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(about["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(about["args"])[:500])
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{about['entry']['text']} {about['entry'].get('url', '')}"[:500])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    async def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        waiter = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send_str(json.dumps(message | ({"sessionId": self._session} if self._session else {})))
        async with asyncio.timeout(PATIENCE):
            answer = await waiter
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    async def open(self, url: str) -> None:
        await self.do("Page.navigate", url=url)

    async def value(self, expression: str) -> Any:
        """What a JavaScript expression gives, once its promise is kept."""
        answer = await self.do("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = PATIENCE) -> Any:
        """Wait until an expression gives something true."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    with contextlib.suppress(RuntimeError):  # the page may be on its way out
                        found = await self.value(expression)
                        if found:
                            return found
                    await asyncio.sleep(0.1)
        except TimeoutError:
            text = await self.value("document.body.innerText.slice(0, 800)")
            raise AssertionError(f"never true: {expression}\n{self.complaints}\n{text}") from None

    async def look(self, *, width: int = 1280, height: int = 900, dark: bool = False, phone: bool = False) -> None:
        """Set the screen."""
        scale = 2 if phone else 1
        await self.do(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.do("Emulation.setEmulatedMedia", features=features)

    async def picture(self, path: Path, *, height: int | None = None) -> None:
        """What the screen shows, or the page from its top down to a height."""
        clip = {}
        if height is not None:
            width, whole = await self.value("[innerWidth, document.documentElement.scrollHeight]")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": min(height, whole), "scale": 1}}
        answer = await self.do("Page.captureScreenshot", format="png", captureBeyondViewport=bool(clip), **clip)
        path.write_bytes(base64.b64decode(answer["data"]))


@asynccontextmanager
async def browsing() -> AsyncIterator[Tab]:
    """A fresh browser with one tab."""
    program = executable()
    with tempfile.TemporaryDirectory(prefix="forager-browser-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            program,
            *ARGUMENTS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with (
                aiohttp.ClientSession() as client,
                client.ws_connect(await _address(Path(profile)), max_msg_size=0) as socket,
                asyncio.TaskGroup() as group,
            ):
                browser = Tab(socket, "")
                listening = group.create_task(browser.read())
                targets = (await browser.do("Target.getTargets"))["targetInfos"]
                target = next(one["targetId"] for one in targets if one["type"] == "page")
                attached = await browser.do("Target.attachToTarget", targetId=target, flatten=True)
                browser._session = attached["sessionId"]
                for room in ("Page", "Runtime", "Log", "Network"):
                    await browser.do(f"{room}.enable")
                yield browser
                listening.cancel()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                async with asyncio.timeout(10):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def _address(profile: Path) -> str:
    """Where the browser listens; it writes that into its profile."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(PATIENCE):
        while not (file.is_file() and file.read_text().count("\n") >= 1):
            await asyncio.sleep(0.05)
    port, path = file.read_text().splitlines()[:2]
    return f"ws://127.0.0.1:{port}{path}"
