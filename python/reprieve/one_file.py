"""The drive explorer as one file, which runs from a folder, from any web server, and offline."""

import base64
import gzip
import re
from pathlib import Path

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_PAGE_SCRIPT = '<script type="module" src="app.js"></script>'
_STYLE = '<link rel="stylesheet" href="style.css">'


def one_file(folder: Path) -> str:
    """Return the page with its style, scripts and the simulator inside.

    `folder`: the page's files, with the simulator `reprieve.wasm`.
    """
    page = (folder / "index.html").read_text(encoding="utf-8")
    style = (folder / "style.css").read_text(encoding="utf-8")
    core = base64.b64encode(gzip.compress((folder / "reprieve.wasm").read_bytes(), mtime=0))
    # The scripts run once what they look for is there.
    end = f"""<script type="text/plain" id="core">{core.decode()}</script>
<script type="text/plain" id="worker">{_joined(folder, "worker")}</script>
<script type="module">
{_joined(folder, "app")}</script>
</body>"""
    page = page.replace("<html ", "<html data-one-file ").replace(_PAGE_SCRIPT, "")
    return page.replace(_STYLE, f"<style>\n{style}</style>").replace("</body>", end)


def _joined(folder: Path, name: str) -> str:
    """Return a module and all that it imports as one script, each in a scope of its own."""
    done: dict[str, str] = {}

    def add(module: str) -> None:
        text = (folder / f"{module}.js").read_text(encoding="utf-8")
        for _, used in _IMPORT.findall(text):
            if used not in done:
                add(used)
        exported = ", ".join(name for _, name in _EXPORT.findall(text))
        text = _IMPORT.sub(r"const \1 = module_\2;", text)
        text = _EXPORT.sub(r"\1", text)
        done[module] = (
            f"const module_{module} = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();\n"
        )

    add(name)
    script = "".join(done.values())
    # An HTML parser ends a script here, whatever the script means.
    return script.replace("</script", "<\\/script")
