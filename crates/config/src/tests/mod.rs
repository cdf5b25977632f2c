//! Tests of the scenario: its layers, errors, presets, schema and printed form.

mod equilibrium;
mod erase_loops;
mod errors;
mod flows;
mod front;
mod layers;
mod loads;
mod mistakes;
mod parallel;
mod power_loss;
mod presets;
mod print;
mod quantities;
mod reliability;
mod schema;

use reprieve_base::Entry;

use super::{Registries, Scenario, Sources, devices, load};

const fn entry(name: &'static str) -> Entry {
    Entry { name, doc: "An entry of a test." }
}

const REGISTRIES: Registries = Registries {
    schedulers: &[
        entry("fifo"),
        entry("rps"),
        entry("rps-age"),
        entry("deadline"),
        entry("microcode"),
        entry("per"),
        entry("pe0"),
    ],
    dispatchers: &[
        entry("none"),
        entry("fcfs"),
        entry("mbm"),
        entry("paq"),
        entry("slacker"),
        entry("sprinkler"),
        entry("vas"),
    ],
    suspend_policies: &[entry("always"), entry("threshold")],
    placements: &[
        entry("cwdp"),
        entry("aligned"),
        entry("wordline"),
        entry("dynamic"),
        entry("least-loaded"),
    ],
    gc_victims: &[entry("greedy"), entry("random"), entry("d-choices")],
    arbitrations: &[
        entry("round-robin"),
        entry("weighted"),
        entry("weighted-classes"),
        entry("strict-priority"),
        entry("arrival-order"),
    ],
    streams: &[entry("single"), entry("hot-cold"), entry("placement")],
    trace_formats: &[entry("spc"), entry("msr")],
    generators: &[entry("mixed"), entry("kv-cache")],
    misfit: |_| None,
};

/// A scenario that is complete; tests append keys of `[workload]` or further sections.
const BASE: &str = "\
device = \"fast12-mlc\"
[workload]
generator = \"mixed\"
requests = 1000
read_fraction = 0.7
queue_depth = 4
";

/// The built-in drives as an error lists them.
fn device_names() -> String {
    devices().iter().map(|device| device.name).collect::<Vec<_>>().join(", ")
}

fn load_text(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| set.to_string()).collect();
    let sources = Sources { text, path: "s.toml", sets: &sets };
    load(&sources, &REGISTRIES).map_err(|error| error.to_string())
}

fn good(text: &str, sets: &[&str]) -> Scenario {
    load_text(text, sets).unwrap_or_else(|error| panic!("{error}"))
}

fn bad(text: &str, sets: &[&str]) -> String {
    load_text(text, sets).expect_err("the scenario has a mistake")
}
