//! Settles every key: its leaf, parsed, or its default, or an error where it has neither.

use std::collections::BTreeMap;
use std::path::Path;

use reprieve_base::{Dur, UserError};
use reprieve_trace::is_trace;

use super::layers::Stack;
use super::raw::{Leaf, Leaves, Rank, Raw};
use super::schema::{self, Fallback, Key, When};
use super::value::{self, Value};
use super::{OperationSet, Registries, Step, preset};

/// The settled values by full name; a key without one is off or does not apply.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

/// The settled values, and where each was written.
pub(super) struct Resolved {
    pub values: Values,
    /// The leaves that hold; a key without one has its default.
    pub leaves: Leaves,
}

/// Whether the scenario has to have a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A run: it has.
    Run,
    /// The rig: it must not have one, and no mapping is used.
    Rig,
    /// A served drive: its clients are its workload.
    Serve,
}

/// Settles every key of the stack. `file` is named where a key is missing.
pub(super) fn resolve(
    stack: Stack,
    file: &str,
    purpose: Use,
    registries: &Registries,
) -> Result<Resolved, UserError> {
    let mut leaves = stack.leaves;
    choose(&mut leaves, "host.link_bytes_per_s", "host.pcie_generation")?;
    choose_workload(&mut leaves, file, purpose)?;
    let mut resolved = Resolved { values: Values::default(), leaves };
    // What stands for others has become those.
    for key in schema::keys().iter().filter(|key| key.stands_for.is_empty()) {
        let is_ruled_out = purpose == Use::Rig && key.section() == "workload";
        if is_ruled_out || !applies(key, &resolved.values) {
            put_aside(key, &mut resolved, purpose)?;
            continue;
        }
        let value = match resolved.leaves.get(key.full_name) {
            Some(leaf) => value::parse(key, &leaf.raw, registries)
                .map_err(|what| leaf.fault(key.full_name, what))?,
            None => fallback(key, &resolved.values, registries)
                .ok_or_else(|| missing(key, file, stack.device.as_deref(), registries))?,
        };
        if let Some(value) = value {
            resolved.values.0.insert(key.full_name, value);
        }
    }
    Ok(resolved)
}

/// The keys that say where requests come from; each is ruled out by the presence of another.
const LOADS: [&str; 3] = ["workload.trace", "workload.generator", "workload.fio"];

/// Settles which of the keys of `[workload]` that exclude each other hold.
fn choose_workload(leaves: &mut Leaves, file: &str, purpose: Use) -> Result<(), UserError> {
    if purpose != Use::Run {
        return Ok(());
    }
    if !LOADS.iter().any(|name| leaves.contains_key(name)) {
        let what = "[workload] has neither trace nor generator nor fio; \
            give one, such as generator = \"mixed\"";
        return Err(UserError::new(what).at(file));
    }
    choose(leaves, "workload.trace", "workload.generator")?;
    choose(leaves, "workload.fio", "workload.trace")?;
    choose(leaves, "workload.fio", "workload.generator")?;
    choose(leaves, "workload.footprint_bytes", "workload.footprint_share")
}

/// Of two keys that exclude each other the later layer's holds, and the other is dropped.
fn choose(leaves: &mut Leaves, one: &str, other: &str) -> Result<(), UserError> {
    let off = Raw::Text("none".to_string());
    let given = |name| leaves.get(name).filter(|leaf: &&Leaf| leaf.raw != off);
    let (Some(first), Some(second)) = (given(one), given(other)) else { return Ok(()) };
    if first.rank == second.rank {
        let what =
            format!("contradicts {other} = {} at {}; give one of them", second.raw, second.place);
        return Err(first.fault(one, what));
    }
    let aside = if first.rank > second.rank { other } else { one };
    leaves.remove(aside);
    Ok(())
}

/// Whether `key` may be given beside these values, which hold those that it depends on.
pub(super) fn applies(key: &Key, values: &Values) -> bool {
    match key.when {
        When::Always => true,
        When::Given(other) => values.get(other).is_some(),
        When::Equals(other, allowed) => is_one_of(other, allowed, values),
        When::GivenOr(given, other, allowed) => {
            values.get(given).is_some() || is_one_of(other, allowed, values)
        }
        When::EqualsOr(one, of_one, other, of_other) => {
            is_one_of(one, of_one, values) || is_one_of(other, of_other, values)
        }
    }
}

fn is_one_of(name: &str, allowed: &[&str], values: &Values) -> bool {
    match values.get(name) {
        Some(Value::Text(text)) => allowed.contains(&text.as_str()),
        _ => false,
    }
}

