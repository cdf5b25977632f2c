//! The data of the drive, in memory, in a file, or discarded.

mod block_parts;
mod disk;
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

pub use disk::{Disk, Files, System};
pub use volatile::Losses;
pub use worker::Worker;

/// The reason why bytes could not be stored or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No space is left.
    Full,
    /// The file failed.
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
    /// Lost when the process ends.
    Memory(Memory),
    /// Kept, or lost with the process if the file has no name.
    File(FileStore),
    /// Kept once they leave the volatile memory, which a power loss clears.
    Volatile(Box<Volatile>),
    /// Discarded: every read returns zeros.
    Discarded,
}

impl Store {
    /// A store in at most `limit_bytes` of memory.
    pub fn in_memory(bytes: u64, limit_bytes: u64) -> Store {
        Store::Memory(Memory::new(bytes, limit_bytes))
    }

    /// Returns a store in a file of this length, created if absent; `volatile_bytes`: the memory
    /// before it, which `lose` clears.
    ///
    /// Errors if it has another length, is in use, or cannot be created.
    pub fn in_file(
        files: &dyn Files,
        path: &Path,
        bytes: u64,
        volatile_bytes: Option<u64>,
    ) -> Result<Store, UserError> {
        let file = FileStore::open(files, path, bytes)?;
        Ok(match volatile_bytes {
            None => Store::File(file),
            Some(memory_bytes) => {
                Store::Volatile(Box::new(Volatile::new(file, bytes, memory_bytes)))
            }
        })
    }

    /// A store in a sparse file of this length without a name, in the folder for temporary files.
    ///
    /// Errors if it cannot be created.
    pub fn in_temporary_file(bytes: u64) -> Result<Store, UserError> {
        Ok(Store::File(FileStore::temporary(&std::env::temp_dir(), bytes)?))
    }

    /// Reads bytes; they must lie within the drive.
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

    /// Zeroes bytes; `keep_room`: they stay allocated, `is_forced`: they are synced. Returns a
    /// ticket, or `None` if that is done.
    pub fn begin_zero(
        &mut self,
        at: u64,
        bytes: u64,
        keep_room: bool,
        is_forced: bool,
    ) -> Result<Option<u64>, Fault> {
        match self {
            // Memory for them is counted when it is allocated.
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

    /// Returns the allocation of these bytes in at most `most` extents from `at` on; they may end
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

    /// Starts to sync the written ones of these bytes; returns a ticket, or `None` if they are
    /// synced.
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

    /// Simulates a power loss: data that is not in the file may be lost, except these bytes;
    /// `is_kept` decides for each block.
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

    /// The file, if there is one.
    fn file(&self) -> Option<&FileStore> {
        match self {
            Store::Memory(_) | Store::Discarded => None,
            Store::File(file) => Some(file),
            Store::Volatile(drive) => Some(&drive.file),
        }
    }

    /// Takes the outcome of a ticket; `None`: it is pending.
    pub fn outcome(&self, ticket: u64) -> Option<Result<(), Fault>> {
        self.file().map_or(Some(Ok(())), |file| file.worker().outcome(ticket))
    }

    /// Executes a step of the file's jobs, if it has no thread; returns whether there was one.
    #[cfg(test)]
    pub fn step(&self) -> bool {
        self.file().is_some_and(|file| file.worker().step())
    }

    /// A descriptor that becomes readable when a ticket is done.
    pub fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.file().map(|file| file.worker().signal())
    }

    /// Clears the signal.
    pub fn clear_signal(&self) {
        if let Some(file) = self.file() {
            file.worker().clear_signal();
        }
    }

    /// Syncs everything, at the end.
    pub fn close(&mut self) -> Result<(), Fault> {
        if let Store::Volatile(drive) = self {
            drive.store(0, drive.bytes)?;
        }
        self.file().map_or(Ok(()), FileStore::close)
    }

    /// Memory that the data takes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Store::Memory(memory) => memory.used_bytes(),
            Store::Volatile(drive) => drive.memory_bytes(),
            Store::File(_) | Store::Discarded => 0,
        }
    }
}
