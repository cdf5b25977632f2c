//! A drive in simulated time for programs in Python: `Drive` and its `Completion`.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reprieve_base::{Op, Time, UserError};
use reprieve_embed::{self as embed, CAUSE_NAMES, PART_NAMES, Priority, Queue, Route};

use crate::raise;

/// A completed request of a `Drive`; times are whole nanoseconds of simulated time.
///
/// >>> drive = rp.Drive({"device": "fast12-slc"})
/// >>> tag = drive.submit("read", lba=0, bytes=4096, at_ns=1000)
/// >>> now_ns = drive.run(until_ns=1_000_000)
/// >>> (done,) = drive.poll()
/// >>> done.op, done.arrival_ns, done.completion_ns, done.latency_ns
/// ('read', 1000, 33048, 32048)
#[pyclass(module = "reprieve", frozen)]
pub struct Completion {
    /// The number that `submit` took or returned for the request.
    #[pyo3(get)]
    tag: u64,
    /// The number of the request in order of arrival, from 0.
    #[pyo3(get)]
    number: u64,
    /// The operation: "read", "write", "trim" or "flush".
    #[pyo3(get)]
    op: &'static str,
    /// The time at which it reached the drive.
    #[pyo3(get)]
    arrival_ns: u64,
    /// The time at which it was complete.
    #[pyo3(get)]
    completion_ns: u64,
    /// The time from its arrival to its completion.
    #[pyo3(get)]
    latency_ns: u64,
    /// The number of pages of a read that error correction could not restore.
    #[pyo3(get)]
    uncorrectable_pages: u32,
    /// Its details, if the drive keeps them.
    details: Option<Box<embed::Details>>,
}

/// The values of a completion's columns, by their names in `requests.parquet`.
fn named<'py>(py: Python<'py>, names: &[&str], values: &[u64]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    names.iter().zip(values).try_for_each(|(name, ns)| dict.set_item(name, ns))?;
    Ok(dict)
}

#[pymethods]
impl Completion {
    /// The components of the latency, which add up to it; None if the drive keeps no details.
    #[getter]
    fn components_ns<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let of = |details: &embed::Details| named(py, &PART_NAMES, &details.parts.0);
        self.details.as_deref().map(of).transpose()
    }

    /// The causes of its waits; None if the drive keeps no details.
    #[getter]
    fn causes_ns<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let of = |details: &embed::Details| named(py, &CAUSE_NAMES, &details.causes.0);
        self.details.as_deref().map(of).transpose()
    }

    /// The number of the die of its last page; None without one, or without details.
    #[getter]
    fn die(&self) -> Option<u32> {
        self.details.as_ref()?.die
    }

    /// The number of senses beyond the first of each page read for it; None without details.
    #[getter]
    fn retries(&self) -> Option<u32> {
        Some(self.details.as_ref()?.retries)
    }

    fn __repr__(&self) -> String {
        let Completion { tag, number, op, arrival_ns, completion_ns, .. } = self;
        format!(
            "Completion(tag={tag}, number={number}, op='{op}', arrival_ns={arrival_ns}, \
             completion_ns={completion_ns})"
        )
    }
}

impl Completion {
    /// Takes the oldest completion of a drive, with its details if they are kept.
    fn take(drive: &mut embed::Drive) -> Option<Completion> {
        let details = drive.details().copied().map(Box::new);
        let done = drive.poll()?;
        Some(Completion {
            tag: done.tag,
            number: done.number,
            op: done.op.name(),
            arrival_ns: done.arrival.ns(),
            completion_ns: done.completion.ns(),
            latency_ns: (done.completion - done.arrival).ns(),
            uncorrectable_pages: done.uncorrectable_pages,
            details,
        })
    }
}

struct Inner {
    drive: embed::Drive,
    /// The tag of the next request that is submitted without one.
    next_tag: u64,
}

