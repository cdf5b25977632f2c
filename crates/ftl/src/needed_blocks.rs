//! Blocks that a plane needs: for its data, its open blocks and garbage collection.

use reprieve_base::Stream;
use reprieve_config::{Misfit, Scenario};

use super::demand;
use super::write_frontiers::WriteFrontiers;

/// Blocks in use by garbage collection besides its reserve and the block that it frees: the open
/// blocks of host and collection, and the victim.
const GC_BLOCKS: u32 = 3;

/// Returns the good blocks that a plane needs, as the scenario's check with one open block.
pub(super) fn needed_blocks(scenario: &Scenario, pages: u32, fronts: &WriteFrontiers) -> u32 {
    let geometry = scenario.mapping_geometry();
    let data_pages = pages.div_ceil(geometry.planes());
    let data_blocks = data_pages.div_ceil(geometry.pages_per_block);
    let more_fronts = fronts.count() - 1;
    data_blocks + scenario.ftl.gc_hard_free_blocks + GC_BLOCKS + 1 + more_fronts
}

/// Returns for each block of a plane, counted over the drive, whether it is bad from the factory.
pub(super) fn bad_blocks(scenario: &Scenario, plane: u32) -> impl Iterator<Item = bool> {
    let share = scenario.ftl.faults.factory_bad_share;
    let mut stream = Stream::new(scenario.seed, "nand.factory", u64::from(plane));
    (0..scenario.geometry.blocks_per_plane).map(move |_| share > 0.0 && stream.unit() < share)
}

/// Returns the reason why the planes of a scenario's drive have too few blocks.
pub fn misfit(scenario: &Scenario) -> Option<Misfit> {
    let fronts = WriteFrontiers::new(scenario);
    let (reserve, moved) = (scenario.ftl.gc_hard_free_blocks, fronts.count_of_moved());
    // Each open block of collection may need a free block before an erase frees one.
    if reserve < moved {
        let what = format!(
            "with these ftl.stream, ftl.gc_stream and ftl.mapping garbage collection writes to \
             {moved} open blocks of a plane; must be at least {moved}"
        );
        return Some(Misfit { key: "ftl.gc_hard_free_blocks", what });
    }
    let pages = scenario.logical_pages() + demand::map_pages(scenario);
    let own = scenario.ftl.slc_cache.map_or(0, |cache| cache.blocks_per_plane);
    let (all, needed) = (
        scenario.geometry.blocks_per_plane.saturating_sub(own),
        needed_blocks(scenario, pages, &fronts),
    );
    if all < needed {
        let levels = scenario.ftl.wear.static_spread.is_some();
        let levelled = if levels { ", and with ftl.static_wear_spread," } else { "" };
        let levelled = match own {
            0 => levelled.to_owned(),
            own => format!("{levelled} and besides slc_cache.blocks_per_plane = {own}"),
        };
        let what = format!(
            "with these ftl.stream, ftl.gc_stream and ftl.mapping{levelled} a plane needs {needed} \
             blocks for its data and garbage collection, and it has {all}; must be larger"
        );
        return Some(Misfit { key: "ftl.over_provisioning", what });
    }
    if scenario.ftl.faults.factory_bad_share == 0.0 {
        return None;
    }
    let good = |plane| bad_blocks(scenario, plane).filter(|is_bad| !is_bad).count() as u32;
    let mut planes = (0..scenario.geometry.planes()).map(|plane| (plane, good(plane)));
    let (plane, good) = planes.find(|(_, good)| *good < needed)?;
    let what = format!(
        "plane {plane} has {good} good blocks of {all}, and its data and garbage collection need \
         {needed}; must be smaller, or ftl.over_provisioning larger"
    );
    Some(Misfit { key: "ftl.factory_bad_share", what })
}
