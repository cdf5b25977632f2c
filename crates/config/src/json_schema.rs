//! JSON Schema of scenario files, devices, parts and loads, for editors: from the rows of the keys.

use serde_json::{Map, Value as Json, json};

use super::Registries;
use super::key::{Fallback, Key, Kind, Section};
use super::keys::SECTIONS;
use super::preset::{Preset, devices, loads, parts};
use super::quantity::Dimension;
use super::raw::Raw;
use super::types::OperationSet;
use super::unit::{Interval, Unit};

/// JSON Schema (draft 2020-12) of a scenario: names, types, ranges, words, defaults.
///
/// Dependencies between keys appear only in the descriptions.
pub fn json_schema(registries: &Registries) -> String {
    let mut properties = Map::new();
    for section in SECTIONS {
        match section.name {
            "" => properties.extend(keys(section, registries)),
            name => {
                let made = table(section, registries);
                match name.split_once('.') {
                    None => properties.insert(name.to_string(), made),
                    Some((outer, inner)) => {
                        let outer = &mut properties[outer]["properties"];
                        outer.as_object_mut().expect("a table").insert(inner.to_string(), made)
                    }
                };
            }
        }
    }
    let load = SECTIONS.iter().find(|section| section.name == "workload");
    let mut flow = table(load.expect("there is a workload"), registries);
    flow["description"] = "Keys of this load that differ from [workload].".into();
    properties.insert(
        "flow".to_string(),
        json!({
            "type": "object",
            "description": "Several loads at once, by name.",
            "propertyNames": {"pattern": "^[A-Za-z0-9_-]+$"},
            "additionalProperties": flow,
        }),
    );
    let word = &mut properties["precondition"]["properties"]["load"];
    let mut given = table(load.expect("there is a workload"), registries);
    given["description"] = "The load by hand, with the keys of [workload].".into();
    let description = word.as_object_mut().and_then(|word| word.remove("description"));
    *word = json!({"description": description, "anyOf": [word.take(), given]});
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Reprieve scenario",
        "description": "A scenario file of Reprieve, or a device, part or load for one.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    format!("{schema:#}")
}

fn table(section: &Section, registries: &Registries) -> Json {
    json!({
        "type": "object",
        "description": section.doc,
        "properties": keys(section, registries),
        "additionalProperties": false,
    })
}

fn keys(section: &Section, registries: &Registries) -> Map<String, Json> {
    let keys = section.keys.iter();
    keys.map(|key| (key.name().to_string(), of_key(key, registries))).collect()
}

fn of_key(key: &Key, registries: &Registries) -> Json {
    let mut schema = of_kind(key, registries);
    if let Some(dimension) = Dimension::of(key) {
        let (_, units) = dimension.units();
        allow_text(&mut schema, &format!("^[0-9][0-9.]*\\s*({units})$"));
    }
    if key.takes_none() {
        schema = json!({"anyOf": [schema, {"const": "none"}]});
    }
    let (value, role) = (key.expected(registries), key.role());
    let mut description = format!("{} Value: {value}. Role: {role}.", key.doc);
    if !key.when.is_empty() {
        let needs: Vec<_> = key.when.iter().map(|need| need.words("")).collect();
        description.push_str(&format!(" Only while {}.", needs.join(" or ")));
    }
    match key.default {
        Fallback::Required => description.push_str(" It must be given by some layer."),
        Fallback::Absent => {}
        Fallback::Toml(toml) => schema["default"] = of_raw(&Raw::of_toml(toml)),
        Fallback::SameAs(other) => description.push_str(&format!(" Default: that of {other}.")),
    }
    schema["description"] = description.into();
    schema
}

/// Allows a text in place of each number of a schema.
fn allow_text(schema: &mut Json, pattern: &str) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| allow_text(item, pattern)),
        Json::Object(fields) => {
            fields.values_mut().for_each(|field| allow_text(field, pattern));
            if let Some(kind @ ("integer" | "number")) = fields.get("type").and_then(Json::as_str) {
                let kinds = json!([kind, "string"]);
                fields.extend([("type".into(), kinds), ("pattern".into(), pattern.into())]);
            }
        }
        _ => {}
    }
}

