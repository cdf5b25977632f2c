//! Raw bit error rates of a part from Python: pure functions of a page's history.

use pyo3::prelude::*;
use reprieve_ssd::reliability::{Characterisation, Stress};

use crate::loaded_rig;

/// Raw bit error rate of each of `pages`: cycles, days, reads of the block, suspensions.
#[pyfunction]
pub fn rber(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    pages: Vec<(f64, f64, f64, f64)>,
) -> PyResult<Vec<f64>> {
    let scenario = loaded_rig(py, text, path, &sets)?;
    let rate = |(cycles, retention_days, reads, suspensions)| {
        scenario.reliability.rber.rate(&Stress { cycles, retention_days, reads, suspensions })
    };
    Ok(pages.into_iter().map(rate).collect())
}

/// Before and after a characterisation, for the block under test and an untouched one.
///
/// `test` is cycles before, cycles of the test, suspensions of each program, days of the test.
#[pyfunction]
pub fn characterised_rber(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    test: (f64, f64, f64, f64),
) -> PyResult<((f64, f64), (f64, f64))> {
    let scenario = loaded_rig(py, text, path, &sets)?;
    let (cycles, run_cycles, suspensions, elapsed_days) = test;
    let ageing = scenario.reliability.ageing;
    let wear_per_program_suspend = ageing.map_or(0.0, |ageing| ageing.suspend_wear.per_program);
    let test = Characterisation {
        cycles,
        run_cycles,
        suspensions,
        wear_per_program_suspend,
        elapsed_days,
    };
    let found = scenario.reliability.rber.characterised(&test);
    Ok((found.suspended, found.untouched))
}
