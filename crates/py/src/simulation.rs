//! One run, advanced from Python in steps, so that it can show progress and be interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use reprieve_base::Time;
use reprieve_ssd::scenario::{self, Scenario, Sources, Warmup};
use reprieve_ssd::{Options, Ssd, Window};

use crate::policy::{self, Given};
use crate::table::Table;
use crate::{UserError, loaded, need_numpy, raise, request_log, time_series};

/// The state of a run. Preconditioning takes a while and belongs to the first step.
enum State {
    Loaded(Box<(Scenario, Options, Option<InPlace>)>),
    Running(Box<Ssd>),
    /// It detects the end of its transient, and then starts again.
    Looking(Box<(Ssd, Scenario, Options, Option<Py<PyAny>>)>),
    /// The first step failed.
    Failed,
}

/// Policies that replace those of the scenario.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct InPlace {
    given: Given,
    /// Called for new policies, where a scenario is simulated twice.
    again: Option<Py<PyAny>>,
}

/// One run. Its methods may be called from any thread, one at a time.
#[pyclass(module = "reprieve._native")]
pub struct Simulation {
    state: Mutex<State>,
    #[pyo3(get)]
    scenario: String,
}

/// The drawn part of a run: start, end (None: that of the run), and whether with phases.
pub type Drawn = (u64, Option<u64>, bool);

/// Converts it to the simulator's type.
pub fn window((from_ns, until_ns, phases): Drawn) -> Window {
    let until = until_ns.map_or(Time::NEVER, Time::from_ns);
    Window { from: Time::from_ns(from_ns), until, phases, ..Window::ALL }
}

