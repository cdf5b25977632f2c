//! The steps of the scheduler `microcode`: one line of its program each, as a scenario writes them.

use std::fmt;

use reprieve_base::{Dur, nearest};

use super::raw::Raw;
use super::unit::{self, Unit};
use super::value::{Field, Value, words};

words! {
    /// The class of a waiting or running operation; a controller may have a queue for each.
    Class {
        "host_read" = HostRead,
            "Reads for the host: its pages, old pages under its writes, pages of the mapping.";
        "host_write" = HostWrite, "Programs for the host, and of the mapping.";
        "gc_read" = GcRead, "Reads of garbage collection.";
        "gc_program" = GcProgram, "Programs and copybacks of garbage collection.";
        "erase" = Erase, "Erases.";
    }
}

/// A step: an action that is taken if it is possible and its conditions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The queue whose head is served; `None`: the suspended operation resumes.
    pub class: Option<Class>,
    /// The head has waited this long, or the operation was suspended this long in all.
    pub after: Dur,
    /// Minimum number of programs that wait at the die.
    pub queued: u32,
    /// A plane has no room for host writes until garbage collection frees some.
    pub urgent: bool,
    /// Resume: only an operation of this class.
    pub of: Option<Class>,
}

const RESUME: &str = "resume";

impl Class {
    fn of_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Whether it is a class of garbage collection; erases are.
    fn is_gc(self) -> bool {
        !matches!(self, Class::HostRead | Class::HostWrite)
    }
}

/// The form of a list of steps, for errors and the reference.
pub(super) const EXPECTED: &str = "a list of steps: host_read, host_write, gc_read, gc_program, \
    erase or resume, each with conditions behind it: after_us=N, queued=N (host_write), urgent \
    (gc_read, gc_program, erase), of=CLASS (resume)";

/// Parses a list of steps.
pub(super) fn parse(raw: &Raw) -> Result<Vec<Step>, String> {
    let Raw::List(items) = raw else { return Err(format!("must be {EXPECTED}")) };
    let step = |item: &Raw| match item {
        Raw::Text(text) => step(text).map_err(|what| format!("step \"{text}\": {what}")),
        other => Err(format!("step {other}: must be a string")),
    };
    let steps = items.iter().map(step).collect::<Result<Vec<Step>, String>>()?;
    let wanted = Class::ALL.into_iter().map(|class| (class.name(), Some(class)));
    for (name, class) in wanted.chain([(RESUME, None)]) {
        if !steps.iter().any(|step| step.class == class) {
            return Err(format!("has no step {name}; must have one of every class, and resume"));
        }
    }
    Ok(steps)
}

/// Parses a step.
pub(super) fn step(text: &str) -> Result<Step, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let class = Class::of_name(name);
    if class.is_none() && name != RESUME {
        let known: Vec<_> = names().collect();
        let near =
            nearest(name, names()).map_or(String::new(), |near| format!("; did you mean {near}?"));
        return Err(format!("no class; must begin with one of {}{near}", known.join(", ")));
    }
    let mut step = Step { class, after: Dur::ZERO, queued: 0, urgent: false, of: None };
    for word in words {
        condition(&mut step, word)?;
    }
    Ok(step)
}

fn names() -> impl Iterator<Item = &'static str> {
    Class::ALL.into_iter().map(Class::name).chain([RESUME])
}

fn condition(step: &mut Step, word: &str) -> Result<(), String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    match (name, step.class) {
        ("after_us", _) => {
            step.after = unit::duration(&Raw::Decimal(value.to_string()), Unit::Microseconds)
                .ok_or("after_us must be a time in microseconds, whole in nanoseconds")?;
        }
        ("queued", Some(Class::HostWrite)) => {
            let count = value.parse().ok().filter(|count| *count > 0);
            step.queued = count.ok_or("queued must be a whole number above 0")?;
        }
        ("urgent", Some(class)) if class.is_gc() && value.is_empty() => step.urgent = true,
        ("of", None) => {
            let class = Class::of_name(value).filter(|class| {
                matches!(class, Class::HostWrite | Class::GcProgram | Class::Erase)
            });
            step.of = Some(class.ok_or("of must be one of host_write, gc_program, erase")?);
        }
        _ => return Err(format!("\"{word}\" is no condition of it; must be left out")),
    }
    Ok(())
}

impl Field for Step {
    fn of(value: &Value) -> Self {
        step(value.text()).expect("it was read before")
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Text(self.to_string()))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.map_or(RESUME, Class::name))?;
        if let Some(of) = self.of {
            write!(f, " of={}", of.name())?;
        }
        if self.urgent {
            f.write_str(" urgent")?;
        }
        if self.queued > 0 {
            write!(f, " queued={}", self.queued)?;
        }
        if self.after > Dur::ZERO {
            let us = unit::raw_duration(self.after, Unit::Microseconds);
            write!(f, " after_us={us}")?;
        }
        Ok(())
    }
}