/// A drive inside another simulator: requests in, completions out, in simulated time.
///
/// The caller keeps the time: `submit` requests with their arrivals, ask for the `next` time at
/// which something will happen, `advance` to it, and `poll` the completions. No call reads a clock
/// or starts a thread. Drives do not affect each other.
///
/// `scenario` and `overrides`: as for `run`; a workload in the scenario is ignored.
/// `from_state`: a file that `reprieve run --save-state` wrote: the drive starts in that state, and
/// is not preconditioned.
///
/// Times are whole nanoseconds since the drive was made. It is preconditioned before that, which
/// may take seconds.
///
/// Raises UserError if the scenario is wrong. So does each method if it is called wrongly; the
/// drive is then as it was before the call.
///
/// >>> drive = rp.Drive({"device": "fast12-slc"})
/// >>> drive.submit("write", lba=0, bytes=4096, tag=7)
/// 7
/// >>> while (at_ns := drive.next()) is not None:
/// ...     drive.advance(at_ns)
/// >>> [(done.tag, done.latency_ns) for done in drive.poll()], drive.now_ns
/// ([(7, 162048)], 162048)
#[pyclass(module = "reprieve", frozen)]
pub struct Drive {
    inner: Mutex<Inner>,
}

fn refuse(error: embed::Error) -> PyErr {
    let (embed::Error::User(error) | embed::Error::Time(error)) = error;
    raise(error)
}

fn op(name: &str) -> PyResult<Op> {
    Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| {
        let names = Op::ALL.map(|op| format!("{:?}", op.name())).join(", ");
        raise(UserError::new(format!("op = {name:?}: must be one of {names}")))
    })
}

/// The route that these choices name.
fn route(queue: Option<u32>, priority: Option<&str>, handle: Option<u8>) -> PyResult<Route> {
    let queue = match (queue, priority) {
        (Some(_), Some(_)) => {
            return Err(raise(UserError::new("queue and priority: a request has one of the two")));
        }
        (Some(queue), None) => Queue::Number(queue),
        (None, Some(name)) => Queue::Class(class(name)?),
        (None, None) => Queue::Any,
    };
    Ok(Route { queue, handle })
}

