//! Turns a value as written into one within the range of its key, and back into TOML.

use reprieve_base::nearest;

use super::Registries;
use super::key::{Key, Kind};
use super::quantity;
use super::raw::Raw;
use super::steps;
use super::types::OperationSet;
use super::unit::{Interval, duration, raw_duration};
use super::value::{Field, Value};

/// Parses `raw` as the value of `key`, `None` for `"none"`; an error states the right values.
pub(super) fn parse(
    key: &Key,
    raw: &Raw,
    registries: &Registries,
) -> Result<Option<Value>, String> {
    if key.takes_none() && *raw == Raw::none() {
        return Ok(None);
    }
    let raw = &quantity::plain(key, raw)
        .map_err(|what| format!("{what}must be {}", key.expected(registries)))?;
    let near = match (key.kind, raw) {
        (Kind::Steps, _) => return steps::parse(raw).map(|steps| steps.value()),
        (Kind::Choice(_) | Kind::Registered(_), Raw::Text(word)) => {
            let choices = key.kind.choices(registries);
            if choices.iter().any(|entry| entry.name == word) {
                return Ok(Some(Value::Text(word.clone())));
            }
            did_you_mean(word, choices.iter().map(|entry| entry.name))
        }
        (kind, _) => match of_kind(kind, raw) {
            Some(value) => return Ok(Some(value)),
            None => String::new(),
        },
    };
    Err(format!("must be {}{near}", key.expected(registries)))
}

/// Suggests the known word nearest to a mistyped one.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"))
}

/// The value of a kind without names.
fn of_kind(kind: Kind, raw: &Raw) -> Option<Value> {
    match kind {
        Kind::Count { min, max, step } => count(raw, min, max, step),
        Kind::Number(interval) => number(raw, interval),
        Kind::Duration(unit) => duration(raw, unit).map(Value::Duration),
        Kind::Flag => match raw {
            Raw::Flag(flag) => Some(Value::Flag(*flag)),
            _ => None,
        },
        Kind::Text | Kind::Preset | Kind::Path => text(raw),
        Kind::Choice(_) | Kind::Registered(_) | Kind::Steps => None,
        Kind::Operations => match raw {
            Raw::List(items) if items.is_empty() => Some(Value::List(Vec::new())),
            _ => list(raw, |item| {
                text(item).filter(|word| OperationSet::WORDS.contains(&word.text()))
            }),
        },
        Kind::Sizes => sizes(raw),
        Kind::Durations(unit) => list(raw, |raw| duration(raw, unit).map(Value::Duration)),
        Kind::Devices => match raw {
            Raw::Text(word) => text(raw).filter(|_| word == "concatenate" || word == "merge"),
            _ => list(raw, |item| count(item, 0, u64::from(u32::MAX), 1)).filter(all_differ),
        },
        Kind::Counts { min, max } => list(raw, |item| count(item, min, max, 1)),
        Kind::Weights { max, most } => weights(raw, max, most),
        Kind::WeightsByCount { max, most } => {
            let by = |raw: &Raw| count(raw, 0, u64::from(u32::MAX), 1);
            list(raw, |item| pair(item, by, |raw| weights(raw, max, most))).filter(firsts_differ)
        }
        Kind::Numbers(interval) => list(raw, |item| number(item, interval)),
        Kind::OneOrMore(interval) => match raw {
            Raw::List(_) => list(raw, |item| number(item, interval)),
            _ => Some(Value::List(vec![number(raw, interval)?])),
        },
        Kind::Words(entries) => {
            let known = |word: &Value| entries.iter().any(|entry| entry.name == word.text());
            list(raw, |item| text(item).filter(known))
        }
    }
}

fn count(raw: &Raw, min: u64, max: u64, step: u64) -> Option<Value> {
    let Raw::Integer(integer) = raw else { return None };
    let count = u64::try_from(*integer).ok()?;
    let is_right = (min..=max).contains(&count) && count % step == 0;
    is_right.then_some(Value::Count(count))
}

