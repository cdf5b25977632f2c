//! The checker: follows a run with independent tables, and stops it at a violation.

mod promise;
mod sectors;

use std::collections::BTreeSet;
use std::ops::Range;

use reprieve_base::{Geometry, PageAddress, Time};

use crate::die_events::{DieEvent, Extent};
pub use promise::{Content, Promise, Promises};
pub use sectors::HeldSectors;

/// Instants between two full checks, for each page of the drive: so that they cost about as much as
/// the rest.
const INSTANTS_PER_PAGE: u64 = 1;

/// Rules of dies, channels and requests, and how to repeat a run that breaks one.
pub struct Checker {
    geometry: Geometry,
    seed: u64,
    repeat: String,
    /// When the use of each die's array or page buffer started.
    taken: Vec<Option<Time>>,
    /// The last program or erase of each die.
    commands: Vec<Command>,
    /// When each channel is free again.
    free_at: Vec<Time>,
    /// Pages programmed in each block since its last erase.
    programmed: Vec<u16>,
    /// Requests that have arrived and are not complete.
    open: BTreeSet<u64>,
    arrived: u64,
    /// Promises to the host, on a drive with power loss.
    pub promises: Option<Promises>,
    /// Sectors with data, if the drive tracks them.
    pub sectors: Option<HeldSectors>,
    now: Time,
    /// Instants until the next full check.
    left: u64,
}

/// A program or an erase, of one plane or several.
#[derive(Clone, Debug, Default)]
struct Command {
    planes: BTreeSet<u32>,
    /// Offset in its block of the first page of a program; `None`: an erase.
    page: Option<u32>,
}

impl Checker {
    /// Creates the checker of a drive at rest; `repeat` is the command that repeats the run.
    pub fn new(geometry: &Geometry, seed: u64, repeat: &str) -> Checker {
        Checker {
            geometry: *geometry,
            seed,
            repeat: repeat.to_string(),
            taken: vec![None; geometry.dies() as usize],
            commands: vec![Command::default(); geometry.dies() as usize],
            free_at: vec![Time::ZERO; geometry.channels as usize],
            programmed: vec![0; geometry.blocks() as usize],
            open: BTreeSet::new(),
            arrived: 0,
            promises: None,
            sectors: None,
            now: Time::ZERO,
            left: 0,
        }
    }

    /// Ends the run with the data to find the fault.
    pub fn fail(&self, at: Time, place: &str, what: &str) -> ! {
        panic!("at {at} {place}: {what} (seed {}; to repeat: {})", self.seed, self.repeat)
    }

    /// Sets the initial blocks: die, plane in the die, block, pages programmed.
    pub fn starts_with(&mut self, die: u32, plane: u32, block: u32, pages: u32) {
        let index = self.block_index(die, PageAddress { plane, block, page: 0 });
        self.programmed[index] = u16::try_from(pages).expect("pages of a block fit 16 bits");
    }

    /// Returns the pages programmed in each block since its last erase, by the events of dies.
    pub fn programmed(&self) -> &[u16] {
        &self.programmed
    }

    /// Ends an instant; true when a full check is due.
    pub fn instant(&mut self, now: Time) -> bool {
        if now < self.now {
            self.fail(now, "the clock", &format!("time runs back from {}", self.now));
        }
        self.now = now;
        if self.left == 0 {
            self.left = self.geometry.pages() * INSTANTS_PER_PAGE;
            return true;
        }
        self.left -= 1;
        false
    }

    /// Requests a full check at the next instant.
    #[cfg(feature = "testing")]
    pub fn hurry(&mut self) {
        self.left = 0;
    }

    /// Adds the arrival of a request, which are numbered in this order.
    #[cold]
    pub fn request_arrived(&mut self, now: Time, id: u64) {
        if id != self.arrived || !self.open.insert(id) {
            self.fail(now, "the host interface", &format!("request {id} arrives out of turn"));
        }
        self.arrived += 1;
    }

    /// Adds the completion of a request.
    #[cold]
    pub fn request_completed(&mut self, now: Time, id: u64) {
        if !self.open.remove(&id) {
            self.fail(now, "the host interface", &format!("request {id} completes once more"));
        }
        if let Some(promises) = &mut self.promises {
            promises.completed(id);
        }
    }

    /// Adds a page in the buffer, as [`Promises::accepted`] does.
    pub fn page_accepted(
        &mut self,
        now: Time,
        lpn: u32,
        version: u64,
        request: Option<(u64, bool)>,
    ) {
        let Some(promises) = &mut self.promises else { return };
        if let Err(what) = promises.accepted(lpn, version, request) {
            self.fail(now, "the write buffer", &what);
        }
    }

