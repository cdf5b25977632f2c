//! What no single key can tell: values that do not fit each other.

mod drive;
mod host;
mod part;
mod power;
mod refusals;
mod workload;

use reprieve_base::UserError;

use super::resolve::{Resolved, Use};

pub use refusals::{Feature, Refusal, refusals};
pub(super) use workload::check_enough;

/// Refuses a scenario that cannot be run, naming the key that is nearest to the cause.
pub(super) fn check(resolved: &Resolved, purpose: Use) -> Result<(), UserError> {
    let has_mapping = purpose != Use::Rig;
    part::check(resolved)?;
    refusals::check(resolved, has_mapping)?;
    power::check(resolved)?;
    suspends_for_something(resolved)?;
    workload::measured(resolved, purpose)?;
    if has_mapping {
        drive::check(resolved)?;
        host::check(resolved)?;
        power::check_loss(resolved)?;
    } else if resolved.scheduling.dispatch.policy != "none" {
        let what = "the rig has one die, and nothing to dispatch; must be \"none\"";
        return Err(resolved.fault("scheduling.dispatch", what));
    }
    if purpose == Use::Serve && resolved.power_loss.is_some() {
        let what = "a served drive does not lose its power; must be \"off\"";
        return Err(resolved.fault("power_loss.mode", what));
    }
    if has_mapping { workload::check(resolved) } else { Ok(()) }
}

/// Refuses a policy "batch" that would never suspend.
fn suspends_for_something(resolved: &Resolved) -> Result<(), UserError> {
    let rules = &resolved.suspend_rules;
    let reads = rules.parameters.count("suspension.batch.reads");
    let oldest = rules.parameters.dur("suspension.batch.oldest_us");
    if rules.policy == "batch" && reads.is_none() && oldest.is_none() {
        let what = "needs suspension.batch.reads or suspension.batch.oldest_us, or both";
        return Err(resolved.fault("suspension.policy", what));
    }
    Ok(())
}

/// Refuses a list that has not one entry for each of so many.
fn one_for_each(
    resolved: &Resolved,
    lists: &[(&'static str, Option<usize>)],
    of: &str,
    count: usize,
) -> Result<(), UserError> {
    match lists.iter().find(|(_, length)| length.is_some_and(|length| length != count)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(resolved.fault(name, format!("must have one entry for each of {of} = {count}")))
        }
    }
}
