//! Prepared states of drives: in memory for the other runs of a process, in files for others.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reprieve_base::Archive;
use twox_hash::XxHash3_64;

use super::file;

/// The variable that says where files of states are; `off`: no state is kept at all.
const VARIABLE: &str = "REPRIEVE_STATES";
const MAGIC: &[u8; 8] = b"RPVREADY";
/// Magic, checksum of all behind it, drive, build.
const HEAD_BYTES: usize = 40;
const SUMMED_FROM: usize = 16;
const MEMORY_BYTES_MAX: u64 = 256 << 20;
const FILES_BYTES_MAX: u64 = 1 << 30;
const SUFFIX: &str = ".prepared";
/// Polling interval of a thread that waits for another, so that it can be interrupted.
const WAIT: Duration = Duration::from_millis(50);

/// All that a prepared state depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Hash of the drive and of the target of its preparation.
    pub drive: u128,
    /// The program that has prepared it: that of other sources may do it otherwise.
    pub build: u64,
}

/// Prepared states, the least recently used of which leave when they are too many bytes.
#[derive(Debug)]
pub struct Store {
    /// Place of the files; `None`: there are none.
    folder: Option<PathBuf>,
    memory_bytes_max: u64,
    files_bytes_max: u64,
    kept: Mutex<Kept>,
    /// Signals the end of a claim.
    released: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    /// The least recently used first.
    states: Vec<(Key, Arc<Vec<u8>>)>,
    /// Those that are being prepared, and how far that is.
    claims: Vec<(Key, Arc<AtomicU64>)>,
    /// Bytes of the files that this process has read or written, by their drive.
    files: BTreeMap<u128, u64>,
}

/// Result of a look-up.
#[derive(Debug)]
pub enum Found {
    /// Its bytes are those behind [`Prepared::parts`].
    State(Prepared),
    /// Not found: the caller prepares it.
    Absent(Claim),
    /// Another drive prepares it; the number of steps that are done.
    Awaited(u64),
}

/// A state as it is kept.
#[derive(Clone, Debug)]
pub struct Prepared(Arc<Vec<u8>>);

impl Prepared {
    /// Returns the parts of the drive.
    pub fn parts(&self) -> Archive<'_> {
        Archive::loading(&self.0[HEAD_BYTES..])
    }
}

/// The duty to prepare a state; others wait for it until it is dropped.
#[derive(Debug)]
pub struct Claim {
    store: Arc<Store>,
    key: Key,
    steps: Arc<AtomicU64>,
}

impl Store {
    /// Returns an empty store with limits in bytes, in memory and of the files in a folder, if any.
    pub fn new(folder: Option<PathBuf>, memory_bytes_max: u64, files_bytes_max: u64) -> Arc<Store> {
        let (kept, released) = (Mutex::default(), Condvar::new());
        Arc::new(Store { folder, memory_bytes_max, files_bytes_max, kept, released })
    }

    /// Returns the one of this process; `None` if the user wants none.
    pub fn of_process() -> Option<Arc<Store>> {
        static STORE: LazyLock<Option<Arc<Store>>> = LazyLock::new(|| {
            if cfg!(target_family = "wasm") {
                return None; // A thread cannot wait there.
            }
            let folder = folder(|name| std::env::var_os(name))?;
            Some(Store::new(folder, MEMORY_BYTES_MAX, FILES_BYTES_MAX))
        });
        STORE.clone()
    }

