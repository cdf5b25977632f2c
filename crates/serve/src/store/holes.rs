//! Zeros in a file: bytes that stay allocated, or holes where the system has them.

use std::io;

use rustix::fs::FallocateFlags;

use super::Fault;
use super::disk::Disk;

/// Zeros written at once where holes are not supported.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A range to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zeroing {
    pub at: u64,
    pub bytes: u64,
    /// It stays allocated: no hole.
    pub keep_room: bool,
}

/// Zeroes a range of a file.
///
/// Zeros that stay allocated are written, because the system reports a range that it only reserves
/// as a hole. It is reserved first, so that it either fits as a whole or is not touched.
pub(super) fn zero(file: &dyn Disk, zeroing: Zeroing) -> Result<(), Fault> {
    let Zeroing { at, bytes, keep_room } = zeroing;
    if bytes == 0 {
        return Ok(());
    }
    let how = match keep_room {
        true => FallocateFlags::KEEP_SIZE,
        false => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
    };
    match file.allocate(how, at, bytes) {
        Ok(()) if keep_room => write_zeros(file, at, bytes),
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => write_zeros(file, at, bytes),
        Err(error) => Err(error.into()),
    }
}

fn write_zeros(file: &dyn Disk, at: u64, bytes: u64) -> Result<(), Fault> {
    let end = at + bytes;
    let mut next = at;
    while next < end {
        let length = (end - next).min(ZEROS.len() as u64);
        let written = file.write_all_at(&ZEROS[..length as usize], next);
        written?;
        next += length;
    }
    Ok(())
}
