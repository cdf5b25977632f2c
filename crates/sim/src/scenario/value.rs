//! Turns a value as written into a typed one by the kind of its key, and back into TOML.

use reprieve_base::{Dur, nearest};
use reprieve_trace::DeviceSelection;

use super::raw::Raw;
use super::schema::{Interval, Key, Kind, Unit};
use super::{OperationSet, Registries, Step, steps};

/// A typed value within the range of its key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Count(u64),
    Number(f64),
    Duration(Dur),
    Flag(bool),
    Text(String),
    Operations(OperationSet),
    Sizes(Vec<(u32, f64)>),
    Durations(Vec<Dur>),
    Devices(DeviceSelection),
    Counts(Vec<u64>),
    Weights(Vec<(u16, u16)>),
    Numbers(Vec<f64>),
    Words(Vec<String>),
    Steps(Vec<Step>),
}

/// The typed value of `raw` under `key`, `None` for `"none"`; or what is wrong, and what is right.
pub(super) fn parse(
    key: &Key,
    raw: &Raw,
    registries: &Registries,
) -> Result<Option<Value>, String> {
    if key.is_optional() && key.kind.has_none() && *raw == Raw::Text("none".to_string()) {
        return Ok(None);
    }
    let value = match key.kind {
        Kind::Count { min, max, step } => count(raw, min, max, step).map(Value::Count),
        Kind::Number(interval) => number(raw, interval).map(Value::Number),
        Kind::Duration(unit) => duration(raw, unit).map(Value::Duration),
        Kind::Flag => flag(raw).map(Value::Flag),
        Kind::Text | Kind::Preset | Kind::Path => text(raw).map(Value::Text),
        Kind::Choice(_) | Kind::Registered(_) => return choice(key, raw, registries).map(Some),
        Kind::Steps => return steps::parse(raw).map(Value::Steps).map(Some),
        Kind::Operations => operations(raw).map(Value::Operations),
        Kind::Sizes => sizes(raw).map(Value::Sizes),
        Kind::Durations(unit) => list(raw, |raw| duration(raw, unit)).map(Value::Durations),
        Kind::Devices => devices(raw).map(Value::Devices),
        Kind::Counts { min, max } => list(raw, |item| count(item, min, max, 1)).map(Value::Counts),
        Kind::Weights { max, most } => weights(raw, max, most).map(Value::Weights),
        Kind::Numbers(interval) => list(raw, |item| number(item, interval)).map(Value::Numbers),
        Kind::Words(entries) => {
            let known = |word: &String| entries.iter().any(|entry| entry.name == word);
            list(raw, |item| text(item).filter(known)).map(Value::Words)
        }
    };
    match value {
        Some(value) => Ok(Some(value)),
        None => Err(format!("must be {}", key.expected(registries))),
    }
}

fn count(raw: &Raw, min: u64, max: u64, step: u64) -> Option<u64> {
    let Raw::Integer(integer) = raw else { return None };
    let count = u64::try_from(*integer).ok()?;
    (min..=max).contains(&count).then_some(count).filter(|count| count % step == 0)
}

fn number(raw: &Raw, interval: Interval) -> Option<f64> {
    let number = match raw {
        Raw::Integer(integer) => *integer as f64,
        Raw::Decimal(digits) => digits.parse().ok()?,
        _ => return None,
    };
    // `-0.0` is 0 to every comparison, but not to the eye.
    interval.contains(number).then_some(number + 0.0)
}

pub(super) fn duration(raw: &Raw, unit: Unit) -> Option<Dur> {
    let power = unit.digits_to_ns();
    let ns = match raw {
        Raw::Integer(integer) => integer.checked_mul(10i128.pow(power))?,
        Raw::Decimal(digits) => scaled(digits, power)?,
        _ => return None,
    };
    let max_ns = i128::from(unit.max()) * 10i128.pow(power);
    let ns = u64::try_from(ns).ok()?;
    (i128::from(ns) <= max_ns).then_some(Dur::from_ns(ns))
}

