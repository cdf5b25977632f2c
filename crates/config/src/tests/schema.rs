//! The schema as a whole, and the references that are made from it.

use std::collections::BTreeSet;

use super::super::keys::{SECTIONS, keys};
use super::super::{
    Fallback, Kind, Refusal, Unit, json_schema, reference_markdown, refusals, schema_json,
};
use super::super::{parse, raw::Raw};
use super::REGISTRIES;

#[test]
fn every_key_is_named_for_its_section_and_unit_and_explained() {
    let mut seen = BTreeSet::new();
    for section in SECTIONS {
        assert!(section.doc.ends_with('.'), "[{}]", section.name);
        for key in section.keys {
            let name = key.full_name;
            assert!(seen.insert(name), "{name} stands twice");
            assert_eq!(key.section(), section.name, "{name}");
            assert!(key.doc.ends_with('.'), "{name}: {}", key.doc);
            let unit = match key.kind {
                Kind::Duration(Unit::Microseconds) => Some("_us"),
                Kind::Duration(Unit::Seconds) => Some("_s"),
                _ => None,
            };
            // An extreme stands behind the unit.
            let of_unit = name.strip_suffix("_max").unwrap_or(name);
            assert!(unit.is_none_or(|unit| of_unit.ends_with(unit)), "{name} ends in its unit");
        }
    }
    assert_eq!(seen.len(), keys().len());
}

#[test]
fn a_key_is_chosen_or_given_and_some_values_are_bounds() {
    let role = |name| super::super::keys::key(name).expect(name).role();
    for given in ["seed", "load", "workload.rate_iops", "ftl.precondition", "power_loss.at_us"] {
        assert_eq!(role(given), "environment", "{given}");
    }
    for given in ["reliability.age_days", "reliability.cycles_at_start", "measure.warmup"] {
        assert_eq!(role(given), "environment", "{given}");
    }
    let chosen = ["policy", "device", "part", "geometry.channels", "timing.t_read_us"];
    for name in chosen.into_iter().chain(["suspension.deadline.read_slo_us", "host.interface"]) {
        assert_eq!(role(name), "design", "{name}");
    }
    let page = reference_markdown(&REGISTRIES);
    assert!(page.contains("- Role: environment\n") && page.contains("- Only a bound: `pe0`\n"));
    let schema = schema_json(&REGISTRIES);
    assert!(schema.contains(r#""bounds":["pe0","per"]"#) && schema.contains(r#""role":"design""#));
}

#[test]
fn what_a_key_depends_on_stands_before_it() {
    let position = |name| keys().iter().position(|key| key.full_name == name);
    for key in keys() {
        let others = key.when.iter().map(|need| need.key);
        let same = match key.default {
            Fallback::SameAs(other) => Some(other),
            _ => None,
        };
        for other in others.chain(same) {
            let name = key.full_name;
            assert!(position(other).is_some(), "{name} depends on {other}, which is no key");
            assert!(position(other) < position(name), "{name} stands before {other}");
        }
    }
}

#[test]
fn every_default_is_within_its_own_range() {
    for key in keys() {
        if let Fallback::Toml(toml) = key.default {
            let value = parse::parse(key, &Raw::of_toml(toml), &REGISTRIES);
            assert!(value.is_ok(), "{}: {value:?}", key.full_name);
        }
    }
}

#[test]
fn both_references_have_every_key_and_choice() {
    let page = reference_markdown(&REGISTRIES);
    let json: serde_json::Value =
        serde_json::from_str(&schema_json(&REGISTRIES)).expect("it is JSON");
    let sections = json["sections"].as_array().expect("a list");
    let in_json: Vec<_> = sections
        .iter()
        .flat_map(|section| section["keys"].as_array().expect("a list"))
        .map(|key| key["key"].as_str().expect("a string"))
        .collect();
    let names: Vec<_> = keys().iter().map(|key| key.full_name).collect();
    assert_eq!(in_json, names);
    for name in names {
        assert!(page.contains(&format!("\n### `{name}`\n")), "{name}");
    }
    assert!(page.contains("- `greedy`: An entry of a test."), "choices come from the registries");
    let read = &sections[2]["keys"][2];
    assert_eq!(read["key"], "timing.t_read_us");
    assert_eq!((&read["kind"], &read["required"]), (&"duration_us".into(), &true.into()));
}

#[test]
fn a_pair_of_features_is_refused_once_and_by_a_key() {
    let mut seen = BTreeSet::new();
    for Refusal { key, one, other, what } in refusals() {
        let mut pair = [one.name, other.name];
        pair.sort_unstable();
        assert!(pair[0] != pair[1] && seen.insert(pair), "{pair:?}");
        assert!(keys().iter().any(|row| row.full_name == *key), "{key}");
        let remedies = ["; must be ", "; leave one of them out"];
        let reason = remedies.iter().find_map(|remedy| what.split_once(remedy));
        let reason = reason.unwrap_or_else(|| panic!("no reason, or no remedy: {what}")).0;
        assert!(reason.split(' ').count() >= 3, "no reason: {what}");
    }
}

#[test]
fn json_schema_has_every_key_with_its_text() {
    let schema: serde_json::Value =
        serde_json::from_str(&json_schema(&REGISTRIES)).expect("it is JSON");
    for key in keys() {
        let table = match key.section() {
            "" => &schema,
            section => section.split('.').fold(&schema, |table, name| &table["properties"][name]),
        };
        let text = table["properties"][key.name()]["description"].as_str();
        assert!(text.is_some_and(|text| text.starts_with(key.doc)), "{}", key.full_name);
        assert_eq!(table["additionalProperties"], false);
    }
    let load = &schema["properties"]["flow"]["additionalProperties"]["properties"];
    assert_eq!(load["requests"]["minimum"], 1);
    let load = &schema["properties"]["precondition"]["properties"]["load"]["anyOf"];
    assert_eq!(load[1]["properties"]["requests"]["minimum"], 1);
    let limit = &schema["properties"]["suspension"]["properties"]["max_per_program"];
    assert_eq!(limit["anyOf"][1]["const"], "none");
}
