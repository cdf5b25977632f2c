//! An array of drives for the class `Array` of Python.

use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use reprieve_array as array;
use reprieve_array::{Options, Reads, Request, Row};
use reprieve_base::{Dur, Time, UserError};

use crate::raise;
use crate::table::Table;

/// The keyword arguments of `Array`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Choices {
    drives: usize,
    parity: usize,
    mirrors: usize,
    chunk_bytes: u64,
    read: String,
    hedge_after_us: Option<f64>,
    controller_ns: u64,
    failed: Vec<usize>,
    threads: Option<usize>,
}

impl Choices {
    fn options(self) -> Result<Options, UserError> {
        let reads = match (self.read.as_str(), self.hedge_after_us) {
            ("direct", None) => Reads::Direct,
            ("around-writes", None) => Reads::AroundWrites,
            ("hedged", Some(us)) if (0.001..=1e12).contains(&us) => {
                Reads::Hedged(Dur::from_ns((us * 1e3).round() as u64))
            }
            ("hedged", Some(us)) => {
                let what = format!("hedge_after_us = {us}: must be from 0.001 to 1e12");
                return Err(UserError::new(what));
            }
            ("hedged", None) => {
                return Err(UserError::new("read = \"hedged\": needs hedge_after_us"));
            }
            ("direct" | "around-writes", Some(us)) => {
                let what = format!("hedge_after_us = {us}: only read = \"hedged\" has it");
                return Err(UserError::new(what));
            }
            (other, _) => {
                return Err(UserError::new(format!(
                    "read = {other:?}: must be one of \"direct\", \"around-writes\", \"hedged\""
                )));
            }
        };
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        Ok(Options {
            drives: self.drives,
            parity: self.parity,
            mirrors: self.mirrors,
            chunk_bytes: self.chunk_bytes,
            failed: self.failed,
            reads,
            controller: Dur::from_ns(self.controller_ns),
            threads: self.threads.unwrap_or_else(cores),
        })
    }
}

/// Drives behind one address space. Its methods may be called from any thread, one at a time.
#[pyclass(module = "reprieve._native", frozen)]
pub struct DriveArray {
    inner: Mutex<array::Array>,
}

#[pymethods]
impl DriveArray {
    #[new]
    fn new(
        py: Python<'_>,
        text: &str,
        path: &str,
        sets: Vec<String>,
        choices: Choices,
    ) -> PyResult<DriveArray> {
        let open = || array::Array::open(text, path, &sets, &choices.options()?);
        let inner = Mutex::new(py.detach(open).map_err(raise)?);
        Ok(DriveArray { inner })
    }

    /// The capacity for data.
    #[getter]
    fn capacity_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |array| Ok(array.capacity_bytes()))
    }

    /// The first instant at which a request may arrive.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |array| Ok(array.now().ns()))
    }

    /// Submits requests, one a row of the columns, which have one length.
    fn submit(
        &self,
        py: Python<'_>,
        arrival_ns: PyReadonlyArray1<'_, u64>,
        write: PyReadonlyArray1<'_, bool>,
        offset: PyReadonlyArray1<'_, u64>,
        bytes: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let [arrival_ns, offset, bytes] =
            [arrival_ns, offset, bytes].map(|column| column.as_array().to_vec());
        let write = write.as_array().to_vec();
        let rows = arrival_ns.into_iter().zip(write).zip(offset.into_iter().zip(bytes));
        let request = |((at_ns, is_write), (offset, bytes))| Request {
            arrival: Time::from_ns(at_ns),
            is_write,
            offset,
            bytes,
        };
        self.with(py, |array| array.submit(rows.map(request)))
    }

    /// Runs all submitted requests; returns a row for each, in the order of their submission.
    fn run(&self, py: Python<'_>) -> PyResult<Table> {
        self.with(py, |array| array.run().map(|rows| table(&rows)))
    }

    /// The summary so far, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |array| Ok(array.summary()))
    }
}

impl DriveArray {
    /// Does something with the array while others may use Python.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut array::Array) -> Result<T, UserError> + Send,
    ) -> PyResult<T> {
        let failed = || UserError::new("the array has failed in an earlier call; open another");
        py.detach(|| work(&mut *self.inner.lock().map_err(|_| failed())?)).map_err(raise)
    }
}

fn table(rows: &[Row]) -> Table {
    let column = |value: fn(&Row) -> u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| value(row) as i64)))
    };
    let write: BooleanArray = rows.iter().map(|row| Some(row.request.is_write)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("arrival_ns", column(|row| row.request.arrival.ns())),
        ("write", Arc::new(write)),
        ("offset", column(|row| row.request.offset)),
        ("bytes", column(|row| row.request.bytes)),
        ("completion_ns", column(|row| row.completion.ns())),
        ("drive_reads", column(|row| row.reads.into())),
        ("drive_writes", column(|row| row.writes.into())),
        ("reconstructed_reads", column(|row| row.reconstructed.into())),
        ("hedged_reads", column(|row| row.hedged.into())),
    ];
    let columns = columns.into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
    Table::of(columns).expect("the columns are of one length")
}
