//! A host request, as a trace or a generator submits it to the drive.

use crate::Time;

/// Bytes of a host sector: the unit of `lba`.
pub const SECTOR_BYTES: u64 = 512;

/// The operation of a request.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Op {
    /// Return data.
    Read,
    /// Store data.
    Write,
    /// The data is no longer needed.
    Trim,
    /// Complete once every write received before it is in flash; has no address.
    Flush,
}

impl Op {
    /// As written in request logs: `read`, `write`, `trim`, `flush`.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        }
    }
}

/// One host request, already translated to the drive's own address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Request {
    /// The arrival at the drive.
    pub arrival: Time,
    /// The operation.
    pub op: Op,
    /// First sector, in units of 512 bytes.
    pub lba: u64,
    /// Length in bytes, a multiple of 512; 0 only for `Op::Flush`.
    pub bytes: u32,
    /// Force unit access: a write that is complete only when it is in flash.
    pub fua: bool,
}
