//! Rules between keys: values that contradict each other.

mod drive;
mod host;
mod part;
mod power;
mod refusals;
mod workload;
mod zns;

use reprieve_base::UserError;

use super::resolve::{Resolved, Use};

#[cfg(feature = "testing")]
pub use refusals::LET_THROUGH;
pub use refusals::{Feature, Refusal, refusals};
pub(super) use workload::{check_enough, check_equilibrium};

/// Refuses a scenario that cannot be run, naming the key nearest to the cause.
pub(super) fn check(resolved: &Resolved, purpose: Use) -> Result<(), UserError> {
    let has_mapping = purpose != Use::Rig;
    part::check(resolved)?;
    refusals::check(resolved, has_mapping)?;
    power::check(resolved)?;
    suspends_for_something(resolved)?;
    budget_is_spent(resolved)?;
    workload::measured(resolved, purpose)?;
    if has_mapping {
        drive::check(resolved)?;
        zns::check(resolved)?;
        host::check(resolved)?;
        power::check_loss(resolved)?;
    } else {
        let dispatches = resolved.scheduling.dispatch.policy != "none";
        let what = || "the rig has one die, and nothing to dispatch; must be \"none\"";
        resolved.refuse("scheduling.dispatch", dispatches, what)?;
    }
    let loses_power = purpose == Use::Serve && resolved.power_loss.is_some();
    let what = || "only a run of one drive with its load loses power; must be \"off\"";
    resolved.refuse("power_loss.mode", loses_power, what)?;
    if has_mapping { workload::check(resolved) } else { Ok(()) }
}

/// Refuses a policy "batch" that would never suspend.
fn suspends_for_something(resolved: &Resolved) -> Result<(), UserError> {
    let rules = &resolved.suspend_rules;
    let reads = rules.parameters.count("suspension.batch.reads");
    let oldest = rules.parameters.dur("suspension.batch.oldest_us");
    let is_never = rules.policy == "batch" && reads.is_none() && oldest.is_none();
    let what = || "needs suspension.batch.reads or suspension.batch.oldest_us, or both";
    resolved.refuse("suspension.policy", is_never, what)
}

/// Refuses a budget that no suspension spends, or that the policy cannot keep.
fn budget_is_spent(resolved: &Resolved) -> Result<(), UserError> {
    let given = |name| resolved.suspend_rules.parameters.number(name).is_some();
    let wear = "suspension.budget.wear_per_day";
    let names = ["suspension.budget.suspensions_per_s", wear, "suspension.budget.lost_write_share"];
    let Some(first) = names.into_iter().find(|name| given(name)) else { return Ok(()) };
    let rules = &resolved.suspend_rules;
    let oldest = rules.parameters.dur("suspension.batch.oldest_us");
    let what = || "needs suspension.batch.oldest_us, which becomes longer or shorter";
    resolved.refuse(first, rules.policy == "batch" && oldest.is_none(), what)?;
    let wears = resolved.reliability.ageing.as_ref().is_some_and(|ageing| {
        ageing.suspend_wear.per_program > 0.0 || ageing.suspend_wear.per_erase > 0.0
    });
    let what = || "needs reliability.wear_per_program_suspend or .wear_per_erase_suspend above 0";
    resolved.refuse(wear, given(wear) && !wears, what)
}

/// Refuses a list whose length is not the number of `whose`.
fn one_for_each(
    resolved: &Resolved,
    lists: &[(&'static str, Option<usize>)],
    of: &str,
    count: usize,
) -> Result<(), UserError> {
    let what = || format!("must have one entry for each of {of} = {count}");
    let mut lists = lists.iter();
    lists.try_for_each(|(name, length)| {
        resolved.refuse(name, length.is_some_and(|n| n != count), what)
    })
}