/// Drops the leaf of a key that does not apply if a later layer made it so; else it is a mistake.
fn put_aside(key: &Key, resolved: &mut Resolved, purpose: Use) -> Result<(), UserError> {
    let Some(leaf) = resolved.leaves.remove(key.full_name) else { return Ok(()) };
    if purpose == Use::Rig && key.section() == "workload" {
        return Err(leaf.fault(key.full_name, "the rig has no workload; leave it out"));
    }
    match rank_of_condition(key, &resolved.leaves) {
        rank if rank > leaf.rank => Ok(()),
        // A preset may know what it draws whether or not a run asks for it.
        _ if key.section() == "power" && leaf.rank <= Rank::Device => Ok(()),
        _ => Err(leaf.fault(key.full_name, condition(key, resolved))),
    }
}

/// The latest layer that had a say in whether `key` applies.
fn rank_of_condition(key: &Key, leaves: &Leaves) -> Rank {
    match key.when {
        When::Always => Rank::Schema,
        // What is not given is ruled out by the presence of the other key's own condition.
        When::Given(other) | When::Equals(other, _) | When::GivenOr(_, other, _) => {
            rank_of_choice(other, leaves)
        }
        When::EqualsOr(one, _, other, _) => {
            rank_of_choice(one, leaves).max(rank_of_choice(other, leaves))
        }
    }
}

/// The latest layer that had a say in the value of the key `other`.
fn rank_of_choice(other: &str, leaves: &Leaves) -> Rank {
    let rank = |name: &str| leaves.get(name).map_or(Rank::Schema, |leaf| leaf.rank);
    let above = schema::key(other).map_or(Rank::Schema, |other| rank_of_condition(other, leaves));
    let own = match other {
        other if LOADS.contains(&other) => LOADS.map(rank).into_iter().max().expect("three"),
        other => rank(other),
    };
    own.max(above)
}

/// What would have to hold for `key` to apply, and what holds instead.
fn condition(key: &Key, resolved: &Resolved) -> String {
    let (other, needed) = match key.when {
        When::Always => panic!("{} always applies", key.full_name),
        When::Given(other) => (other, format!("{other} is given")),
        When::Equals(other, allowed) => (other, format!("{other} is {}", one_of(allowed))),
        When::GivenOr(given, other, allowed) => {
            (other, format!("{given} is given or {other} is {}", one_of(allowed)))
        }
        When::EqualsOr(one, of_one, other, of_other) => {
            let needed = format!("{one} is {} or {other} is {}", one_of(of_one), one_of(of_other));
            (if resolved.values.get(one).is_some() { one } else { other }, needed)
        }
    };
    match (resolved.leaves.get(other), resolved.values.get(other)) {
        (Some(leaf), Some(_)) => {
            format!("only while {needed}, but it is {} at {}", leaf.raw, leaf.place)
        }
        (None, Some(Value::Text(text))) => {
            format!("only while {needed}, but by default it is \"{text}\"")
        }
        _ => format!("only while {needed}, and it is not given"),
    }
}

fn one_of(allowed: &[&str]) -> String {
    allowed.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ")
}

/// The value of a key that no layer gives, `Some(None)` if it is off; `None` if it is missing.
fn fallback(key: &Key, values: &Values, registries: &Registries) -> Option<Option<Value>> {
    match key.default {
        Fallback::Required => None,
        Fallback::Absent => Some(None),
        Fallback::SameAs(other) => Some(Some(values.need(other).clone())),
        Fallback::Toml(toml) => {
            let value = value::parse(key, &Raw::of_toml(toml), registries);
            Some(value.unwrap_or_else(|what| panic!("default of {}: {what}", key.full_name)))
        }
    }
}

/// The error of a required key that no layer gives.
fn missing(key: &Key, file: &str, device: Option<&str>, registries: &Registries) -> UserError {
    let expected = key.expected(registries);
    let help = match (key.section(), device) {
        ("workload", _) => String::new(),
        (_, Some(device)) => format!("; device \"{device}\" has none"),
        (_, None) => {
            let names: Vec<_> = preset::devices().iter().map(|preset| preset.name).collect();
            format!("; or give device, one of {}, which has one", names.join(", "))
        }
    };
    UserError::new(format!("{} is missing: must be {expected}{help}", key.full_name)).at(file)
}

impl Values {
    /// The values of these pairs, without those that are off.
    pub fn of(pairs: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Values {
        let known = |name: &str| assert!(schema::key(name).is_some(), "{name} is no key");
        let pairs = pairs.into_iter().inspect(|(name, _)| known(name));
        Values(pairs.filter_map(|(name, value)| Some((name, value?))).collect())
    }

    /// The value of `name`, if it is on.
    pub fn get(&self, name: &str) -> Option<&Value> {
        assert!(schema::key(name).is_some(), "{name} is no key");
        self.0.get(name)
    }

    /// The value of a key that always has one.
    pub fn need(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("{name} has no value"))
    }

