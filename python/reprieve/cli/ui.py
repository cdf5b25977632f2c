"""`reprieve ui`: the drive explorer, a page in which the simulator itself runs."""

from __future__ import annotations

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from reprieve._native import UserError
from reprieve.cli.console import say
from reprieve.cli.options import flag

FOLDER = Path(__file__).resolve().parent.parent / "ui"
CORE = "reprieve.wasm"

_HOST = "127.0.0.1"


class _Pages(SimpleHTTPRequestHandler):
    """The files of the page, with the types that browsers ask for."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *_: object) -> None:
        """Say nothing of each request."""

    def end_headers(self) -> None:
        # Another version may be served here tomorrow.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def ui(
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="0: one that is free.")
    ] = 0,
    no_open: Annotated[bool, flag("--no-open", "Open no browser.")] = False,
) -> None:
    """Explore one die and a drive in the browser, until Ctrl-C; only this machine can connect."""
    server = serve_page(port)
    address = f"http://{_HOST}:{server.server_port}/"
    say(f"the drive explorer is at {address}; Ctrl-C ends it")
    if not no_open:
        webbrowser.open(address)
    try:
        server.serve_forever()
    finally:
        server.server_close()


def serve_page(port: int) -> ThreadingHTTPServer:
    """Return a server of the page at a port of this machine, which nobody serves yet.

    Raises `UserError` if this installation has no WebAssembly module, or the port is taken.
    """
    if not (FOLDER / CORE).is_file():
        raise UserError(
            f"{FOLDER / CORE}: this installation was built without it; `make ui` in a clone of "
            "Reprieve builds it"
        )
    try:
        return ThreadingHTTPServer((_HOST, port), partial(_Pages, directory=str(FOLDER)))
    except OSError as error:
        raise UserError(f"--port {port}: {error.strerror}; must be a free port, or 0") from error
