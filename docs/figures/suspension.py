"""Draws docs/figures/suspension.svg: IPS, IPC and erase suspension, as timelines have them.

Run it from the root of the project: `.venv/bin/python docs/figures/suspension.py`. It runs one die
three times, and reads what it draws out of the traces, which is what the Perfetto UI shows.
"""

import sys
import tempfile
from html import escape
from pathlib import Path

import reprieve as rp

sys.path.insert(0, "python")
from tests.perfetto_trace import Slice, Timeline, read

TARGET = Path("docs/figures/suspension.svg")
DEVICE = "fast12-mlc"
WIDTH, LEFT, RIGHT = 960, 92, 12
PANEL, TOP, BAR = 216, 34, 26
ROWS = {"request": 44, "die": 86, "phases": 118}

# Title, policy, what runs on the die, when the read arrives, and the stretch that is shown, in µs.
PANELS = [
    ("IPS: the phase in progress ends first", "pes-ips", "program", 61, (36, 178)),
    ("IPC: the phase is broken off, and done again", "pes-ipc", "program", 61, (36, 178)),
    ("Erase: the pulse stops, and goes on where it was", "pes-ipc", "erase", 500, (470, 612)),
]
COLOURS = {
    "read": "#9ecae1",
    "sense": "#6baed6",
    "data out": "#c6dbef",
    "program": "#fdd0a2",
    "erase": "#dadaeb",
    "data in": "#fee6ce",
    "program pulse": "#fd8d3c",
    "program verify": "#fdae6b",
    "erase pulse": "#9e9ac8",
    "erase verify": "#bcbddc",
    "voltage reset": "#de2d26",
    "to suspension point": "#fcbba1",
    "restore": "#74c476",
    "set-up": "#74c476",
}
SHORT = {"program pulse": "pulse", "program verify": "verify", "erase pulse": "pulse"}


def run(policy: str, op: str, read_us: int) -> Timeline:
    """Let one die do it and read its trace."""
    commands = [(0, op, 0, 0, 0), (read_us * 1000, "read", 0, 1, 0)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "die.perfetto-trace")
        rp.rig(DEVICE, commands, timeline=path, policy=policy)
        return read(path)


class Panel:
    """One die with time to the right, and what is drawn of it so far."""

    def __init__(self, top: int, shown_us: tuple[int, int]) -> None:
        self.top, self.shown_us = top, shown_us
        self.parts: list[str] = []
        self.labels_end = [0.0, 0.0]
        """Where the last label of each of two lines below the phases ends."""

    def x(self, us: float) -> float:
        """Where an instant lies."""
        begin, end = self.shown_us
        share = (min(max(us, begin), end) - begin) / (end - begin)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def text(self, x: float, y: float, words: str, more: str = "") -> None:
        """Write something."""
        self.parts.append(f'<text x="{x:.1f}" y="{self.top + y:.1f}" {more}>{escape(words)}</text>')

    def bar(self, row: int, name: str, span_us: tuple[float, float], label: str, more: str) -> None:
        """Draw a slice, its label inside it or, if it is too narrow, below."""
        begin, end = (self.x(us) for us in span_us)
        if end <= begin:
            return
        self.parts.append(
            f'<rect x="{begin:.1f}" y="{self.top + row}" width="{end - begin:.1f}" '
            f'height="{BAR}" fill="{COLOURS[name]}" {more}/>'
        )
        middle = (begin + end) / 2
        if 6.4 * len(label) < end - begin:
            self.text(middle, row + 17, label, 'text-anchor="middle"')
        elif label and row != ROWS["phases"]:
            self.text(begin - 6, row + 17, label, 'text-anchor="end"')
        elif label and end < self.x(self.shown_us[1]):
            half = 3.2 * len(label)
            line = 0 if middle - half > self.labels_end[0] else 1
            self.labels_end[line] = middle + half
            y, length = self.top + row + BAR, 8 + 14 * line
            self.parts.append(f'<path d="M{middle:.1f} {y} v{length}" stroke="#555"/>')
            self.text(middle, row + BAR + 11 + length, label, 'text-anchor="middle"')


