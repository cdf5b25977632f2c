"""A headless Chromium for the tests, spoken to over its pipe: no package, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
    "--remote-debugging-pipe",
)

_PATIENCE_S = 60
_BETWEEN_QUESTIONS_S = 0.01
"""Asked without a pause, a page would answer instead of drawing."""


class Browser:
    """One page; what it asked of the network and said on its console is kept."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 900) -> None:
        if CHROMIUM is None:
            raise AssertionError("there is no chromium")
        to_it, ours_out = os.pipe()
        ours_in, from_it = os.pipe()
        # It reads commands from descriptor 3 and answers on 4, where a shell moves ours; some
        # shells know descriptors of one digit only.
        script = f'exec "$0" "$@" 3<&{to_it} 4>&{from_it}'
        command = ["bash", "-c", script, CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            command,
            pass_fds=(to_it, from_it),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_it)
        os.close(from_it)
        self._out = os.fdopen(ours_out, "wb", buffering=0)
        self._in = os.fdopen(ours_in, "rb", buffering=0)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.said: list[str] = []
        """Messages on the page's console, errors included."""
        self.asked: list[str] = []
        """Addresses that it asked for."""
        try:
            self._connect()
            self.resize(width, height)
        except BaseException:
            self._close()
            raise

    def _connect(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._out.close()
        self._in.close()
        self._process.kill()
        self._process.wait()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._keep(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._in.read(1 << 16)
            if not piece:
                raise AssertionError("chromium has ended")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _keep(self, event: dict[str, Any]) -> None:
        method, said = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.said += [str(argument.get("value")) for argument in said["args"]]
        elif method == "Runtime.exceptionThrown":
            self.said.append(json.dumps(said["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.said.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(said["request"]["url"])

    def open(self, page: Path) -> None:
        """Open a page, offline, and wait until it has drawn its charts."""
        offline = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.send("Network.emulateNetworkConditions", offline=True, **offline)
        self.send("Page.navigate", url=page.as_uri())
        drawn = "(document.documentElement?.dataset.drawn ?? null) !== null"
        self.wait(f"document.readyState === 'complete' && {drawn}")

    def visit(self, address: str, done: str) -> None:
        """Open a page that a server shows, and wait until a script says that it is done."""
        self.send("Page.navigate", url=address)
        self.wait(f"document.readyState === 'complete' && {done}")

    def wait(self, done: str) -> None:
        """Wait until a script of the page is true."""
        until_s = time.monotonic() + _PATIENCE_S
        while not self.value(done):
            if time.monotonic() > until_s or any("Error" in line for line in self.said):
                text = self.value("document.body?.innerText")
                raise AssertionError("\n".join([*self.said, f"never: {done}", str(text)]))
            time.sleep(_BETWEEN_QUESTIONS_S)

    def value(self, script: str) -> Any:
        """Evaluate a script in the page, and wait for its promise if it is one."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has drawn two frames more."""
        frame = "requestAnimationFrame"
        self.value(f"new Promise(done => {frame}(() => {frame}(() => setTimeout(done, 50))))")

    def key(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        known: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code, "code": key}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
        self.send("Input.dispatchKeyEvent", type="keyUp", **known)
        self.settle()

    def resize(self, width: int, height: int) -> None:
        """Give the window a size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, kind: str = "", scheme: str = "light") -> None:
        """Pretend to be a printer (`kind` "print") or a screen of a dark or light desktop."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=kind, features=features)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page, or of what the window shows of it."""
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def paper(self) -> bytes:
        """Return the page as a PDF."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])