type Histogram<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (
        text, path, sets, kept=(false, false, None), from_state=None, check=None, own=None
    ))]
    fn new(
        text: &str,
        path: &str,
        sets: Vec<String>,
        kept: (bool, bool, Option<Drawn>),
        from_state: Option<PathBuf>,
        check: Option<String>,
        own: Option<InPlace>,
    ) -> PyResult<Simulation> {
        let sources = Sources { text, path, sets: &sets };
        let scenario = Python::attach(|py| loaded(py, &sources, scenario::load))?;
        let text = scenario::print(&scenario);
        let (log_requests, series, timeline) = kept;
        let timeline = timeline.map(window);
        let may_remember = own.as_ref().is_some_and(|own| own.again.is_none());
        if may_remember && scenario.measure.warmup == Warmup::Auto {
            let what = "measure.warmup = \"auto\": the scenario is simulated twice, and an object \
                        that is given as a policy may remember the first run; name its class in \
                        suspension.policy or scheduling.policy, or give measure.from_request";
            return Err(raise(reprieve_base::UserError::new(what).at(path)));
        }
        let options =
            Options { log_requests, series, from_state, check, timeline, ..Options::default() };
        let state = State::Loaded(Box::new((scenario, options, own)));
        Ok(Simulation { state: Mutex::new(state), scenario: text })
    }

    /// Simulates until about `requests` more requests are complete; False at the end.
    ///
    /// With `measure.warmup = "auto"` the scenario is simulated twice.
    fn step(&self, py: Python<'_>, requests: u64) -> PyResult<bool> {
        self.go_on(py, || self.step_on(requests))
    }

    /// Simulates until `at_ns`, and returns as JSON the effects of a power loss then, under each
    /// policy that the part has; None if the workload ends before.
    fn power_loss(&self, py: Python<'_>, at_ns: u64) -> PyResult<Option<String>> {
        self.go_on(py, || {
            let mut state = self.lock();
            let State::Running(ssd) = &mut *state else {
                return Err(reprieve_base::UserError::new(
                    "the run has not started: call step first",
                ));
            };
            if ssd.scenario().power_loss.is_none() {
                return Err(reprieve_base::UserError::new(
                    "power_loss.mode = \"off\": the drive is not prepared for a loss of power; \
                     must be \"on\"",
                ));
            }
            let at = Time::from_ns(at_ns);
            let goes_on = ssd.run_until(at)?;
            Ok(goes_on.then(|| ssd.power_loss().tell_cuts(at).to_string()))
        })
    }

    /// Whether preconditioning is done; the next step brings requests.
    fn is_preconditioned(&self) -> bool {
        match &*self.lock() {
            State::Running(ssd) => ssd.is_preconditioned(),
            State::Looking(run) => run.0.is_preconditioned(),
            State::Loaded(..) | State::Failed => false,
        }
    }

    /// Writes the drive's state: after preconditioning, or after the last request.
    fn save_state(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| match &mut *self.lock() {
            State::Running(ssd) => ssd.save_state(&path),
            State::Looking(run) => run.0.save_state(&path),
            _ => Err(reprieve_base::UserError::new("the run has not started: call step first")),
        })
        .map_err(raise)
    }

    /// Share of the workload submitted (None: unknown), and requests completed.
    fn progress(&self) -> (Option<f64>, u64) {
        match &*self.lock() {
            State::Running(ssd) => {
                let (share, requests) = ssd.progress();
                match ssd.scenario().measure.warmup {
                    Warmup::None => (share, requests),
                    Warmup::Auto => (share.map(|share| 0.5 + share / 2.0), requests),
                }
            }
            State::Looking(run) => {
                let (share, requests) = run.0.progress();
                (share.map(|share| share / 2.0), requests)
            }
            State::Loaded(..) | State::Failed => (Some(0.0), 0),
        }
    }

    /// The run so far: counts, the percentiles of reads and of writes in ns that `_native.pyi`
    /// names, and the busy time of each die; None before the first step.
    fn glance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let glance = py.detach(|| match &*self.lock() {
            State::Running(ssd) => Some(ssd.snapshot([0.5, 0.99, 0.999])),
            State::Looking(run) => Some(run.0.snapshot([0.5, 0.99, 0.999])),
            _ => None,
        });
        let Some(glance) = glance else { return Ok(None) };
        need_numpy(py)?;
        let columns = PyDict::new(py);
        columns.set_item("simulated_ns", glance.simulated_ns)?;
        columns.set_item("page_transactions", glance.page_transactions)?;
        columns.set_item("completed", glance.completed)?;
        columns.set_item("percentiles_ns", glance.percentiles_ns)?;
        columns.set_item("suspensions", glance.suspensions)?;
        columns.set_item("die_busy_ns", glance.die_busy_ns)?;
        columns.set_item("suspended_dies", glance.suspended_dies)?;
        Ok(Some(columns))
    }

    /// The request log since the last call.
    fn take_log(&self) -> Table {
        request_log::table(match &mut *self.lock() {
            State::Running(ssd) => ssd.take_log(),
            _ => Default::default(),
        })
    }

    /// The bytes of the timeline since the last call; after the last step all remaining ones.
    fn take_timeline<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| match &mut *self.lock() {
            State::Running(ssd) => ssd.take_timeline(),
            _ => Vec::new(),
        });
        PyBytes::new(py, &bytes)
    }

    /// The summary as JSON, without the wall-clock fields of `run`.
    fn summary(&self) -> PyResult<String> {
        self.with_running(|ssd| ssd.summary().to_string())
    }

    /// The batches of the run as JSON, by column.
    fn batches(&self) -> PyResult<String> {
        self.with_running(|ssd| ssd.batches().to_string())
    }

    /// The bins of power over time by column; None if none are kept.
    fn power_series<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(series) = self.with_running(|ssd| ssd.power_series())? else { return Ok(None) };
        let columns = PyDict::new(py);
        columns.set_item("start_ns", series.start_ns.into_pyarray(py))?;
        columns.set_item("length_ns", series.length_ns.into_pyarray(py))?;
        columns.set_item("core_pj", series.core_pj.into_pyarray(py))?;
        columns.set_item("io_pj", series.io_pj.into_pyarray(py))?;
        Ok(Some(columns))
    }

    /// The run over time, by name; None if it was not recorded.
    fn course<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let course = py.detach(|| self.with_running(|ssd| ssd.course()))?;
        course.map(|course| time_series::columns(py, course)).transpose()
    }

    /// Upper value in ns and count of each non-empty bucket of "read", "write" or "total", as
    /// 64-bit integers.
    fn histogram<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Histogram<'py>> {
        let index = ["read", "write", "total"].iter().position(|name| *name == what);
        let index = index.ok_or_else(|| {
            UserError::new_err(format!("{what:?} is none of \"read\", \"write\", \"total\""))
        })?;
        let (values, counts) = self.with_running(|ssd| {
            let buckets: Vec<(u64, u64)> = ssd.latencies()[index].buckets().collect();
            let bytes = |of: fn(&(u64, u64)) -> u64| -> Vec<u8> {
                buckets.iter().flat_map(|bucket| of(bucket).to_ne_bytes()).collect()
            };
            (bytes(|bucket| bucket.0), bytes(|bucket| bucket.1))
        })?;
        Ok((PyBytes::new(py, &values), PyBytes::new(py, &counts)))
    }
}

