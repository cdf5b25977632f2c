//! The schema of one key: its kind, range, default, condition, and place in the scenario.

use reprieve_base::Entry;

use super::types::Scenario;
use super::unit::{Interval, Unit};
use super::value::{Value, Values};
use super::{Registries, steps};

/// A section of the scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name; empty for the keys before every section.
    pub name: &'static str,
    /// One sentence on its subject.
    pub doc: &'static str,
    /// Its keys, in canonical order; a key comes after those that it depends on.
    pub keys: &'static [Key],
}

/// One key of the scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Full name, such as `timing.t_read_us`; without a dot for a key outside every section.
    pub full_name: &'static str,
    /// The kind of its value, with unit and range.
    pub kind: Kind,
    /// Its value if no layer gives one.
    pub default: Fallback,
    /// It applies while one of these holds; empty: always.
    pub when: &'static [Need],
    /// One sentence on its meaning.
    pub doc: &'static str,
    /// Source of the meaning or the default; empty if it is ours.
    pub source: &'static str,
    /// Keys that it is an alias of, all at once; mostly none.
    pub stands_for: &'static [&'static str],
    /// Whether it may change while a drive is served.
    pub while_served: bool,
    /// Values that no drive can have: a run with one is a bound; `None`: given from outside.
    pub(super) design: Option<&'static [&'static str]>,
    /// Its place in the scenario.
    pub(super) place: Place,
}

/// The place of a key in the scenario, in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Returns the value there; `None`: none, or the scenario lacks the part.
    pub get: fn(&Scenario) -> Option<Value>,
    /// Sets the value there, one of all these; `None`: the scenario lacks the part.
    pub set: fn(&mut Scenario, &Value, &Values) -> Option<()>,
}

/// The kind of a key's value.
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
    Registered(fn(&Registries) -> Vec<Entry>),
    /// Any string.
    Text,
    /// The name of a built-in preset, or the path of a file.
    Preset,
    /// The path of a file.
    Path,
    /// A list of `program`, `gc_program` and `erase`.
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
    /// A list of different integers from 0 on, each with a list as of [`Kind::Weights`].
    WeightsByCount {
        /// Largest integer.
        max: u64,
        /// Most entries of a list.
        most: usize,
    },
    /// A list of numbers within an interval, at least one.
    Numbers(Interval),
    /// A number within an interval, or a list of such numbers, at least one.
    OneOrMore(Interval),
    /// A list of words from a fixed one, at least one.
    Words(&'static [Entry]),
    /// A list of steps of the scheduler `microcode`.
    Steps,
}

/// The value of a key that no layer gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// None: the effect is off. The word `"none"` overrides an earlier layer with this.
    Absent,
    /// A default, in TOML.
    Toml(&'static str),
    /// The value of another key, which comes earlier in the schema.
    SameAs(&'static str),
}

/// A condition on another key, which comes earlier in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its full name.
    pub key: &'static str,
    /// It has one of these values; empty: any.
    pub values: &'static [&'static str],
}

impl Need {
    /// The condition in words, with this around each name and value.
    pub(super) fn words(&self, quote: &str) -> String {
        let in_toml = |value: &&str| match *value {
            "true" | "false" => format!("{quote}{value}{quote}"),
            word => format!("{quote}\"{word}\"{quote}"),
        };
        let values: Vec<_> = self.values.iter().map(in_toml).collect();
        let is = if values.is_empty() { "given".to_string() } else { values.join(" or ") };
        format!("{quote}{}{quote} is {is}", self.key)
    }
}

impl Key {
    /// The section, empty for a key outside every section.
    pub fn section(&self) -> &'static str {
        self.full_name.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The name within the section.
    pub fn name(&self) -> &'static str {
        self.full_name.rsplit_once('.').map_or(self.full_name, |(_, name)| name)
    }

    /// Its role: `design` if a person chooses it, `environment` if it is given.
    pub fn role(&self) -> &'static str {
        let given = ["workload", "measure", "precondition", "power_loss"].contains(&self.section());
        if given || self.design.is_none() { "environment" } else { "design" }
    }

    /// Whether it may be absent.
    pub fn is_optional(&self) -> bool {
        self.default == Fallback::Absent
    }

    /// Whether `"none"` is a value.
    pub fn takes_none(&self) -> bool {
        self.is_optional() && self.kind.has_none()
    }

    /// The accepted values, for errors and for the reference: "an integer from 1 to 8".
    pub fn expected(&self, registries: &Registries) -> String {
        let none = if self.takes_none() { ", or \"none\"" } else { "" };
        format!("{}{none}", self.kind.expected(registries))
    }
}

impl Kind {
    /// The kind in one word, for programs: its form in TOML.
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
            Kind::WeightsByCount { .. } => "weights_by_integer",
            Kind::Numbers(_) => "numbers",
            Kind::OneOrMore(_) => "number_or_numbers",
            Kind::Words(_) => "choices",
            Kind::Steps => "steps",
        }
    }

    /// Whether an optional key of this kind can be set back to absent by the word `"none"`.
    pub fn has_none(&self) -> bool {
        let others = "boolean choice string preset path operations devices choices steps";
        !others.split(' ').any(|kind| kind == self.name())
    }

    /// The words that a key of this kind accepts; none for other kinds.
    pub fn choices(&self, registries: &Registries) -> Vec<Entry> {
        match self {
            Kind::Choice(entries) | Kind::Words(entries) => entries.to_vec(),
            Kind::Registered(of) => of(registries),
            _ => Vec::new(),
        }
    }

    fn expected(&self, registries: &Registries) -> String {
        let names = || {
            let names = self.choices(registries);
            names.iter().map(|entry| format!("{:?}", entry.name)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Kind::Count { min, max, step: 1 } => format!("an integer from {min} to {max}"),
            Kind::Count { min, max, step } => format!("a multiple of {step} from {min} to {max}"),
            Kind::Number(interval) => format!("a number {interval}"),
            Kind::Duration(unit) => format!("a time {unit}"),
            Kind::Flag => "true or false".to_string(),
            Kind::Choice(_) | Kind::Registered(_) => format!("one of {}", names()),
            Kind::Text => "a string".to_string(),
            Kind::Preset => "the name of a preset or the path of a .toml file".to_string(),
            Kind::Path => "the path of a file".to_string(),
            Kind::Steps => steps::EXPECTED.to_string(),
            Kind::Operations => "a list out of \"program\", \"gc_program\", \"erase\"".to_string(),
            Kind::Sizes => "a multiple of 512 from 512 to 1073741824, or a list of \
                [such a multiple, weight above 0]"
                .to_string(),
            Kind::Counts { min, max } => format!("a list of integers from {min} to {max}"),
            Kind::Weights { max, most } => format!(
                "a list of 1 to {most} pairs [integer from 1 to {max}, weight from 1 to 65535] of \
                 different integers"
            ),
            Kind::WeightsByCount { max, most } => format!(
                "a list of pairs [integer from 0 on, list of 1 to {most} pairs [integer from 1 to \
                 {max}, weight from 1 to 65535]], the integers of a list different"
            ),
            Kind::Numbers(interval) => format!("a list of numbers {interval}"),
            Kind::OneOrMore(interval) => {
                format!("a number {interval}, or a list of such numbers")
            }
            Kind::Durations(unit) => format!("a list of times {unit}"),
            Kind::Words(_) => format!("a list out of {}", names()),
            Kind::Devices => {
                "\"concatenate\", \"merge\" or a list of different device numbers".to_string()
            }
        }
    }
}
