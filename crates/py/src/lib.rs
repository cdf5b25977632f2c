//! The Python interface: thin wrappers that convert errors and release the GIL.

mod characterize;
mod drive;
mod fio;
mod parquet;
mod policy;
mod registry;
mod reliability;
mod request_log;
mod rig;
mod server;
mod simulation;
mod table;
mod time_series;
mod traces;
mod views;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use reprieve_ssd::scenario::{self, Sources};

create_exception!(
    _native,
    UserError,
    PyValueError,
    "A user's mistake: one sentence that names the place, the value and what would be right.

>>> try:
...     rp.device(\"nowhere\")
... except rp.UserError as error:
...     print(error)
there is no device \"nowhere\", only fast12-slc, fast12-mlc, ..."
);

/// Turns a user's mistake into the Python exception.
fn raise(error: reprieve_base::UserError) -> PyErr {
    UserError::new_err(error.to_string())
}

/// The resolved scenario as canonical TOML.
#[pyfunction]
fn resolve(py: Python<'_>, text: &str, path: &str, sets: Vec<String>) -> PyResult<String> {
    let sources = Sources { text, path, sets: &sets };
    // A file that it names may be a FIFO; signals must be handled meanwhile.
    let load = || scenario::load(&sources, reprieve_ssd::registries());
    let scenario = py.detach(load).map_err(raise)?;
    Ok(scenario::print(&scenario))
}

/// The scenario reference as Markdown.
#[pyfunction]
fn reference() -> String {
    scenario::reference_markdown(reprieve_ssd::registries())
}

/// The schema of the scenario file as JSON.
#[pyfunction]
fn schema() -> String {
    scenario::schema_json(reprieve_ssd::registries())
}

/// JSON Schema of scenario files.
#[pyfunction]
fn json_schema() -> String {
    scenario::json_schema(reprieve_ssd::registries())
}

/// The drive of a scenario that may have no load, as canonical TOML.
#[pyfunction]
fn resolve_rig(py: Python<'_>, text: &str, path: &str, sets: Vec<String>) -> PyResult<String> {
    let sources = Sources { text, path, sets: &sets };
    let load = || scenario::load_rig_file(&sources, reprieve_ssd::registries());
    let scenario = py.detach(load).map_err(raise)?;
    Ok(scenario::print(&scenario))
}

/// The capacity of the drive of a scenario that may have no load, in bytes.
#[pyfunction]
fn capacity_bytes(py: Python<'_>, text: &str, path: &str, sets: Vec<String>) -> PyResult<u64> {
    let sources = Sources { text, path, sets: &sets };
    let load = || scenario::load_rig_file(&sources, reprieve_ssd::registries());
    let scenario = py.detach(load).map_err(raise)?;
    Ok(scenario.capacity_bytes())
}

/// Imports numpy, which takes a tenth of a second, and which the first array would do implicitly:
/// an interrupt is an error here, and a panic there.
fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop)
}

/// Prints the place of a fault; the Python side prints the fault and how to repeat it.
fn say_where(fault: &std::panic::PanicHookInfo<'_>) {
    if let Some(place) = fault.location() {
        eprintln!("reprieve: internal fault at {}:{}", place.file(), place.line());
    }
}

/// The native module of the package `reprieve`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    std::panic::set_hook(Box::new(say_where));
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("UserError", module.py().get_type::<UserError>())?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<parquet::ParquetReader>()?;
    module.add_class::<parquet::ParquetWriter>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<drive::Drive>()?;
    module.add_class::<drive::Completion>()?;
    module.add_class::<views::Decision>()?;
    module.add_class::<views::Choice>()?;
    module.add_class::<views::OperationView>()?;
    module.add_class::<views::Waiter>()?;
    module.add_class::<views::Operation>()?;
    module.add_class::<views::FreeDie>()?;
    module.add_class::<views::BusyDie>()?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(resolve_rig, module)?)?;
    module.add_function(wrap_pyfunction!(capacity_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(reference, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(request_log::empty_log, module)?)?;
    module.add_function(wrap_pyfunction!(rig::rig, module)?)?;
    module.add_function(wrap_pyfunction!(characterize::characterize, module)?)?;
    module.add_function(wrap_pyfunction!(reliability::rber, module)?)?;
    module.add_function(wrap_pyfunction!(reliability::characterised_rber, module)?)?;
    module.add_function(wrap_pyfunction!(fio::fio_options, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_devices, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_head, module)?)?;
    module.add_function(wrap_pyfunction!(traces::workload_info, module)?)?;
    module.add_function(wrap_pyfunction!(traces::workload_head, module)?)?;
    module.add_function(wrap_pyfunction!(traces::workload_times, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_convert, module)?)?;
    module.add_function(wrap_pyfunction!(registry::registry, module)?)?;
    module.add_function(wrap_pyfunction!(registry::preset, module)?)?;
    Ok(())
}
