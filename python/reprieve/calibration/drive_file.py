"""The device file of a calibrated drive: each fitted value with its interval and its source."""

import math
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from reprieve.calibration.evaluate import expand
from reprieve.calibration.identify import Interval
from reprieve.calibration.parameters import PROGRAM, STEPS, Value, overrides
from reprieve.registries import device
from reprieve.scenario import toml_value

_LINE = 100
_FITTED = "fitted, 95 %"
_OPEN = "not determined"
_OF_PROGRAM = ("timing.program_iterations", "timing.t_program_pulse_us", "timing.t_verify_us")


def device_text(
    name: str,
    start: str,
    values: Mapping[str, Value],
    intervals: Sequence[Interval],
    fixed: Mapping[str, Value],
    fitted_to: str,
) -> str:
    """Write the device file: the drive of `start` with the values that were fitted."""
    keys = overrides(expand(dict(values)))
    comments = comments_of(keys, intervals, fixed)
    sections: dict[str, dict[str, Any]] = {}
    drive = tomllib.loads(device(start))
    part = drive.pop("part", None)
    for section, content in drive.items():
        if isinstance(content, dict):
            sections[section] = dict(content)
    before = _planes(sections.get("geometry", {}))
    for key, value in keys.items():
        section, _, leaf = key.partition(".")
        sections.setdefault(section, {})[leaf] = "none" if value is None else value
    geometry = sections.get("geometry", {})
    if before and _planes(geometry) not in (None, before) and "blocks_per_plane" in geometry:
        # The capacity stays: no latency says anything of it.
        blocks = geometry["blocks_per_plane"] * before / (_planes(geometry) or before)
        geometry["blocks_per_plane"] = round(blocks)
        comments["geometry.blocks_per_plane"] = f"the capacity of {start}"
    lines = [
        f"# {name}: calibrated by `reprieve calibrate`, from the device {start}.",
        "#",
        *textwrap.wrap(f"# Fitted to {fitted_to}.", _LINE, subsequent_indent="# "),
        "# What has no interval is as in that device: the measurements do not bear on it.",
        "",
    ]
    if part is not None:
        lines += [f'part = "{part}"', ""]
    for section, content in sections.items():
        lines.append(f"[{section}]")
        for leaf, value in content.items():
            comment = comments.get(f"{section}.{leaf}", f"as {start}")
            lines += commented(leaf, value, comment)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def commented(leaf: str, value: object, comment: str) -> list[str]:
    """Write a key with a comment behind it, or before it where the line would be long."""
    line = f"{leaf} = {toml_value(value)}"
    whole = f"{line:31} # {comment}"
    return [whole] if len(whole) <= _LINE else [f"# {leaf}: {comment}", line]


def _planes(geometry: Mapping[str, Any]) -> int | None:
    """Return how many planes a drive has, if it is said."""
    keys = ("channels", "dies_per_channel", "planes_per_die")
    if not all(isinstance(geometry.get(key), int) for key in keys):
        return None
    return math.prod(int(geometry[key]) for key in keys)


def comments_of(
    keys: Mapping[str, object], intervals: Sequence[Interval], fixed: Mapping[str, Value]
) -> dict[str, str]:
    """Say of each key where its value comes from."""
    comments = dict.fromkeys(keys, "chosen: it fits better than the others that were tried")
    for each in intervals:
        range_ = f"{each.low:.4g} to {each.high:.4g}"
        said = f"{_FITTED if each.is_determined else _OPEN}: {range_}"
        if each.key in (PROGRAM, STEPS):
            continue
        bare = each.key.partition("[")[0]
        if bare != each.key:
            other = comments.get(bare, "")
            is_first = not other.startswith((_FITTED, _OPEN))
            comments[bare] = said if is_first else f"{other}; {range_}"
        else:
            comments[each.key] = said
    by_key = {each.key: each for each in intervals}
    if PROGRAM in by_key and STEPS in by_key:
        total, step = by_key[PROGRAM], by_key[STEPS]
        for key in _OF_PROGRAM:
            comments[key] = (
                f"a program of {total.low:.4g} to {total.high:.4g} us in {step.low:.0f} to "
                f"{step.high:.0f} steps"
            )
    comments["timing.t_read_us"] = "the mean of those by type"
    comments["timing.t_voltage_reset_us"] = "no latency tells it from the pulse"
    comments["timing.page_types"] = "as fitted"
    for key in fixed:
        comments[key] = "given with --fix"
    return comments