fn class(name: &str) -> PyResult<u8> {
    let found = Priority::ALL.into_iter().find(|class| class.name() == name);
    found.map(|class| class as u8).ok_or_else(|| {
        let names = Priority::ALL.map(|class| format!("{:?}", class.name())).join(", ");
        raise(UserError::new(format!("priority = {name:?}: must be one of {names}")))
    })
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (scenario, *, from_state=None, **overrides))]
    fn new(
        py: Python<'_>,
        scenario: Bound<'_, PyAny>,
        from_state: Option<PathBuf>,
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
        let opened = py.detach(|| match from_state {
            Some(state) => embed::Drive::open_state(&text, &path, &sets, &state),
            None => embed::Drive::open(&text, &path, &sets),
        });
        opened.map(Drive::of).or_else(|error| {
            let words = py.import("reprieve.words")?;
            let text = words.call_method1("of_arguments", (error.to_string(),))?;
            Err(crate::UserError::new_err(text.unbind()))
        })
    }

    /// Return the drive that `save` wrote: same time, same open requests, same future.
    ///
    /// Takes as long as reading the bytes. Raises UserError if they are not a saved drive, or are
    /// another release's.
    ///
    /// >>> drive = rp.Drive({"device": "fast12-slc"})
    /// >>> tag = drive.submit("read", bytes=4096)
    /// >>> rp.Drive.restore(drive.save()).open_requests
    /// 1
    #[staticmethod]
    fn restore(py: Python<'_>, saved: &[u8]) -> PyResult<Drive> {
        py.detach(|| embed::Drive::restore(saved)).map(Drive::of).map_err(raise)
    }

    /// The capacity that the drive offers to its users.
    #[getter]
    fn capacity_bytes(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.capacity_bytes())
    }

    /// The current simulated time.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.now().ns())
    }

    /// The number of requests not yet complete, including those that have not arrived.
    #[getter]
    fn open_requests(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.open_requests())
    }

    /// The resolved scenario as TOML.
    #[getter]
    fn scenario(&self) -> PyResult<String> {
        Ok(self.lock()?.drive.scenario())
    }

    /// Submit a request that arrives at `at_ns`, now or later; return its tag.
    ///
    /// `lba`: the first sector of 512 bytes.
    /// `bytes`: the length, a multiple of 512; a flush has neither.
    /// `at_ns`: the arrival; by default now.
    /// `fua`: a write completes only when its data is in flash (forced unit access).
    /// `tag`: a number for its completion; by default one that no earlier request has.
    /// `queue`: its submission queue, from 0; by default all take turns.
    /// `priority`: "urgent", "high", "medium" or "low": the queues with this class of
    /// `host.queue_priorities` take turns.
    /// `handle`: the placement handle of a write, below `ftl.placement_handles`; by default 0.
    ///
    /// Raises UserError if the request lies beyond the capacity, arrives in the past, or names a
    /// queue, class or handle that the drive does not have.
    #[pyo3(signature = (
        op, lba=0, bytes=0, *, at_ns=None, fua=false, tag=None, queue=None, priority=None,
        handle=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "of Python, by keyword")]
    fn submit(
        &self,
        op: &str,
        #[pyo3(from_py_with = lba)] lba: u64,
        #[pyo3(from_py_with = bytes)] bytes: u32,
        #[pyo3(from_py_with = at_ns)] at_ns: Option<u64>,
        fua: bool,
        #[pyo3(from_py_with = tag)] tag: Option<u64>,
        #[pyo3(from_py_with = queue)] queue: Option<u32>,
        priority: Option<&str>,
        #[pyo3(from_py_with = handle)] handle: Option<u8>,
    ) -> PyResult<u64> {
        let op = self::op(op)?;
        let mut inner = self.lock()?;
        let at = at_ns.map_or(inner.drive.now(), Time::from_ns);
        let tag = tag.unwrap_or(inner.next_tag);
        let ask = embed::Ask { tag, op, lba, bytes, fua };
        let submitted = match (queue, priority, handle) {
            (None, None, None) => inner.drive.submit(at, ask),
            _ => inner.drive.submit_by(at, ask, route(queue, priority, handle)?),
        };
        submitted.map_err(refuse)?;
        inner.next_tag = inner.next_tag.max(tag.wrapping_add(1));
        Ok(tag)
    }

    /// Return the time in ns of the next event; None if only a new request can cause one.
    fn next(&self) -> PyResult<Option<u64>> {
        let next = self.lock()?.drive.next();
        Ok((next != Time::NEVER).then(|| next.ns()))
    }

    /// Simulate up to `to_ns`, with the events at that time.
    ///
    /// Raises UserError if `to_ns` is in the past, or later than `next()`: an event would be
    /// skipped.
    fn advance(&self, #[pyo3(from_py_with = to_ns)] to_ns: u64) -> PyResult<()> {
        self.lock()?.drive.advance(Time::from_ns(to_ns)).map_err(refuse)
    }

    /// Simulate until `completions` are waiting, at most to `until_ns`; return the time in ns.
    ///
    /// Equivalent to `advance`, in fewer calls. If as many are waiting already,
    /// nothing is simulated. Raises UserError if `until_ns` is in the past.
    #[pyo3(signature = (until_ns, completions=1))]
    fn run(
        &self,
        #[pyo3(from_py_with = until_ns)] until_ns: u64,
        #[pyo3(from_py_with = completions)] completions: usize,
    ) -> PyResult<u64> {
        let reached = self.lock()?.drive.run(Time::from_ns(until_ns), completions);
        reached.map(Time::ns).map_err(refuse)
    }

    /// Take the waiting completions, the oldest first, all or at most `max` of them.
    #[pyo3(signature = (max=None))]
    fn poll(&self, #[pyo3(from_py_with = max)] max: Option<usize>) -> PyResult<Vec<Completion>> {
        let mut inner = self.lock()?;
        let all = std::iter::from_fn(|| Completion::take(&mut inner.drive));
        Ok(match max {
            None => all.collect(),
            Some(max) => all.take(max).collect(),
        })
    }

    /// Return the drive as bytes for `restore`, its tables and queues.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock()?.drive.save();
        Ok(PyBytes::new(py, &saved))
    }

    /// Return a drive that is what this one is, and goes its own way from here.
    ///
    /// Raises UserError if there is no memory for a second one.
    ///
    /// >>> drive = rp.Drive({"device": "fast12-slc"})
    /// >>> tag = drive.submit("read", bytes=4096)
    /// >>> other = drive.clone()
    /// >>> other.run(until_ns=1_000_000), drive.now_ns
    /// (32048, 0)
    fn clone(&self) -> PyResult<Drive> {
        let mut inner = self.lock()?;
        let drive = inner.drive.try_clone().map_err(raise)?;
        Ok(Drive { inner: Mutex::new(Inner { drive, next_tag: inner.next_tag }) })
    }

    /// Keep details of completions: where the time of each went, its die and its retries.
    ///
    /// Raises UserError if the drive has had a request.
    ///
    /// >>> drive = rp.Drive({"device": "fast12-slc"})
    /// >>> drive.keep_details()
    /// >>> tag = drive.submit("read", lba=0, bytes=2048)
    /// >>> now_ns = drive.run(until_ns=1_000_000)
    /// >>> (done,) = drive.poll()
    /// >>> done.components_ns["array_ns"], done.components_ns["bus_ns"], done.die
    /// (10000, 20000, 0)
    fn keep_details(&self) -> PyResult<()> {
        self.lock()?.drive.keep_details().map_err(refuse)
    }

    /// Have the summary count requests that arrive at `at_ns`, by default now, or later.
    ///
    /// Its other numbers begin there, too. Replaces `[measure]` of the scenario.
    ///
    /// Raises UserError if `at_ns` is in the past.
    ///
    /// >>> drive = rp.Drive({"device": "fast12-slc"})
    /// >>> for at_ns in 0, 1_000_000:
    /// ...     tag = drive.submit("read", bytes=2048, at_ns=at_ns)
    /// >>> drive.measure_from(500_000)
    /// >>> drive.run(until_ns=2_000_000, completions=2)
    /// 1031024
    /// >>> drive.summary()["requests"]["read"]["count"]
    /// 1
    #[pyo3(signature = (at_ns=None))]
    fn measure_from(&self, #[pyo3(from_py_with = at_ns)] at_ns: Option<u64>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let at = at_ns.map_or(inner.drive.now(), Time::from_ns);
        inner.drive.measure_from(at).map_err(refuse)
    }

    /// Return the summary so far: the fields of `summary.json`.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.lock()?.drive.summary();
        py.import("json")?.call_method1("loads", (text,))
    }
}

