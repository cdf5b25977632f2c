//! Rules of zones: what a drive whose host collects does not have beside them.

use reprieve_base::UserError;

use crate::resolve::Resolved;
use crate::types::Precondition;

/// Refuses zones that do not fit the drive, and keys that they leave no meaning.
pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    let Some(zones) = resolved.zones else { return Ok(()) };
    let planes = resolved.geometry.planes();
    let what = || format!("must be 0, or divide the {planes} planes of the drive");
    let divides = zones.planes == 0 || planes % zones.planes == 0;
    resolved.refuse("zones.planes", !divides, what)?;
    let (bytes, unit) = (resolved.zone_bytes(), u64::from(resolved.mapping_bytes()));
    let fits = zones.size_bytes == 0 || zones.size_bytes >= bytes && zones.size_bytes % unit == 0;
    let what = || {
        format!(
            "a zone holds {bytes} bytes, in units of {unit}; must be a multiple of these, and at \
             least as large"
        )
    };
    resolved.refuse("zones.size_bytes", !fits, what)?;
    let what = || format!("must be at least zones.max_open = {}", zones.max_open);
    resolved.refuse("zones.max_active", zones.max_open > zones.max_active, what)?;
    features(resolved)?;
    let static_order = !["dynamic", "least-loaded"].contains(&resolved.ftl.placement.as_str());
    let what = || {
        "the place of a page in its zone says in which plane it is; must be a fixed order such as \
         \"cwdp\", \"aligned\" or \"wordline\" with zones"
    };
    resolved.refuse("ftl.placement", !static_order, what)
}

/// Refuses what moves, overwrites or keeps pages on a drive that does neither.
fn features(resolved: &Resolved) -> Result<(), UserError> {
    let (ftl, faults) = (&resolved.ftl, &resolved.ftl.faults);
    let rows: [(&'static str, bool, &str); 17] = [
        (
            "ftl.precondition",
            ftl.precondition == Precondition::Steady,
            "\"none\" or \"sequential\"",
        ),
        ("ftl.stream", ftl.streams.policy != "single", "\"single\""),
        ("ftl.gc_stream", ftl.streams.gc_separate, "\"shared\""),
        ("ftl.mapping", ftl.demand.is_some(), "\"flat\""),
        ("ftl.static_wear_spread", ftl.wear.static_spread.is_some(), "absent"),
        ("ftl.twin_blocks", ftl.twin_blocks, "false"),
        ("ftl.scan_period_s", ftl.scan.is_some(), "absent"),
        ("ftl.busy_window_period_us", ftl.gc.busy_window.is_some(), "absent"),
        ("slc_cache.mode", ftl.slc_cache.is_some(), "\"none\""),
        ("ftl.gc_victims_in_step", ftl.gc.victims_in_step, "false"),
        ("nand.program_failure", faults.program_failure > 0.0, "0"),
        ("nand.erase_failure", faults.erase_failure > 0.0, "0"),
        ("buffer.replacement", resolved.buffer.hold.is_some(), "\"immediate\""),
        ("power_loss.mode", resolved.power_loss.is_some(), "\"off\""),
        ("scheduling.dispatch", resolved.scheduling.dispatch.policy != "none", "\"none\""),
        ("workload.channels", !resolved.channels.is_empty(), "absent"),
        ("workload.dies", !resolved.dies.is_empty(), "absent"),
    ];
    rows.into_iter().try_for_each(|(key, is_wrong, right)| {
        let what =
            || format!("a drive with zones moves, keeps and recovers no pages; must be {right}");
        resolved.refuse(key, is_wrong, what)
    })
}
