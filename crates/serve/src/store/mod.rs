//! What the drive holds: the bytes themselves, in memory, in a file, or nowhere.

mod file;
mod holes;
mod memory;
mod ranges;
#[cfg(test)]
mod tests;
mod volatile;
mod worker;

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use reprieve_base::UserError;

use crate::protocol::{Allocation, Extent};
use file::FileStore;
use holes::Zeroing;
use memory::Memory;
use volatile::Volatile;

pub use file::sync_folder_of;
pub use volatile::Losses;
pub use worker::Worker;

/// Why bytes could not be stored or fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No room is left.
    Full,
    /// The file behind them failed.
    Failed,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::Full,
            _ => Fault::Failed,
        }
    }
}

/// The bytes of a drive; those never written are zero.
pub enum Store {
    /// They go with the process.
    Memory(Memory),
    /// They stay, or go with the process where the file has no name.
    File(FileStore),
    /// They stay once they are out of a memory that a loss of power empties.
    Volatile(Box<Volatile>),
    /// They are dropped: every read gives zeros.
    Discarded,
}

impl Store {
    /// A store in memory that takes at most `limit_bytes` of it.
    pub fn in_memory(bytes: u64, limit_bytes: u64) -> Store {
        Store::Memory(Memory::new(bytes, limit_bytes))
    }

    /// A store in a file of this length, made if it is not there.
    ///
    /// Errors if it has another length, is in use, or cannot be made.
    pub fn in_file(path: &Path, bytes: u64) -> Result<Store, UserError> {
        Ok(Store::File(FileStore::open(path, bytes)?))
    }

    /// The same behind a memory of so many bytes, which `lose` empties.
    pub fn in_file_behind(path: &Path, bytes: u64, memory_bytes: u64) -> Result<Store, UserError> {
        let file = FileStore::open(path, bytes)?;
        Ok(Store::Volatile(Box::new(Volatile::new(file, bytes, memory_bytes))))
    }

    /// A store in a sparse file of this length without a name, in the folder for temporary files.
    ///
    /// Errors if it cannot be made.
    pub fn in_temporary_file(bytes: u64) -> Result<Store, UserError> {
        Ok(Store::File(FileStore::temporary(&std::env::temp_dir(), bytes)?))
    }

    /// Fetches bytes; they must lie within the drive.
    pub fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        match self {
            Store::Memory(memory) => {
                memory.read(at, into);
                Ok(())
            }
            Store::File(file) => file.read(at, into),
            Store::Volatile(drive) => drive.read(at, into),
            Store::Discarded => {
                into.fill(0);
                Ok(())
            }
        }
    }

    /// Stores bytes; they must lie within the drive.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        match self {
            Store::Memory(memory) => memory.write(at, bytes),
            Store::File(file) => file.write(at, bytes),
            Store::Volatile(drive) => drive.write(at, bytes),
            Store::Discarded => Ok(()),
        }
    }

    /// Makes bytes zero; `keep_room`: they stay allocated, `is_forced`: they are brought to safety.
    /// A ticket, or `None` if that is done.
    pub fn begin_zero(
        &mut self,
        at: u64,
        bytes: u64,
        keep_room: bool,
        is_forced: bool,
    ) -> Result<Option<u64>, Fault> {
        match self {
            // Memory for them is counted when it is needed.
            Store::Memory(memory) => {
                memory.zero(at, bytes, keep_room);
                Ok(None)
            }
            Store::File(file) => {
                Ok(Some(file.begin_zero(Zeroing { at, bytes, keep_room }, is_forced)))
            }
            Store::Volatile(drive) => {
                drive.zero(Zeroing { at, bytes, keep_room })?;
                if is_forced { self.begin_sync(at, bytes) } else { Ok(None) }
            }
            Store::Discarded => Ok(None),
        }
    }

    /// Returns the allocation of these bytes in at most `most` stretches from `at` on; they may end
    /// before `at + bytes`.
    pub fn extents(&self, at: u64, bytes: u64, most: usize) -> Result<Vec<Extent>, Fault> {
        let (mut found, end) = (Vec::<Extent>::new(), at + bytes);
        let mut next = at;
        while next < end {
            let (allocation, until) = match self {
                Store::Memory(memory) => memory.stretch(next, end),
                Store::File(file) => file.stretch(next, end)?,
                Store::Volatile(drive) => drive.stretch(next, end)?,
                Store::Discarded => (Allocation::Hole, end),
            };
            let length = until - next;
            let is_full = found.len() == most;
            match found.last_mut() {
                Some(last) if last.allocation == allocation => last.bytes += length,
                _ if is_full => break,
                _ => found.push(Extent { bytes: length, allocation }),
            }
            next = until;
        }
        Ok(found)
    }

    /// Begins to bring these bytes, as far as they were written, to safety; a ticket, or `None` if
    /// they are there.
    pub fn begin_sync(&mut self, at: u64, bytes: u64) -> Result<Option<u64>, Fault> {
        match self {
            Store::Memory(_) | Store::Discarded => Ok(None),
            Store::File(file) => Ok(file.begin_sync()),
            Store::Volatile(drive) => {
                drive.store(at, bytes)?;
                Ok(drive.file.begin_sync())
            }
        }
    }

    /// The power fails: what is not in the file may be lost, but for these bytes. `is_kept` says of
    /// each block whether it is there all the same.
    pub fn lose(
        &mut self,
        but: Option<(u64, u64)>,
        is_kept: impl FnMut() -> bool,
    ) -> Result<Losses, Fault> {
        let Store::Volatile(drive) = self else { return Ok(Losses::default()) };
        if let Some((at, bytes)) = but {
            drive.store(at, bytes)?;
        }
        drive.lose(is_kept)
    }

    /// The file behind it; `None`: there is none.
    fn file(&self) -> Option<&FileStore> {
        match self {
            Store::Memory(_) | Store::Discarded => None,
            Store::File(file) => Some(file),
            Store::Volatile(drive) => Some(&drive.file),
        }
    }

    /// What has come of a ticket, which is asked for once; `None`: nothing yet.
    pub fn outcome(&self, ticket: u64) -> Option<Result<(), Fault>> {
        self.file().map_or(Some(Ok(())), |file| file.worker().outcome(ticket))
    }

    /// What becomes readable when a ticket is done with.
    pub fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.file().map(|file| file.worker().signal())
    }

    /// Takes note of the signal.
    pub fn clear_signal(&self) {
        if let Some(file) = self.file() {
            file.worker().clear_signal();
        }
    }

    /// Brings everything to safety, at the end.
    pub fn close(&mut self) -> Result<(), Fault> {
        if let Store::Volatile(drive) = self {
            drive.store(0, drive.bytes)?;
        }
        self.file().map_or(Ok(()), FileStore::close)
    }

    /// Memory that the bytes take up.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Store::Memory(memory) => memory.used_bytes(),
            Store::Volatile(drive) => drive.memory_bytes(),
            Store::File(_) | Store::Discarded => 0,
        }
    }
}
