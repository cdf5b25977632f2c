"""The commands of the program, in groups by their use, with an example of each."""

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Run and compare": {
        "init": ("init:init", ""),
        "run": ("run:run", "scenario.toml --requests --report"),
        "compare": ("compare:compare", "scenario.toml --axis suspension.program=none,ips,ipc"),
        "array": ("raid:array", "scenario.toml --drives 6 --parity 2 --read around-writes"),
        "power-loss": ("power_loss:power_loss", "examples/power-loss.toml --cuts 100"),
    },
    "Sweep and search": {
        "sweep": ("sweep:sweep", "sweep.toml"),
        "query": ("sweep:query", '"SELECT point, read_latency_ns_p99 FROM points" out/sweep'),
        "which": ("which:which", "policy scenario.toml --tail 400us"),
        "what-if": ("what_if:what_if", "scenario.toml --by 10%"),
        "tune": ("tune:tune", "scenario.toml --vary suspension.max_per_program=1..9 --max iops"),
    },
    "Look at results": {
        "explain": ("explain:explain", "out/scenario --slowest 3"),
        "ui": ("ui:ui", ""),
    },
    "Traces": {
        "trace": ("trace:trace", "head trace.csv"),
        "trace info": ("", "--load fin1-flows"),
        "trace fit": ("", "trace.csv --out load.toml"),
        "trace head": ("", "trace.csv -n 5"),
        "trace convert": ("", "trace.csv small.csv.gz --to msr"),
    },
    "Devices and parts": {
        "devices": ("builtin:devices", "fast12-mlc"),
        "parts": ("builtin:parts", "mlc-fast12"),
        "loads": ("builtin:loads", "fin1-flows"),
        "policies": ("builtin:policies", "deadline"),
        "schema": ("builtin:schema", ""),
        "rig": ("rig:rig", "--device fast12-mlc --commands commands.csv --out results.csv"),
        "drives": ("drives:drives", "zns-a"),
        "calibrate": ("calibrate:calibrate", "--plan my-drive"),
    },
    "Serve and embed": {
        "serve": ("serve:serve", "scenario.toml --socket ssd.sock"),
        "ctl": ("serve:ctl", "ssd.sock set suspension.max_per_program 4"),
    },
    "Studies": {
        "reproduce": ("reproduce:reproduce", "fast12 --quick"),
        "validate": ("validate:validate", "--quick"),
        "characterize": ("characterize:characterize", "tlc3d-zambelli --wordlines 5"),
        "database": ("database:database", "sqlite --seconds 10"),
    },
}
"""Module and name of each command, and the arguments of an example with the files of `init`."""
