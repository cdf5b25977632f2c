//! A simulated disk with one file: a cache that a loss of power clears, and faults at any call.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use reprieve_base::Stream;
use rustix::fs::{FallocateFlags, SeekFrom};

use crate::store::{Disk, Files};

/// Unit that a loss of power keeps or loses, and unit of allocation.
const SECTOR_BYTES: usize = 512;
const BLOCK_BYTES: usize = 4096;
/// Bytes that a write stores as a whole, whatever happens to it.
pub const CELL_BYTES: usize = 256;

/// An event at a call of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The next call that can fail so does.
    Error,
    /// The next sync fails; some of its sectors are on the disk, and the others no longer dirty.
    SyncError,
    /// No room is left for the next write or reservation.
    Full,
    /// The next transfer stops early.
    Short,
    Interrupted,
    /// The process dies before the call.
    Kill,
    /// The machine dies before the call.
    Cut,
}

/// Contents of a sector since it was last synced.
struct Unsynced {
    versions: Vec<[u8; SECTOR_BYTES]>,
    /// Whether the next sync writes it: not after a failed one, which has marked it clean.
    is_dirty: bool,
}

/// A file: its contents for readers, and those on the disk.
#[derive(Default)]
pub struct Image {
    cached: Vec<u8>,
    synced: Vec<u8>,
    unsynced: BTreeMap<usize, Unsynced>,
    /// By block; a block without room reads as zeros.
    allocated: Vec<bool>,
    is_entry_synced: bool,
}

/// A machine: its disk, and whether the process on it lives.
pub struct Machine {
    image: Option<Image>,
    draw: Stream,
    /// The process whose calls have an effect.
    boot: u64,
    pub is_alive: bool,
    /// Whether syncs succeed without effect.
    pub lies: bool,
    /// Faults with the calls before each.
    armed: Vec<(u64, Fault)>,
    /// Faults that have occurred in this process, other than deaths.
    pub struck: Vec<Fault>,
    /// Syncs that failed, ever.
    pub failed_syncs: u64,
    /// The death that has occurred.
    pub death: Option<Fault>,
}

/// The simulated file system of one process.
#[derive(Clone)]
pub struct SimulatedDisk {
    machine: Arc<Mutex<Machine>>,
    boot: u64,
}

fn error<T>(kind: ErrorKind) -> io::Result<T> {
    Err(kind.into())
}

impl Machine {
    pub fn new(seed: u64, lies: bool) -> Arc<Mutex<Machine>> {
        Arc::new(Mutex::new(Machine {
            image: None,
            draw: Stream::new(seed, "disk", 0),
            boot: 0,
            is_alive: false,
            lies,
            armed: Vec::new(),
            struck: Vec::new(),
            failed_syncs: 0,
            death: None,
        }))
    }

    /// Starts a process.
    pub fn boot(machine: &Arc<Mutex<Machine>>) -> SimulatedDisk {
        let mut its = machine.lock().expect("no panic");
        its.boot += 1;
        (its.is_alive, its.death) = (true, None);
        its.armed.clear();
        its.struck.clear();
        SimulatedDisk { machine: Arc::clone(machine), boot: its.boot }
    }

    pub fn arm(&mut self, calls: u64, fault: Fault) {
        self.armed.push((calls, fault));
    }

    /// Ends the process; the cache stays.
    pub fn kill(&mut self) {
        (self.is_alive, self.death) = (false, Some(Fault::Kill));
    }

