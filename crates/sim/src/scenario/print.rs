//! Prints a scenario as TOML that stands alone: every key that applies, no preset needed.

use super::Scenario;
use super::flatten;
use super::raw::Raw;
use super::resolve::{Values, applies};
use super::schema::{self, Key, SECTIONS};

/// The canonical TOML of a scenario; loading it gives an equal one.
pub fn print(scenario: &Scenario) -> String {
    let values = flatten::values(scenario);
    let mut toml = String::new();
    for section in SECTIONS {
        let has_load = scenario.workload.is_some() || scenario.fio.is_some();
        let has_section = section.name != "workload" || has_load;
        if has_section {
            if !section.name.is_empty() {
                toml.push_str(&format!("\n[{}]\n", section.name));
            }
            push_keys(&mut toml, section.keys.iter(), &values);
        }
        if section.name == "ftl" {
            toml.push_str(&collection_slack(scenario));
        }
    }
    if scenario.fio.is_some() {
        return toml;
    }
    if !scenario.flows.is_empty() {
        let unwritten = if scenario.host.unwritten_costs_read { "flash" } else { "zero" };
        toml.push_str(&format!("\n[workload]\nunwritten = \"{unwritten}\"\n"));
    }
    for flow in &scenario.flows {
        let alone = Scenario {
            workload: Some(flow.workload.clone()),
            queues: flow.queues.clone(),
            flows: Vec::new(),
            ..scenario.clone()
        };
        let of_all = |key: &&Key| key.full_name != "workload.unwritten";
        let keys = schema::keys().iter().filter(|key| key.section() == "workload").filter(of_all);
        toml.push_str(&format!("\n[flow.{}]\n", flow.name));
        push_keys(&mut toml, keys, &flatten::values(&alone));
    }
    toml
}

/// A comment: between which numbers of free blocks collection has its slack.
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
        match values.get(key.full_name) {
            Some(value) => {
                toml.push_str(&format!("{} = {}\n", key.name(), value.raw(key)));
            }
            None if key.kind.has_none() && applies(key, values) => {
                let none = Raw::Text("none".to_string());
                toml.push_str(&format!("{} = {none}\n", key.name()));
            }
            None => {}
        }
    }
}
