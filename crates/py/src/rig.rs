//! The rig from Python: CSV text in, CSV text out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use reprieve_base::UserError;
use reprieve_ssd::rig as die_rig;
use reprieve_ssd::scenario::{self, Sources};

use crate::policy::{self, Given};
use crate::raise;
use crate::simulation::window;

/// Outcomes of commands, and power over time, both as CSV; the bytes of the timeline.
type Outcome<'py> = (String, String, Bound<'py, PyBytes>);

/// Drives one die with raw commands.
///
/// `source`: the scenario's text, its path, and overrides. `commands`: CSV text and its path.
/// `kept`: whether to keep every step of power, and a timeline with the phases of operations.
/// `own`: the user's policies, as for a run.
#[pyfunction]
#[pyo3(signature = (source, commands, kept=(false, false), own=None))]
pub fn rig<'py>(
    py: Python<'py>,
    source: (String, String, Vec<String>),
    commands: (String, String),
    kept: (bool, bool),
    own: Option<Given>,
) -> PyResult<Outcome<'py>> {
    let (text, path, sets) = &source;
    let (commands, commands_path) = &commands;
    let (power, timeline) = kept;
    let run = AssertUnwindSafe(|| {
        drive(&Sources { text, path, sets }, commands, commands_path, power, timeline, own)
    });
    // A Python policy ends the run by unwinding; its state is not used after that.
    let outcome = py.detach(|| catch_unwind(run)).map_err(policy::ended_by)?;
    let (results, power, timeline) = outcome.map_err(raise)?;
    Ok((results, power, PyBytes::new(py, &timeline)))
}

fn drive(
    sources: &Sources,
    commands: &str,
    commands_path: &str,
    power: bool,
    timeline: bool,
    own: Option<Given>,
) -> Result<(String, String, Vec<u8>), UserError> {
    let scenario = scenario::load_rig_file(sources, reprieve_ssd::registries())?;
    let at = |error: UserError| error.at(commands_path);
    let parsed = die_rig::parse(commands, &scenario).map_err(at)?;
    let asked = die_rig::Asked {
        policies: own.map(|own| own.policies(&scenario)),
        power,
        timeline: timeline.then(|| window((0, None, true))),
        observer: None,
    };
    let outcome = die_rig::run_with(&scenario, &parsed, asked).map_err(at)?;
    let results = die_rig::to_csv(commands, &outcome.results);
    Ok((results, die_rig::power_csv(&outcome.power), outcome.timeline))
}
