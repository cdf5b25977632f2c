//! Resolves every key: its leaf, parsed, or its default, or an error if it has neither.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use reprieve_base::UserError;
use reprieve_trace::{is_file, is_trace};

use super::Registries;
use super::key::{Fallback, Key, Kind, Need};
use super::keys::{key, keys};
use super::layers::Stack;
use super::parse;
use super::preset;
use super::raw::Raw;
use super::read::{Leaf, Leaves, Rank};
use super::types::{Host, Scenario};
use super::value::{Value, Values};

/// A scenario, its values, and the place of each.
pub(super) struct Resolved {
    pub scenario: Scenario,
    pub values: Values,
    /// The effective leaves; a key without one has its default.
    pub leaves: Leaves,
}

/// The purpose of a scenario, which decides whether it must have a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A run: it has.
    Run,
    /// The rig: it must not have one, and no mapping is used.
    Rig,
    /// A served drive: its clients are its workload.
    Serve,
}

/// Resolves every key of the stack. `file` is named if a key is missing, and paths of loads are
/// relative to the folder `base`.
pub(super) fn resolve(
    stack: Stack,
    file: &str,
    base: &Path,
    purpose: Use,
    registries: &Registries,
) -> Result<Resolved, UserError> {
    let mut leaves = stack.leaves;
    choose(&mut leaves, "host.link_bytes_per_s", "host.pcie_generation")?;
    choose_workload(&mut leaves, file, purpose)?;
    let mut resolved = Resolved { scenario: Scenario::default(), values: Values::new(), leaves };
    // Aliases have been replaced by their keys.
    for key in keys().iter().filter(|key| key.stands_for.is_empty()) {
        let is_ruled_out = purpose == Use::Rig && key.section() == "workload";
        if is_ruled_out || !applies(key, &resolved.values) {
            put_aside(key, &mut resolved, purpose)?;
            continue;
        }
        let value = value(key, &resolved.leaves, &resolved.values, registries)
            .ok_or_else(|| missing(key, &resolved, file, stack.device.as_deref(), registries))??;
        if let Some(value) = value {
            resolved.values.insert(key.full_name, value);
        }
    }
    resolved.locate_loads(base)?;
    resolved.build(stack.device);
    Ok(resolved)
}

/// The keys of the sources of requests; each excludes the others.
const LOADS: [&str; 3] = ["workload.trace", "workload.generator", "workload.fio"];

/// Decides which of the exclusive keys of `[workload]` is effective.
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

/// Of two exclusive keys keeps that of the later layer, and drops the other.
fn choose(leaves: &mut Leaves, one: &str, other: &str) -> Result<(), UserError> {
    let given = |name| leaves.get(name).filter(|leaf: &&Leaf| leaf.raw != Raw::none());
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

/// Whether `key` applies with these values, which include those that it depends on.
pub(super) fn applies(key: &Key, values: &Values) -> bool {
    let holds = |need: &Need| match values.get(need.key) {
        Some(Value::Text(text)) if !need.values.is_empty() => need.values.contains(&text.as_str()),
        Some(Value::Flag(flag)) if !need.values.is_empty() => {
            need.values.contains(&if *flag { "true" } else { "false" })
        }
        Some(_) => need.values.is_empty(),
        None => false,
    };
    key.when.is_empty() || key.when.iter().any(holds)
}

/// Drops the leaf of a key that does not apply if a later layer caused that; else it is an error.
fn put_aside(key: &Key, resolved: &mut Resolved, purpose: Use) -> Result<(), UserError> {
    let Some(leaf) = resolved.leaves.remove(key.full_name) else { return Ok(()) };
    if purpose == Use::Rig && key.section() == "workload" {
        return Err(leaf.fault(key.full_name, "the rig has no workload; leave it out"));
    }
    match rank_of_condition(key, &resolved.leaves) {
        rank if rank > leaf.rank => Ok(()),
        // A preset may state its power whether or not a run accounts for it.
        _ if key.section() == "power" && leaf.rank <= Rank::Device => Ok(()),
        _ => Err(leaf.fault(key.full_name, condition(key, resolved))),
    }
}

/// The latest layer that decides whether `key` applies.
fn rank_of_condition(key: &Key, leaves: &Leaves) -> Rank {
    let ranks = key.when.iter().map(|need| rank_of_choice(need.key, leaves));
    ranks.max().unwrap_or(Rank::Schema)
}

/// The latest layer that decides the value of the key `other`.
fn rank_of_choice(other: &str, leaves: &Leaves) -> Rank {
    let rank = |name: &str| leaves.get(name).map_or(Rank::Schema, |leaf| leaf.rank);
    let above = key(other).map_or(Rank::Schema, |other| rank_of_condition(other, leaves));
    let own = match other {
        // An absent key is excluded by the presence of another.
        other if LOADS.contains(&other) => LOADS.map(rank).into_iter().max().expect("three"),
        other => rank(other),
    };
    own.max(above)
}

/// The condition under which `key` applies, and the actual values.
fn condition(key: &Key, resolved: &Resolved) -> String {
    let is_on = |need: &&Need| resolved.values.contains_key(need.key);
    let other = key.when.iter().rfind(is_on).or(key.when.last());
    let other = other.unwrap_or_else(|| panic!("{} always applies", key.full_name)).key;
    let needed: Vec<_> = key.when.iter().map(|need| need.words("")).collect();
    let needed = needed.join(" or ");
    match (resolved.leaves.get(other), resolved.values.get(other)) {
        (Some(leaf), Some(_)) => {
            format!("only while {needed}, but it is {} at {}", leaf.raw, leaf.place)
        }
        (None, Some(value @ (Value::Text(_) | Value::Flag(_)))) => {
            format!("only while {needed}, but by default it is {}", value.raw(Kind::Text))
        }
        _ => format!("only while {needed}, and it is not given"),
    }
}

/// The value of a key that applies, `None` within if it is off; `None` if it is missing.
fn value(
    key: &Key,
    leaves: &Leaves,
    values: &Values,
    registries: &Registries,
) -> Option<Result<Option<Value>, UserError>> {
    let Some(leaf) = leaves.get(key.full_name) else {
        return fallback(key, values, registries).map(Ok);
    };
    let value = parse::parse(key, &leaf.raw, registries);
    Some(value.map_err(|what| leaf.fault(key.full_name, what)))
}

/// The value of a key that no layer gives, `Some(None)` if it is off; `None` if it is missing.
fn fallback(key: &Key, values: &Values, registries: &Registries) -> Option<Option<Value>> {
    match key.default {
        Fallback::Required => None,
        Fallback::Absent => Some(None),
        Fallback::SameAs(other) => Some(values.get(other).cloned()),
        Fallback::Toml(toml) => {
            let value = parse::parse(key, &Raw::of_toml(toml), registries);
            Some(value.unwrap_or_else(|what| panic!("default of {}: {what}", key.full_name)))
        }
    }
}

/// The error of a required key that no layer gives.
fn missing(
    key: &Key,
    so_far: &Resolved,
    file: &str,
    device: Option<&str>,
    registries: &Registries,
) -> UserError {
    let expected = key.expected(registries);
    let help = match (key.section(), device) {
        ("workload", _) => match &missing_after(key, so_far, registries)[..] {
            [] => String::new(),
            others => format!("; missing as well: {}", others.join(", ")),
        },
        (_, Some(device)) => format!("; device \"{device}\" has none"),
        (_, None) => {
            let names: Vec<_> = preset::devices().iter().map(|preset| preset.name).collect();
            format!("; or give device, one of {}, which has one", names.join(", "))
        }
    };
    UserError::new(format!("{} is missing: must be {expected}{help}", key.full_name)).at(file)
}

/// The other required keys of the section of `first` that no layer gives, so that a load is
/// completed at once; `so_far` has the values settled before it.
fn missing_after(first: &Key, so_far: &Resolved, registries: &Registries) -> Vec<&'static str> {
    let mut values = so_far.values.clone();
    let mut names = Vec::new();
    let later = keys().iter().skip_while(|key| key.full_name != first.full_name).skip(1);
    for key in later.filter(|key| key.section() == first.section() && key.stands_for.is_empty()) {
        if !applies(key, &values) {
            continue;
        }
        match value(key, &so_far.leaves, &values, registries) {
            Some(Ok(Some(value))) => _ = values.insert(key.full_name, value),
            Some(_) => (),
            None => names.push(key.full_name),
        }
    }
    names
}

