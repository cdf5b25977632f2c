"""The loads: two sets of counterparts of the paper's six traces, or the genuine ones."""

import tomllib
from collections.abc import Mapping

import reprieve as rp
from reprieve_studies import loads
from reprieve_studies.fast12.paper import TRACES
from reprieve_studies.loads import Load, Recording

STEMS = {
    "F1": "fin1",
    "F2": "fin2",
    "DAP": "dap",
    "MSN": "msn",
    "C3": "cello3",
    "C8": "cello8",
}
"""What the built-in loads of each trace of the paper begin with."""

CHARACTERISED, CALIBRATED, COUPLED = "characterised", "calibrated", "coupled"
SETS = {CHARACTERISED: "flows", CALIBRATED: "calibrated", COUPLED: "coupled"}
"""The sets, which are never mixed, and what their built-in loads end with.

Characterised loads are made from published characteristics only. Calibrated ones have two
parameters each that were fitted to the SLC latencies under FIFO of Table 2, in the form that comes
nearer to them (`calibrate`). Coupled ones are fitted likewise, all in one form: a share of the
reads comes in the trains of the writes.
"""


def papers(genuine: Mapping[str, Recording], of: str = CALIBRATED) -> list[Load]:
    """Return the six loads of the paper, as `reprieve_studies.loads.papers` does."""
    return loads.papers(genuine, TRACES, lambda name, seed: _counterpart(name, seed, of))


def _counterpart(name: str, seed: int, of: str) -> Load:
    preset = f"{STEMS[name]}-{SETS[of]}"
    flows = tomllib.loads(rp.load(preset))["flow"]
    counts = {flow: keys["requests"] for flow, keys in flows.items()}
    return Load(name, preset, False, {}, preset, seed, counts)