    /// Looks for a state; waits for a moment if it is being prepared.
    pub fn find(self: &Arc<Store>, key: Key) -> Found {
        let mut kept = self.lock();
        for is_last in [false, true] {
            if let Some(at) = kept.states.iter().position(|(own, _)| *own == key) {
                // The last is the most recently used.
                kept.states[at..].rotate_left(1);
                return Found::State(Prepared(Arc::clone(&kept.states[kept.states.len() - 1].1)));
            }
            let Some((_, steps)) = kept.claims.iter().find(|(own, _)| *own == key) else { break };
            if is_last {
                return Found::Awaited(steps.load(Ordering::Relaxed));
            }
            let waited = self.released.wait_timeout(kept, WAIT);
            kept = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let steps = Arc::new(AtomicU64::new(0));
        kept.claims.push((key, Arc::clone(&steps)));
        drop(kept);
        let claim = Claim { store: Arc::clone(self), key, steps };
        match self.read(key) {
            None => Found::Absent(claim),
            Some(bytes) => Found::State(claim.keep_in_memory(bytes)),
        }
    }

    /// Returns the contents of a state's file, if it is whole and of this program.
    fn read(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(file_name(key));
        let bytes = fs::read(&path).ok()?;
        let sum = XxHash3_64::oneshot(bytes.get(SUMMED_FROM..)?);
        if bytes.get(..HEAD_BYTES)? != head(key, sum) {
            return None;
        }
        self.lock().files.insert(key.drive, bytes.len() as u64);
        // A write marks it as the most recently used; it may fail.
        let _ = OpenOptions::new().write(true).open(&path).and_then(|mut it| it.write_all(MAGIC));
        Some(bytes)
    }

    /// Writes the file of a state, if there is room for it; nobody depends on that.
    fn write(&self, key: Key, bytes: &[u8]) -> Option<()> {
        let folder = self.folder.as_ref()?;
        // A process that uses more drives than fit would else write each of them every time.
        let mut kept = self.lock();
        kept.files.insert(key.drive, bytes.len() as u64);
        if kept.files.values().sum::<u64>() > self.files_bytes_max {
            kept.files.remove(&key.drive);
            return None;
        }
        drop(kept);
        fs::create_dir_all(folder).ok()?;
        file::write(&folder.join(file_name(key)), &[bytes]).ok()?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).ok()?.flatten().filter(|entry| is_ours(&entry.path())) {
            if let Ok(about) = entry.metadata() {
                files.push((about.modified().ok()?, about.len(), entry.path()));
            }
        }
        files.sort_unstable();
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, own, path) in files {
            if bytes <= self.files_bytes_max {
                break;
            }
            fs::remove_file(path).ok()?;
            bytes -= own;
        }
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim {
    /// Says that a step of the preparation is done.
    pub fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the archive that the parts of the drive are to be written to.
    pub fn archive(&self) -> Archive<'static> {
        Archive::saving(head(self.key, 0))
    }

    /// Keeps the state for others, also in a file if it is worth one.
    pub fn keep(self, archive: Archive, is_costly: bool) {
        let mut bytes = archive.into_bytes();
        let sum = XxHash3_64::oneshot(&bytes[SUMMED_FROM..]);
        bytes[..HEAD_BYTES].copy_from_slice(&head(self.key, sum));
        if is_costly {
            self.store.write(self.key, &bytes);
        }
        self.keep_in_memory(bytes);
    }

    fn keep_in_memory(self, bytes: Vec<u8>) -> Prepared {
        let bytes = Arc::new(bytes);
        let mut kept = self.store.lock();
        kept.states.push((self.key, Arc::clone(&bytes)));
        let mut all: u64 = kept.states.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        while all > self.store.memory_bytes_max {
            all -= kept.states.remove(0).1.len() as u64;
        }
        Prepared(bytes)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.store.lock().claims.retain(|(_, steps)| !Arc::ptr_eq(steps, &self.steps));
        self.store.released.notify_all();
    }
}

fn head(key: Key, sum: u64) -> Vec<u8> {
    [&MAGIC[..], &sum.to_le_bytes(), &key.drive.to_le_bytes(), &key.build.to_le_bytes()].concat()
}

/// Of a drive under any build, so that a new one replaces what an old one has left.
fn file_name(key: Key) -> String {
    format!("{:032x}{SUFFIX}", key.drive)
}

/// Whether a file is a state's, by its 32 digits, or was left by a process in the middle of one.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((drive, rest)) = name.trim_start_matches('.').split_once(SUFFIX) else { return false };
    let is_number = drive.len() == 32 && u128::from_str_radix(drive, 16).is_ok();
    is_number && (rest.is_empty() || rest.ends_with(".partial"))
}

/// The place of files of states by these variables, `None` for one without a home; `None` if none
/// are to be kept.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<Option<PathBuf>> {
    let asked = variable(VARIABLE).filter(|asked| !asked.is_empty());
    if asked.as_ref().is_some_and(|asked| asked == "off") {
        return None;
    }
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = || absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(asked.map(PathBuf::from).or_else(|| Some(cache()?.join("reprieve/states"))))
}

#[cfg(test)]
mod tests;
