//! The file system under a store: the system's, or one that is simulated.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FallocateFlags, FlockOperation, SeekFrom, fallocate, flock, seek};
use rustix::io::{Errno, retry_on_intr};

/// An open file.
pub trait Disk: FileExt + Send + Sync {
    /// Locks it against other servers; `WouldBlock` if one has it.
    fn lock(&self) -> io::Result<()>;
    /// Returns its length; `None`: it is no regular file.
    fn bytes(&self) -> io::Result<Option<u64>>;
    fn set_bytes(&self, bytes: u64) -> io::Result<()>;
    /// Reserves a range, or makes it a hole.
    fn allocate(&self, how: FallocateFlags, at: u64, bytes: u64) -> io::Result<()>;
    /// Returns the next data or hole; `None`: none up to the end.
    fn next(&self, whence: SeekFrom) -> io::Result<Option<u64>>;
    fn sync_data(&self) -> io::Result<()>;
    fn sync_all(&self) -> io::Result<()>;
}

/// A file system, and the threads that work on it.
pub trait Files {
    fn exists(&self, path: &Path) -> bool;
    /// Opens a file to read and write it.
    fn open(&self, path: &Path, is_new: bool) -> io::Result<Arc<dyn Disk>>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Syncs the folder entry of a file.
    fn sync_entry(&self, path: &Path) -> io::Result<()>;
    /// Whether slow operations have a thread; otherwise their owner executes them in steps.
    fn has_threads(&self) -> bool;
}

/// The system's files.
pub struct System;

impl Files for System {
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn open(&self, path: &Path, is_new: bool) -> io::Result<Arc<dyn Disk>> {
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create_new(is_new).mode(0o600).open(path)?;
        Ok(Arc::new(file))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_entry(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    fn has_threads(&self) -> bool {
        true
    }
}

impl Disk for File {
    fn lock(&self) -> io::Result<()> {
        Ok(flock(self, FlockOperation::NonBlockingLockExclusive)?)
    }

    fn bytes(&self) -> io::Result<Option<u64>> {
        let known = self.metadata()?;
        Ok(known.is_file().then_some(known.len()))
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn allocate(&self, how: FallocateFlags, at: u64, bytes: u64) -> io::Result<()> {
        Ok(retry_on_intr(|| fallocate(self, how, at, bytes))?)
    }

    fn next(&self, whence: SeekFrom) -> io::Result<Option<u64>> {
        match seek(self, whence) {
            Err(Errno::NXIO) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }
}
