//! Options of completed fio jobs, for the Python reader of fio's results.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reprieve_trace::{JobOps, JobRate};

use crate::raise;

const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// Options of a job, names and values in order, by the table of job files; one key each.
#[pyfunction]
pub fn fio_options<'py>(
    py: Python<'py>,
    settings: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyDict>> {
    let read = reprieve_trace::fio_options(&settings).map_err(raise)?;
    let (kinds, read_share): (&[usize], _) = match read.ops {
        JobOps::Read => (&[0], None),
        JobOps::Write => (&[1], None),
        JobOps::Trim => (&[2], None),
        JobOps::Mixed { read_percent } => (&[0, 1], Some(f64::from(read_percent) / 100.0)),
        JobOps::TrimWrite => (&[1, 2], None),
    };
    let (sizes, bytes_per_s, iops) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for kind in kinds {
        let direction = DIRECTIONS[*kind];
        sizes.set_item(direction, read.sizes[*kind].clone())?;
        match read.rates[*kind] {
            Some(JobRate::BytesPerS(rate)) => bytes_per_s.set_item(direction, rate)?,
            Some(JobRate::Iops(rate)) => iops.set_item(direction, rate)?,
            None => {}
        }
    }
    let found = PyDict::new(py);
    found.set_item("sizes", sizes)?;
    found.set_item("bytes_per_s", bytes_per_s)?;
    found.set_item("iops", iops)?;
    found.set_item("read_share", read_share)?;
    found.set_item("is_plain", read.is_plain)?;
    found.set_item("queue_depth", read.queue_depth)?;
    found.set_item("is_synchronous", read.is_synchronous)?;
    found.set_item("clones", read.clones)?;
    found.set_item("think_s", seconds(read.think))?;
    found.set_item("delay_s", seconds(read.delay))?;
    found.set_item("ramp_s", seconds(read.ramp))?;
    found.set_item("runtime_s", read.runtime.map(seconds))?;
    found.set_item("is_time_based", read.is_time_based)?;
    found.set_item("waits", read.waits)?;
    found.set_item("offset_bytes", read.offset_bytes)?;
    found.set_item("step_bytes", read.step_bytes)?;
    found.set_item("size_bytes", read.size_bytes)?;
    found.set_item("of_zones", read.of_zones)?;
    Ok(found)
}

fn seconds(time: reprieve_base::Dur) -> f64 {
    time.ns() as f64 / 1e9
}
