//! How much memory a drive takes, and a refusal before it takes too much.

use std::fs;

use reprieve_base::UserError;

use crate::scenario::Scenario;

/// Bytes for each physical page: an entry of the physical-to-logical table.
const BYTES_PER_PHYSICAL_PAGE: u64 = 4;
/// Bytes for each logical page: an entry of the logical-to-physical table.
const BYTES_PER_LOGICAL_PAGE: u64 = 4;
/// Bytes for each block: its entry in the index of victims, the free list and the die's page count.
const BYTES_PER_BLOCK: u64 = 18;
/// Queues, transactions in flight, histograms, code.
const FIXED_BYTES: u64 = 50 << 20;

/// Bytes that a run of the scenario needs, about.
pub fn needed_bytes(scenario: &Scenario) -> u64 {
    let geometry = &scenario.geometry;
    geometry.pages() * BYTES_PER_PHYSICAL_PAGE
        + u64::from(scenario.logical_pages()) * BYTES_PER_LOGICAL_PAGE
        + geometry.blocks() * BYTES_PER_BLOCK
        + FIXED_BYTES
}

/// Errors if the drive does not fit into the memory that is available.
pub(crate) fn check(scenario: &Scenario) -> Result<(), UserError> {
    let needed = needed_bytes(scenario);
    match available_bytes() {
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

/// Memory that can be had without swapping, where the system says so.
fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}