/// The decimal `digits` × 10^`power`, exactly; `None` if that is not whole, or beyond 128 bits.
fn scaled(digits: &str, power: u32) -> Option<i128> {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let integer: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = i64::from(exponent) - fraction.len() as i64 + i64::from(power);
    let factor = 10i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?);
    match (integer, factor) {
        (0, _) => Some(0),
        (_, None) => None,
        (integer, Some(factor)) if shift >= 0 => integer.checked_mul(factor),
        (integer, Some(factor)) => (integer % factor == 0).then_some(integer / factor),
    }
}

fn flag(raw: &Raw) -> Option<bool> {
    match raw {
        Raw::Flag(flag) => Some(*flag),
        _ => None,
    }
}

fn text(raw: &Raw) -> Option<String> {
    match raw {
        Raw::Text(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

fn choice(key: &Key, raw: &Raw, registries: &Registries) -> Result<Value, String> {
    let choices = key.kind.choices(registries);
    let expected = key.expected(registries);
    let Raw::Text(text) = raw else { return Err(format!("must be {expected}")) };
    if choices.iter().any(|entry| entry.name == text) {
        return Ok(Value::Text(text.clone()));
    }
    match nearest(text, choices.iter().map(|entry| entry.name)) {
        Some(near) => Err(format!("must be {expected}; did you mean \"{near}\"?")),
        None => Err(format!("must be {expected}")),
    }
}

fn operations(raw: &Raw) -> Option<OperationSet> {
    let Raw::List(items) = raw else { return None };
    let mut set = OperationSet::default();
    for item in items {
        let Raw::Text(name) = item else { return None };
        match name.as_str() {
            "program" => set.program = true,
            "gc_program" => set.gc_program = true,
            "erase" => set.erase = true,
            _ => return None,
        }
    }
    Some(set)
}

fn sizes(raw: &Raw) -> Option<Vec<(u32, f64)>> {
    let size = |raw: &Raw| count(raw, 512, 1 << 30, 512).map(|bytes| bytes as u32);
    let weight =
        |raw: &Raw| number(raw, Interval { min: 0.0, max: 1e9, min_open: true, max_open: false });
    match raw {
        Raw::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| match item {
                Raw::List(pair) if pair.len() == 2 => Some((size(&pair[0])?, weight(&pair[1])?)),
                _ => None,
            })
            .collect(),
        _ => Some(vec![(size(raw)?, 1.0)]),
    }
}

/// A list of at least one value, each of which `item` reads.
fn list<T>(raw: &Raw, item: impl Fn(&Raw) -> Option<T>) -> Option<Vec<T>> {
    match raw {
        Raw::List(items) if !items.is_empty() => items.iter().map(item).collect(),
        _ => None,
    }
}

fn weights(raw: &Raw, max: u64, most: usize) -> Option<Vec<(u16, u16)>> {
    let pair = |item: &Raw| match item {
        Raw::List(pair) if pair.len() == 2 => {
            let weight = count(&pair[1], 1, u64::from(u16::MAX), 1)?;
            Some((count(&pair[0], 1, max, 1)? as u16, weight as u16))
        }
        _ => None,
    };
    let pairs = list(raw, pair)?;
    let is_new = |(index, pair): (usize, &(u16, u16))| {
        pairs[..index].iter().all(|before| before.0 != pair.0)
    };
    (pairs.len() <= most && pairs.iter().enumerate().all(is_new)).then_some(pairs)
}

fn devices(raw: &Raw) -> Option<DeviceSelection> {
    match raw {
        Raw::Text(text) if text == "concatenate" => Some(DeviceSelection::Concatenate),
        Raw::Text(text) if text == "merge" => Some(DeviceSelection::Merge),
        Raw::List(items) if !items.is_empty() => {
            let mut numbers = Vec::with_capacity(items.len());
            for item in items {
                let number = count(item, 0, u64::from(u32::MAX), 1)? as u32;
                if numbers.contains(&number) {
                    return None;
                }
                numbers.push(number);
            }
            Some(DeviceSelection::Only(numbers))
        }
        _ => None,
    }
}

impl Value {
    /// The value as its key would write it; what `parse` reads back as the same.
    pub fn raw(&self, key: &Key) -> Raw {
        match self {
            Value::Count(count) => Raw::Integer(i128::from(*count)),
            Value::Number(number) => Raw::Decimal(format!("{number:?}")),
            Value::Duration(dur) => {
                let Kind::Duration(unit) = key.kind else {
                    panic!("{} is no duration", key.full_name)
                };
                raw_duration(*dur, unit)
            }
            Value::Flag(flag) => Raw::Flag(*flag),
            Value::Text(text) => Raw::Text(text.clone()),
            Value::Operations(set) => raw_operations(*set),
            Value::Sizes(sizes) => raw_sizes(sizes),
            Value::Durations(durs) => {
                let Kind::Durations(unit) = key.kind else {
                    panic!("{} holds no durations", key.full_name)
                };
                Raw::List(durs.iter().map(|dur| raw_duration(*dur, unit)).collect())
            }
            Value::Devices(DeviceSelection::Concatenate) => Raw::Text("concatenate".to_string()),
            Value::Devices(DeviceSelection::Merge) => Raw::Text("merge".to_string()),
            Value::Devices(DeviceSelection::Only(numbers)) => {
                Raw::List(numbers.iter().map(|n| Raw::Integer(i128::from(*n))).collect())
            }
            Value::Counts(counts) => {
                Raw::List(counts.iter().map(|n| Raw::Integer(i128::from(*n))).collect())
            }
            Value::Numbers(numbers) => {
                Raw::List(numbers.iter().map(|n| Raw::Decimal(format!("{n:?}"))).collect())
            }
            Value::Weights(pairs) => {
                let whole = |n: u16| Raw::Integer(i128::from(n));
                let pair = |pair: &(u16, u16)| Raw::List(vec![whole(pair.0), whole(pair.1)]);
                Raw::List(pairs.iter().map(pair).collect())
            }
            Value::Steps(steps) => {
                Raw::List(steps.iter().map(|step| Raw::Text(step.to_string())).collect())
            }
            Value::Words(words) => Raw::List(words.iter().cloned().map(Raw::Text).collect()),
        }
    }
}

pub(super) fn raw_duration(dur: Dur, unit: Unit) -> Raw {
    let digits = unit.digits_to_ns() as usize;
    let factor = 10u64.pow(unit.digits_to_ns());
    let (whole, rest) = (dur.ns() / factor, dur.ns() % factor);
    if rest == 0 {
        return Raw::Integer(i128::from(whole));
    }
    let fraction = format!("{rest:0digits$}");
    Raw::Decimal(format!("{whole}.{}", fraction.trim_end_matches('0')))
}

fn raw_operations(set: OperationSet) -> Raw {
    let all = [(set.program, "program"), (set.gc_program, "gc_program"), (set.erase, "erase")];
    let chosen = all.into_iter().filter(|(chosen, _)| *chosen);
    Raw::List(chosen.map(|(_, name)| Raw::Text(name.to_string())).collect())
}

fn raw_sizes(sizes: &[(u32, f64)]) -> Raw {
    // A single size needs no weight, but one other than 1 must be written to be read back.
    if let [(bytes, 1.0)] = sizes {
        return Raw::Integer(i128::from(*bytes));
    }
    let pair = |(bytes, weight): &(u32, f64)| {
        Raw::List(vec![Raw::Integer(i128::from(*bytes)), Raw::Decimal(format!("{weight:?}"))])
    };
    Raw::List(sizes.iter().map(pair).collect())
}
