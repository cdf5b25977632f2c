//! Memory needed by a drive, and its refusal if there is too little.

use std::fs;

use reprieve_base::{SECTOR_BYTES, UserError};
use reprieve_config::{PartialWrite, Precondition, Scenario};
use reprieve_policy::place;

/// Bytes for each physical page, a mapping unit: an entry of the physical-to-logical table.
const BYTES_PER_PHYSICAL_PAGE: u64 = 4;
/// Bytes for each logical page, a mapping unit too: an entry of the logical-to-physical table.
const BYTES_PER_LOGICAL_PAGE: u64 = 4;
/// Bytes for each logical page of a stream policy that knows the last write.
const BYTES_PER_LAST_WRITE: u64 = 4;
/// Bytes for each block: its entry in the index of victims, in the free list, in the die's page
/// count, in the order of filling, in a victim policy's own list, and its count of erases.
const BYTES_PER_BLOCK: u64 = 50;
/// Bytes for each entry in the cache of a mapping in flash: its place in the order, and in the hash
/// table of those.
const BYTES_PER_CACHED_ENTRY: u64 = 60;
/// Bytes for each logical page of a drive with a read cache: its slot.
const BYTES_PER_CACHEABLE_PAGE: u64 = 4;
/// Bytes for each page of a read cache: contents, place in the order, and free list.
const BYTES_PER_CACHED_PAGE: u64 = 16;
/// Bytes for each page of a drive with bit errors: when it was programmed, and by how many
/// suspensions it was disturbed, where they count.
const BYTES_PER_AGEING_PAGE: u64 = 8;
const BYTES_PER_DISTURBED_PAGE: u64 = 4;
/// Bytes for each block of such a drive: its wear and its reads.
const BYTES_PER_WEARING_BLOCK: u64 = 24;
/// Sectors of a drive that tracks them: a bit each.
const SECTORS_PER_BYTE: u64 = 8;
/// Bytes for each page of a drive with power loss: its metadata.
const BYTES_PER_STAMPED_PAGE: u64 = 16;
/// Bytes for each block of a drive with a run-in: the die's page count.
const BYTES_PER_BLOCK_RUN_IN: u64 = 4;
/// Its queues, transactions in flight and histograms.
const FIXED_BYTES_RUN_IN: u64 = 10 << 20;
/// Queues, transactions in flight, histograms, code.
const FIXED_BYTES: u64 = 50 << 20;

/// Returns the approximate memory of a run of the scenario.
pub fn needed_bytes(scenario: &Scenario) -> u64 {
    let units = scenario.mapping_geometry().pages();
    let knows_last_writes = u64::from(scenario.ftl.streams.hot_window_share.is_some());
    table_bytes(scenario)
        + knows_last_writes * u64::from(scenario.logical_pages()) * BYTES_PER_LAST_WRITE
        + mapping_bytes(scenario)
        + preconditioning_bytes(scenario)
        + run_in_bytes(scenario)
        + read_cache_bytes(scenario)
        + reliability_bytes(scenario)
        + scenario.power_loss.as_ref().map_or(0, |_| units * BYTES_PER_STAMPED_PAGE)
        + FIXED_BYTES
}

/// Returns the memory of the tables of pages, blocks and sectors.
fn table_bytes(scenario: &Scenario) -> u64 {
    let geometry = &scenario.geometry;
    scenario.mapping_geometry().pages() * BYTES_PER_PHYSICAL_PAGE
        + u64::from(scenario.logical_pages()) * BYTES_PER_LOGICAL_PAGE
        + geometry.blocks() * BYTES_PER_BLOCK
        + sector_bytes(scenario)
}

/// Returns the memory of a mapping in flash: a bit a page for changed entries, and the cache.
fn mapping_bytes(scenario: &Scenario) -> u64 {
    let pages = u64::from(scenario.logical_pages());
    let cached = |bytes: u64| (bytes / 8).min(pages);
    let demand = scenario.ftl.demand;
    demand.map_or(0, |demand| pages / 8 + cached(demand.cache_bytes) * BYTES_PER_CACHED_ENTRY)
}

/// Bytes besides the tables during preconditioning: valid pages, and pages whose logical numbers
/// are permuted, of a plane or of the drive; the copied planes; the drive in larger units.
fn preconditioning_bytes(scenario: &Scenario) -> u64 {
    if scenario.ftl.precondition != Precondition::Steady {
        return 0;
    }
    let geometry = &scenario.geometry;
    let pages = u64::from(scenario.logical_pages());
    let is_fixed = place::make(scenario, geometry).is_fixed();
    let dealt = if is_fixed { pages.div_ceil(u64::from(geometry.planes())) } else { pages };
    let larger = scenario.overwrites().in_larger_units().map_or(0, |larger| table_bytes(&larger));
    let models = reprieve_ftl::models_bytes(scenario, table_bytes) + larger;
    scenario.mapping_geometry().pages().div_ceil(8) + dealt * BYTES_PER_LOGICAL_PAGE + models
}

/// Bytes of the drive of a run-in, besides the main drive: all but the tables of the FTL, which are
/// lent to it.
fn run_in_bytes(scenario: &Scenario) -> u64 {
    if scenario.ftl.precondition != Precondition::Steady {
        return 0;
    }
    scenario.geometry.blocks() * BYTES_PER_BLOCK_RUN_IN
        + read_cache_bytes(scenario)
        + reliability_bytes(scenario)
        + FIXED_BYTES_RUN_IN
}