impl Deref for Resolved {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl Resolved {
    /// Makes the paths of loads absolute, so that the resolved scenario runs from anywhere.
    fn locate_loads(&mut self, base: &Path) -> Result<(), UserError> {
        for name in ["workload.trace", "workload.fio", "workload.kv_trace"] {
            let Some(written) = self.values.get(name).map(Value::text) else { continue };
            let fault = |what: &str| self.fault(name, what);
            let is_there = if name == "workload.trace" { is_trace } else { is_file };
            let path = preset::locate_any(written, base, is_there).map_err(|what| fault(&what))?;
            let path = path.to_str();
            let path = path.ok_or_else(|| fault("the current folder's name is not UTF-8"))?;
            self.values.insert(name, Value::from(path));
        }
        Ok(())
    }

    /// Stores every value in the scenario.
    fn build(&mut self, device: Option<String>) {
        self.scenario = Scenario {
            device: device.unwrap_or_else(|| "custom".to_string()),
            host: Host { unwritten_costs_read: true, ..Host::default() },
            ..Scenario::default()
        };
        for key in keys() {
            if let Some(value) = self.values.get(key.full_name) {
                // A drive may lack the part of a key, which then has no effect.
                let _ = (key.place.set)(&mut self.scenario, value, &self.values);
            }
        }
    }

    /// An error that begins with the key `name` and its value, at their place.
    pub fn at(&self, name: &str, error: UserError) -> UserError {
        let Some(leaf) = self.leaves.get(name) else { return error.at("default") };
        let alias = leaf.alias.as_deref().unwrap_or(name);
        UserError::new(error.to_string().replacen(name, alias, 1)).at(&leaf.place)
    }

    /// Refuses the value of `name` if it is wrong, with the reason `what`.
    pub fn refuse<W: fmt::Display>(
        &self,
        name: &'static str,
        is_wrong: bool,
        what: impl FnOnce() -> W,
    ) -> Result<(), UserError> {
        if is_wrong { Err(self.fault(name, what())) } else { Ok(()) }
    }

    /// The error about the value of `name`, of whatever layer.
    pub fn fault(&self, name: &'static str, what: impl fmt::Display) -> UserError {
        if let Some(leaf) = self.leaves.get(name) {
            return leaf.fault(name, what);
        }
        let kind = key(name).unwrap_or_else(|| panic!("{name} is no key")).kind;
        let raw = self.values[name].raw(kind);
        Leaf { raw, place: "default".to_string(), rank: Rank::Schema, alias: None }
            .fault(name, what)
    }
}
