//! A host request to an embedded drive.

use reprieve_base::Op;

/// A request to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The caller's tag; the completion repeats it.
    pub tag: u64,
    /// The operation.
    pub op: Op,
    /// First sector, in units of 512 bytes.
    pub lba: u64,
    /// Length in bytes, a multiple of 512; 0 of a flush.
    pub bytes: u32,
    /// Forced unit access: a write is complete only when it is in flash.
    pub fua: bool,
}
