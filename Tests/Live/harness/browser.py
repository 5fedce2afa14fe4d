"""A headless Chromium, driven over its DevTools protocol: a page as a person sees and uses it."""
import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
import time

import pytest
from websockets.asyncio.client import connect

PATIENCE = 60
FLAGS = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors", "--window-size=1280,900",
         "--remote-debugging-port=0", "about:blank"]


class Browser:
    """One process; each page has cookies and storage of its own, as another person's browser."""

    def __init__(self, process, socket):
        self.process, self._socket = process, socket
        self._numbers, self._waiting = itertools.count(1), {}
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, directory):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            pytest.skip("there is no Chromium")
        with open(directory / "browser.log", "w") as log:
            process = subprocess.Popen(
                [program, f"--user-data-dir={directory / 'browser'}", *FLAGS], stdout=log, stderr=log,
                env={**os.environ, "HOME": str(directory)})
        port = directory / "browser/DevToolsActivePort"
        deadline = time.monotonic() + PATIENCE
        while not port.exists() or port.read_text().count("\n") < 1:
            assert process.poll() is None and time.monotonic() < deadline, (directory / "browser.log").read_text()
            await asyncio.sleep(0.05)
        number, path = port.read_text().split("\n")[:2]
        socket = await connect(f"ws://127.0.0.1:{number}{path}", proxy=None, max_size=None, ping_interval=None)
        return cls(process, socket)

    async def _read(self):
        async for text in self._socket:
            frame = json.loads(text)
            waiting = self._waiting.pop(frame.get("id"), None)
            if waiting and not waiting.done():
                waiting.set_result(frame)

    async def command(self, method, session=None, /, **params):
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        frame = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        await self._socket.send(json.dumps(frame))
        answer = await asyncio.wait_for(self._waiting[number], 2 * PATIENCE)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    async def open(self, url):
        """A new page at the URL."""
        context = (await self.command("Target.createBrowserContext"))["browserContextId"]
        target = (await self.command("Target.createTarget", url=url, browserContextId=context))["targetId"]
        session = (await self.command("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        return Page(self, session)

    async def close(self):
        self._reader.cancel()
        await self._socket.close()
        self.process.terminate()
        try:
            await asyncio.to_thread(self.process.wait, 20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Page:
    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    async def run(self, expression):
        """The value of a JavaScript expression, awaited where it is a promise."""
        answer = await self._browser.command(
            "Runtime.evaluate", self._session, expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    async def until(self, expression, patience=PATIENCE):
        """Waits until the expression is true; gives its value."""
        deadline = time.monotonic() + patience
        while True:
            try:
                if value := await self.run(expression):
                    return value
            except AssertionError:
                # The page is not there yet.
                if time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {patience} s: {expression}; the page says:\n{await self.text()}")
            await asyncio.sleep(0.05)

    async def text(self, selector="body"):
        """What a person reads there."""
        return await self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    async def sees(self, text, selector="body", patience=PATIENCE):
        """Waits until the text stands there."""
        place = f"(document.querySelector({json.dumps(selector)})?.innerText ?? '')"
        await self.until(f"{place}.includes({json.dumps(text)})", patience)

    async def click(self, selector):
        await self.until(f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false")
        await self.run(f"document.querySelector({json.dumps(selector)}).click()")

    async def write(self, selector, text):
        """Replaces what stands in a field."""
        await self.until(f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false")
        await self.run(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}")

    async def screenshot(self, file):
        """A PNG, for a person who looks for a fault."""
        answer = await self._browser.command("Page.captureScreenshot", self._session, format="png")
        file.write_bytes(base64.b64decode(answer["data"]))
