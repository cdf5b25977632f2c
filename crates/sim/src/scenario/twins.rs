//! What twin blocks need of the rest of a scenario.

use reprieve_base::UserError;
use reprieve_nand::MultiPlane;

use super::Scenario;
use super::resolve::Resolved;

/// Pages of all planes that may have one block number: valid pages are counted in 16 bits.
const PAGES_MAX: u64 = u16::MAX as u64;

/// Refuses twin blocks beside what is not modelled with them.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    if !scenario.ftl.twin_blocks {
        return Ok(());
    }
    let (parallelism, ftl, geometry) = (&scenario.parallelism, &scenario.ftl, &scenario.geometry);
    let pages = u64::from(geometry.planes_per_die) * u64::from(geometry.pages_per_block);
    let policy = &scenario.scheduling.dispatch.policy;
    let beyond = [
        (
            parallelism.multi_plane == MultiPlane::None && geometry.planes_per_die > 1,
            "the planes of a die are erased together, and parallelism.multi_plane = \"none\"",
        ),
        (pages > PAGES_MAX, "blocks of more than 65535 pages on all planes of a die"),
        (scenario.timing.wordline.is_some(), "timing.wordline_pages above 1"),
        (parallelism.independent_plane_reads, "parallelism.independent_plane_reads = true"),
        (parallelism.cache_program, "parallelism.cache_program = true"),
        (ftl.copyback, "ftl.copyback = true"),
        (ftl.gc.parallel_planes, "ftl.gc_parallel_planes = true"),
        (ftl.demand.is_some(), "ftl.mapping = \"demand\""),
        (ftl.faults.any(), "bad blocks, programs or erases that fail"),
        (policy == "paq" || policy == "mbm", "a dispatcher that weighs the planes of a die"),
    ];
    let Some((_, why)) = beyond.into_iter().find(|(is_set, _)| *is_set) else { return Ok(()) };
    let what = format!("twin blocks are not modelled with this: {why}; must be false with it");
    Err(resolved.fault("ftl.twin_blocks", what))
}
