//! Bytes in a file as long as the drive, sparse where nothing was written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use reprieve_base::UserError;
use rustix::fs::{FallocateFlags, FlockOperation, SeekFrom, fallocate, flock, seek};
use rustix::io::Errno;

use super::Fault;
use super::syncer::Syncer;

/// Bytes of zeros that are written in one go where holes cannot be made.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A drive in a file.
pub struct FileStore {
    file: File,
    /// `None`: the file goes with the process, so that there is no safety to bring it to.
    syncer: Option<Syncer>,
}

impl FileStore {
    pub(super) fn open(path: &Path, bytes: u64) -> Result<FileStore, UserError> {
        let fault =
            |what: String| UserError::new(what).at(format_args!("--store {}", path.display()));
        let is_new = !path.exists();
        let mut how = OpenOptions::new();
        how.read(true).write(true).create_new(is_new).mode(0o600);
        let file = how.open(path).map_err(|error| fault(format!("cannot be opened: {error}")))?;
        let prepared = Self::prepare(&file, bytes, is_new).and_then(|syncer| {
            if is_new {
                // A flush brings the bytes to safety, and not the name.
                let synced = file.sync_all().and_then(|()| sync_folder_of(path));
                synced.map_err(|error| format!("cannot be brought to safety: {error}"))?;
            }
            Ok(syncer)
        });
        match prepared {
            Ok(syncer) => Ok(FileStore { file, syncer: Some(syncer) }),
            Err(what) => {
                if is_new {
                    // The error at hand says more than one about the clean-up would.
                    let _ = fs::remove_file(path);
                }
                Err(fault(what))
            }
        }
    }

    /// A sparse file without a name, which the system removes when the process ends, however it
    /// does.
    pub(super) fn temporary(folder: &Path, bytes: u64) -> Result<FileStore, UserError> {
        let made = tempfile::tempfile_in(folder).and_then(|file| {
            file.set_len(bytes)?;
            Ok(file)
        });
        let file = made.map_err(|error| {
            UserError::new(format!(
                "{}: the drive has {bytes} bytes, more than fit into memory, and no file of that \
                 length can be made here: {error}; give --store FILE, --discard-data, or another \
                 folder in TMPDIR",
                folder.display()
            ))
        })?;
        Ok(FileStore { file, syncer: None })
    }

    fn prepare(file: &File, bytes: u64, is_new: bool) -> Result<Syncer, String> {
        flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => {
                "is in use by another server; it must have a file of its own".into()
            }
            other => format!("cannot be locked: {other}"),
        })?;
        if is_new {
            file.set_len(bytes)
                .map_err(|error| format!("cannot be made {bytes} bytes long: {error}"))?;
        }
        let known = file.metadata().map_err(|error| format!("cannot be looked at: {error}"))?;
        if !known.is_file() {
            return Err("is no file; it must be one, or not be there".into());
        }
        if known.len() != bytes {
            return Err(format!(
                "has {} bytes, and the drive has {bytes}; it must be the file of one of that size",
                known.len()
            ));
        }
        let copy = file.try_clone().map_err(|error| format!("cannot be opened again: {error}"))?;
        Syncer::start(copy).map_err(|error| format!("cannot be brought to safety: {error}"))
    }

    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.file.read_exact_at(into, at).map_err(|error| fault(&error))
    }

    /// Whether the bytes at `at` take up room, and until where, at most `end`, those that follow
    /// are alike.
    pub(super) fn stretch(&self, at: u64, end: u64) -> Result<(bool, u64), Fault> {
        let look = |whence| match seek(&self.file, whence) {
            Ok(found) => Ok(found.min(end)),
            // No data up to the end of the file.
            Err(Errno::NXIO) => Ok(end),
            Err(error) => Err(fault(&error.into())),
        };
        let data = look(SeekFrom::Data(at))?;
        if data > at { Ok((false, data)) } else { Ok((true, look(SeekFrom::Hole(at))?)) }
    }

    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.file.write_all_at(bytes, at).map_err(|error| fault(&error))
    }

    pub(super) fn zero(&self, at: u64, bytes: u64, keep_room: bool) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let how = match keep_room {
            true => FallocateFlags::ZERO_RANGE,
            false => FallocateFlags::PUNCH_HOLE,
        };
        match fallocate(&self.file, how | FallocateFlags::KEEP_SIZE, at, bytes) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP) => self.write_zeros(at, bytes),
            Err(error) => Err(fault(&error.into())),
        }
    }

    fn write_zeros(&self, at: u64, bytes: u64) -> Result<(), Fault> {
        let end = at + bytes;
        let mut next = at;
        while next < end {
            let length = (end - next).min(ZEROS.len() as u64);
            self.write(next, &ZEROS[..length as usize])?;
            next += length;
        }
        Ok(())
    }

    pub(super) fn begin_sync(&mut self) -> Option<u64> {
        self.syncer.as_mut().map(Syncer::begin)
    }

    pub(super) fn synced(&self) -> Result<u64, Fault> {
        self.syncer.as_ref().map_or(Ok(u64::MAX), Syncer::done)
    }

    pub(super) fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.syncer.as_ref().map(Syncer::signal)
    }

    pub(super) fn clear_signal(&self) {
        if let Some(syncer) = &self.syncer {
            syncer.clear_signal();
        }
    }

    pub(super) fn close(&self) -> Result<(), Fault> {
        match self.syncer {
            Some(_) => self.file.sync_all().map_err(|error| fault(&error)),
            None => Ok(()),
        }
    }
}

/// Brings to safety that a file is where it is.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::Full,
        _ => Fault::Failed,
    }
}
