//! The run-in: a drive that is to be in its steady state runs its load until nothing changes any
//! more, and the run starts from its state.
//!
//! Preconditioning takes no time and makes the right pages valid, but leaves open what depends on
//! time: the number of free blocks, current victims, the fill of the write buffer.

use std::collections::BTreeMap;
use std::ops::Range;

use reprieve_base::{Time, UserError};
use reprieve_config::Scenario;
use reprieve_ftl::{FreeTarget, Mapping};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::Ssd;
use super::dirty_pages::DirtyPages;
use super::event::DriveEvent;

/// Requests between two samples of the drive, and between two returns to the caller.
const REQUESTS_LOOK: u64 = 256;
const REQUESTS_STEP: u64 = 1 << 16;
/// Page operations of the flash, or requests, after which a drive that still changes is given up:
/// seconds; and for a small drive this many for each of its logical pages.
const OPERATIONS_MAX: u64 = 1_000_000;
const OPERATIONS_PER_PAGE: u64 = 64;
/// Parts of the run-in that are compared, and parts after which it is given up.
const PARTS: usize = 4;
const PARTS_MAX: u64 = 20;
/// Limits for the change of free blocks between two halves of those parts: as a share of the blocks
/// that the host fills, and as a mean over the planes.
const CHANGE_SHARE: f64 = 0.1;
const CHANGE_BLOCKS_MAX: f64 = 0.5;
/// Most preconditionings of a drive, each with the free blocks that the load has left before.
const ATTEMPTS_MAX: u32 = 5;
/// Attempts for a drive with more logical pages than `LARGE_PAGES`, which take seconds each.
const ATTEMPTS_MAX_LARGE: u32 = 2;
const LARGE_PAGES: u32 = 1 << 24;
/// Tolerance of that number as a share of spare blocks, which is about the error of write
/// amplification.
const OFF_SHARE: f64 = 0.01;
/// Factor of the shortest observation after which a drive is given up.
const LATEST: u64 = 8;

/// Number of a preconditioning, and the free blocks that it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) kept: FreeTarget,
    pub(super) number: u32,
}

/// A drive during its run-in.
pub(super) struct RunIn {
    pub(super) drive: Ssd,
    pub(super) attempt: Attempt,
    /// Share of valid pages in full blocks after preconditioning.
    share_before: f64,
    /// Host pages programmed in a part; when the current part is complete, and when the blocks are
    /// sampled next.
    part_pages: u64,
    part_ends: u64,
    next_look: u64,
    parts_done: u64,
    /// Parts have their full length; before that, the shortest useful one.
    is_long: bool,
    /// The current part and earlier ones, the newest last.
    parts: Vec<RunInPart>,
}

/// Sums over a part of a drive's run.
#[derive(Clone, Copy, Debug, Default)]
struct RunInPart {
    /// Free blocks over all samples.
    free_blocks: u64,
    looks: u64,
    /// Shares of valid pages in full blocks, over fewer samples.
    shares: f64,
    share_looks: u64,
}

/// Report of the run-in.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct RunInReport {
    pub(super) requests: u64,
    pub(super) simulated_ns: u64,
    pub(super) host_pages: u64,
    pub(super) free_blocks_mean: f64,
    pub(super) at_rest: bool,
    /// Write amplification over all of it; `None` if no page of the host was programmed.
    pub(super) waf: Option<f64>,
    /// Logical pages that have their data in the flash when the run begins.
    pub(super) valid_pages: u64,
}

/// State of a run-in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RunInCourse {
    GoesOn,
    AtRest,
    /// Precondition again with these free blocks, which the load leaves.
    Again(FreeTarget),
    /// Given up.
    TooLong,
}

impl Ssd {
    /// Stops the drive: starts no operation, and completes those in flash. Returns the acknowledged
    /// pages of its write buffer in program order, those being programmed first.
    pub(super) fn freeze(&mut self) -> Vec<u32> {
        let dirty = self.acknowledged_pages();
        self.run.pages.ftl.freeze();
        self.run.pages.buffer.waiting.clear();
        self.run.pages.flash.forget_waiting();
        self.run.pages.flash.dies_mut().wake_all();
        loop {
            self.run.pages.flash.decide(
                self.run.now,
                &mut self.run.pages.ftl,
                &mut self.run.events,
            );
            self.run.now = self.run.events.next_time();
            if self.run.now == Time::NEVER {
                break;
            }
            while let Some(event) = self.run.events.pop_at(self.run.now) {
                if let DriveEvent::Flash(_) = event {
                    self.run.handle(event);
                }
            }
        }
        // Messages from and to the host are dropped.
        self.run.host.cut_off();
        for (_, txn) in self.run.pages.flash.txns().iter().filter(|(_, txn)| is_buffered(txn)) {
            self.run.pages.ftl.take_back_write(txn);
        }
        dirty
    }

