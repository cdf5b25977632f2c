//! Stacks a scenario's layers: part, device, load, file, `--set`; a later one wins, key by key.

use std::path::Path;

use reprieve_base::UserError;

use super::keys::{MEANINGS, keys};
use super::parse::did_you_mean;
use super::preset::{self, Found};
use super::raw::Raw;
use super::read::{self, Layer, Leaf, Leaves, Overlays, Rank};

/// The merged layers, without the keys that only affect the stacking.
pub(super) struct Stack {
    pub leaves: Leaves,
    /// The scenario's name for its device, if it has one.
    pub device: Option<String>,
    /// The flows of the load, if it has any.
    pub flows: Overlays,
}

/// Merges a scenario file and its overrides over the device, the part and the load they name.
///
/// `base` is the folder of relative paths in file and overrides.
pub(super) fn stack(file: Leaves, sets: Leaves, base: &Path) -> Result<Stack, UserError> {
    let (file, sets) = (expanded(file)?, expanded(sets)?);
    let named = |key| sets.get(key).or(file.get(key));
    let device = match named("device") {
        Some(leaf) => Some(preset::find("device", leaf, base)?),
        None => None,
    };
    let device_leaves = match &device {
        Some(found) => expanded(read_preset(found, Rank::Device)?.leaves)?,
        None => Leaves::new(),
    };
    let part = match (named("part"), device_leaves.get("part"), &device) {
        (Some(leaf), _, _) => Some(preset::find("part", leaf, base)?),
        (None, Some(leaf), Some(device)) => Some(preset::find("part", leaf, &device.folder)?),
        _ => None,
    };
    let mut leaves = match &part {
        Some(found) => expanded(read_preset(found, Rank::Part)?.leaves)?,
        None => Leaves::new(),
    };
    leaves.extend(device_leaves);
    let mut flows = Overlays::new();
    if let Some(leaf) = named("load") {
        for key in ["workload.trace", "workload.fio"] {
            if let Some(other) = sets.get(key).or(file.get(key)) {
                let what =
                    format!("contradicts load = {} at {}; give one of them", leaf.raw, leaf.place);
                return Err(other.fault(key, what));
            }
        }
        let load = read_preset(&preset::find("load", leaf, base)?, Rank::Load)?;
        leaves.extend(load.leaves);
        flows = load.flows;
    }
    leaves.extend(file);
    leaves.extend(sets);
    leaves.remove("device");
    leaves.remove("part");
    leaves.remove("load");
    Ok(Stack { leaves, device: device.map(|found| found.written), flows })
}

/// The sections that a part may set.
const PART_SECTIONS: [&str; 5] = ["geometry", "timing", "suspension", "reliability", "power"];

/// Whether a load is a file beside the scenario's.
fn is_a_file(name: &str) -> bool {
    ["workload.trace", "workload.fio"].contains(&name)
}

/// Reads a device, part or load, which may set only its own sections.
fn read_preset(found: &Found, rank: Rank) -> Result<Layer, UserError> {
    let layer = read::read(&found.text, &found.file, rank)?;
    let of_flows = layer.flows.values().flatten().map(|(name, leaf)| (name, leaf, true));
    if let Some((name, leaf)) = layer.equilibrium.iter().next() {
        return Err(leaf.fault(name, "[precondition.load] is a scenario's; leave it out here"));
    }
    for (name, leaf, is_flow) in
        layer.leaves.iter().map(|(name, leaf)| (name, leaf, false)).chain(of_flows)
    {
        let (section, _) = name.split_once('.').unwrap_or(("", name));
        let (allowed, what) = match rank {
            Rank::Part => (
                PART_SECTIONS.contains(&section),
                "a part has only [geometry], [timing], [suspension], [reliability] and [power]",
            ),
            Rank::Load => (
                *name == "seed" || section == "workload" && !is_a_file(name),
                "a load has only seed and a generator's keys of [workload] and flows",
            ),
            _ => (
                ["part", "policy"].contains(name)
                    || !["", "workload", "measure"].contains(&section),
                "a device has only part, policy and sections but [workload] and [measure]",
            ),
        };
        if is_flow && rank != Rank::Load || !allowed {
            return Err(leaf.fault(name, what));
        }
    }
    Ok(layer)
}

/// Replaces aliases of several keys in a layer.
fn expanded(mut leaves: Leaves) -> Result<Leaves, UserError> {
    for key in keys().iter().filter(|key| !key.stands_for.is_empty()) {
        let Some(leaf) = leaves.remove(key.full_name) else { continue };
        for own in key.stands_for {
            if let Some(other) = leaves.get(own) {
                let (name, raw, place) = (key.full_name, &leaf.raw, &leaf.place);
                let what =
                    format!("contradicts {name} = {raw} at {place}, which stands for it; give one");
                return Err(other.fault(own, what));
            }
            let alias = Some(key.full_name.to_string());
            leaves.insert(own, Leaf { alias, ..leaf.clone() });
        }
    }
    with_policy(leaves)
}

/// Replaces the shorthand `policy` of a layer by the three keys that it sets.
fn with_policy(mut leaves: Leaves) -> Result<Leaves, UserError> {
    let Some(policy) = leaves.remove("policy") else { return Ok(leaves) };
    let name = match &policy.raw {
        Raw::Text(text) => text.to_lowercase(),
        _ => String::new(),
    };
    let Some((_, scheduling, program, erase)) = MEANINGS.iter().find(|row| row.0 == name) else {
        let names: Vec<_> = MEANINGS.iter().map(|row| row.0).collect();
        let near = did_you_mean(&name, names.iter().copied());
        let names = names.join(", ");
        return Err(policy.fault("policy", format!("must be one of {names}{near}")));
    };
    for (key, raw) in [
        ("scheduling.policy", Raw::Text(scheduling.to_string())),
        ("suspension.program", Raw::Text(program.to_string())),
        ("suspension.erase", Raw::Flag(*erase)),
    ] {
        match leaves.get(key) {
            Some(leaf) if leaf.raw != raw => {
                let (other, place) = (&policy.raw, &policy.place);
                let what = format!("contradicts policy = {other} at {place}, which means {raw}");
                return Err(leaf.fault(key, what));
            }
            _ => leaves.insert(key, Leaf { raw, ..policy.clone() }),
        };
    }
    Ok(leaves)
}
