"""A headless Chromium, driven over its DevTools protocol: a page as a person sees and uses it."""
import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from .waiting import within

PATIENCE = 60
CLOCK = (Path(__file__).resolve().parents[1] / "clients/clock.mjs").read_text() + "testClock.install();"
FLAGS = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors", "--window-size=1280,900",
         # The pages of several people are all looked at.
         "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
         "--remote-debugging-port=0", "about:blank"]
BUTTON = {"button": "left", "clickCount": 1}
CONTROL = 2
SHIFT = 8

# Elements that a person can use and that no name describes.
NAMELESS = """[...document.querySelectorAll('button, input, textarea, select, summary, a')]
  .filter((one) => one.checkVisibility() && !one.ariaLabel && !one.innerText.trim() && !one.labels?.length)
  .map((one) => one.outerHTML)"""
# Text whose contrast with its background is below 4.5, and fields whose edge has less than 3 with what is around them.
FAINT = """(() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) {
      context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
      known.set(color, [...context.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  };
  const light = (color) => rgba(color).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (one) => {
    for (let each = one; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (rgba(color)[3] > 0) return color;
    }
    return 'white';
  };
  const isText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const isSeen = (one) => one.checkVisibility({opacityProperty: true}) && !one.closest(':disabled, script, style');
  const texts = [...document.body.querySelectorAll('*')].filter((one) => isText(one) && isSeen(one))
    .map((one) => [one, contrast(getComputedStyle(one).color, ground(one)), 4.5]);
  const fields = [...document.querySelectorAll('input:not([type=radio], [type=checkbox]), select, textarea')].filter(isSeen)
    .map((one) => [one, contrast(getComputedStyle(one).borderTopColor, ground(one.parentElement)), 3]);
  return [...texts, ...fields].filter(([, found, least]) => found < least)
    .map(([one, found]) => `${one.outerHTML.slice(0, 200)}: ${found}`);
})()"""
# Words of the page, drawn from right to left: a text of others beside them has turned them around. A message of the demo page
# is a paragraph of its own.
TURNED = """(() => {
  const range = document.createRange();
  const place = (node, index) => {
    range.setStart(node, index);
    range.setEnd(node, index + 1);
    return range.getBoundingClientRect();
  };
  const turned = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility() || parent.closest('bdi, .text, script, style')) continue;
    for (const { index, 0: word } of node.data.matchAll(/[A-Za-z]{2,}/g)) {
      const [first, last] = [place(node, index), place(node, index + word.length - 1)];
      if (first.width > 0 && last.width > 0 && first.y === last.y && first.x >= last.x) turned.push(node.data);
    }
  }
  return [...new Set(turned)];
})()"""
# Where a person would press to hit an element; nothing while it is hidden, disabled, or covered by another one. Listeners
# note what the press and the click reached, and keep a press that missed (the page had moved) from everything else.
AIM = """(selector, words) => {
  const find = () => [...document.querySelectorAll(selector)]
    .find((one) => one.checkVisibility() && (words === null || one.innerText.trim() === words));
  const hits = (target) => Boolean(target?.closest(selector)) && target.closest(selector) === find();
  if (!window.mouse) {
    for (const kind of ['mousedown', 'click']) {
      addEventListener(kind, (event) => {
        // A key's click has no count.
        if (event.detail === 0) return;
        window.mouse[kind] = window.mouse.mousedown !== false && window.mouse.hits(event.target);
        if (!window.mouse[kind]) { event.preventDefault(); event.stopImmediatePropagation(); }
      }, {capture: true});
    }
  }
  window.mouse = {hits};
  const one = find();
  if (!one || one.matches(':disabled')) return null;
  one.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
  const box = one.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return hits(document.elementFromPoint(x, y)) ? {x, y} : null;
}"""


