//! Options of completed fio jobs, for the Python reader of fio's results.

use pyo3::prelude::*;

use crate::raise;

/// Reads options of a job, names and values in order, by the table of job files, into JSON.
#[pyfunction]
pub fn fio_options(settings: Vec<(String, String)>) -> PyResult<String> {
    reprieve_trace::fio_options(&settings).map(|found| found.to_string()).map_err(raise)
}
