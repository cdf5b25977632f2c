"""Read priority without suspension: two classes at a server that preempts nothing (Cobham)."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import classes_of, one_die, waits
from reprieve_studies.theory.formulas import cobham_waits
from reprieve_studies.theory.models import Drive

_SOURCE = "Cobham 1954: W₁ = W₀/(1−ρ₁), W₂ = W₁/(1−ρ₁−ρ₂)"


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return loads up to 0.8; 0.6 in a quick run."""
    if quick:
        return [_at(0.6, 2_000_000)]
    return [_at(0.3, 3_000_000), _at(0.6, 5_000_000), _at(0.8, 12_000_000)]


def _at(load: float, requests: int) -> Experiment:
    classes = classes_of(load)
    checks = [
        Check(
            f"wait of a {op} under read priority at a load of {load}",
            wait,
            "µs",
            f"{op} wait",
            _SOURCE,
            f"{op}s",
            load,
        )
        for op, wait in zip(("read", "write"), cobham_waits(*classes), strict=True)
    ]
    drive = Drive(one_die({"policy": "rps"}, *classes, requests), waits)
    return Experiment(f"RPS at {load}", drive, checks)


def curves() -> Mapping[str, Curve]:
    """Return the waits over the load."""
    loads = [step / 100 for step in range(5, 86)]
    both = [(load, cobham_waits(*classes_of(load))) for load in loads]
    return {
        "reads": [(load, waits[0]) for load, waits in both],
        "writes": [(load, waits[1]) for load, waits in both],
    }
