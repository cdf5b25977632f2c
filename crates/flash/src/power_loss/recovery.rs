//! Recovery: the page with the newest data of each logical page, and the time to find it.

use reprieve_base::{Dur, Geometry};
use reprieve_nand::Timing;

use super::Stamp;

/// The newest readable page of each logical page.
#[derive(Clone, Debug)]
pub struct RecoveredPages {
    newest: Vec<Option<(u64, u32, u32)>>,
    /// Unreadable programmed pages, whose programs did not end.
    pub unreadable_pages: u64,
}

impl RecoveredPages {
    /// Creates the tables of a drive of `pages` logical pages, those of a mapping in flash
    /// included, before any page is read.
    pub fn new(pages: u32) -> RecoveredPages {
        RecoveredPages { newest: vec![None; pages as usize], unreadable_pages: 0 }
    }

    /// Adds a programmed page with its metadata.
    ///
    /// The newer version wins; among copies of one version the one that was moved more often.
    pub fn read(&mut self, page: u32, stamp: Option<Stamp>) {
        let Some(stamp) = stamp else {
            self.unreadable_pages += 1;
            return;
        };
        let Some(lpn) = stamp.lpn() else { return };
        let newest = &mut self.newest[lpn as usize];
        let this = (stamp.version, stamp.moves, page);
        if newest.is_none_or(|newest| newest < this) {
            *newest = Some(this);
        }
    }

    /// Returns the page, counted over the drive, with the newest data of a logical page.
    pub fn page(&self, lpn: u32) -> Option<u32> {
        self.newest[lpn as usize].map(|(.., page)| page)
    }

    /// Returns the version of that data; 0: from before the run.
    pub fn version(&self, lpn: u32) -> Option<u64> {
        self.newest[lpn as usize].map(|(version, ..)| version)
    }

    /// Returns the logical pages below a bound of which a page was found.
    pub fn pages_below(&self, end: u32) -> u64 {
        self.newest[..end as usize].iter().flatten().count() as u64
    }
}

/// Work of a recovery on one die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DieScan {
    /// Programmed pages whose metadata is read.
    pub pages: u64,
    /// Sensing them, in all.
    pub sense_ns: u64,
    /// Saved pages, which are read whole.
    pub saved_pages: u64,
    /// Repeating the erases that did not end, in all.
    pub erase_ns: u64,
}

/// Times of the consecutive steps of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryTime {
    /// Reading the metadata of the pages.
    pub scan: Dur,
    /// Reading the pages that were saved.
    pub load: Dur,
    /// Repeating erases.
    pub erase: Dur,
}

/// Returns the duration of a recovery with all dies in parallel: a channel takes as long as its
/// slowest die, or as its transfers after the first array read.
pub fn recovery_time(
    dies: &[DieScan],
    geometry: &Geometry,
    timing: &Timing,
    oob_bytes: u32,
) -> RecoveryTime {
    let whole = timing.command + timing.bus;
    let beside_ns = timing.bus.ns() * u64::from(oob_bytes);
    let beside = timing.command + Dur::from_ns(beside_ns.div_ceil(u64::from(geometry.page_bytes)));
    let first_ns = timing.read_of(0).ns();
    let pass = |dies: &[DieScan], each: Dur, of_die: fn(&DieScan, u64) -> (u64, u64)| {
        let channel = |dies: &[DieScan]| {
            let work = || dies.iter().map(|die| of_die(die, first_ns));
            let pages: u64 = work().map(|(pages, _)| pages).sum();
            let slowest = work().map(|(pages, ns)| ns + pages * each.ns()).max().unwrap_or(0);
            let bus = if pages > 0 { first_ns + pages * each.ns() } else { 0 };
            slowest.max(bus)
        };
        let channels = dies.chunks(geometry.dies_per_channel as usize);
        Dur::from_ns(channels.map(channel).max().unwrap_or(0))
    };
    RecoveryTime {
        scan: pass(dies, beside, |die, _| (die.pages, die.sense_ns)),
        load: pass(dies, whole, |die, first_ns| (die.saved_pages, die.saved_pages * first_ns)),
        erase: Dur::from_ns(dies.iter().map(|die| die.erase_ns).max().unwrap_or(0)),
    }
}
