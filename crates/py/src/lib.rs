//! The Python interface: thin wrappers that convert errors and release the GIL.

mod characterize;
mod drive;
mod drive_array;
mod kv_cache;
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

use reprieve_ssd::scenario::{self, Registries, Scenario, Sources};

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

/// Loads a scenario by `load`, with the GIL released: a file that it names may be a FIFO, and
/// signals must be handled meanwhile.
fn loaded(
    py: Python<'_>,
    sources: &Sources<'_>,
    load: fn(&Sources<'_>, &Registries) -> Result<Scenario, reprieve_base::UserError>,
) -> PyResult<Scenario> {
    py.detach(|| load(sources, reprieve_ssd::registries())).map_err(raise)
}

/// Loads the scenario of a drive that may have no load.
fn loaded_rig(py: Python<'_>, text: &str, path: &str, sets: &[String]) -> PyResult<Scenario> {
    loaded(py, &Sources { text, path, sets }, scenario::load_rig_file)
}

/// The resolved scenario as canonical TOML.
#[pyfunction]
fn resolve(py: Python<'_>, text: &str, path: &str, sets: Vec<String>) -> PyResult<String> {
    loaded(py, &Sources { text, path, sets: &sets }, scenario::load).map(|it| scenario::print(&it))
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
    loaded_rig(py, text, path, &sets).map(|scenario| scenario::print(&scenario))
}

/// The capacity of the drive of a scenario that may have no load, in bytes.
#[pyfunction]
fn capacity_bytes(py: Python<'_>, text: &str, path: &str, sets: Vec<String>) -> PyResult<u64> {
    loaded_rig(py, text, path, &sets).map(|scenario| scenario.capacity_bytes())
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
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        UserError,
        characterize::characterize,
        drive::{Completion, Drive},
        drive_array::DriveArray,
        kv_cache::{KvTier, kv_plan},
        parquet::{ParquetReader, ParquetWriter},
        registry::{preset, registry},
        reliability::{characterised_rber, rber},
        request_log::empty_log,
        rig::rig,
        server::Server,
        simulation::Simulation,
        table::Table,
        traces::{
            fio_options, trace_convert, trace_devices, trace_head, trace_info, workload_head,
            workload_info, workload_times,
        },
        views::{BusyDie, Choice, Decision, FreeDie, Operation, OperationView, Waiter},
        {capacity_bytes, json_schema, reference, resolve, resolve_rig, schema},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        std::panic::set_hook(Box::new(super::say_where));
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
