"""Vega and Vega-Lite as one script, bundled once on a machine and kept for the next page."""

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert
from markupsafe import Markup

from reprieve._native import UserError
from reprieve.outputs import folder_of, whole_file
from reprieve.plot.paper import vega_lite_version

_SCRIPT = "window.vegaEmbed = vegaEmbed;"


@cache
def library() -> Markup:
    """Return Vega and Vega-Lite as one script, from the package that carries them.

    Bundling takes more than a second, so the script is kept in the user's folder for such files.
    Its first line is the hash of the rest: what is cut short or changed is bundled again.
    """
    made_by = f"{version('vl-convert-python')} {vega_lite_version()} {_SCRIPT}"
    folder = cache_folder()
    kept = None if folder is None else folder / f"vega-{_hash(made_by)[:16]}.js"
    if kept is not None:
        with suppress(OSError, UnicodeDecodeError):
            line, _, script = kept.read_bytes().decode().partition("\n")
            if line == f"// {_hash(script)}":
                return Markup(script)
    script = vl_convert.javascript_bundle(_SCRIPT, vl_version=vega_lite_version())
    if kept is not None:
        # A folder that cannot be written costs time, and nothing else.
        with suppress(UserError), folder_of(kept), whole_file(kept) as file:
            file.write(f"// {_hash(script)}\n{script}".encode())
    return Markup(script)


def cache_folder() -> Path | None:
    """Return the folder of what can be made again, by the XDG Base Directory Specification.

    None for a user without a home: others could put a script into a folder for temporary files.
    """
    asked = os.environ.get("XDG_CACHE_HOME", "")
    if Path(asked).is_absolute():  # others are to be ignored, says the specification
        return Path(asked) / "reprieve"
    with suppress(RuntimeError):
        return Path.home() / ".cache/reprieve"
    return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
