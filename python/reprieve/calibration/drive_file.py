"""The device file of a calibrated drive: each fitted value with its interval and its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from reprieve.calibration.evaluate import expand
from reprieve.calibration.identify import Interval
from reprieve.calibration.parameters import PROGRAM, STEPS, Value, overrides
from reprieve.registries import device

_OF_PROGRAM = (
    "timing.program_iterations",
    "timing.t_program_pulse_us",
    "timing.t_verify_us",
)


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
    comments = _comments(keys, intervals, fixed)
    sections: dict[str, dict[str, Any]] = {}
    drive = tomllib.loads(device(start))
    part = drive.pop("part", None)
    for section, content in drive.items():
        if isinstance(content, dict):
            sections[section] = dict(content)
    for key, value in keys.items():
        section, _, leaf = key.partition(".")
        sections.setdefault(section, {})[leaf] = "none" if value is None else value
    lines = [
        f"# {name}: calibrated by `reprieve calibrate`, from the device {start}.",
        "#",
        f"# Fitted to {fitted_to}.",
        "# What has no interval is as in that device: the measurements do not bear on it.",
        "",
    ]
    if part is not None:
        lines += [f'part = "{part}"', ""]
    for section, content in sections.items():
        lines.append(f"[{section}]")
        for leaf, value in content.items():
            comment = comments.get(f"{section}.{leaf}", f"as {start}")
            lines.append(f"{f'{leaf} = {_toml(value)}':31} # {comment}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _comments(
    keys: Mapping[str, object], intervals: Sequence[Interval], fixed: Mapping[str, Value]
) -> dict[str, str]:
    comments = dict.fromkeys(keys, "chosen: it fits better than the others that were tried")
    for each in intervals:
        said = f"fitted: {each.low:.4g} to {each.high:.4g}, 95 %"
        if not each.is_determined:
            said = f"not determined by the measurements: {each.low:.4g} to {each.high:.4g}"
        if each.key in (PROGRAM, STEPS):
            continue
        bare = each.key.partition("[")[0]
        if bare != each.key:
            other = comments.get(bare, "")
            comments[bare] = f"{other}; {said[8:]}" if other.startswith("fitted") else said
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


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)
