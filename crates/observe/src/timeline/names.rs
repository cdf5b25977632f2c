//! Names of slices and annotations in a timeline, written once a track.

use reprieve_base::Op;
use reprieve_nand::Activity;
use reprieve_policy::txn::Kind;

/// Names of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A read of the host.
    Read,
    /// The read of an old page under a partial write.
    RmwRead,
    /// The read of a page that garbage collection moves.
    GcRead,
    /// The read of a page of the mapping.
    MapRead,
    /// The read of a page of the mapping before its rewrite.
    MapUpdate,
    /// A program for the host.
    Program,
    /// The program of a page that garbage collection moves.
    GcProgram,
    /// A move inside the die.
    GcCopyback,
    /// The program of a page of the mapping.
    MapProgram,
    /// An erase.
    Erase,
    /// The array senses a page.
    Sense,
    /// Command and address on the channel.
    Command,
    /// Data on its way into a die.
    DataIn,
    /// Data on its way out of a die.
    DataOut,
    /// A pulse of a program.
    ProgramPulse,
    /// The verification after it.
    ProgramVerify,
    /// The pulse of an erase.
    ErasePulse,
    /// The verification after it.
    EraseVerify,
    /// The voltages of the array fall.
    VoltageReset,
    /// An operation runs to where it can be suspended.
    ToSuspensionPoint,
    /// The voltages of a resumed operation rise.
    Restore,
    /// An array is prepared.
    SetUp,
    /// A write of the host.
    HostWrite,
    /// A trim of the host, or an operation of a zone.
    HostTrim,
    /// A flush of the host.
    HostFlush,
    /// The read of a page by the scan of all data.
    ScanRead,
}

/// The names, in the order of [`Name`].
const NAMES: [&str; 26] = [
    "read",
    "rmw read",
    "gc read",
    "map read",
    "map update read",
    "program",
    "gc program",
    "gc copyback",
    "map program",
    "erase",
    "sense",
    "command",
    "data in",
    "data out",
    "program pulse",
    "program verify",
    "erase pulse",
    "erase verify",
    "voltage reset",
    "to suspension point",
    "restore",
    "set-up",
    "write",
    "trim",
    "flush",
    "scan read",
];

const _: () = assert!(NAMES.len() == Name::ScanRead as usize + 1, "a name for each");

impl Name {
    /// Returns the slice of a page operation.
    pub fn of_kind(kind: Kind) -> Name {
        match kind {
            Kind::HostRead => Name::Read,
            Kind::RmwRead => Name::RmwRead,
            Kind::Program => Name::Program,
            Kind::ScanRead => Name::ScanRead,
            Kind::GcRead => Name::GcRead,
            Kind::GcProgram => Name::GcProgram,
            Kind::GcCopy => Name::GcCopyback,
            Kind::MapRead => Name::MapRead,
            Kind::MapUpdate => Name::MapUpdate,
            Kind::MapProgram => Name::MapProgram,
            Kind::Erase => Name::Erase,
        }
    }

    /// Returns the slice of a host request.
    pub fn of_request(op: Op) -> Name {
        match op {
            Op::Read => Name::Read,
            Op::Write | Op::Append => Name::HostWrite,
            Op::Flush => Name::HostFlush,
            _ => Name::HostTrim,
        }
    }

    /// Returns the slice of a phase.
    pub fn of_phase(activity: Activity) -> Name {
        match activity {
            Activity::Sense => Name::Sense,
            Activity::ProgramPulse => Name::ProgramPulse,
            Activity::ProgramVerify => Name::ProgramVerify,
            Activity::ErasePulse => Name::ErasePulse,
            Activity::EraseVerify => Name::EraseVerify,
        }
    }

    /// Returns its number in the table of names of a track.
    pub fn iid(self) -> u64 {
        self as u64 + 1
    }
}

/// Names of annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Request,
    Lba,
    Bytes,
    Die,
    Plane,
    Block,
    Page,
    Pages,
    Suspensions,
}

/// The names of annotations, in the order of [`Note`].
const NOTES: [&str; 9] =
    ["request", "lba", "bytes", "die", "plane", "block", "page", "pages", "suspensions"];

const _: () = assert!(NOTES.len() == Note::Suspensions as usize + 1, "a name for each");

impl Note {
    /// Returns its number in the table of annotations of a track.
    pub fn iid(self) -> u64 {
        self as u64 + 1
    }
}

/// Returns all names of slices with their numbers.
pub fn names() -> impl Iterator<Item = (u64, &'static str)> {
    (1..).zip(NAMES)
}

/// Returns all names of annotations with their numbers.
pub fn notes() -> impl Iterator<Item = (u64, &'static str)> {
    (1..).zip(NOTES)
}
