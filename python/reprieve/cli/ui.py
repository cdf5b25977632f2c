"""`reprieve ui`: the drive explorer in the browser, served to this machine only."""

import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any

import typer

import reprieve
from reprieve._native import UserError
from reprieve.cli.console import say_at_once
from reprieve.cli.options import Force
from reprieve.one_file import one_file
from reprieve.outputs import folder_of, whole_file
from reprieve.overwriting import may_write

FOLDER = Path(reprieve.__file__).with_name("ui")
"""The page; without `reprieve.wasm`, which `make ui` builds, it has nothing to run."""

_HOST = "127.0.0.1"


def ui(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to serve it; 0: any port that is free.")
    ] = 8370,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page as one file that runs offline."),
    ] = None,
    force: Force = False,
) -> None:
    """Explore a drive in the browser: sliders, one die's timeline, two settings side by side.

    The simulator itself runs in the page; Ctrl-C ends the server.
    """
    if not (FOLDER / "reprieve.wasm").is_file():
        raise UserError(
            f"{FOLDER / 'reprieve.wasm'}: the simulator for the browser is not built; "
            "run `make ui` in the sources of Reprieve"
        )
    if save is not None:
        may_write([save], force=force)
        with folder_of(save), whole_file(save) as file:
            file.write(one_file(FOLDER).encode())
        say_at_once(f"wrote {save}")
        return
    try:
        server = _Server((_HOST, port), partial(_Handler, directory=str(FOLDER)))
    except OSError as error:
        raise UserError(
            f"--port {port}: cannot serve there: {error.strerror}; give another, or 0 for any"
        ) from None
    with server:
        address = f"http://{_HOST}:{server.server_port}/"
        say_at_once(f"the drive explorer is at {address}; Ctrl-C ends it")
        if not no_open:
            webbrowser.open(address)
        server.serve_forever()


class _Server(ThreadingHTTPServer):
    """Says nothing of a browser that leaves in the middle of a file."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(SimpleHTTPRequestHandler):
    """Serves the folder to pages of its own address, and says nothing of it."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def send_head(self) -> Any:
        """Refuse names that a page elsewhere has made to mean this machine."""
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host in {_HOST, "localhost"}:
            return super().send_head()
        return self.send_error(403, "Only 127.0.0.1 and localhost are served")

    def end_headers(self) -> None:
        # What `make ui` built anew is not to be hidden by what the browser has kept.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass
