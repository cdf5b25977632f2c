//! An array of drives for the class `Array` of Python.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, StringArray};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use reprieve_array as array;
use reprieve_array::{Options, Request, Row};
use reprieve_base::{Op, Time, UserError};

use crate::raise;
use crate::table::Table;

/// Steps of an array between two looks at signals, at most.
const BETWEEN_LOOKS: u32 = 4096;

/// Drives behind one address space. Its methods may be called from any thread, one at a time.
#[pyclass(module = "reprieve._native", frozen)]
pub struct DriveArray {
    inner: Mutex<array::Array>,
}

#[pymethods]
impl DriveArray {
    /// `options`: a table of TOML. With `load` that of the scenario is submitted.
    #[new]
    fn new(
        py: Python<'_>,
        text: &str,
        path: &str,
        sets: Vec<String>,
        options: &str,
        load: bool,
    ) -> PyResult<DriveArray> {
        let open = || {
            let open = if load { array::Array::open_with_load } else { array::Array::open };
            open(text, path, &sets, &Options::parse(options)?)
        };
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

    /// Submits requests, one a row of the columns, which have one length; an operation is its place
    /// in `Op::ALL`.
    fn submit(
        &self,
        py: Python<'_>,
        arrival_ns: PyReadonlyArray1<'_, u64>,
        op: PyReadonlyArray1<'_, u8>,
        offset: PyReadonlyArray1<'_, u64>,
        bytes: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let [arrival_ns, offset, bytes] =
            [arrival_ns, offset, bytes].map(|column| column.as_array().to_vec());
        let op = op.as_array().to_vec();
        let rows = arrival_ns.into_iter().zip(op).zip(offset.into_iter().zip(bytes));
        let request = |((at_ns, op), (offset, bytes))| Request {
            arrival: Time::from_ns(at_ns),
            op: Op::ALL[usize::from(op)],
            offset,
            bytes,
        };
        self.with(py, |array| array.submit(rows.map(request)))
    }

    /// Runs all submitted requests; returns a row for each, in the order of their submission.
    ///
    /// With `until_rebuilt` it goes on until the replaced drive is. Now and then `watch` gets the
    /// share of the requests that were sent.
    fn run(
        &self,
        py: Python<'_>,
        until_rebuilt: bool,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Table> {
        let (mut steps, mut last, mut error) = (0u32, 0.0, None);
        let mut look = |share: f64| {
            steps = steps.wrapping_add(1);
            if share < last + 0.002 && steps % BETWEEN_LOOKS > 0 {
                return true;
            }
            last = share;
            error = Python::attach(|py| {
                py.check_signals()?;
                watch.as_ref().map(|watch| watch.call1(py, (share,))).transpose()
            })
            .err();
            error.is_none()
        };
        let rows = self.with(py, |array| array.run_watched(until_rebuilt, &mut look));
        error.map_or_else(|| rows.map(|rows| table(&rows)), Err)
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
    let write: BooleanArray = rows.iter().map(|row| Some(row.request.op == Op::Write)).collect();
    let op = StringArray::from_iter_values(rows.iter().map(|row| row.request.op.name()));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("arrival_ns", column(|row| row.request.arrival.ns())),
        ("op", Arc::new(op)),
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