    /// Adds a rewritten page, as [`Promises::rewritten`] does.
    pub fn page_rewritten(&mut self, now: Time, lpn: u32, version: u64) {
        let Some(promises) = &mut self.promises else { return };
        if let Err(what) = promises.rewritten(lpn, version) {
            self.fail(now, "the write buffer", &what);
        }
    }

    /// Checks a request that is about to complete: the buffer must have accepted all pages of a
    /// write.
    pub fn pages_completed(&self, now: Time, id: u64, pages: u32) {
        let Some(promises) = &self.promises else { return };
        let accepted = promises.accepted_of(id);
        if pages > 0 && accepted != pages as usize {
            let what = format!("request {id} completes with {accepted} of its {pages} pages");
            self.fail(now, "the write buffer", &what);
        }
    }

    /// Checks the drive's answer whether a page holds sectors besides those of a write.
    pub fn leaves_sectors(&self, now: Time, lpn: u32, written: &Range<u32>, leaves: bool) {
        let Some(held) = &self.sectors else { return };
        if let Err(what) = held.verify_left(lpn, written, leaves) {
            self.fail(now, "the write buffer", &what);
        }
    }

    /// Adds a flush.
    pub fn flush_arrived(&mut self, id: u64) {
        if let Some(promises) = &mut self.promises {
            promises.flushed(id);
        }
    }

    /// Checks the end of the workload: nothing may be left.
    pub fn ended(&self, now: Time, completed: u64) {
        if let Some(id) = self.open.first() {
            self.fail(now, "the host interface", &format!("request {id} never completes"));
        }
        if completed != self.arrived {
            let what = format!("{} requests arrived, {completed} completed", self.arrived);
            self.fail(now, "the host interface", &what);
        }
    }

    /// Adds an event of a die.
    pub fn die_did(&mut self, die: u32, seen: DieEvent) {
        match seen {
            DieEvent::Taken(at) => {
                if let Some(since) = self.taken[die as usize].replace(at) {
                    self.fail_die(at, die, &format!("begins something, at work since {since}"));
                }
            }
            DieEvent::Freed(at) => match self.taken[die as usize].take() {
                Some(since) if since <= at => {}
                Some(since) => self.fail_die(at, die, &format!("ends what begins at {since}")),
                None => self.fail_die(at, die, "ends what it has not begun"),
            },
            DieEvent::Program(at, extent) => {
                self.begun(at, die, extent, Some(extent.at.page));
                self.program(at, die, extent);
            }
            DieEvent::Erase(at, extent) => {
                self.begun(at, die, extent, None);
                let index = self.block_index(die, extent.at);
                self.programmed[index] = 0;
            }
            DieEvent::Transfer(..) => unreachable!("only channels carry"),
        }
    }

    /// Adds a command, or one more plane of it: no plane twice, and the same page on all.
    fn begun(&mut self, at: Time, die: u32, extent: Extent, page: Option<u32>) {
        let command = &mut self.commands[die as usize];
        if !extent.joins {
            command.planes.clear();
            command.page = page;
        }
        let is_new = command.planes.insert(extent.at.plane);
        if !is_new || command.page != page {
            let what = format!("joins {:?} to a command that it does not fit", extent.at);
            self.fail_die(at, die, &what);
        }
    }

    fn program(&mut self, at: Time, die: u32, extent: Extent) {
        let Extent { at: page, pages, .. } = extent;
        let index = self.block_index(die, page);
        let next = u32::from(self.programmed[index]);
        if page.page != next || next + pages > self.geometry.pages_per_block {
            let what = format!("programs {page:?} of a block with {next} pages programmed");
            self.fail_die(at, die, &what);
        }
        self.programmed[index] += u16::try_from(pages).expect("pages of a block fit 16 bits");
    }

    fn fail_die(&self, at: Time, die: u32, what: &str) -> ! {
        self.fail(at, &format!("die {die}"), what)
    }

    /// Adds an event of a channel.
    pub fn channel_did(&mut self, channel: u32, seen: DieEvent) {
        let DieEvent::Transfer(from, until) = seen else { unreachable!("a channel only carries") };
        let free_at = std::mem::replace(&mut self.free_at[channel as usize], until);
        if from < free_at {
            let what = format!("a transfer begins while another lasts until {free_at}");
            self.fail(from, &format!("channel {channel}"), &what);
        }
    }

    fn block_index(&self, die: u32, at: PageAddress) -> usize {
        let plane = die * self.geometry.planes_per_die + at.plane;
        plane as usize * self.geometry.blocks_per_plane as usize + at.block as usize
    }
}

#[cfg(test)]
mod tests;
