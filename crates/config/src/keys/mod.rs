//! Every section and key of the scenario file: a row for each.

mod drive;
mod ftl;
mod host;
mod power;
mod reliability;
mod scheduling;
mod slc_cache;
mod suspension;
mod workload;
mod zns;

use std::sync::LazyLock;

use super::key::{Key, Section};

pub(crate) use drive::MEANINGS;
pub use drive::SHORTHANDS;

/// Every section, in canonical order.
pub const SECTIONS: &[Section] = &[
    drive::TOP,
    drive::GEOMETRY,
    drive::TIMING,
    suspension::PARALLELISM,
    suspension::SUSPENSION,
    suspension::BATCH,
    suspension::DEADLINE,
    suspension::BUDGET,
    reliability::RELIABILITY,
    reliability::ECC,
    scheduling::SCHEDULING,
    scheduling::CHANNEL,
    power::POWER,
    power::THERMAL,
    power::POWER_LOSS,
    ftl::FTL,
    slc_cache::SLC_CACHE,
    ftl::PRECONDITION,
    ftl::NAND,
    zns::ZONES,
    host::BUFFER,
    host::READ_CACHE,
    host::HOST,
    workload::WORKLOAD,
    workload::MEASURE,
];

static KEYS: LazyLock<Vec<Key>> =
    LazyLock::new(|| SECTIONS.iter().flat_map(|section| section.keys).copied().collect());

/// Every key of the scenario file, in canonical order.
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// The key of this full name, such as `timing.t_read_us`.
pub(super) fn key(full_name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.full_name == full_name)
}
