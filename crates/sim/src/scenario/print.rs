//! Prints a scenario as TOML that stands alone: every key that applies, no preset needed.

use super::Scenario;
use super::flatten;
use super::raw::Raw;
use super::resolve::applies;
use super::schema::SECTIONS;

/// The canonical TOML of a scenario; loading it gives an equal one.
pub fn print(scenario: &Scenario) -> String {
    let values = flatten::values(scenario);
    let mut toml = String::new();
    for section in SECTIONS {
        let has_section = section.name != "workload" || scenario.workload.is_some();
        if !section.name.is_empty() && has_section {
            toml.push_str(&format!("\n[{}]\n", section.name));
        }
        for key in section.keys {
            match values.get(key.full_name) {
                Some(value) => {
                    toml.push_str(&format!("{} = {}\n", key.name(), value.raw(key)));
                }
                None if has_section && key.kind.has_none() && applies(key, &values) => {
                    let none = Raw::Text("none".to_string());
                    toml.push_str(&format!("{} = {none}\n", key.name()));
                }
                None => {}
            }
        }
    }
    toml
}