/// A drive, under the user's policies or those of the scenario.
fn made(
    scenario: Scenario,
    options: &Options,
    given: Option<Given>,
) -> Result<Ssd, reprieve_base::UserError> {
    match given.map(|given| given.policies(&scenario)) {
        Some(policies) => Ssd::with_policies(scenario, options, policies),
        None => Ssd::with(scenario, options),
    }
}

/// Makes new objects of the user's policies; an exception unwinds as in a policy's methods.
fn anew(again: &Py<PyAny>) -> Given {
    let given = Python::attach(|py| again.bind(py).call0()?.extract());
    given.unwrap_or_else(|error: PyErr| resume_unwind(Box::new(error)))
}

impl Simulation {
    /// Continues the simulation, with the GIL released.
    fn go_on<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce() -> Result<T, reprieve_base::UserError> + Send,
    ) -> PyResult<T> {
        // A Python policy ends the run by unwinding; the drive is not used after that.
        match py.detach(|| catch_unwind(AssertUnwindSafe(run))) {
            Ok(done) => done.map_err(raise),
            Err(payload) => {
                let error = policy::ended_by(payload);
                *self.lock() = State::Failed;
                Err(error)
            }
        }
    }

    fn step_on(&self, requests: u64) -> Result<bool, reprieve_base::UserError> {
        let mut state = self.lock();
        if let State::Loaded(..) = *state {
            let State::Loaded(loaded) = std::mem::replace(&mut *state, State::Failed) else {
                unreachable!("just seen");
            };
            let (scenario, options, own) = *loaded;
            let (given, again) = own.map_or((None, None), |own| (Some(own.given), own.again));
            if scenario.measure.warmup == Warmup::Auto {
                let Options { from_state, check, .. } = options.clone();
                let first = Options { from_state, check, ..Options::default() };
                let ssd = made(scenario.clone(), &first, given)?;
                *state = State::Looking(Box::new((ssd, scenario, options, again)));
                return Ok(true);
            }
            *state = State::Running(Box::new(made(scenario, &options, given)?));
            return Ok(true);
        }
        match &mut *state {
            State::Running(ssd) => ssd.step(requests),
            State::Looking(run) => {
                if run.0.step(requests)? {
                    return Ok(true);
                }
                let State::Looking(run) = std::mem::replace(&mut *state, State::Failed) else {
                    unreachable!("just seen");
                };
                let (first, scenario, options, again) = *run;
                let found = first.found().expect("the run has looked for its transient");
                // Memory may not suffice for both.
                drop(first);
                let mut second = made(scenario, &options, again.map(|again| anew(&again)))?;
                second.exclude(found);
                *state = State::Running(Box::new(second));
                Ok(true)
            }
            _ => Err(reprieve_base::UserError::new("the run could not be started")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A run that panicked keeps its state, and its counts can still be read.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_running<T>(&self, ask: impl FnOnce(&Ssd) -> T) -> PyResult<T> {
        match &*self.lock() {
            State::Running(ssd) => Ok(ask(ssd)),
            _ => Err(UserError::new_err("the run has not started: call step first")),
        }
    }
}
