//! Operation codes of SCSI, which the formats of virtual machines' disks write.

use reprieve_base::Op;

use super::DropReason;

/// The operation of a command, or why it is left out: it moves no data of the user's.
///
/// SBC-4 (2021): READ and WRITE of 6, 10, 12 and 16 bytes, WRITE AND VERIFY, SYNCHRONIZE CACHE.
/// UNMAP has its addresses in data that no trace holds.
pub(super) fn op(code: u8) -> Result<Op, DropReason> {
    match code {
        0x08 | 0x28 | 0xa8 | 0x88 => Ok(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Ok(Op::Write),
        0x35 | 0x91 => Ok(Op::Flush),
        _ => Err(DropReason::NeitherReadNorWrite),
    }
}
