"""Chromium without a window, spoken to over a pipe in its own protocol (DevTools)."""

import base64
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 120.0  # seconds, for a machine that does much else


def find():
    """Return the program, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A running browser; its pages are opened with ``open``."""

    def __init__(self, folder):
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        words = [find(), *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        shell = f'exec "$@" 3<&{read_there} 4>&{write_there}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", *words],
            pass_fds=(read_there, write_there),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
            start_new_session=True,
        )
        os.close(read_there)
        os.close(write_there)
        self._in, self._out = read_here, write_here
        self._left = b""
        self._numbers = itertools.count(1)
        self.events = []

    def close(self):
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def call(self, method, session=None, **params):
        """Send a command and return its answer; events that come meanwhile are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        message |= {"sessionId": session} if session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                assert "error" not in heard, f"{method}: {heard}"
                return heard["result"]

    def wait_for(self, event, session):
        """Return once an event has come."""
        while True:
            if any((e["method"], e.get("sessionId")) == (event, session) for e in self.events):
                return
            self._hear()

    def open(self, path, **size):
        """Open a file as a page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, target).go(path, **size)

    def _hear(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            some = os.read(self._in, 1 << 20)
            assert some, "the browser has gone"
            self._left += some
        text, _, self._left = self._left.partition(b"\0")
        heard = json.loads(text)
        if "method" in heard:
            self.events.append(heard)
        return heard


class Page:
    """A page in the browser."""

    def __init__(self, browser, session, target):
        self._browser, self._session, self._target = browser, session, target

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def go(self, path, width=1200, height=900, scheme="light"):
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")
        self.show(width, height, scheme)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self._browser.wait_for("Page.loadEventFired", self._session)
        return self

    def show(self, width, height=900, scheme="light", media=""):
        """Choose the size of the window, and light or dark, or ``print``."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def run(self, script):
        """Return the value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key, code, text=""):
        """Press and let go of a key."""
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def screenshot(self, path, whole=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def requests(self):
        """List the addresses that the page has asked for."""
        return [e["params"]["request"]["url"] for e in self._events("Network.requestWillBeSent")]

    def complaints(self):
        """List what the console shows: errors, warnings, breaches of the page's policy."""
        names = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [e["params"] for name in names for e in self._events(name)]

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def _events(self, name):
        here = self._session
        return [
            e for e in self._browser.events if (e["method"], e.get("sessionId")) == (name, here)
        ]
