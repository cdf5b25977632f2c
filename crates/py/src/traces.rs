//! Traces from Python: profile, first rows, conversion.

use std::path::Path;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use reprieve_base::{Op, Request, SECTOR_BYTES, UserError};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_trace::{Load, Merged, Reading};

use crate::{loaded, raise};

type Row = (u64, u32, &'static str, u64, u64);

/// The reader of a trace: a format, and options as `KEY=VALUE`.
fn reading(format: &str, options: &[String]) -> Result<Reading, UserError> {
    let mut reading = Reading::from(format);
    options.iter().try_for_each(|option| reading.options.set(option))?;
    Ok(reading)
}

/// Profiles a trace, as JSON.
#[pyfunction]
pub fn trace_info(
    py: Python<'_>,
    path: &str,
    format: &str,
    options: Vec<String>,
) -> PyResult<String> {
    let profile = || reprieve_trace::profile(Path::new(path), reading(format, &options)?);
    Ok(py.detach(profile).map_err(raise)?.to_json())
}

/// The devices of a trace, as JSON.
#[pyfunction]
pub fn trace_devices(
    py: Python<'_>,
    path: &str,
    format: &str,
    options: Vec<String>,
) -> PyResult<String> {
    let devices = || reprieve_trace::devices(Path::new(path), reading(format, &options)?);
    Ok(py.detach(devices).map_err(raise)?.to_json())
}

/// Profiles the workload of a scenario, as its drive sees it, as JSON.
#[pyfunction]
pub fn workload_info(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    requests_max: Option<u64>,
) -> PyResult<String> {
    let scenario = loaded(py, &Sources { text, path, sets: &sets }, scenario::load)?;
    let (loads, most) = (loads(&scenario), requests_max.unwrap_or(u64::MAX));
    let profile = py.detach(|| reprieve_trace::profile_loads(&loads, most));
    profile.map_err(raise).map(|profile| profile.to_json())
}

/// The first requests of the workload of a scenario: time_ns, device 0, op, offset_bytes, bytes.
#[pyfunction]
pub fn workload_head(
    py: Python<'_>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    rows: usize,
) -> PyResult<Vec<Row>> {
    let scenario = loaded(py, &Sources { text, path, sets: &sets }, scenario::load)?;
    let head = || {
        let mut merged = Merged::open(&loads(&scenario))?;
        let mut found = Vec::new();
        while found.len() < rows {
            let Some(Request { arrival, op, lba, bytes, .. }) = merged.next_request()? else {
                break;
            };
            found.push((arrival.ns(), 0, op.name(), lba * SECTOR_BYTES, bytes.into()));
        }
        Ok(found)
    };
    py.detach(head).map_err(raise)
}

/// Arrivals of the reads and writes among the first requests of a scenario's workload; an array
/// takes a small part of the time that rows take.
#[pyfunction]
pub fn workload_times<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    sets: Vec<String>,
    rows: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let scenario = loaded(py, &Sources { text, path, sets: &sets }, scenario::load)?;
    let times = || {
        let mut merged = Merged::open(&loads(&scenario))?;
        let mut found = Vec::new();
        for _ in 0..rows {
            let Some(request) = merged.next_request()? else { break };
            if matches!(request.op, Op::Read | Op::Write) && request.bytes > 0 {
                found.push(request.arrival.ns());
            }
        }
        Ok(found)
    };
    py.detach(times).map_err(raise).map(|found| found.into_pyarray(py))
}

/// The loads of a scenario.
fn loads(scenario: &Scenario) -> Vec<Load<'_>> {
    let (seed, bytes) = (scenario.seed, 0..scenario.capacity_bytes());
    let one = scenario.workload.iter().map(|config| Load { config, seed, bytes: bytes.clone() });
    let flows = scenario.flows.iter().map(|flow| Load {
        config: &flow.workload,
        seed: flow.seed(seed, 0),
        bytes: scenario.bytes_of(flow),
    });
    one.chain(flows).collect()
}

/// The first rows: time_ns, device, op, offset_bytes, bytes.
#[pyfunction]
pub fn trace_head(
    py: Python<'_>,
    path: &str,
    format: &str,
    options: Vec<String>,
    rows: usize,
) -> PyResult<Vec<Row>> {
    let head = || reprieve_trace::head(Path::new(path), reading(format, &options)?, rows);
    let found = py.detach(head).map_err(raise)?;
    Ok(found
        .iter()
        .map(|row| (row.time_ns, row.device, row.op.name(), row.offset_bytes, row.bytes.into()))
        .collect())
}

/// Writes a trace in another format; returns the counts as JSON.
#[pyfunction]
pub fn trace_convert(
    py: Python<'_>,
    path: &str,
    format: &str,
    options: Vec<String>,
    output: &str,
    to: &str,
) -> PyResult<String> {
    let convert = || {
        let reading = reading(format, &options)?;
        reprieve_trace::convert(Path::new(path), reading, Path::new(output), to)
    };
    Ok(py.detach(convert).map_err(raise)?.to_json())
}

/// Reads options of a fio job, names and values in order, by the table of job files, into JSON.
#[pyfunction]
pub fn fio_options(settings: Vec<(String, String)>) -> PyResult<String> {
    reprieve_trace::fio_options(&settings).map(|found| found.to_string()).map_err(raise)
}
