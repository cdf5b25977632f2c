//! The reference of the scenario file, generated from the schema: for people and for programs.

use serde_json::{Value as Json, json};

use super::Registries;
use super::key::{Fallback, Key, Section};
use super::keys::SECTIONS;
use super::raw::Raw;

/// The reference page: every section and key with unit, range, default, meaning and source.
pub fn reference_markdown(registries: &Registries) -> String {
    let mut page = String::from(
        "# Scenario file\n\n\
        A later layer wins, key by key: default, part, device, load, scenario file, `--set`.\n\
        A key that a later layer's choice rules out is put aside; within one layer that is an \
        error.\n\nA number may have a unit, in quotes: `\"50us\"` (ns, us, ms, s) for a time, \
        `\"16 MiB\"` or `\"64k\"` for bytes (k, M, G and T are powers of 1024, kB and MB of 1000), \
        `\"4k\"` for another count.\n\nA key is of the design, which a person chooses, or of the \
        environment, which is given: comparisons and searches call no load the best. A value that \
        no drive can have is a bound.\n",
    );
    for section in SECTIONS {
        page.push_str(&section_markdown(section, registries));
    }
    page
}

fn section_markdown(section: &Section, registries: &Registries) -> String {
    let title = match section.name {
        "" => "Before every section".to_string(),
        name => format!("`[{name}]`"),
    };
    let mut page = format!("\n## {title}\n\n{}\n", section.doc);
    for key in section.keys {
        page.push_str(&format!("\n### `{}`\n\n{}\n\n", key.full_name, key.doc));
        page.push_str(&format!("- Value: {}\n", key.expected(registries)));
        page.push_str(&format!("- Default: {}\n", default_words(key)));
        page.push_str(&format!("- Role: {}\n", key.role()));
        for bound in key.design.unwrap_or_default() {
            page.push_str(&format!("- Only a bound: `{bound}`\n"));
        }
        if !key.when.is_empty() {
            let needs: Vec<_> = key.when.iter().map(|need| need.words("`")).collect();
            page.push_str(&format!("- Only while {}\n", needs.join(" or ")));
        }
        if let [first, rest @ ..] = key.stands_for {
            let rest: String = rest.iter().map(|name| format!(" and `{name}`")).collect();
            page.push_str(&format!("- Another name for `{first}`{rest}; give it or them\n"));
        }
        if !key.source.is_empty() {
            page.push_str(&format!("- Source: {}\n", key.source));
        }
        for choice in key.kind.choices(registries) {
            page.push_str(&format!("- `{}`: {}\n", choice.name, choice.doc));
        }
    }
    page
}

fn default_words(key: &Key) -> String {
    match key.default {
        Fallback::Required => "none; it must be given".to_string(),
        Fallback::Absent => "absent".to_string(),
        Fallback::Toml(toml) => format!("`{}`", Raw::of_toml(toml)),
        Fallback::SameAs(other) => format!("that of `{other}`"),
    }
}

/// The schema as JSON, for programs: sections, keys and kinds.
pub fn schema_json(registries: &Registries) -> String {
    let sections: Vec<_> = SECTIONS
        .iter()
        .map(|section| {
            let keys: Vec<_> = section.keys.iter().map(|key| key_json(key, registries)).collect();
            json!({"name": section.name, "doc": section.doc, "keys": keys})
        })
        .collect();
    json!({"schema": 1, "sections": sections}).to_string()
}

fn key_json(key: &Key, registries: &Registries) -> Json {
    let choices: Vec<_> = key
        .kind
        .choices(registries)
        .iter()
        .map(|entry| json!({"name": entry.name, "doc": entry.doc}))
        .collect();
    let (default, default_key) = match key.default {
        Fallback::Required | Fallback::Absent => (None, None),
        Fallback::Toml(toml) => (Some(Raw::of_toml(toml).to_string()), None),
        Fallback::SameAs(other) => (None, Some(other)),
    };
    let when: Vec<_> = key.when.iter().map(|n| json!({"key": n.key, "values": n.values})).collect();
    json!({
        "key": key.full_name,
        "section": key.section(),
        "name": key.name(),
        "kind": key.kind.name(),
        "value": key.expected(registries),
        "choices": choices,
        "required": key.default == Fallback::Required,
        "optional": key.is_optional(),
        "takes_none": key.takes_none(),
        "default_toml": default,
        "default_key": default_key,
        "when": when,
        "stands_for": key.stands_for,
        "role": key.role(),
        "bounds": key.design.unwrap_or_default(),
        "doc": key.doc,
        "source": key.source,
    })
}