    fn acknowledged_pages(&self) -> Vec<u32> {
        let txns = self.run.pages.flash.txns();
        let held = self.run.pages.buffer.held.as_ref();
        // Transactions without a die precede those that the buffer holds back.
        let held_back = held.into_iter().flat_map(DirtyPages::ids).map(|id| (id, 3));
        let waiting = self.run.pages.flash.stage.at_no_die().map(|id| (id, 2));
        let in_order = held_back.chain(waiting).zip(0u64..);
        let places: BTreeMap<u32, (u8, u64)> =
            in_order.map(|((id, kind), place)| (id, (kind, place))).collect();
        let mut pages = Vec::new();
        for (id, txn) in txns.iter().filter(|(_, txn)| is_buffered(txn) && txn.request == NONE) {
            let newest = match self.run.pages.ftl.tables.map.get(txn.lpn) {
                Mapping::Buffered(newest) => txns[newest].request == NONE,
                _ => false,
            };
            if txn.stale && (held.is_some() || !newest) {
                continue;
            }
            let order = match txn.start {
                start if start < Time::NEVER => (0, txn.seq),
                _ if txn.waits_for != NONE => (4, u64::from(id)),
                _ => places.get(&id).copied().unwrap_or((1, txn.seq)),
            };
            pages.push((order, id, txn.lpn));
        }
        pages.sort_unstable();
        pages.into_iter().map(|(_, _, lpn)| lpn).collect()
    }
}

impl RunIn {
    /// Runs a step of the load, and returns the resulting course.
    pub(super) fn advance(&mut self) -> Result<RunInCourse, UserError> {
        let until = self.drive.run.stats.completed + REQUESTS_STEP;
        while self.drive.run.stats.completed < until {
            if !self.drive.step(REQUESTS_LOOK)? {
                return Ok(RunInCourse::TooLong);
            }
            let course = self.look();
            if course != RunInCourse::GoesOn {
                return Ok(course);
            }
        }
        Ok(RunInCourse::GoesOn)
    }

    pub(super) fn new(drive: Ssd, attempt: Attempt) -> RunIn {
        let share_before = drive.run.pages.ftl.tables.blocks.valid_share();
        let part_pages = shortest_part(&drive.scenario);
        RunIn {
            drive,
            attempt,
            share_before,
            part_pages,
            part_ends: part_pages,
            next_look: 0,
            parts_done: 0,
            is_long: false,
            parts: vec![RunInPart::default()],
        }
    }

    /// Returns the report so far.
    pub(super) fn report(&self, at_rest: bool) -> RunInReport {
        RunInReport {
            requests: self.drive.run.stats.completed,
            simulated_ns: self.drive.run.now.ns(),
            host_pages: self.drive.run.pages.flash.counts().host_programs,
            free_blocks_mean: self.free_blocks(0..self.parts.len()),
            at_rest,
            waf: self.waf(),
            valid_pages: 0,
        }
    }

    fn waf(&self) -> Option<f64> {
        let counts = self.drive.run.pages.flash.counts();
        let host = counts.host_programs;
        (host > 0).then(|| 1.0 + counts.gc_programs as f64 / host as f64)
    }

    fn look(&mut self) -> RunInCourse {
        let host_pages = self.drive.run.pages.flash.counts().host_programs;
        let part = self.parts.last_mut().expect("a part is under way");
        part.free_blocks += self.drive.run.pages.ftl.tables.blocks.free_blocks();
        part.looks += 1;
        if host_pages >= self.next_look {
            part.shares += self.drive.run.pages.ftl.tables.blocks.valid_share();
            part.share_looks += 1;
            self.next_look = host_pages + self.part_pages / PARTS as u64;
        }
        if host_pages < self.part_ends {
            return if self.is_late() { RunInCourse::TooLong } else { RunInCourse::GoesOn };
        }
        self.parts_done += 1;
        if self.parts.len() == PARTS {
            let course = self.judge();
            if course != RunInCourse::GoesOn {
                return course;
            }
            // Longer parts start empty.
            self.parts.drain(..self.parts.len().min(1));
        }
        self.parts.push(RunInPart::default());
        self.part_ends = host_pages + self.part_pages;
        let is_late = self.is_late() || self.parts_done == PARTS_MAX;
        if is_late { RunInCourse::TooLong } else { RunInCourse::GoesOn }
    }

