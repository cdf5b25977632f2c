//! Power of the flash: a meter that follows every die, and a ledger of operations.
//!
//! Energies are whole femtojoules (a microwatt for a nanosecond), so that both sums are equal to
//! the last digit.

mod drawn;
mod ledger;
mod meter;
mod report;
mod series;

use reprieve_base::Time;

pub use meter::{Meter, Place};
pub use report::PowerReport;
pub use series::{PowerStep, SeriesBatch};

use reprieve_policy::txn::Kind;

/// For whom energy was spent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Class {
    /// Reads of the host.
    HostRead,
    /// Reads of old pages, for writes of parts of pages.
    RmwRead,
    /// Programs of the host.
    HostWrite,
    /// Reads of garbage collection.
    GcRead,
    /// Programs of garbage collection.
    GcProgram,
    /// Reads of pages of the mapping.
    MapRead,
    /// Programs of pages of the mapping.
    MapProgram,
    /// Erases.
    Erase,
    /// Energy that operations took because they were suspended.
    Suspension,
}

/// The names of the classes in results.
pub const CLASS_NAMES: [&str; 9] = [
    "host_read",
    "rmw_read",
    "host_write",
    "gc_read",
    "gc_program",
    "map_read",
    "map_program",
    "erase",
    "suspension",
];

impl Class {
    /// The class of the pulses, the sensing and the transfers of a transaction.
    pub fn of(kind: Kind) -> Class {
        match kind {
            Kind::HostRead => Class::HostRead,
            Kind::RmwRead => Class::RmwRead,
            Kind::Program => Class::HostWrite,
            Kind::GcRead | Kind::ScanRead => Class::GcRead,
            Kind::GcProgram | Kind::GcCopy => Class::GcProgram,
            Kind::MapRead | Kind::MapUpdate => Class::MapRead,
            Kind::MapProgram => Class::MapProgram,
            Kind::Erase => Class::Erase,
        }
    }
}

/// A page, or several, over a channel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Transfer {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// User bytes of it.
    pub bytes: u64,
}

/// Pages that a die senses at once.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Sensing {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// On how many planes.
    pub planes: u32,
    /// Of which type the pages are.
    pub page_type: usize,
    /// A copyback begins so.
    pub is_copy: bool,
}

/// Running commands, and their planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Commands {
    /// Those that draw a base.
    pub bases: u32,
    /// Planes of all.
    pub planes: u32,
}

/// Running commands of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtWork {
    /// Senses.
    pub senses: Commands,
    /// Senses of copybacks among these.
    pub copies: Commands,
    /// Programs that run.
    pub programs: Commands,
    /// Erases that run.
    pub erases: Commands,
    /// Operations that are suspended.
    pub suspended: u32,
}

/// The share of `fj` that is spent when `passed` of `whole` nanoseconds are over, rounded down.
fn share(fj: u64, passed_ns: u64, whole_ns: u64) -> u64 {
    if passed_ns >= whole_ns {
        return fj;
    }
    let part = u128::from(fj) * u128::from(passed_ns) / u128::from(whole_ns);
    u64::try_from(part).expect("a part of a 64-bit number")
}
