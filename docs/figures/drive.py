"""Draws docs/figures/drive.svg: the way of a request through a drive, with the sections of parts.

Run it from the root of the project: `.venv/bin/python docs/figures/drive.py`. Numbers are those of
the device, as a run would have them.
"""

from html import escape
from pathlib import Path

import reprieve as rp

TARGET = Path("docs/figures/drive.svg")
DEVICE = "fast12-mlc"
WIDTH, HEIGHT = 960, 344
TOP, BOTTOM = 64, 292
COLOURS = {"host": "#9ecae1", "controller": "#fdd0a2", "die": "#dadaeb", "plane": "#bcbddc"}

# What a request meets from left to right: where it stands, what it does there, and which sections
# of a scenario say how.
STEPS = [
    (12, 112, "host", "Host", ["reads, writes,", "trims, flushes"], ["workload", "flow"]),
    (148, 118, "host", "Queues and link", ["NVMe queues,", "PCIe or SATA"], ["host"]),
    (290, 118, "controller", "Buffer", ["of writes; a cache", "of reads"],
     ["buffer", "read_cache"]),
    (432, 128, "controller", "Translation", ["mapping, garbage", "collection, wear"], ["ftl"]),
    (584, 128, "controller", "A queue for a die", ["order of work,", "suspension"],
     ["scheduling", "suspension"]),
]  # fmt: skip
CHANNELS_X, DIES_X, DIE_WIDTH, DIE_HEIGHT = 736, 796, 152, 52
DIE_SECTIONS = ["geometry", "timing", "parallelism", "ecc", "power"]


class Picture:
    """Elements drawn so far."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, more: str = "") -> None:
        """Write something."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" {more}>{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a box."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" '
            f'fill="{COLOURS[colour]}"/>'
        )

    def line(self, path: str, more: str = "") -> None:
        """Draw a line."""
        self.parts.append(f'<path d="{path}" fill="none" stroke="#555" {more}/>')


def steps(out: Picture) -> None:
    """Draw what is in front of the channels, each with an arrow to the next."""
    middle = (TOP + BOTTOM) / 2
    centred = 'text-anchor="middle"'
    for place, (x, width, colour, title, words, sections) in enumerate(STEPS):
        centre = x + width / 2
        out.box(x, middle - 62, width, 124, colour)
        out.text(centre, middle - 40, title, f'{centred} font-weight="bold"')
        for line, said in enumerate(words):
            out.text(centre, middle - 18 + 16 * line, said, centred)
        for line, section in enumerate(sections):
            out.text(centre, middle + 28 + 16 * line, f"[{section}]", f"{centred} {MONO}")
        end = STEPS[place + 1][0] if place + 1 < len(STEPS) else CHANNELS_X
        out.line(f"M{x + width} {middle:g} H{end - 2}", 'marker-end="url(#head)"')


MONO = 'font-family="monospace" fill="#333"'


def dies(out: Picture, channels: int, dies_per_channel: int, planes: int) -> None:
    """Draw the channels, the first two and the last, each with its first die and the planes."""
    rows = {0: TOP + 6, 1: TOP + 78, channels - 1: TOP + 170}
    out.line(f"M{CHANNELS_X} {TOP + 32} V{TOP + 196}")
    for channel, y in rows.items():
        out.line(f"M{CHANNELS_X} {y + DIE_HEIGHT / 2:g} H{DIES_X}", 'stroke-width="3"')
        out.box(DIES_X, y, DIE_WIDTH, DIE_HEIGHT, "die")
        out.text(DIES_X + 8, y + 16, f"die {channel * dies_per_channel}")
        width = (DIE_WIDTH - 8 - 4 * planes) / planes
        for plane in range(planes):
            x = DIES_X + 6 + plane * (width + 4)
            out.box(x, y + 22, width, 24, "plane")
            words = f"plane {plane}" if planes < 4 else f"{plane}"  # noqa: PLR2004
            out.text(x + width / 2, y + 38, words, 'text-anchor="middle" font-size="11"')
    out.text(DIES_X + DIE_WIDTH / 2, TOP + 154, "…", 'text-anchor="middle"')
    out.text(CHANNELS_X, TOP - 8, f"{channels} channels", 'text-anchor="middle"')
    count = channels * dies_per_channel
    out.text(DIES_X + DIE_WIDTH, TOP - 8, f"{count} dies of {planes} planes", 'text-anchor="end"')
    names = " ".join(f"[{name}]" for name in DIE_SECTIONS)
    out.text(WIDTH - 12, HEIGHT - 16, names, f'text-anchor="end" {MONO}')


def picture() -> str:
    """Return the picture."""
    load = {"generator": "mixed", "requests": 1, "read_fraction": 0.5, "queue_depth": 1}
    geometry = rp.Scenario(device=DEVICE, workload=load).resolve().to_dict()["geometry"]
    out = Picture()
    out.text(12, 24, f"The way of a request through a drive, here {DEVICE}", 'font-size="14"')
    steps(out)
    dies(out, geometry["channels"], geometry["dies_per_channel"], geometry["planes_per_die"])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            '<defs><marker id="head" markerWidth="7" markerHeight="6" refX="6" refY="3" '
            'orient="auto"><path d="M0 0 L7 3 L0 6 z" fill="#555"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            *out.parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