    /// Ends the machine: of each sector that is not synced, any content since then survives.
    pub fn cut(&mut self) {
        (self.is_alive, self.death) = (false, Some(Fault::Cut));
        let Some(image) = &mut self.image else { return };
        if !image.is_entry_synced && self.draw.below(2) == 0 {
            self.image = None;
            return;
        }
        image.is_entry_synced = true;
        // Everything, nothing, or each by itself.
        let how = self.draw.below(4);
        if image.synced.len() != image.cached.len() {
            if how == 1 || how > 1 && self.draw.below(2) == 0 {
                image.synced.resize(image.cached.len(), 0);
            } else {
                *image = Image { is_entry_synced: true, ..Image::default() };
                return;
            }
        }
        for (sector, Unsynced { versions, .. }) in std::mem::take(&mut image.unsynced) {
            let kept = match how {
                0 => 0,
                1 => versions.len(),
                _ => self.draw.below(versions.len() as u64 + 1) as usize,
            };
            if kept > 0 {
                image.synced[sector * SECTOR_BYTES..][..SECTOR_BYTES]
                    .copy_from_slice(&versions[kept - 1]);
            }
        }
        image.cached.clone_from(&image.synced);
        for (block, is_allocated) in image.allocated.iter_mut().enumerate() {
            let end = (block + 1) * BLOCK_BYTES;
            let bytes = &image.cached[block * BLOCK_BYTES..end.min(image.cached.len())];
            *is_allocated |= bytes.iter().any(|byte| *byte != 0);
        }
    }

    /// The bytes that a reader finds; empty without a file.
    pub fn bytes(&self) -> &[u8] {
        self.image.as_ref().map_or(&[], |image| &image.cached)
    }

    fn sync(&mut self, is_failed: bool) {
        if self.lies && !is_failed {
            return;
        }
        self.failed_syncs += u64::from(is_failed);
        let (image, draw) = (self.image.as_mut().expect("it is open"), &mut self.draw);
        let length = image.cached.len();
        image.synced.resize(length, 0);
        let (synced, cached) = (&mut image.synced, &image.cached);
        image.unsynced.retain(|sector, unsynced| {
            let is_written = unsynced.is_dirty && (!is_failed || draw.below(2) == 0);
            if is_written {
                let range = sector * SECTOR_BYTES..((sector + 1) * SECTOR_BYTES).min(length);
                synced[range.clone()].copy_from_slice(&cached[range]);
            }
            unsynced.is_dirty = false;
            !is_written
        });
    }
}

impl Image {
    /// Changes bytes in the cache.
    fn change(&mut self, at: usize, bytes: usize, how: impl FnOnce(&mut [u8])) {
        how(&mut self.cached[at..at + bytes]);
        for sector in at / SECTOR_BYTES..(at + bytes).div_ceil(SECTOR_BYTES) {
            let start = sector * SECTOR_BYTES;
            let end = (start + SECTOR_BYTES).min(self.cached.len());
            let mut version = [0; SECTOR_BYTES];
            version[..end - start].copy_from_slice(&self.cached[start..end]);
            let empty = || Unsynced { versions: Vec::new(), is_dirty: true };
            let unsynced = self.unsynced.entry(sector).or_insert_with(empty);
            unsynced.versions.push(version);
            unsynced.is_dirty = true;
        }
    }
}

/// The kind of a call, which decides what faults it can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    Reserve,
    Sync,
    Other,
}

impl SimulatedDisk {
    /// The machine, unless the process is dead; with the fault that strikes this call.
    fn call(&self, call: Call) -> io::Result<(MutexGuard<'_, Machine>, Option<Fault>)> {
        let mut its = self.machine.lock().expect("no panic");
        if !its.is_alive || its.boot != self.boot {
            return error(ErrorKind::Other);
        }
        for (calls, _) in &mut its.armed {
            *calls = calls.saturating_sub(1);
        }
        let strikes = |(calls, fault): &(u64, Fault)| {
            let can = match fault {
                Fault::Error => call != Call::Sync,
                Fault::SyncError => call == Call::Sync,
                Fault::Full => matches!(call, Call::Write | Call::Reserve),
                Fault::Short | Fault::Interrupted => matches!(call, Call::Read | Call::Write),
                Fault::Kill | Fault::Cut => true,
            };
            *calls == 0 && can
        };
        let Some(place) = its.armed.iter().position(strikes) else { return Ok((its, None)) };
        let (_, fault) = its.armed.swap_remove(place);
        match fault {
            Fault::Kill => its.kill(),
            Fault::Cut => its.cut(),
            _ => its.struck.push(fault),
        }
        match fault {
            Fault::Kill | Fault::Cut | Fault::Error => error(ErrorKind::Other),
            Fault::SyncError => {
                its.sync(true);
                error(ErrorKind::Other)
            }
            Fault::Full => error(ErrorKind::StorageFull),
            Fault::Interrupted => error(ErrorKind::Interrupted),
            Fault::Short => Ok((its, Some(fault))),
        }
    }

