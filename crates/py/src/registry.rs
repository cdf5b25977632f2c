//! Built-in policies and presets: names, sentences and texts.

use pyo3::prelude::*;
use reprieve_base::{Entry, nearest};
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Preset};

use crate::UserError;

/// Name and sentence of every entry of a registry.
#[pyfunction]
pub fn registry(kind: &str) -> PyResult<Vec<(String, String)>> {
    let all = registries();
    let presets = |list: &'static [Preset]| {
        list.iter().map(|preset| (preset.name.to_string(), preset.doc().to_string())).collect()
    };
    let entries = |list: &[Entry]| {
        list.iter().map(|entry| (entry.name.to_string(), entry.doc.to_string())).collect()
    };
    Ok(match kind {
        "devices" => presets(scenario::devices()),
        "parts" => presets(scenario::parts()),
        "loads" => presets(scenario::loads()),
        "schedulers" => entries(all.schedulers),
        "dispatchers" => entries(all.dispatchers),
        "suspend_policies" => entries(all.suspend_policies),
        "placements" => entries(all.placements),
        "gc_victims" => entries(all.gc_victims),
        "streams" => entries(all.streams),
        "arbitrations" => entries(all.arbitrations),
        "formats" => entries(all.trace_formats),
        "generators" => entries(all.generators),
        "policies" => entries(scenario::shorthands()),
        _ => return Err(UserError::new_err(format!("there is no registry {kind:?}"))),
    })
}

/// The TOML text of a built-in device, part or load.
#[pyfunction]
pub fn preset(kind: &str, name: &str) -> PyResult<&'static str> {
    let list = match kind {
        "devices" => scenario::devices(),
        "parts" => scenario::parts(),
        "loads" => scenario::loads(),
        _ => return Err(UserError::new_err("it must be devices, parts or loads")),
    };
    if let Some(preset) = list.iter().find(|preset| preset.name == name) {
        return Ok(preset.toml);
    }
    let names: Vec<&str> = list.iter().map(|preset| preset.name).collect();
    let hint = nearest(name, names.iter().copied())
        .map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default();
    let kind = kind.trim_end_matches('s');
    Err(UserError::new_err(format!("there is no {kind} {name:?}, only {}{hint}", names.join(", "))))
}