    /// Judges the sampled parts.
    fn judge(&mut self) -> RunInCourse {
        let ftl = &self.drive.run.pages.ftl;
        let half = &self.parts[PARTS / 2..];
        let share = half.iter().map(|part| part.shares).sum::<f64>()
            / half.iter().map(|part| part.share_looks).sum::<u64>() as f64;
        let Attempt { kept, number } = self.attempt;
        let found = ftl.kept_for(kept, self.share_before, share);
        let off_blocks = (found.blocks() - kept.blocks()).abs();
        let off_blocks_max = OFF_SHARE * f64::from(ftl.spare_blocks());
        if number == 1 && self.change_blocks().abs() > self.change_blocks_max() {
            // It is far from its target, beyond what can be observed.
            let ends = [ftl.kept_behind(), ftl.kept_ahead()];
            let end = ends[usize::from(self.change_blocks() > 0.0)];
            if (end.blocks() - kept.blocks()).abs() > off_blocks_max {
                return RunInCourse::Again(end);
            }
        }
        let is_large = ftl.tables.map.logical_pages() > LARGE_PAGES;
        let attempts_max = if is_large { ATTEMPTS_MAX_LARGE } else { ATTEMPTS_MAX };
        if number < attempts_max && off_blocks > off_blocks_max {
            // With fewer free blocks a drive gets more; after the first attempt, half of the
            // difference.
            let half = FreeTarget::on_average(f64::midpoint(kept.blocks(), found.blocks()));
            return RunInCourse::Again(if number == 1 { found } else { half });
        }
        // Collection whose pace follows free space reaches its level at once.
        let settles = self.drive.scenario.ftl.gc.follows_free_space;
        if !settles && !self.is_long && self.begin_long_parts() {
            return RunInCourse::GoesOn;
        }
        let is_at_rest = self.change_blocks().abs() <= self.change_blocks_max();
        if is_at_rest { RunInCourse::AtRest } else { RunInCourse::GoesOn }
    }

    /// Makes parts as long as the drive's limit permits, its capacity together at most; false if
    /// that is no longer than they are.
    fn begin_long_parts(&mut self) -> bool {
        self.is_long = true;
        let pages = u64::from(self.drive.scenario.user_pages());
        let host_pages = self.drive.run.pages.flash.counts().host_programs.max(1);
        let (done, most) = (self.operations(), self.operations_max());
        let affordable = most.saturating_sub(done) * host_pages / done.max(1) / PARTS as u64;
        let part_pages = pages.div_ceil(PARTS as u64).min(affordable);
        if part_pages <= self.part_pages {
            return false;
        }
        self.part_pages = part_pages;
        self.parts = Vec::new();
        true
    }

    /// A load that fits into the buffer needs no flash operations, but has requests.
    pub(super) fn operations(&self) -> u64 {
        self.drive.page_transactions().max(self.drive.run.stats.completed)
    }

    fn operations_max(&self) -> u64 {
        let pages = u64::from(self.drive.scenario.logical_pages());
        OPERATIONS_MAX.min(OPERATIONS_PER_PAGE * pages)
    }

    /// A drive without samples of its blocks is not given up, unless its backlog would fill the
    /// memory: an open load goes on at its rate.
    fn is_late(&self) -> bool {
        let host_pages = self.drive.run.pages.flash.counts().host_programs;
        let is_seen = self.is_long || host_pages == 0;
        let (done, most) = (self.operations(), self.operations_max());
        let backlog = self.drive.run.stats.arrived - self.drive.run.stats.completed;
        backlog >= most || is_seen && done >= most || done >= LATEST * most
    }

    /// Returns the mean free blocks of a plane over some of the parts.
    fn free_blocks(&self, parts: Range<usize>) -> f64 {
        let parts = &self.parts[parts];
        let looks: u64 = parts.iter().map(|part| part.looks).sum();
        let blocks: u64 = parts.iter().map(|part| part.free_blocks).sum();
        let planes = f64::from(self.drive.scenario.geometry.planes());
        if looks == 0 { 0.0 } else { blocks as f64 / looks as f64 / planes }
    }

    /// Returns the increase of free blocks of a plane from the first half to the second.
    fn change_blocks(&self) -> f64 {
        self.free_blocks(PARTS / 2..PARTS) - self.free_blocks(0..PARTS / 2)
    }

    /// Returns the permitted change.
    fn change_blocks_max(&self) -> f64 {
        let geometry = &self.drive.scenario.geometry;
        let planes = f64::from(geometry.planes());
        let pages = (self.part_pages * PARTS as u64 / 2) as f64;
        let filled = pages / f64::from(geometry.pages_per_block) / planes;
        // Each plane varies by one block by chance.
        (CHANGE_SHARE * filled).min(CHANGE_BLOCKS_MAX) + 1.0 / planes.sqrt()
    }
}

/// Returns the host pages of the shortest useful part: a block in each plane, or half of one where
/// collection is paced page by page.
fn shortest_part(scenario: &Scenario) -> u64 {
    let geometry = &scenario.geometry;
    let pages = u64::from(geometry.pages_per_block) * u64::from(geometry.planes());
    if scenario.ftl.gc.follows_free_space { pages.div_ceil(2) } else { pages }
}

fn is_buffered(txn: &Txn) -> bool {
    matches!(txn.kind, Kind::Program | Kind::RmwRead)
}
