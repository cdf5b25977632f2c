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
    /// Store data at the write pointer of the zone that begins at the address.
    Append,
    /// Empty a zone.
    Reset,
    /// Fill a zone up: nothing more is written to it.
    Finish,
    /// Open a zone explicitly.
    Open,
    /// Close a zone that is open.
    Close,
}

impl Op {
    /// Every operation, in order.
    pub const ALL: [Op; 9] = [
        Op::Read,
        Op::Write,
        Op::Trim,
        Op::Flush,
        Op::Append,
        Op::Reset,
        Op::Finish,
        Op::Open,
        Op::Close,
    ];

    /// Whether it stores data.
    #[inline(always)]
    pub const fn is_write(self) -> bool {
        matches!(self, Op::Write | Op::Append)
    }

    /// Whether it changes the state of a zone, which it names by the zone's first sector, and moves
    /// no data.
    #[inline(always)]
    pub const fn is_of_zone(self) -> bool {
        matches!(self, Op::Reset | Op::Finish | Op::Open | Op::Close)
    }

    /// As written in request logs: `read`, `write`, `trim` and so on.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
            Op::Append => "append",
            Op::Reset => "reset",
            Op::Finish => "finish",
            Op::Open => "open",
            Op::Close => "close",
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
    /// Length in bytes, a multiple of 512; 0 only for `Op::Flush` and operations of zones.
    pub bytes: u32,
    /// Force unit access: a write that is complete only when it is in flash.
    pub fua: bool,
}