class Chromium:
    """A process of the browser; what it keeps is in the directory."""

    def __init__(self, directory):
        self.directory, self.process, self.url = directory, None, None

    def start(self):
        """Starts it, unless it runs."""
        if self.process and self.process.poll() is None:
            return
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            pytest.skip("there is no Chromium")
        log, port = self.directory / "browser.log", self.directory / "browser/DevToolsActivePort"
        port.unlink(missing_ok=True)
        with open(log, "w") as output:
            self.process = subprocess.Popen(
                [program, f"--user-data-dir={self.directory / 'browser'}", *FLAGS], stdout=output, stderr=output,
                env={**os.environ, "HOME": str(self.directory)})
        deadline = time.monotonic() + PATIENCE
        while not port.exists() or port.read_text().count("\n") < 1:
            assert self.process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        number, path = port.read_text().split("\n")[:2]
        self.url = f"ws://127.0.0.1:{number}{path}"

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The process that all tests of a worker share."""
    one = Chromium(tmp_path_factory.mktemp("chromium"))
    yield one
    one.stop()


@pytest.fixture
async def browser(chromium):
    one = await Browser.connect(chromium)
    yield one
    await one.close()


class Browser:
    """The browsers of one test: each page that it opens has cookies and storage of its own, as another person's."""

    def __init__(self, socket):
        self._socket, self._contexts = socket, []
        self._numbers, self._waiting = itertools.count(1), {}
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, chromium):
        # A process that has crashed under one test is not the fault of the next.
        await asyncio.to_thread(chromium.start)
        return cls(await connect(chromium.url, proxy=None, max_size=None, ping_interval=None))

    async def _read(self):
        try:
            async for text in self._socket:
                frame = json.loads(text)
                waiting = self._waiting.pop(frame.get("id"), None)
                if waiting and not waiting.done():
                    waiting.set_result(frame)
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionError("the browser has ended"))

    async def command(self, method, session=None, /, **params):
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        frame = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        await self._socket.send(json.dumps(frame))
        answer = await within(self._waiting[number], 2 * PATIENCE)
        if answer.get("error", {}).get("message") == "Inspected target navigated or closed":
            raise Navigated(method)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    async def open(self, url, frozen=False):
        """A new page at the URL, when it and its scripts are loaded. The time of a frozen one stands still, but for
        `advance`: it does nothing by itself."""
        context = (await self.command("Target.createBrowserContext"))["browserContextId"]
        self._contexts.append(context)
        target = (await self.command("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
        page = Page(self, await self._attach(target), context)
        if frozen:
            await self.command("Page.enable", page.session)
            await self.command("Page.addScriptToEvaluateOnNewDocument", page.session, source=CLOCK)
        await self.command("Page.navigate", page.session, url=url)
        await page.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return page

    async def _attach(self, target):
        return (await self.command("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]

    async def opened_by(self, page):
        """The page that a page opens by window.open: another tab of the same person's browser, to which the browser copies
        the first one's storage."""
        before = {target["targetId"] for target in await self._targets(page)}
        await page.run("void window.open(location.href)")
        deadline = time.monotonic() + PATIENCE
        while not (found := [one for one in await self._targets(page) if one["targetId"] not in before]):
            assert time.monotonic() < deadline, "no page was opened"
            await asyncio.sleep(0.05)
        return Page(self, await self._attach(found[0]["targetId"]), page.context)

    async def _targets(self, page):
        targets = (await self.command("Target.getTargets"))["targetInfos"]
        return [one for one in targets if one["type"] == "page" and one.get("browserContextId") == page.context]

    async def close(self):
        for context in self._contexts:
            await self.command("Target.disposeBrowserContext", browserContextId=context)
        self._reader.cancel()
        await self._socket.close()


class Navigated(AssertionError):
    """The page went on to another while it was asked."""


class Page:
    def __init__(self, browser, session, context):
        self._browser, self.session, self.context = browser, session, context

    async def run(self, expression):
        """The value of a JavaScript expression, awaited where it is a promise."""
        answer = await self._browser.command(
            "Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    async def advance(self, seconds):
        """Lets the time of a frozen page pass at once."""
        await self.run(f"testClock.pass({seconds})")

    async def before_each_load(self, source):
        """Runs a script in each document that the page loads from now on, before its own."""
        await self._browser.command("Page.enable", self.session)
        await self._browser.command("Page.addScriptToEvaluateOnNewDocument", self.session, source=source)

    async def reload(self):
        """Loads the page again; what it was is gone when this returns."""
        await self.run("window.isOld = true")
        await self._browser.command("Page.reload", self.session)
        await self.until("document.readyState === 'complete' && !window.isOld")

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
        """The text that a person reads there."""
        return await self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    async def sees(self, text, selector="body", patience=PATIENCE):
        """Waits until the text stands there."""
        place = f"(document.querySelector({json.dumps(selector)})?.innerText ?? '')"
        await self.until(f"{place}.includes({json.dumps(text)})", patience)

    async def click(self, selector, words=None):
        """Presses the mouse upon the first visible element, or the first with exactly these words."""
        aim = f"({AIM})({json.dumps(selector)}, {json.dumps(words)})"
        deadline = time.monotonic() + PATIENCE
        while True:
            place = await self.until(aim)
            for kind, buttons in (("mouseMoved", {}), ("mousePressed", BUTTON), ("mouseReleased", BUTTON)):
                await self._browser.command("Input.dispatchMouseEvent", self.session, type=kind, **place, **buttons)
            # A click that leads to another page takes the notes of this one along.
            try:
                if await self.run("!window.mouse || window.mouse.click"):
                    return
            except Navigated:
                return
            assert time.monotonic() < deadline, f"no click reached {selector} within {PATIENCE} s"

    async def write(self, selector, text):
        """Replaces what stands in a field, by mouse and keyboard."""
        await self.click(selector)
        await self.press("a", 65, modifiers=CONTROL, commands=["selectAll"])
        await self._browser.command("Input.insertText", self.session, text=text)

    async def press(self, key, code, text=None, **params):
        """A key of the keyboard, by its name and Windows' number; `text` is what it writes."""
        text = {"text": text or "\r"} if text or key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            await self._browser.command(
                "Input.dispatchKeyEvent", self.session, type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text, **params)

    async def show_as(self, width=1280, height=900, scheme="light"):
        """Another size of the window, and the reader's colour scheme; colours change at once."""
        await self._browser.command(
            "Emulation.setDeviceMetricsOverride", self.session, width=width, height=height, deviceScaleFactor=1,
            mobile=width < 500)
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        await self._browser.command("Emulation.setEmulatedMedia", self.session, features=features)
        # A transition that began before goes on, from the colours of then.
        await self.run("document.getAnimations().filter((each) => each instanceof CSSTransition).forEach((each) => each.finish())")

    async def demand_usable(self):
        """At phone width and in the dark too: nothing is wider than the window, everything that can be used has a name,
        text and fields stand out from their ground (WCAG 2, 1.4.3 and 1.4.11), and nothing came from elsewhere."""
        for width, height, scheme in ((1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")):
            await self.show_as(width, height, scheme)
            wide, nameless = await self.run("document.documentElement.scrollWidth"), await self.run(NAMELESS)
            assert wide <= width, f"{width} {scheme}: {wide}"
            assert nameless == [], f"{width} {scheme}: {nameless}"
            faint = await self.run(FAINT)
            assert faint == [], f"{width} {scheme}: {faint}"
        await self.show_as()
        assert await self.run(
            "performance.getEntriesByType('resource').map(({name}) => new URL(name)).filter(({protocol, host}) =>"
            " protocol !== 'data:' && host !== location.host).map(String)") == []

    async def screenshot(self, file):
        """A PNG, for a person who looks for a fault."""
        answer = await self._browser.command("Page.captureScreenshot", self.session, format="png")
        file.write_bytes(base64.b64decode(answer["data"]))
