"""`reprieve power-loss`: the power fails at many instants, under each policy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve.cli.console import progress, say, show, table
from reprieve.cli.options import AllowPython, Force, ScenarioFile, Sets, out_dir
from reprieve.extras import has_plots, missing
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write
from reprieve.power_failure import cut_into
from reprieve.scenario import Source


def power_loss(
    scenario: ScenarioFile,
    sets: Sets = None,
    cuts: Annotated[
        int, typer.Option(min=1, metavar="N", help="Instants at which the power fails.")
    ] = 100,
    out: Annotated[Path | None, out_dir("out/SCENARIO-power-loss")] = None,
    allow_python: AllowPython = False,
    force: Force = False,
) -> None:
    """Let the power fail at N instants of a run and compare what each policy takes.

    An erase or program that delays the flush is waited for, suspended, or reset.
    """
    directory = Path("out", f"{scenario.stem}-power-loss") if out is None else out
    source = Source.read(scenario, sets or ())
    trust(is_trusted=allow_python)
    may_write([], directory, inputs=inputs_of(source), force=force)
    with progress() as bars:
        result, paths = cut_into(
            source, cuts, directory, lambda share, done: bars(scenario.stem, share, done)
        )
    summary = result.summary()
    _show(summary)
    if not has_plots():
        say(missing("power_loss.svg", "altair", "plots"))
    say("wrote " + ", ".join(str(path) for path in paths))


def _show(summary: dict[str, Any]) -> None:
    columns = ["policy", *(f"safe after, µs, {figure}" for figure in ("mean", "p99", "max"))]
    columns += ["energy, µJ, mean", "energy, µJ, max", "capacitance, µF"]
    columns += ["dirty pages", "lost pages", "recovery, ms"]
    rows = table(f"Losses of power at {summary['cuts']:,} instants", columns)
    for policy, told in summary["policies"].items():
        time_ns, energy_uj = told["time_to_safety_ns"], told["energy_uj"]
        capacitance_uf = told["capacitance_uf"]
        rows.add_row(
            policy,
            *(f"{time_ns[key] / 1000:,.1f}" for key in ("mean", "p99", "max")),
            *(f"{energy_uj[key]:,.1f}" for key in ("mean", "max")),
            "–" if capacitance_uf is None else f"{capacitance_uf['max']:,.2f}",
            f"{told['dirty_pages']:,}",
            f"{told['lost_pages']:,}",
            f"{told['recovery_ns']['mean'] / 1e6:,.3f}",
        )
    show(rows)
    wait = summary["policies"]["wait"]["energy_uj"]["max"]
    for policy in ("suspend_erase", "suspend"):
        told = summary["policies"].get(policy)
        if told is not None and wait > 0:
            share = 1 - told["energy_uj"]["max"] / wait
            word = "less" if share >= 0 else "more"
            say(
                f"the worst instant takes {100 * abs(share):.1f} % {word} energy with {policy} "
                "than with wait"
            )
