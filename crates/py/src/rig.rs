//! The rig from Python: CSV text in, CSV text out.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use reprieve_sim::rig as die_rig;
use reprieve_sim::scenario::{self, Sources};

use crate::raise;
use crate::simulation::window;

/// Drives one die with raw commands; returns their CSV with start, completion and suspensions.
#[pyfunction]
pub fn rig(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    commands: &str,
    commands_path: &str,
) -> PyResult<String> {
    py.detach(|| {
        let sources = Sources { text, path, sets: &sets };
        let scenario = scenario::load_rig_file(&sources, reprieve_sim::registries())?;
        let at = |error: reprieve_base::UserError| error.at(commands_path);
        let parsed = die_rig::parse(commands, &scenario).map_err(at)?;
        let results = die_rig::run(&scenario, &parsed).map_err(at)?;
        Ok(die_rig::to_csv(commands, &results))
    })
    .map_err(raise)
}

/// The same, and the CSV of every step of the die's power.
#[pyfunction]
pub fn rig_power(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    commands: &str,
    commands_path: &str,
) -> PyResult<(String, String)> {
    py.detach(|| {
        let sources = Sources { text, path, sets: &sets };
        let scenario = scenario::load_rig_file(&sources, reprieve_sim::registries())?;
        let at = |error: reprieve_base::UserError| error.at(commands_path);
        let parsed = die_rig::parse(commands, &scenario).map_err(at)?;
        let (results, steps) = die_rig::run_metered(&scenario, &parsed).map_err(at)?;
        Ok((die_rig::to_csv(commands, &results), die_rig::power_csv(&steps)))
    })
    .map_err(raise)
}

/// The same as `rig`, and the bytes of the die's timeline, with the phases of its operations.
#[pyfunction]
pub fn rig_timeline<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    commands: &str,
    commands_path: &str,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let (output, bytes) = py
        .detach(|| {
            let sources = Sources { text, path, sets: &sets };
            let scenario = scenario::load_rig_file(&sources, reprieve_sim::registries())?;
            let at = |error: reprieve_base::UserError| error.at(commands_path);
            let parsed = die_rig::parse(commands, &scenario).map_err(at)?;
            let drawn = window((0, None, true));
            let (results, bytes) = die_rig::run_drawn(&scenario, &parsed, drawn).map_err(at)?;
            Ok((die_rig::to_csv(commands, &results), bytes))
        })
        .map_err(raise)?;
    Ok((output, PyBytes::new(py, &bytes)))
}
