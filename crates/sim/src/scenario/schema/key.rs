//! What the schema says about one key: its kind, range, default, when it applies and what it means.

use std::fmt;

use reprieve_base::Entry;

use super::super::Registries;

/// One key of the scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Full name, such as `timing.t_read_us`; without a dot for a key outside every section.
    pub full_name: &'static str,
    /// What it holds, with unit and range.
    pub kind: Kind,
    /// What holds when no layer gives it.
    pub default: Fallback,
    /// When it may be given.
    pub when: When,
    /// One sentence: what it means.
    pub doc: &'static str,
    /// Where the meaning or the default comes from; empty if it is ours.
    pub source: &'static str,
    /// Keys that it is another name for, all at once; mostly none.
    pub stands_for: &'static [&'static str],
}

/// What a key holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer from `min` to `max`, a multiple of `step`.
    Count {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Every value is a multiple of this.
        step: u64,
    },
    /// A number within an interval.
    Number(Interval),
    /// A time, a whole number of nanoseconds, written in a unit.
    Duration(Unit),
    /// `true` or `false`.
    Flag,
    /// One of a fixed list of words.
    Choice(&'static [Entry]),
    /// The name of an entry of a registry.
    Registered(Family),
    /// Any words.
    Text,
    /// The name of a built-in preset, or the path of a file.
    Preset,
    /// The path of a file.
    Path,
    /// A list out of `program`, `gc_program` and `erase`.
    Operations,
    /// A number of bytes, or a list of `[bytes, weight]`.
    Sizes,
    /// A list of times, whole numbers of nanoseconds, written in a unit.
    Durations(Unit),
    /// `concatenate`, `merge`, or a list of device numbers.
    Devices,
    /// A list of integers from `min` to `max`, at least one.
    Counts {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A list of different `[integer, weight]`, whole numbers from 1 on, at least one.
    Weights {
        /// Largest integer.
        max: u64,
        /// Most entries.
        most: usize,
    },
    /// A list of numbers within an interval, at least one.
    Numbers(Interval),
    /// A list of words out of a fixed one, at least one.
    Words(&'static [Entry]),
    /// A list of steps of the scheduler `microcode`.
    Steps,
}

/// A registry whose names a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Which transaction a die serves next.
    Scheduler,
    /// What goes first of all that waits in the drive.
    Dispatcher,
    /// When the controller asks for a suspension.
    SuspendPolicy,
    /// Where a page is written.
    Placement,
    /// Which block garbage collection empties.
    GcVictim,
    /// Which open block takes a page of the host.
    Stream,
    /// From which submission queue a command is fetched.
    Arbitration,
    /// How a trace is written.
    TraceFormat,
    /// Where generated requests come from.
    Generator,
}

/// The unit in which a duration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Keys that end in `_us`.
    Microseconds,
    /// Keys that end in `_s`.
    Seconds,
}

/// A range of numbers; an open end is not part of it.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
    /// Whether `min` itself is left out.
    pub min_open: bool,
    /// Whether `max` itself is left out.
    pub max_open: bool,
}

/// What holds when no layer gives a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// Nothing: the effect is off. The word `"none"` says the same, against an earlier layer.
    Absent,
    /// This, in TOML.
    Toml(&'static str),
    /// The value of another key, which stands earlier in the schema.
    SameAs(&'static str),
}

/// When a key may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// While this key is given.
    Given(&'static str),
    /// While this key has one of these values.
    Equals(&'static str, &'static [&'static str]),
    /// While the first key is given, or the second has one of these values.
    GivenOr(&'static str, &'static str, &'static [&'static str]),
    /// While the first key has one of these values, or the second one of those.
    EqualsOr(&'static str, &'static [&'static str], &'static str, &'static [&'static str]),
}

impl Key {
    /// The section, empty for a key outside every section.
    pub fn section(&self) -> &'static str {
        self.full_name.split_once('.').map_or("", |(section, _)| section)
    }

    /// The name within the section.
    pub fn name(&self) -> &'static str {
        self.full_name.split_once('.').map_or(self.full_name, |(_, name)| name)
    }

    /// Whether `"none"` is a value.
    pub fn is_optional(&self) -> bool {
        self.default == Fallback::Absent
    }

    /// What may be written, for errors and for the reference: "an integer from 1 to 8".
    pub fn expected(&self, registries: &Registries) -> String {
        let none = if self.is_optional() && self.kind.has_none() { ", or \"none\"" } else { "" };
        format!("{}{none}", self.kind.expected(registries))
    }
}

