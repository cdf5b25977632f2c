//! A drive in simulated time for programs in Python: `Drive` and its `Completion`.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reprieve_base::{Op, Time, UserError};
use reprieve_embed as embed;

use crate::raise;

/// A request that is complete.
#[pyclass(module = "reprieve", frozen)]
pub struct Completion {
    inner: embed::Completion,
}

#[pymethods]
impl Completion {
    #[getter]
    fn tag(&self) -> u64 {
        self.inner.tag
    }

    #[getter]
    fn number(&self) -> u64 {
        self.inner.number
    }

    #[getter]
    fn op(&self) -> &'static str {
        self.inner.op.name()
    }

    #[getter]
    fn arrival_ns(&self) -> u64 {
        self.inner.arrival.ns()
    }

    #[getter]
    fn completion_ns(&self) -> u64 {
        self.inner.completion.ns()
    }

    #[getter]
    fn latency_ns(&self) -> u64 {
        (self.inner.completion - self.inner.arrival).ns()
    }

    #[getter]
    fn uncorrectable_pages(&self) -> u32 {
        self.inner.uncorrectable_pages
    }

    fn __repr__(&self) -> String {
        format!(
            "Completion(tag={}, number={}, op='{}', arrival_ns={}, completion_ns={})",
            self.tag(),
            self.number(),
            self.op(),
            self.arrival_ns(),
            self.completion_ns()
        )
    }
}

struct Inner {
    drive: embed::Drive,
    /// The tag of the next request that is submitted without one.
    next_tag: u64,
}

/// A drive in simulated time.
#[pyclass(module = "reprieve", frozen)]
pub struct Drive {
    inner: Mutex<Inner>,
}

fn refuse(error: embed::Error) -> PyErr {
    let (embed::Error::User(error) | embed::Error::Time(error)) = error;
    raise(error)
}

fn op(name: &str) -> PyResult<Op> {
    match name {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        "trim" => Ok(Op::Trim),
        "flush" => Ok(Op::Flush),
        _ => {
            let what = "must be \"read\", \"write\", \"trim\" or \"flush\"";
            Err(raise(UserError::new(format!("op = {name:?}: {what}"))))
        }
    }
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (scenario, *, journal=false, **overrides))]
    fn new(
        py: Python<'_>,
        scenario: Bound<'_, PyAny>,
        journal: bool,
        overrides: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Drive> {
        let overrides = overrides.unwrap_or_else(|| PyDict::new(py));
        let source = py.import("reprieve.scenario")?.getattr("Source")?;
        let source = source.call_method1("of", (scenario, overrides))?;
        let why = "a drive in simulated time can be saved, and a policy of Python cannot";
        let source = source.call_method1("built_in", (why,))?;
        let text: String = source.getattr("text")?.extract()?;
        let path: String = source.getattr("path")?.extract()?;
        let sets: Vec<String> = source.getattr("sets")?.extract()?;
        let opened = py.detach(|| {
            let mut drive = embed::Drive::open(&text, &path, &sets)?;
            if journal {
                drive.keep_journal().expect("nothing has been submitted");
            }
            Ok(drive)
        });
        Ok(Drive::of(opened.map_err(raise)?))
    }

    /// The drive that was saved as these bytes.
    #[staticmethod]
    fn restore(py: Python<'_>, saved: &[u8]) -> PyResult<Drive> {
        py.detach(|| embed::Drive::restore(saved)).map(Drive::of).map_err(raise)
    }

    #[getter]
    fn capacity_bytes(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.capacity_bytes())
    }

    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.now().ns())
    }

    #[getter]
    fn open_requests(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.open_requests())
    }

    #[getter]
    fn scenario(&self) -> PyResult<String> {
        Ok(self.lock()?.drive.scenario())
    }

    /// Hands over a request that arrives at `at_ns`, now or later, and returns its tag.
    #[pyo3(signature = (op, lba=0, bytes=0, *, at_ns=None, fua=false, tag=None))]
    fn submit(
        &self,
        op: &str,
        lba: u64,
        bytes: u32,
        at_ns: Option<u64>,
        fua: bool,
        tag: Option<u64>,
    ) -> PyResult<u64> {
        let op = self::op(op)?;
        let mut inner = self.lock()?;
        let at = at_ns.map_or(inner.drive.now(), Time::from_ns);
        let tag = tag.unwrap_or(inner.next_tag);
        let ask = embed::Ask { tag, op, lba, bytes, fua };
        inner.drive.submit(at, ask).map_err(refuse)?;
        inner.next_tag = inner.next_tag.max(tag.wrapping_add(1));
        Ok(tag)
    }

    /// When something will happen next, in ns; None: nothing without another request.
    fn next(&self) -> PyResult<Option<u64>> {
        let next = self.lock()?.drive.next();
        Ok((next != Time::NEVER).then(|| next.ns()))
    }

    /// Lets time pass up to `to_ns`, which must not lie behind `next()`.
    fn advance(&self, to_ns: u64) -> PyResult<()> {
        self.lock()?.drive.advance(Time::from_ns(to_ns)).map_err(refuse)
    }

    /// Lets time pass until so many completions wait, but not beyond `until_ns`; where it is then.
    #[pyo3(signature = (until_ns, completions=1))]
    fn run(&self, until_ns: u64, completions: usize) -> PyResult<u64> {
        let reached = self.lock()?.drive.run(Time::from_ns(until_ns), completions);
        reached.map(Time::ns).map_err(refuse)
    }

    /// Takes completions, the oldest first, all or `max` of them.
    #[pyo3(signature = (max=None))]
    fn poll(&self, max: Option<usize>) -> PyResult<Vec<Completion>> {
        let mut inner = self.lock()?;
        let all = std::iter::from_fn(|| inner.drive.poll().map(|inner| Completion { inner }));
        Ok(match max {
            None => all.collect(),
            Some(max) => all.take(max).collect(),
        })
    }

    /// The drive as bytes, which `restore` takes; it must keep a journal.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock()?.drive.save().map_err(refuse)?;
        Ok(PyBytes::new(py, &saved))
    }

    /// The summary so far: the fields of `summary.json`.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.lock()?.drive.summary();
        py.import("json")?.call_method1("loads", (text,))
    }
}

impl Drive {
    fn of(drive: embed::Drive) -> Drive {
        Drive { inner: Mutex::new(Inner { drive, next_tag: 0 }) }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        // One that panicked is not what it was.
        self.inner.lock().map_err(|_| {
            raise(UserError::new("the drive has failed in an earlier call; open another"))
        })
    }
}
