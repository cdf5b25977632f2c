//! Bytes in a file as long as the drive, sparse where nothing was written.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use reprieve_base::UserError;
use rustix::fs::SeekFrom;

use super::Fault;
use super::disk::{Disk, Files};
use super::holes::{Zeroing, zero};
use super::worker::Worker;
use crate::protocol::Allocation;

/// A drive in a file.
pub struct FileStore {
    file: Arc<dyn Disk>,
    /// Otherwise it is removed with the process, and needs no sync.
    is_kept: bool,
    worker: Worker,
    /// Pending zeroing.
    zeroing: VecDeque<(u64, Zeroing)>,
}

impl FileStore {
    pub(super) fn open(files: &dyn Files, path: &Path, bytes: u64) -> Result<FileStore, UserError> {
        let fault =
            |what: String| UserError::new(what).at(format_args!("--store {}", path.display()));
        let is_new = !files.exists(path);
        let file = files.open(path, is_new);
        let file = file.map_err(|error| fault(format!("cannot be opened: {error}")))?;
        let prepared = Self::prepare(&*file, bytes).and_then(|()| {
            // A flush syncs the data, and not the name, which a server may have left unsynced.
            let synced = file.sync_all().and_then(|()| files.sync_entry(path));
            synced
                .and_then(|()| Worker::start(Arc::clone(&file), files.has_threads()))
                .map_err(|error| format!("cannot be brought to safety: {error}"))
        });
        match prepared {
            Ok(worker) => Ok(FileStore { file, is_kept: true, worker, zeroing: VecDeque::new() }),
            Err(what) => {
                if is_new {
                    // The first error is the one to report.
                    let _ = files.remove(path);
                }
                Err(fault(what))
            }
        }
    }

    /// A sparse file without a name, which the system removes when the process ends, in whatever
    /// way.
    pub(super) fn temporary(folder: &Path, bytes: u64) -> Result<FileStore, UserError> {
        let made = tempfile::tempfile_in(folder).and_then(|file| {
            file.set_len(bytes)?;
            let file: Arc<dyn Disk> = Arc::new(file);
            Ok((Worker::start(Arc::clone(&file), true)?, file))
        });
        let (worker, file) = made.map_err(|error| {
            UserError::new(format!(
                "{}: the drive has {bytes} bytes, more than fit into memory, and no file of that \
                 length can be made here: {error}; give --store FILE, --discard-data, or another \
                 folder in TMPDIR",
                folder.display()
            ))
        })?;
        Ok(FileStore { file, is_kept: false, worker, zeroing: VecDeque::new() })
    }

    fn prepare(file: &dyn Disk, bytes: u64) -> Result<(), String> {
        file.lock().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                "is in use by another server; it must have a file of its own".into()
            }
            _ => format!("cannot be locked: {error}"),
        })?;
        match file.bytes().map_err(|error| format!("cannot be looked at: {error}"))? {
            None => Err("is no file; it must be one, or not be there".into()),
            // New, or left by a server that died at its start.
            Some(0) => file
                .set_bytes(bytes)
                .map_err(|error| format!("cannot be made {bytes} bytes long: {error}")),
            Some(known) if known != bytes => Err(format!(
                "has {known} bytes, and the drive has {bytes}; it must be the file of one of that \
                 size"
            )),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.file.read_exact_at(into, at).map_err(Fault::from)
    }

    /// Returns the allocation of the byte at `at`, and the end, at most `end`, of the range with
    /// that allocation.
    pub(super) fn stretch(&self, at: u64, end: u64) -> Result<(Allocation, u64), Fault> {
        let look = |whence| self.file.next(whence).map(|found| found.map_or(end, |at| at.min(end)));
        let data = look(SeekFrom::Data(at))?;
        if data > at {
            return Ok((Allocation::Hole, data));
        }
        Ok((Allocation::Data, look(SeekFrom::Hole(at))?))
    }

    /// Stores bytes, after any pending zeroing of them, so that the later write wins.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.pass_over_zeroed();
        let end = at + bytes.len() as u64;
        let is_there = |other: &Zeroing| other.at < end && at < other.at + other.bytes;
        if let Some((ticket, _)) = self.zeroing.iter().rfind(|(_, other)| is_there(other)) {
            self.worker.wait(*ticket);
        }
        self.file.write_all_at(bytes, at).map_err(Fault::from)
    }

    /// Starts to zero bytes; returns a ticket.
    pub(super) fn begin_zero(&mut self, zeroing: Zeroing, syncs: bool) -> u64 {
        self.pass_over_zeroed();
        let ticket = self.worker.begin_zero(zeroing, syncs && self.is_kept);
        self.zeroing.push_back((ticket, zeroing));
        ticket
    }

    fn pass_over_zeroed(&mut self) {
        if self.zeroing.is_empty() {
            return;
        }
        let done = self.worker.done();
        while self.zeroing.front().is_some_and(|(ticket, _)| *ticket <= done) {
            self.zeroing.pop_front();
        }
    }

    /// Zeroes bytes at once.
    pub(super) fn zero(&self, zeroing: Zeroing) -> Result<(), Fault> {
        zero(&*self.file, zeroing)
    }

    pub(super) fn begin_sync(&mut self) -> Option<u64> {
        self.is_kept.then(|| self.worker.begin_sync())
    }

    pub(super) fn worker(&self) -> &Worker {
        &self.worker
    }

    pub(super) fn close(&self) -> Result<(), Fault> {
        self.worker.wait_for_all();
        match self.is_kept {
            // The next sync passes over what that one could not write.
            true if self.worker.has_failed() => Err(Fault::Failed),
            true => self.file.sync_all().map_err(Fault::from),
            false => Ok(()),
        }
    }
}