impl Kind {
    /// One word for programs: how the value is written in TOML.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Count { .. } => "integer",
            Kind::Number(_) => "number",
            Kind::Duration(Unit::Microseconds) => "duration_us",
            Kind::Duration(Unit::Seconds) => "duration_s",
            Kind::Flag => "boolean",
            Kind::Choice(_) | Kind::Registered(_) => "choice",
            Kind::Text => "string",
            Kind::Preset => "preset",
            Kind::Path => "path",
            Kind::Operations => "operations",
            Kind::Sizes => "sizes",
            Kind::Durations(Unit::Microseconds) => "durations_us",
            Kind::Durations(Unit::Seconds) => "durations_s",
            Kind::Devices => "devices",
            Kind::Counts { .. } => "integers",
            Kind::Weights { .. } => "weights",
            Kind::Numbers(_) => "numbers",
            Kind::Words(_) => "choices",
            Kind::Steps => "steps",
        }
    }

    /// Whether an optional key of this kind can be set back to absent by the word `"none"`.
    pub fn has_none(&self) -> bool {
        matches!(
            self,
            Kind::Count { .. }
                | Kind::Number(_)
                | Kind::Duration(_)
                | Kind::Sizes
                | Kind::Counts { .. }
                | Kind::Weights { .. }
                | Kind::Numbers(_)
                | Kind::Durations(_)
        )
    }

    /// The names a key of this kind takes; none if it does not take names.
    pub fn choices(&self, registries: &Registries) -> Vec<Entry> {
        match self {
            Kind::Choice(entries) | Kind::Words(entries) => entries.to_vec(),
            Kind::Registered(Family::TraceFormat) => {
                let auto = Entry { name: "auto", doc: "Found out from the content." };
                [&[auto], registries.trace_formats].concat()
            }
            Kind::Registered(family) => registries.of(*family).to_vec(),
            _ => Vec::new(),
        }
    }

    fn expected(&self, registries: &Registries) -> String {
        match self {
            Kind::Count { min, max, step: 1 } => format!("an integer from {min} to {max}"),
            Kind::Count { min, max, step } => {
                format!("a multiple of {step} from {min} to {max}")
            }
            Kind::Number(interval) => format!("a number {interval}"),
            Kind::Duration(unit) => {
                let (units, max) = (unit.plural(), unit.max());
                format!("a time in {units}, whole in nanoseconds, from 0 to {max}")
            }
            Kind::Flag => "true or false".to_string(),
            Kind::Choice(_) | Kind::Registered(_) => {
                let names = self.choices(registries);
                let quoted: Vec<_> = names.iter().map(|e| format!("{:?}", e.name)).collect();
                format!("one of {}", quoted.join(", "))
            }
            Kind::Text => "a string".to_string(),
            Kind::Preset => "the name of a preset or the path of a .toml file".to_string(),
            Kind::Path => "the path of a file".to_string(),
            Kind::Steps => super::super::steps::EXPECTED.to_string(),
            Kind::Operations => "a list out of \"program\", \"gc_program\", \"erase\"".to_string(),
            Kind::Sizes => "a multiple of 512 from 512 to 1073741824, or a list of \
                [such a multiple, weight above 0]"
                .to_string(),
            Kind::Counts { min, max } => format!("a list of integers from {min} to {max}"),
            Kind::Weights { max, most } => format!(
                "a list of 1 to {most} pairs [integer from 1 to {max}, weight from 1 to 65535] of \
                 different integers"
            ),
            Kind::Numbers(interval) => format!("a list of numbers {interval}"),
            Kind::Durations(unit) => {
                let (units, max) = (unit.plural(), unit.max());
                format!("a list of times in {units}, whole in nanoseconds, from 0 to {max}")
            }
            Kind::Words(_) => {
                let names = self.choices(registries);
                let quoted: Vec<_> = names.iter().map(|e| format!("{:?}", e.name)).collect();
                format!("a list out of {}", quoted.join(", "))
            }
            Kind::Devices => {
                "\"concatenate\", \"merge\" or a list of different device numbers".to_string()
            }
        }
    }
}

impl Unit {
    /// How many decimal digits a nanosecond lies below the unit.
    pub fn digits_to_ns(self) -> u32 {
        match self {
            Unit::Microseconds => 3,
            Unit::Seconds => 9,
        }
    }

    /// The largest duration, in the unit: 10^10 µs is nearly three hours, 10^9 s are 31 years.
    pub fn max(self) -> u64 {
        match self {
            Unit::Microseconds => 10_000_000_000,
            Unit::Seconds => 1_000_000_000,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Unit::Microseconds => "microseconds",
            Unit::Seconds => "seconds",
        }
    }
}

impl Interval {
    /// Whether `number` lies within; never true for NaN.
    pub fn contains(&self, number: f64) -> bool {
        (number > self.min || number == self.min && !self.min_open)
            && (number < self.max || number == self.max && !self.max_open)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.min_open { "above" } else { "at least" };
        let high = if self.max_open { "below" } else { "at most" };
        write!(f, "{low} {} and {high} {}", self.min, self.max)
    }
}
