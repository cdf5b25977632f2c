//! Prints a scenario as self-contained TOML: every key that applies, no preset needed.

use reprieve_trace::WorkloadConfig;

use super::key::Key;
use super::keys::{SECTIONS, keys};
use super::raw::Raw;
use super::resolve::applies;
use super::types::{EquilibriumLoad, Scenario};
use super::value::Values;

/// The canonical TOML of a scenario; loading it gives an equal one.
pub fn print(scenario: &Scenario) -> String {
    let values = values(scenario);
    let mut toml = String::new();
    let has_load = scenario.workload.is_some() || scenario.fio.is_some();
    for section in SECTIONS.iter().filter(|section| section.name != "workload" || has_load) {
        let mut keys = String::new();
        push_keys(&mut keys, section.keys.iter(), &values);
        // A table inside another is printed only if it is not empty.
        let is_left_out = section.name.contains('.') && keys.is_empty();
        if !section.name.is_empty() && !is_left_out {
            toml.push_str(&format!("\n[{}]\n", section.name));
        }
        toml.push_str(&keys);
        if section.name == "ftl" {
            toml.push_str(&collection_slack(scenario));
        }
    }
    if let EquilibriumLoad::Given(load) = &scenario.equilibrium {
        push_load(&mut toml, "precondition.load", scenario, load);
    }
    if scenario.fio.is_some() {
        return toml;
    }
    // A drive without a load may still have this key.
    let is_told = !scenario.flows.is_empty() || !has_load && !scenario.host.unwritten_costs_read;
    if is_told {
        let unwritten = if scenario.host.unwritten_costs_read { "flash" } else { "zero" };
        toml.push_str(&format!("\n[workload]\nunwritten = \"{unwritten}\"\n"));
    }
    for flow in &scenario.flows {
        let alone = Scenario {
            queues: flow.queues.clone(),
            handle: flow.handle,
            channels: flow.channels.clone(),
            dies: flow.dies.clone(),
            ..scenario.clone()
        };
        push_load(&mut toml, &format!("flow.{}", flow.name), &alone, &flow.workload);
    }
    toml
}

/// Adds a table with the keys of a load.
fn push_load(toml: &mut String, table: &str, scenario: &Scenario, load: &WorkloadConfig) {
    let alone =
        Scenario { workload: Some(load.clone()), flows: Vec::new(), fio: None, ..scenario.clone() };
    let of_all = |key: &&Key| key.full_name != "workload.unwritten";
    let keys = keys().iter().filter(|key| key.section() == "workload").filter(of_all);
    toml.push_str(&format!("\n[{table}]\n"));
    push_keys(toml, keys, &values(&alone));
}

/// The values of the keys that apply.
pub(super) fn values(scenario: &Scenario) -> Values {
    let mut values = Values::new();
    for key in keys().iter().filter(|key| key.stands_for.is_empty()) {
        let value = if applies(key, &values) { (key.place.get)(scenario) } else { None };
        if let Some(value) = value {
            values.insert(key.full_name, value);
        }
    }
    values
}

/// Returns a comment: the numbers of free blocks between which collection has its slack.
fn collection_slack(scenario: &Scenario) -> String {
    let margins = &scenario.collection_margins();
    match margins.start_blocks {
        0 => format!(
            "# Collection begins where it must: with {} free blocks of a plane.\n",
            margins.reserve_blocks
        ),
        start => format!(
            "# Collection begins below {start} free blocks of a plane; {} are reserved, {} kept \
             for open blocks beyond the first: a slack of {}.\n",
            margins.reserve_blocks, margins.further_open_blocks, margins.slack_blocks
        ),
    }
}

fn push_keys<'k>(toml: &mut String, keys: impl Iterator<Item = &'k Key>, values: &Values) {
    for key in keys.filter(|key| key.stands_for.is_empty()) {
        let raw = match values.get(key.full_name) {
            Some(value) => value.raw(key.kind),
            None if key.kind.has_none() && applies(key, values) => Raw::none(),
            None => continue,
        };
        toml.push_str(&format!("{} = {raw}\n", key.name()));
    }
}
