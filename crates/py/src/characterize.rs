//! The characterisation of a part from Python: a scenario in, columns of every run out.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reprieve_ssd::characterize::{self as bench, Run, Variety};

use crate::{loaded_rig, need_numpy, raise};

/// Suspends programs of `wordlines` wordlines repeatedly; returns every run by column.
#[pyfunction]
pub fn characterize<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    wordlines: u32,
    variety: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = loaded_rig(py, text, path, &sets)?;
    let (length_share, start_share) = variety;
    let variety = Variety { length_share, start_share };
    let runs = py.detach(|| bench::run(&scenario, wordlines, &variety)).map_err(raise)?;
    need_numpy(py)?;
    let columns = PyDict::new(py);
    let add = |name: &str, value: fn(&Run) -> u64| {
        let column: Vec<i64> = runs.iter().map(|run| value(run) as i64).collect();
        columns.set_item(name, column.into_pyarray(py))
    };
    add("delay1_tenths", |run| run.delay1_tenths.into())?;
    add("delay2_tenths", |run| run.delay2_tenths.into())?;
    add("delay1_ns", |run| run.delays[0].ns())?;
    add("delay2_ns", |run| run.delays[1].ns())?;
    add("is_drawn", |run| run.is_drawn.into())?;
    add("wordline", |run| run.wordline.into())?;
    add("page_type", |run| run.page_type.into())?;
    add("suspensions", |run| run.suspensions.into())?;
    add("t_eps_total_ns", |run| run.eps_total.ns())?;
    add("t_eps_worst_ns", |run| run.eps_worst.ns())?;
    add("t_program_suspended_ns", |run| run.suspended.ns())?;
    add("t_timers_ns", |run| run.timers.ns())?;
    add("t_program_ns", |run| run.undisturbed.ns())?;
    Ok(columns)
}