    /// Returns how many of these bytes a transfer takes.
    fn transferred(its: &mut Machine, fault: Option<Fault>, bytes: usize) -> usize {
        match fault {
            Some(Fault::Short) if bytes > CELL_BYTES => {
                CELL_BYTES * (1 + its.draw.below((bytes / CELL_BYTES) as u64) as usize)
            }
            _ => bytes,
        }
    }
}

impl FileExt for SimulatedDisk {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let (mut its, fault) = self.call(Call::Read)?;
        let count = Self::transferred(&mut its, fault, into.len());
        let left = its.bytes().get(at as usize..).unwrap_or(&[]);
        let count = count.min(left.len());
        into[..count].copy_from_slice(&left[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        let (mut its, fault) = self.call(Call::Write)?;
        let count = Self::transferred(&mut its, fault, bytes.len());
        let (from, image) = (at as usize, its.image.as_mut().expect("it is open"));
        image.change(from, count, |here| here.copy_from_slice(&bytes[..count]));
        image.allocated[from / BLOCK_BYTES..(from + count).div_ceil(BLOCK_BYTES)].fill(true);
        Ok(count)
    }
}

impl Disk for SimulatedDisk {
    fn lock(&self) -> io::Result<()> {
        self.call(Call::Other).map(drop)
    }

    fn bytes(&self) -> io::Result<Option<u64>> {
        let (its, _) = self.call(Call::Other)?;
        Ok(Some(its.bytes().len() as u64))
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        let (mut its, _) = self.call(Call::Other)?;
        let image = its.image.as_mut().expect("it is open");
        image.cached.resize(bytes as usize, 0);
        image.allocated.resize(bytes.div_ceil(BLOCK_BYTES as u64) as usize, false);
        Ok(())
    }

    fn allocate(&self, how: FallocateFlags, at: u64, bytes: u64) -> io::Result<()> {
        let (mut its, _) = self.call(Call::Reserve)?;
        let image = its.image.as_mut().expect("it is open");
        let (from, to) = (at as usize, (at + bytes) as usize);
        if how.contains(FallocateFlags::PUNCH_HOLE) {
            image.change(from, to - from, |here| here.fill(0));
            let whole = from.div_ceil(BLOCK_BYTES)..to / BLOCK_BYTES;
            if !whole.is_empty() {
                image.allocated[whole].fill(false);
            }
        }
        Ok(())
    }

    fn next(&self, whence: SeekFrom) -> io::Result<Option<u64>> {
        let (its, _) = self.call(Call::Other)?;
        let image = its.image.as_ref().expect("it is open");
        let (at, wanted) = match whence {
            SeekFrom::Data(at) => (at as usize, true),
            SeekFrom::Hole(at) => (at as usize, false),
            other => panic!("nobody seeks {other:?}"),
        };
        let blocks = at / BLOCK_BYTES..image.allocated.len();
        let found = blocks.into_iter().find(|block| image.allocated[*block] == wanted);
        Ok(found.map(|block| (block * BLOCK_BYTES).max(at) as u64))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.call(Call::Sync)?.0.sync(false);
        Ok(())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Files for SimulatedDisk {
    fn exists(&self, _: &Path) -> bool {
        self.machine.lock().expect("no panic").image.is_some()
    }

    fn open(&self, _: &Path, is_new: bool) -> io::Result<Arc<dyn Disk>> {
        let (mut its, _) = self.call(Call::Other)?;
        assert_eq!(its.image.is_none(), is_new, "nobody else makes it");
        its.image.get_or_insert_default();
        Ok(Arc::new(self.clone()))
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        self.call(Call::Other)?.0.image = None;
        Ok(())
    }

    fn sync_entry(&self, _: &Path) -> io::Result<()> {
        let (mut its, _) = self.call(Call::Sync)?;
        if !its.lies {
            its.image.as_mut().expect("it is open").is_entry_synced = true;
        }
        Ok(())
    }

    fn has_threads(&self) -> bool {
        false
    }
}
