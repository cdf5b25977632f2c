//! Several loads at once: tables `[flow.NAME]`, each with the keys of `[workload]` that differ.

use std::collections::BTreeMap;

use reprieve_base::UserError;
use reprieve_trace::WorkloadConfig;

use super::Scenario;
use super::layers::Stack;
use super::raw::{Leaves, Rank};

/// One of several loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// As its table is called.
    pub name: String,
    /// What it asks of the drive.
    pub workload: WorkloadConfig,
    /// Submission queues that its requests go to by turns; empty: the one of its place in order.
    pub queues: Vec<u32>,
}

/// What each flow says that `[workload]` does not, by name.
pub(super) type Overlays = BTreeMap<String, Leaves>;

/// The overlays of a file with those of `--set` over them; both outrank what `[workload]` says.
pub(super) fn overlays(file: Overlays, sets: Overlays) -> Overlays {
    let mut all = Overlays::new();
    for (layer, rank) in [(file, Rank::Flow), (sets, Rank::FlowSet)] {
        for (name, mut leaves) in layer {
            leaves.values_mut().for_each(|leaf| leaf.rank = rank);
            all.entry(name).or_default().extend(leaves);
        }
    }
    all
}

/// The scenario of these flows; `one` makes that of a single load, and is told where it stands.
pub(super) fn assemble(
    overlays: Overlays,
    stack: &Stack,
    path: &str,
    one: impl Fn(Stack, &str) -> Result<Scenario, UserError>,
) -> Result<Scenario, UserError> {
    let mut flows = Vec::with_capacity(overlays.len());
    let mut drive = None;
    for (name, overlay) in overlays {
        if let Some(leaf) = overlay.get("workload.unwritten") {
            let what = "it is of the drive, and the same for all; give workload.unwritten";
            return Err(leaf.fault("workload.unwritten", what));
        }
        let mut leaves = stack.leaves.clone();
        leaves.extend(overlay);
        let stack = Stack { leaves, device: stack.device.clone() };
        let scenario = one(stack, &format!("{path}: [flow.{name}]"))?;
        let workload = scenario.workload.clone().expect("a flow is resolved as a run");
        flows.push(Flow { name, workload, queues: scenario.queues.clone() });
        drive = Some(scenario);
    }
    let drive = drive.expect("the caller has seen a flow");
    Ok(Scenario { workload: None, queues: Vec::new(), flows, ..drive })
}
