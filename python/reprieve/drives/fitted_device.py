"""The file of a device with values that were fitted in place of those that it had."""

from collections.abc import Mapping, Sequence

from reprieve._native import UserError
from reprieve.calibration.drive_file import commented, comments_of
from reprieve.calibration.identify import Interval
from reprieve.calibration.parameters import Value, overrides


def fitted_text(
    text: str, head: str, values: Mapping[str, Value], known: Sequence[Interval]
) -> str:
    """Return the text of a device with other values, and what is known of them behind each.

    `head`: its first line. Everything else stays as it is, comments too. Raises UserError if a
    key that was fitted has no line in the text.
    """
    keys = overrides(dict(values))
    comments = comments_of(keys, known, {})
    lines, section = [head], ""
    for line in text.splitlines()[1:]:
        if line.startswith("["):
            section = line[1:].partition("]")[0]
        leaf = line.partition(" = ")[0]
        key = f"{section}.{leaf}"
        if key not in keys:
            lines.append(line)
            continue
        value = keys.pop(key)
        lines += commented(leaf, "none" if value is None else value, comments[key])
    if keys:
        raise UserError(f"drives: {next(iter(keys))} was fitted; must have a line in the device")
    return "\n".join(line for line in lines if not _is_old(line, comments)) + "\n"


def _is_old(line: str, comments: Mapping[str, str]) -> bool:
    """Return whether a line is the comment of an earlier fit, for which there is a new one."""
    leaves = {key.rpartition(".")[2]: text for key, text in comments.items()}
    name, colon, said = line.removeprefix("# ").partition(": ")
    return line.startswith("# ") and bool(colon) and name in leaves and said != leaves[name]
