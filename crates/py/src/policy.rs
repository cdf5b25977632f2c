//! Policies of a Python program: each decision is a call, and an exception ends the run.

use std::any::Any;
use std::panic::resume_unwind;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{PyClass, PyClassInitializer};
use reprieve_base::Time;
use reprieve_ssd::Policies;
use reprieve_ssd::scenario::Scenario;
use reprieve_ssd::sched::{self, DieView, Scheduler, SuspendView};
use reprieve_ssd::suspend::{self, Answer, Reason, SuspendPolicy};

use crate::UserError;
use crate::views::{BusyDie, Choice, Decision, FreeDie, OperationView};

/// Bound methods of Python policies that replace those of the scenario.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Given {
    /// `decide` of a suspension policy.
    decide: Option<Py<PyAny>>,
    /// `choose` of a scheduler; the following fields need one.
    choose: Option<Py<PyAny>>,
    /// Whether an operation may be suspended now; always, if the method is absent.
    lets_suspend: Option<Py<PyAny>>,
    /// The time at which that may change; never, if the method is absent.
    asks_again: Option<Py<PyAny>>,
    /// The scheduler suspends programs and erases.
    suspends: bool,
    /// Outgoing pages precede programs that wait for the channel.
    reads_first: bool,
}

impl Given {
    /// The policies of a run.
    pub fn policies(self, scenario: &Scenario) -> Policies {
        let mut policies = Policies::of(scenario);
        if let Some(decide) = self.decide {
            policies.suspension = Box::new(Suspension { decide: Method(decide) });
        }
        if let Some(choose) = self.choose {
            policies.scheduler = Box::new(Own {
                choose: Method(choose),
                lets_suspend: self.lets_suspend.map(Method),
                asks_again: self.asks_again.map(Method),
                suspends: self.suspends,
                reads_first: self.reads_first,
            });
        }
        policies
    }
}

/// The exception with which a policy ended a run; any other panic is a fault of the simulator.
pub fn ended_by(payload: Box<dyn Any + Send>) -> PyErr {
    match payload.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(fault) => resume_unwind(fault),
    }
}

/// The time, die and method of a decision.
#[derive(Clone, Copy)]
struct Place {
    now: Time,
    die: u32,
    question: &'static str,
}

impl Place {
    fn words(self) -> String {
        let Place { now, die, question } = self;
        format!("at {} ns of the simulated time, for die {die}, asked {question}", now.ns())
    }
}

/// A method of the user's.
struct Method(Py<PyAny>);

impl Method {
    /// Calls the method; `take` converts the returned value, or returns an error message.
    ///
    /// The traits of policies have no errors: one unwinds through the run, which is over, up to
    /// the caller of its step.
    fn ask<V, T>(
        &self,
        view: V,
        place: Place,
        take: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, String>,
    ) -> T
    where
        V: PyClass + Into<PyClassInitializer<V>>,
    {
        let answer = Python::attach(|py| {
            let method = self.0.bind(py);
            let view = Bound::new(py, view)?;
            let answer = method.call1((view,)).inspect_err(|error| self.note(py, error, place))?;
            take(&answer).map_err(|right| self.mistake(&answer, place, &right))
        });
        answer.unwrap_or_else(|error| resume_unwind(Box::new(error)))
    }

    fn name(&self, py: Python<'_>) -> String {
        let name = self.0.bind(py).getattr("__qualname__");
        name.map_or_else(|_| "a policy".to_string(), |name| name.to_string())
    }

    /// Adds the place in the run to an exception, except one that only ends the program.
    fn note(&self, py: Python<'_>, error: &PyErr, place: Place) {
        if error.is_instance_of::<PyException>(py) {
            let note = format!("raised by {} {}", self.name(py), place.words());
            // Without the note the exception is still correct.
            drop(error.value(py).call_method1("add_note", (note,)));
        }
    }

    fn mistake(&self, answer: &Bound<'_, PyAny>, place: Place, right: &str) -> PyErr {
        let (name, place) = (self.name(answer.py()), place.words());
        let answer = answer.repr().map_or_else(|_| "?".to_string(), |repr| repr.to_string());
        UserError::new_err(format!("{name} returned {answer} {place}; must be {right}"))
    }
}

/// Takes `True` or `False`.
fn yes_or_no(answer: &Bound<'_, PyAny>) -> Result<bool, String> {
    answer.extract().map_err(|_| "True or False".to_string())
}

struct Suspension {
    decide: Method,
}