impl Drive {
    fn of(drive: embed::Drive) -> Drive {
        let next_tag = drive.submitted();
        Drive { inner: Mutex::new(Inner { drive, next_tag }) }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        // A drive that panicked is in an undefined state.
        self.inner.lock().map_err(|_| {
            raise(UserError::new("the drive has failed in an earlier call; open another"))
        })
    }
}

/// Whole-number arguments; one that does not fit is a user error.
macro_rules! whole_numbers {
    ($($name:ident: $type:ty, at most $most:expr;)*) => {$(
        fn $name(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            value.extract().map_err(|error| does_not_fit(stringify!($name), $most, value, error))
        }
    )*};
}

whole_numbers! {
    lba: u64, at most u64::MAX;
    bytes: u32, at most u64::from(u32::MAX);
    at_ns: Option<u64>, at most u64::MAX;
    tag: Option<u64>, at most u64::MAX;
    queue: Option<u32>, at most u64::from(u32::MAX);
    handle: Option<u8>, at most u64::from(u8::MAX);
    to_ns: u64, at most u64::MAX;
    until_ns: u64, at most u64::MAX;
    completions: usize, at most usize::MAX as u64;
    max: Option<usize>, at most usize::MAX as u64;
}

#[cold]
fn does_not_fit(name: &str, most: u64, value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => raise(UserError::new(format!(
            "{name} = {value}: must be a whole number from 0 to {most}"
        ))),
        false => error,
    }
}