fn read_cache_bytes(scenario: &Scenario) -> u64 {
    let Some(cache) = &scenario.read_cache else { return 0 };
    let logical_pages = scenario.logical_pages();
    let cached = cache.pages(logical_pages, scenario.mapping_bytes());
    u64::from(logical_pages) * BYTES_PER_CACHEABLE_PAGE + u64::from(cached) * BYTES_PER_CACHED_PAGE
}

fn sector_bytes(scenario: &Scenario) -> u64 {
    if scenario.ftl.partial_write != PartialWrite::TrackSectors {
        return 0;
    }
    let per_page = u64::from(scenario.mapping_bytes()) / SECTOR_BYTES;
    (u64::from(scenario.logical_pages()) * per_page).div_ceil(SECTORS_PER_BYTE)
}

fn reliability_bytes(scenario: &Scenario) -> u64 {
    if scenario.reliability.ageing.is_none() {
        return 0;
    }
    let disturbed = scenario.reliability.rber.delta > 0.0;
    let per_page = BYTES_PER_AGEING_PAGE + if disturbed { BYTES_PER_DISTURBED_PAGE } else { 0 };
    let geometry = &scenario.geometry;
    geometry.pages() * per_page + geometry.blocks() * BYTES_PER_WEARING_BLOCK
}

/// Errors if the drive does not fit into the available memory.
pub(crate) fn check(scenario: &Scenario) -> Result<(), UserError> {
    check_against(scenario, available_bytes())
}

fn check_against(scenario: &Scenario, available: Option<u64>) -> Result<(), UserError> {
    let needed = needed_bytes(scenario);
    match available {
        Some(available) if needed > available => Err(UserError::new(format!(
            "geometry: a drive of {} pages needs {} MiB of memory for its tables, and {} MiB are \
             available; use fewer blocks_per_plane or larger page_bytes",
            scenario.geometry.pages(),
            needed >> 20,
            available >> 20
        ))),
        _ => Ok(()),
    }
}

/// Memory for a drive in the 4 GiB that WebAssembly can address.
const WEB_BYTES: u64 = 3 << 30;

/// Returns the memory available without swapping, within the container's limit, if known.
fn available_bytes() -> Option<u64> {
    if cfg!(target_family = "wasm") {
        return Some(WEB_BYTES);
    }
    [system_bytes(), container_bytes()].into_iter().flatten().min()
}

/// Returns the memory left by the limit of a control group (version 2); `None` without one.
fn container_bytes() -> Option<u64> {
    let read = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let max: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    Some(max.saturating_sub(used))
}

fn system_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprieve_config as scenario;

    #[test]
    fn a_drive_larger_than_memory_is_refused() {
        let scenario = scenario::load_rig("fast12-mlc", &[], crate::registries());
        let scenario = scenario.expect("a built-in device");
        // 2^24 pages of 4 bytes, 70 % of them of 4 more, 2^17 blocks of 50, and 50 MiB:
        // 64 + 44.8 + 6.25 + 50 = 165.05 MiB.
        assert_eq!(needed_bytes(&scenario) >> 20, 165);
        let sets = ["read_cache.bytes=1073741824".to_string()];
        let cached = scenario::load_rig("fast12-mlc", &sets, crate::registries());
        // 44.8 MiB for the logical pages and 4 for 2^18 pages of 4 KiB.
        assert_eq!(needed_bytes(&cached.expect("a good size")) >> 20, 213);
        let sets = ["ftl.partial_write=track_sectors".to_string()];
        let tracked = scenario::load_rig("fast12-mlc", &sets, crate::registries());
        // A byte for the 8 sectors of each logical page: 11.2 MiB.
        assert_eq!(needed_bytes(&tracked.expect("a good word")) >> 20, 176);
        let sets = ["reliability.model=power".to_string()];
        let ageing = scenario::load_rig("fast12-mlc", &sets, crate::registries());
        let mut ageing = ageing.expect("a good model");
        // Besides the 165.05 MiB, 128 for the pages and 3 for the blocks; then 64 more.
        assert_eq!(needed_bytes(&ageing) >> 20, 296);
        ageing.reliability.rber.delta = 1e-6;
        assert_eq!(needed_bytes(&ageing) >> 20, 360);
        assert_eq!(check_against(&scenario, Some(166 << 20)), Ok(()));
        assert_eq!(check_against(&scenario, None), Ok(()));
        let error = check_against(&scenario, Some(160 << 20)).expect_err("too little").to_string();
        assert!(error.starts_with("geometry: a drive of 16777216 pages needs 165 MiB"), "{error}");
        assert!(error.contains("160 MiB are available"), "{error}");
        // In the steady state besides: a bit for each page is 2 MiB; names are dealt over a plane
        // of 64 (0.7 MiB), or with dynamic placement over all (44.8 MiB). The drive that runs in
        // has 4 bytes for each block (0.5 MiB), and 10 MiB.
        let steady = |placement: &str| {
            let mut scenario = scenario.clone();
            scenario.ftl.precondition = Precondition::Steady;
            scenario.ftl.placement = placement.to_string();
            needed_bytes(&scenario) >> 20
        };
        assert_eq!((steady("cwdp"), steady("dynamic")), (178, 222));
    }
}
