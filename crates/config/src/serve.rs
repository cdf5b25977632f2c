//! The scenario of a served drive: its clients are its workload, and some rules may change.

use std::path::Path;

use reprieve_base::UserError;

use super::layers;
use super::read::{Layer, Rank};
use super::resolve::Use;
use super::types::{Scenario, Scheduling};
use super::{Registries, settle};

/// The one key of `[workload]` that says something of the drive.
const OF_THE_DRIVE: &str = "workload.unwritten";

/// The keys whose values may change while a drive is served.
pub const CHANGEABLE: &[&str] = &[
    "scheduling.write_queue_limit",
    "scheduling.write_queue_limit_scope",
    "suspension.batch.oldest_us",
    "suspension.batch.reads",
    "suspension.budget.lost_write_share",
    "suspension.budget.suspensions_per_s",
    "suspension.budget.wear_per_day",
    "suspension.deadline.backlog_weight",
    "suspension.deadline.margin_reads",
    "suspension.deadline.price",
    "suspension.deadline.read_slo_us",
    "suspension.gc_read_suspends",
    "suspension.host_read_suspends",
    "suspension.max_per_erase",
    "suspension.max_per_operation",
    "suspension.max_per_program",
    "suspension.max_suspended_us",
    "suspension.min_progress_us",
    "suspension.min_remaining_us",
    "suspension.policy",
    "suspension.reads_per_suspension",
    "suspension.rmw_read_suspends",
];

/// The scenario of a file and its overrides, without their workload.
pub(super) fn assemble(
    file: Layer,
    sets: Layer,
    place: &str,
    base: &Path,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let of_flow = sets.flows.values().flatten();
    let given = sets.leaves.iter().chain(of_flow);
    let is_load = |name: &str| name == "load" || name.starts_with("workload.");
    let mut of_load = given.filter(|(name, _)| is_load(name) && **name != OF_THE_DRIVE);
    if let Some((name, leaf)) = of_load.next() {
        let what = "a served drive gets its requests from its clients; leave it out";
        return Err(leaf.fault(name, what));
    }
    let mut leaves = file.leaves;
    leaves.retain(|name, _| !is_load(name) || *name == OF_THE_DRIVE);
    let mut stack = layers::stack(leaves, sets.leaves, base)?;
    stack.leaves.retain(|name, leaf| leaf.rank != Rank::Load || *name == OF_THE_DRIVE);
    settle(stack, place, base, Use::Serve, registries)
}

impl Scenario {
    /// Whether a served drive of this scenario may go on as one of the other.
    pub fn may_become(&self, other: &Scenario) -> bool {
        let mut mine = self.clone();
        mine.suspension.max_per_program = other.suspension.max_per_program;
        mine.suspension.max_per_erase = other.suspension.max_per_erase;
        mine.suspension.min_progress = other.suspension.min_progress;
        let write_suspends = mine.suspend_rules.host_write_suspends;
        mine.suspend_rules = other.suspend_rules.clone();
        mine.suspend_rules.host_write_suspends = write_suspends;
        let Scheduling { write_queue_limit, write_queue_limit_scope, .. } = other.scheduling;
        mine.scheduling =
            Scheduling { write_queue_limit, write_queue_limit_scope, ..mine.scheduling };
        mine == *other
    }
}
