"""`reprieve rig`: raw commands on one die."""

from pathlib import Path
from typing import Annotated

from reprieve._native import UserError
from reprieve.cli.console import say
from reprieve.cli.options import AllowPython, Force, Sets, given
from reprieve.die_rig import rig_source, run_commands
from reprieve.named_policies import trust
from reprieve.outputs import ResultDirectory, replace_file
from reprieve.overwriting import inputs_of, may_write, named_by
from reprieve.timeline import timeline_file


def rig(
    device: Annotated[str, given("A device preset, or a path.", "DEVICE")],
    commands: Annotated[
        Path,
        given("Header arrival_ns,op,plane,block,page; op is read, program or erase.", "FILE.csv"),
    ],
    out: Annotated[
        Path, given("The same rows, then start_ns,completion_ns,suspensions.", "FILE.csv")
    ],
    power: Annotated[
        Path | None,
        given(
            "Every step of power: time_ns,power_core_mw,power_io_mw; accounts for power.",
            "FILE.csv",
        ),
    ] = None,
    timeline: Annotated[
        Path | None, given("Timeline of the die, phases included, for the Perfetto UI.")
    ] = None,
    sets: Sets = None,
    allow_python: AllowPython = False,
    force: Force = False,
) -> None:
    """Drive one die on its own channel with raw commands: no FTL, no cache, no host link."""
    account = [] if power is None else ["power.account=on"]
    source = rig_source(device, [*(sets or ()), *account])
    read = [commands, *named_by(Path(device)), *inputs_of(source)]
    trust(is_trusted=allow_python)
    may_write([out, power, timeline], inputs=read, force=force)
    try:
        text = commands.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"{commands}: cannot read the commands: {reason}") from None
    if power is not None and timeline is not None:
        raise UserError("--power and --timeline do not go together; run the commands for each")
    output, steps, drawn = run_commands(
        source, text, str(commands), power=power is not None, timeline=timeline is not None
    )
    with ResultDirectory(Path()) as results:
        if timeline is not None:
            with timeline_file(timeline, results) as file:
                file.write(drawn)
        if power is not None:
            replace_file(power, steps, results)
        replace_file(out, output, results)
        results.commit()
    say(f"wrote {out}, {output.count(chr(10)) - 1:,} commands")
    if timeline is not None:
        say(f"wrote {timeline}")
    if power is not None:
        say(f"wrote {power}, {steps.count(chr(10)) - 1:,} steps of power")