    pub fn count(&self, name: &str) -> u64 {
        self.count_if_on(name).unwrap_or_else(|| panic!("{name} has no count"))
    }

    pub fn count_if_on(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    pub fn u32(&self, name: &str) -> u32 {
        u32::try_from(self.count(name)).expect("the schema bounds it")
    }

    pub fn u32_if_on(&self, name: &str) -> Option<u32> {
        let count = self.count_if_on(name)?;
        Some(u32::try_from(count).expect("the schema bounds it"))
    }

    pub fn number(&self, name: &str) -> f64 {
        self.number_if_on(name).unwrap_or_else(|| panic!("{name} has no number"))
    }

    pub fn number_if_on(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn sizes_if_on(&self, name: &str) -> Option<&Vec<(u32, f64)>> {
        match self.get(name) {
            Some(Value::Sizes(sizes)) => Some(sizes),
            _ => None,
        }
    }

    pub fn durs_if_on(&self, name: &str) -> Option<&Vec<Dur>> {
        match self.get(name) {
            Some(Value::Durations(durs)) => Some(durs),
            _ => None,
        }
    }

    pub fn dur(&self, name: &str) -> Dur {
        self.dur_if_on(name).unwrap_or_else(|| panic!("{name} has no duration"))
    }

    pub fn dur_if_on(&self, name: &str) -> Option<Dur> {
        match self.get(name) {
            Some(Value::Duration(dur)) => Some(*dur),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str) -> bool {
        match self.need(name) {
            Value::Flag(flag) => *flag,
            other => panic!("{name} is no flag: {other:?}"),
        }
    }

    pub fn text(&self, name: &str) -> &str {
        self.text_if_on(name).unwrap_or_else(|| panic!("{name} has no text"))
    }

    pub fn text_if_on(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn counts_if_on(&self, name: &str) -> Option<&[u64]> {
        match self.get(name) {
            Some(Value::Counts(counts)) => Some(counts),
            _ => None,
        }
    }

    pub fn numbers_if_on(&self, name: &str) -> Option<&[f64]> {
        match self.get(name) {
            Some(Value::Numbers(numbers)) => Some(numbers),
            _ => None,
        }
    }

    pub fn weights_if_on(&self, name: &str) -> Option<&[(u16, u16)]> {
        match self.get(name) {
            Some(Value::Weights(weights)) => Some(weights),
            _ => None,
        }
    }

    pub fn steps_if_on(&self, name: &str) -> Option<&[Step]> {
        match self.get(name) {
            Some(Value::Steps(steps)) => Some(steps),
            _ => None,
        }
    }

    pub fn words_if_on(&self, name: &str) -> Option<&[String]> {
        match self.get(name) {
            Some(Value::Words(words)) => Some(words),
            _ => None,
        }
    }

    pub fn operations(&self, name: &str) -> OperationSet {
        match self.need(name) {
            Value::Operations(set) => *set,
            other => panic!("{name} is no set of operations: {other:?}"),
        }
    }
}

impl Resolved {
    /// Makes the paths of loads absolute, so that the resolved scenario runs from anywhere.
    pub fn locate_loads(&mut self, base: &Path) -> Result<(), UserError> {
        for name in ["workload.trace", "workload.fio"] {
            let Some(written) = self.values.text_if_on(name) else { continue };
            let fault = |what: &str| self.fault(name, what);
            let is_there = if name == "workload.trace" { is_trace } else { Path::is_file };
            let path = preset::locate_any(written, base, is_there).map_err(|what| fault(&what))?;
            let path = path.to_str();
            let path = path.ok_or_else(|| fault("the current folder's name is not UTF-8"))?;
            let value = Value::Text(path.to_string());
            self.values.0.insert(name, value);
        }
        Ok(())
    }

    /// An error that begins with the key `name` and its value, at the place of that.
    pub fn at(&self, name: &str, error: UserError) -> UserError {
        match self.leaves.get(name) {
            None => error.at("default"),
            Some(Leaf { place, alias: None, .. }) => error.at(place),
            Some(Leaf { place, alias: Some(alias), .. }) => {
                UserError::new(error.to_string().replacen(name, alias, 1)).at(place)
            }
        }
    }

    /// The error that the settled value of `name` makes, wherever it comes from.
    pub fn fault(&self, name: &'static str, what: impl std::fmt::Display) -> UserError {
        if let Some(leaf) = self.leaves.get(name) {
            return leaf.fault(name, what);
        }
        let key = schema::key(name).unwrap_or_else(|| panic!("{name} is no key"));
        let raw = self.values.need(name).raw(key);
        Leaf { raw, place: "default".to_string(), rank: Rank::Schema, alias: None }
            .fault(name, what)
    }
}