def span_us(each: Slice) -> tuple[float, float]:
    """From when to when a slice is, in µs."""
    begin, end = each.span
    return begin / 1000, end / 1000


def draw(top: int, panel: tuple[str, str, str, int, tuple[int, int]]) -> list[str]:
    """Draw one panel."""
    title, policy, op, read_us, shown_us = panel
    out, timeline = Panel(top, shown_us), run(policy, op, read_us)
    out.text(LEFT, 18, title, 'font-weight="bold" font-size="14"')
    for name, y in ROWS.items():
        out.text(LEFT - 8, y + 17, {"request": "read"}.get(name, name), 'text-anchor="end"')
    die = timeline.on("die 0")
    (served,) = (each for each in die if each.name == "read")
    (asked,) = (each for each in timeline.on("requests") if each.name == "read")
    begin, end = span_us(asked)
    starts = span_us(served)[0]
    row = ROWS["request"]
    dashed = 'fill-opacity="0.35" stroke="#6baed6" stroke-dasharray="3 2"'
    out.bar(row, "read", (begin, starts), f"waits {starts - begin:g} µs", dashed)
    out.bar(row, "read", (starts, end), f"is served in {end - starts:g} µs", 'stroke="#fff"')
    pieces = [each for each in die if each.name == op]
    for number, each in enumerate(pieces):
        label = op if number == 0 else f"{op} goes on"
        out.bar(ROWS["die"], op, span_us(each), label, 'stroke="#fff"')
    out.bar(ROWS["die"], "read", span_us(served), "read", 'stroke="#fff"')
    for each in (part for whole in die for part in whole.parts):
        inside = span_us(each)
        if inside[1] > shown_us[0] and inside[0] < shown_us[1]:
            label = SHORT.get(each.name, each.name)
            out.bar(ROWS["phases"], each.name, inside, label, 'stroke="#fff"')
    arrow(out, span_us(pieces[0])[1], span_us(pieces[1])[0])
    arrival = out.x(read_us)
    out.parts.append(
        f'<path d="M{arrival:.1f} {top + 26} V{top + 144}" stroke="#222" stroke-dasharray="2 2"/>'
    )
    out.text(arrival + 4, 36, f"the read arrives at {read_us} µs")
    axis(out, round(span_us(pieces[-1])[1]), op)
    return out.parts


def arrow(out: Panel, from_us: float, to_us: float) -> None:
    """Join the two pieces of the operation, as the viewer does."""
    begin, end, y = out.x(from_us), out.x(to_us), out.top + ROWS["die"] + 3
    out.parts.append(
        f'<path d="M{begin:.1f} {y} C{begin + 40:.1f} {y - 15} {end - 40:.1f} {y - 15} '
        f'{end:.1f} {y}" fill="none" stroke="#555" marker-end="url(#head)"/>'
    )


def axis(out: Panel, end_us: int, op: str) -> None:
    """Draw the time in µs, and say when the operation ends, which is not shown."""
    y = out.top + 188
    out.parts.append(f'<path d="M{LEFT} {y} H{WIDTH - RIGHT}" stroke="#999"/>')
    first, last = out.shown_us
    for us in range(first + -first % 20, last + 1, 20):
        out.parts.append(f'<path d="M{out.x(us):.1f} {y} v4" stroke="#999"/>')
        out.text(out.x(us), 204, str(us), 'text-anchor="middle" fill="#555"')
    words = f"µs; the {op} ends at {end_us:,}"
    out.text(WIDTH - RIGHT, 18, words, 'text-anchor="end" fill="#555"')


def main() -> None:
    """Write the picture."""
    height = TOP + PANEL * len(PANELS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><marker id="head" markerWidth="7" markerHeight="6" refX="6" refY="3" '
        'orient="auto"><path d="M0 0 L7 3 L0 6 z" fill="#555"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20">One die of {DEVICE}, slice by slice.</text>',
    ]
    for number, panel in enumerate(PANELS):
        parts += draw(TOP + PANEL * number, panel)
    TARGET.write_text("\n".join([*parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
