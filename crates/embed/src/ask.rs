//! What a drive is asked for.

use reprieve_base::Op;

/// What is asked of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The caller's; its completion has it.
    pub tag: u64,
    /// What is asked.
    pub op: Op,
    /// First sector, in units of 512 bytes.
    pub lba: u64,
    /// Length in bytes, a multiple of 512; 0 of a flush.
    pub bytes: u32,
    /// Of a write: it is complete only when it is in flash.
    pub fua: bool,
}
