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

/// Classes of energy.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Class {
    /// Reads of the host.
    HostRead,
    /// Reads of old pages, for partial writes.
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
    /// Energy added by suspensions.
    Suspension,
}

/// Returns the names of the classes in results.
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
    /// Returns the class of the pulses, the sensing and the transfers of a transaction.
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

/// A transfer of one page or several over a channel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Transfer {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Its user bytes.
    pub bytes: u64,
}

/// Pages that a die senses at once.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Sensing {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Number of planes.
    pub planes: u32,
    /// Page type.
    pub page_type: usize,
    /// Whether a copyback starts with it.
    pub is_copy: bool,
}

/// Running commands, and their planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Commands {
    /// Commands that draw a base.
    pub bases: u32,
    /// Planes of all commands.
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

/// Returns the share of `fj` spent after `passed` of `whole` nanoseconds, rounded down.
fn share(fj: u64, passed_ns: u64, whole_ns: u64) -> u64 {
    if passed_ns >= whole_ns {
        return fj;
    }
    let part = u128::from(fj) * u128::from(passed_ns) / u128::from(whole_ns);
    u64::try_from(part).expect("a part of a 64-bit number")
}
