//! Microcode: a queue for each class of work, and a program of steps that orders them.

use reprieve_base::{Entry, Time};
use reprieve_config::{Scheduling, Step};

use super::{Choice, Class, Classes, DieView, Scheduler, SuspendView};

pub(super) const ENTRY: Entry = Entry {
    name: "microcode",
    doc: "a queue for each class, served as the steps of the scenario say, the first that applies",
};

pub(super) struct Microcode {
    steps: Vec<Step>,
}

impl Microcode {
    pub(super) fn new(scheduling: &Scheduling) -> Microcode {
        let steps = scheduling.steps.clone();
        Microcode { steps: steps.expect("the scenario gives the steps of microcode") }
    }

    /// Returns the first choice at a free die; `strict`: by steps whose conditions hold.
    fn outside(&self, view: &DieView, classes: &Classes, strict: bool) -> Option<Choice> {
        self.steps.iter().find_map(|step| {
            let (choice, since) = waits(step.class?, view, classes)?;
            let holds = holds(step, classes, since, view.now);
            (holds || !strict).then_some(choice)
        })
    }
}

/// Whether the conditions of a step hold for an operation that has waited `since`.
fn holds(step: &Step, classes: &Classes, since: Time, now: Time) -> bool {
    now - since >= step.after
        && classes.pending_programs >= step.queued
        && (classes.gc_is_urgent || !step.urgent)
}

/// Whether a step resumes a suspended operation.
fn resumes(step: &Step, classes: &Classes) -> bool {
    let (class, suspended) = classes.operation.expect("only an operation is suspended");
    step.class.is_none() && suspended >= step.after && step.of.is_none_or(|of| of == class)
}

/// Returns the head of the queue of a class, and its waiting time, outside any operation.
fn waits(class: Class, view: &DieView, classes: &Classes) -> Option<(Choice, Time)> {
    let queued =
        [(view.read, classes.read, Choice::Read), (view.write, classes.write, Choice::Write)];
    let queued = queued.into_iter().find(|(_, of, _)| *of == class);
    if let Some((Some(waiter), _, choice)) = queued {
        return Some((choice, waiter.since));
    }
    let gc = view.urgent_gc.filter(|_| !view.gc_gives_way && classes.gc == Some(class))?;
    Some((Choice::Gc, gc.since))
}

impl Scheduler for Microcode {
    fn choose(&self, _: &DieView) -> Choice {
        unreachable!("it is asked with the classes")
    }

    fn choose_by_class(&self, view: &DieView, classes: &Classes) -> Choice {
        if view.suspended.is_some() {
            let inside = |step: &Step| {
                if resumes(step, classes) {
                    return Some(Choice::Resume);
                }
                let (since, choice) = match step.class? {
                    Class::HostWrite if view.write_fits_inside => {
                        (view.write?.since, Choice::Write)
                    }
                    class if class != classes.read || view.writes_first => return None,
                    Class::GcRead => view.read.map(|_| (classes.gc_since, Choice::Read))?,
                    _ => (view.read?.since, Choice::Read),
                };
                holds(step, classes, since, view.now).then_some(choice)
            };
            let first = self.steps.iter().find_map(inside).filter(|_| !view.must_resume);
            return first.unwrap_or(Choice::Resume);
        }
        if view.writes_first {
            return Choice::Write;
        }
        // Conditions set an order, and never keep a die with waiting transactions idle.
        let idle = if view.idle_gc { Choice::Gc } else { Choice::Wait };
        let first = self.outside(view, classes, true);
        first.or_else(|| self.outside(view, classes, false)).unwrap_or(idle)
    }

    fn suspends(&self) -> bool {
        true
    }

    fn sees_classes(&self) -> bool {
        true
    }

    fn allow_suspend(&self, view: &SuspendView) -> bool {
        let classes = view.classes.as_ref().expect("it asks for classes");
        let first = self.steps.iter().find_map(|step| {
            if resumes(step, classes) {
                return Some(false);
            }
            let since = asking(step.class?, view, classes)?;
            holds(step, classes, since, view.now).then_some(true)
        });
        first.unwrap_or(false)
    }

    fn asks_again(&self, view: &SuspendView) -> Option<Time> {
        let classes = view.classes.as_ref().expect("it asks for classes");
        let due = |step: &Step| Some(asking(step.class?, view, classes)? + step.after);
        self.steps.iter().filter_map(due).filter(|due| *due > view.now).min()
    }
}

/// Returns when the oldest transaction of a class that may suspend the operation started to wait.
fn asking(class: Class, view: &SuspendView, classes: &Classes) -> Option<Time> {
    match class {
        Class::HostRead => view.read.map(|read| read.since),
        Class::HostWrite => view.write.map(|write| write.since),
        // Only a read of garbage collection is left.
        Class::GcRead if view.read.is_none() && view.for_gc_read => Some(classes.gc_since),
        Class::GcRead | Class::GcProgram | Class::Erase => None,
    }
}