fn of_kind(key: &Key, registries: &Registries) -> Json {
    let words = || -> Vec<Json> {
        let entries = key.kind.choices(registries);
        let names = entries.iter().map(|entry| entry.name.to_string());
        // The one word that is case-insensitive.
        let all = names.flat_map(|name| match key.full_name {
            "policy" => vec![name.to_uppercase(), name],
            _ => vec![name],
        });
        all.map(Json::from).collect()
    };
    match key.kind {
        Kind::Count { min, max, step } => integer(min, max, step),
        Kind::Number(interval) => number(interval),
        Kind::Duration(unit) => duration(unit),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Registered(_) if key.name() == "policy" => {
            // FILE.py:NAME or MODULE:NAME, which the Python package takes.
            let own = json!({"type": "string", "pattern": r"^.+:\w+(\.\w+)*$"});
            json!({"anyOf": [{"enum": words()}, own]})
        }
        Kind::Choice(_) | Kind::Registered(_) => json!({"enum": words()}),
        Kind::Words(_) => list(json!({"enum": words()})),
        Kind::Text | Kind::Path => json!({"type": "string", "minLength": 1}),
        Kind::Preset => {
            let presets = match key.full_name {
                "device" => devices(),
                "part" => parts(),
                _ => loads(),
            };
            let names: Vec<_> = presets.iter().map(|preset: &Preset| preset.name).collect();
            json!({"type": "string", "minLength": 1, "examples": names})
        }
        Kind::Operations => json!({"type": "array", "items": {"enum": OperationSet::WORDS}}),
        Kind::Sizes => {
            let size = || integer(512, 1 << 30, 512);
            let weight = number(Interval { min: 0.0, max: 1e9, min_open: true, max_open: false });
            json!({"anyOf": [size(), list(pair(size(), weight))]})
        }
        Kind::Durations(unit) => list(duration(unit)),
        Kind::Devices => {
            let mut numbers = list(integer(0, u64::from(u32::MAX), 1));
            numbers["uniqueItems"] = true.into();
            json!({"anyOf": [{"enum": ["concatenate", "merge"]}, numbers]})
        }
        Kind::Counts { min, max } => list(integer(min, max, 1)),
        Kind::Weights { max, most } => weights(max, most),
        Kind::WeightsByCount { max, most } => {
            list(pair(integer(0, u64::from(u32::MAX), 1), weights(max, most)))
        }
        Kind::Numbers(interval) => list(number(interval)),
        Kind::OneOrMore(interval) => {
            json!({"anyOf": [number(interval), list(number(interval))]})
        }
        Kind::Steps => list(json!({"type": "string", "minLength": 1})),
    }
}

fn list(item: Json) -> Json {
    json!({"type": "array", "items": item, "minItems": 1})
}

fn weights(max: u64, most: usize) -> Json {
    let mut pairs = list(pair(integer(1, max, 1), integer(1, u64::from(u16::MAX), 1)));
    pairs["maxItems"] = most.into();
    pairs
}

fn integer(min: u64, max: u64, step: u64) -> Json {
    let mut schema = json!({"type": "integer", "minimum": min, "maximum": max});
    if step > 1 {
        schema["multipleOf"] = step.into();
    }
    schema
}

fn number(interval: Interval) -> Json {
    let low = if interval.min_open { "exclusiveMinimum" } else { "minimum" };
    let high = if interval.max_open { "exclusiveMaximum" } else { "maximum" };
    json!({"type": "number", low: interval.min, high: interval.max})
}

fn duration(unit: Unit) -> Json {
    json!({"type": "number", "minimum": 0, "maximum": unit.max()})
}

fn pair(first: Json, second: Json) -> Json {
    json!({"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2})
}

fn of_raw(raw: &Raw) -> Json {
    match raw {
        Raw::Integer(integer) => json!(integer),
        Raw::Decimal(digits) => digits.parse::<f64>().map_or(Json::Null, Json::from),
        Raw::Flag(flag) => json!(flag),
        Raw::Text(text) | Raw::Other(text) => json!(text),
        Raw::List(items) => items.iter().map(of_raw).collect(),
    }
}