fn number(raw: &Raw, interval: Interval) -> Option<Value> {
    let number = match raw {
        Raw::Integer(integer) => *integer as f64,
        Raw::Decimal(digits) => digits.parse().ok()?,
        _ => return None,
    };
    // `-0.0` is 0 to every comparison, but not to the eye.
    interval.contains(number).then_some(Value::Number(number + 0.0))
}

fn text(raw: &Raw) -> Option<Value> {
    match raw {
        Raw::Text(text) if !text.is_empty() => Some(Value::Text(text.clone())),
        _ => None,
    }
}

/// A list of at least one value, each of which `item` reads.
fn list(raw: &Raw, item: impl Fn(&Raw) -> Option<Value>) -> Option<Value> {
    match raw {
        Raw::List(items) if !items.is_empty() => {
            items.iter().map(item).collect::<Option<_>>().map(Value::List)
        }
        _ => None,
    }
}

fn pair(
    raw: &Raw,
    first: impl Fn(&Raw) -> Option<Value>,
    second: impl Fn(&Raw) -> Option<Value>,
) -> Option<Value> {
    match raw {
        Raw::List(pair) if pair.len() == 2 => {
            Some(Value::List(vec![first(&pair[0])?, second(&pair[1])?]))
        }
        _ => None,
    }
}

fn weights(raw: &Raw, max: u64, most: usize) -> Option<Value> {
    let weight = |raw: &Raw| count(raw, 1, u64::from(u16::MAX), 1);
    list(raw, |item| pair(item, |raw| count(raw, 1, max, 1), weight))
        .filter(|pairs| pairs.items().len() <= most && firsts_differ(pairs))
}

fn sizes(raw: &Raw) -> Option<Value> {
    let size = |raw: &Raw| count(raw, 512, 1 << 30, 512);
    let interval = Interval { min: 0.0, max: 1e9, min_open: true, max_open: false };
    match raw {
        Raw::List(_) => list(raw, |item| pair(item, size, |raw| number(raw, interval))),
        _ => Some(Value::List(vec![Value::List(vec![size(raw)?, Value::Number(1.0)])])),
    }
}

/// Whether no two pairs of a list have the same first value.
fn firsts_differ(pairs: &Value) -> bool {
    all_differ(&Value::List(pairs.items().iter().map(|pair| pair.items()[0].clone()).collect()))
}

fn all_differ(list: &Value) -> bool {
    let items = list.items();
    items.iter().enumerate().all(|(index, item)| !items[..index].contains(item))
}

impl Value {
    /// The value in the form of this kind; `parse` reads it back as the same.
    pub(super) fn raw(&self, kind: Kind) -> Raw {
        match (self, kind) {
            (Value::Count(count), _) => Raw::Integer(i128::from(*count)),
            (Value::Number(number), _) => Raw::Decimal(format!("{number:?}")),
            (Value::Duration(dur), Kind::Duration(unit) | Kind::Durations(unit)) => {
                raw_duration(*dur, unit)
            }
            (Value::Duration(dur), kind) => panic!("{dur} as {}", kind.name()),
            (Value::Flag(flag), _) => Raw::Flag(*flag),
            (Value::Text(text), _) => Raw::Text(text.clone()),
            // A single size needs no weight, but one other than 1 must be written to be read back.
            (Value::List(items), Kind::Sizes)
                if items.len() == 1 && items[0].items()[1] == Value::Number(1.0) =>
            {
                items[0].items()[0].raw(kind)
            }
            (Value::List(items), Kind::OneOrMore(_)) if items.len() == 1 => items[0].raw(kind),
            // A pair among sizes is no list of them.
            (Value::List(items), Kind::Sizes) => {
                let of_pair = |pair: &Value| match pair {
                    Value::List(pair) => Raw::List(pair.iter().map(|v| v.raw(kind)).collect()),
                    other => other.raw(kind),
                };
                Raw::List(items.iter().map(of_pair).collect())
            }
            (Value::List(items), kind) => {
                Raw::List(items.iter().map(|item| item.raw(kind)).collect())
            }
        }
    }
}