impl Suspension {
    fn ask(&self, operation: &dyn suspend::OperationView, is_suspended: bool) -> Answer {
        let (now, die) = (operation.now(), operation.die());
        let (act, right, question) = if is_suspended {
            let question = "whether the suspended operation resumes";
            (Decision::Resume, "Decision.RESUME or Decision.LEAVE", question)
        } else {
            let question = "whether to suspend the operation that runs";
            (Decision::Suspend, "Decision.SUSPEND or Decision.LEAVE", question)
        };
        let view = OperationView::of(operation, is_suspended);
        self.decide.ask(view, Place { now, die, question }, |answer| {
            // A later time is when to decide again.
            if let (false, Ok(ns)) = (is_suspended, answer.extract::<u64>()) {
                if ns > now.ns() {
                    return Ok(Answer::At(Time::from_ns(ns)));
                }
            }
            let answer = answer.cast::<Decision>().map(|answer| *answer.get());
            match answer {
                Ok(Decision::Leave) => Ok(Answer::No(Reason::Policy)),
                Ok(decision) if decision == act => Ok(Answer::Now),
                _ => {
                    let what = if is_suspended { "is suspended" } else { "runs" };
                    Err(format!("{right}, as the operation {what}"))
                }
            }
        })
    }
}

impl SuspendPolicy for Suspension {
    fn suspend(&self, operation: &dyn suspend::OperationView) -> Answer {
        self.ask(operation, false)
    }

    fn must_resume(&self, operation: &dyn suspend::OperationView) -> bool {
        self.ask(operation, true) == Answer::Now
    }

    fn may_be_asked_in_vain(&self) -> bool {
        // Its object may have state, or draw numbers.
        false
    }
}

struct Own {
    choose: Method,
    lets_suspend: Option<Method>,
    asks_again: Option<Method>,
    suspends: bool,
    reads_first: bool,
}

/// The choices of a scheduler: value, name, and the model's counterpart.
const CHOICES: [(Choice, &str, sched::Choice); 5] = [
    (Choice::Read, "Choice.READ", sched::Choice::Read),
    (Choice::Write, "Choice.WRITE", sched::Choice::Write),
    (Choice::Gc, "Choice.GC", sched::Choice::Gc),
    (Choice::Resume, "Choice.RESUME", sched::Choice::Resume),
    (Choice::Wait, "Choice.WAIT", sched::Choice::Wait),
];

/// Whether the chosen work exists. A die may wait only if no other work is waiting, because no
/// later event need bring another decision.
fn is_open(view: &DieView, choice: sched::Choice) -> bool {
    let urgent = view.urgent_gc.is_some();
    match choice {
        sched::Choice::Read => view.read.is_some(),
        sched::Choice::Write if view.suspended.is_some() => view.write_fits_inside,
        sched::Choice::Write => view.write.is_some(),
        sched::Choice::Gc => view.suspended.is_none() && (urgent || view.idle_gc),
        sched::Choice::Resume => view.suspended.is_some(),
        sched::Choice::Wait => {
            view.suspended.is_none() && view.read.is_none() && view.write.is_none() && !urgent
        }
    }
}

impl Scheduler for Own {
    fn may_be_asked_in_vain(&self) -> bool {
        // Its object may have state, or draw numbers.
        false
    }

    fn choose(&self, view: &DieView) -> sched::Choice {
        if view.must_resume {
            // The suspension policy has decided.
            return sched::Choice::Resume;
        }
        let place = Place { now: view.now, die: view.die, question: "what the die does next" };
        self.choose.ask(FreeDie::of(view), place, |answer| {
            let answer = answer.cast::<Choice>().map(|answer| *answer.get());
            let open = CHOICES.iter().filter(|(_, _, choice)| is_open(view, *choice));
            let is_it = |choice| answer.as_ref().is_ok_and(|answer| *answer == choice);
            let chosen = open.clone().find(|(choice, _, _)| is_it(*choice));
            let names = || open.map(|(_, name, _)| *name).collect::<Vec<_>>().join(" or ");
            chosen.map(|(_, _, choice)| *choice).ok_or_else(names)
        })
    }

    fn suspends(&self) -> bool {
        self.suspends
    }

    fn allow_suspend(&self, view: &SuspendView) -> bool {
        let question = "whether the operation that runs may be suspended";
        let place = Place { now: view.now, die: view.die, question };
        let ask = |method: &Method| method.ask(BusyDie::of(view), place, yes_or_no);
        self.lets_suspend.as_ref().is_none_or(ask)
    }

    fn asks_again(&self, view: &SuspendView) -> Option<Time> {
        let place = Place { now: view.now, die: view.die, question: "when to ask again" };
        let at = self.asks_again.as_ref()?.ask(BusyDie::of(view), place, |answer| {
            let at: Option<u64> = answer.extract().unwrap_or(Some(0));
            let later = at.is_none_or(|at| at > view.now.ns());
            later
                .then_some(at)
                .ok_or_else(|| format!("None, or a time in whole ns after {}", view.now.ns()))
        });
        at.map(Time::from_ns)
    }

    fn reads_first(&self) -> bool {
        self.reads_first
    }
}
