//! Garbage collection of all dies: need, limits, and choice of the plane.

use reprieve_base::{Archive, parts};
use std::collections::VecDeque;
use std::num::NonZeroU32;

use reprieve_config::Scenario;
use reprieve_policy::work::GcNeed;

use super::PPM;
use super::blocks::Blocks;
use super::job::Job;
use super::numbering::Numbering;
use super::page_tables::PageTables;
use super::plane::Victim;
use super::rules::{GcRules, Pace};

/// Current victims, and the rules for new ones. A die counts as collecting while a plane has a
/// victim; the rules limit how many dies collect before they must.
pub(super) struct Collection {
    pub(super) rules: GcRules,
    /// One for each plane.
    pub(super) jobs: Vec<Job>,
    pub(super) dies: Vec<GcDie>,
    /// Dies with a victim, and dies that wait for their turn.
    collecting: u32,
    waiting_dies: VecDeque<u32>,
    /// Valid pages are moved by copyback, in one step.
    pub(super) copyback: bool,
    /// Pages that are held before they are programmed.
    pub(super) batch: u32,
    /// Transfer units of a mapping unit; `None`: pages are transferred whole.
    unit_transfers: Option<u32>,
    /// Only urgent collection starts.
    pub(super) closing: bool,
    /// No step starts, not even with a current victim.
    frozen: bool,
    /// Whether a busy window is open; `None`: planes collect at any time.
    pub(super) is_busy: Option<bool>,
}

/// Garbage collection on one die.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct GcDie {
    /// The current plane, counted over the drive.
    pub(super) plane: u32,
    /// The page to be read next, where planes collect in parallel.
    pub(super) page: u32,
    /// Planes of the die with a victim.
    pub(super) jobs: u32,
    /// Queued for its turn, as other dies collect.
    waits: bool,
}

impl Collection {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.jobs, self.dies, self.collecting, self.waiting_dies, self.closing);
        parts!(archive; self.frozen, self.is_busy);
    }

    /// Creates the collection of a drive without victims.
    pub(super) fn new(scenario: &Scenario, numbering: &Numbering) -> Collection {
        let together = scenario.units_together();
        Collection {
            rules: GcRules::of(scenario),
            jobs: vec![Job::default(); numbering.geometry.planes() as usize],
            dies: (0..numbering.geometry.dies()).map(|die| GcDie::idle(die, numbering)).collect(),
            collecting: 0,
            waiting_dies: VecDeque::new(),
            copyback: scenario.ftl.copyback,
            batch: together.max(numbering.superblocks.planes()),
            unit_transfers: match scenario.units_per_page() {
                1 => None,
                _ => scenario.transfer_unit_bytes().map(|bytes| scenario.mapping_bytes() / bytes),
            },
            closing: false,
            frozen: false,
            is_busy: None,
        }
    }

    /// Resets collection to the start of each current victim.
    pub(super) fn restart(&mut self, blocks: &mut Blocks) {
        // Pages that were read are read again.
        self.jobs.fill_with(Job::default);
        (self.collecting, self.waiting_dies) = (0, VecDeque::new());
        for (die, state) in (0..).zip(&mut self.dies) {
            let planes = blocks.numbering.planes_of(die);
            let jobs = planes.filter(|plane| blocks.victim_of(*plane).is_some()).count() as u32;
            *state = GcDie { jobs, ..GcDie::idle(die, &blocks.numbering) };
            for plane in blocks.numbering.planes_of(die) {
                if let Some(victim) = blocks.victim_of(plane) {
                    let job = &mut self.jobs[plane as usize];
                    job.skip_done(blocks, victim);
                    job.price_ppm = new_price_ppm(victim, job.cursor, blocks);
                }
            }
            self.collecting += u32::from(jobs > 0);
        }
        blocks.needs.forget_all();
    }

    /// Stops all but urgent collection; current victims are completed.
    pub(super) fn close(&mut self, blocks: &mut Blocks) {
        self.closing = true;
        blocks.needs.forget_all();
    }

    /// Stops or permits steps; running ones are completed.
    pub(super) fn set_frozen(&mut self, frozen: bool, blocks: &mut Blocks) {
        self.frozen = frozen;
        blocks.needs.forget_all();
    }

    /// Whether no step is running.
    pub(super) fn stands_still(&self) -> bool {
        self.jobs.iter().all(|job| !job.in_flight)
    }

    /// Returns the need of a plane.
    #[inline]
    pub(super) fn need_of_plane(&self, plane: u32, blocks: &Blocks) -> GcNeed {
        let (state, job) = (&blocks.planes[plane as usize], &self.jobs[plane as usize]);
        if blocks.fronts.has_zones() {
            let has_begun = state.victim.is_some();
            return match has_begun || !state.resets.is_empty() {
                _ if self.frozen => GcNeed::None,
                false => GcNeed::None,
                true if has_begun && !self.rules.preemptible => GcNeed::Exclusive,
                true if state.free_blocks() <= blocks.reserve_blocks => GcNeed::Urgent,
                true => GcNeed::Due,
            };
        }
        let free = state.free_blocks();
        let has_begun = state.victim.is_some();
        let fold = blocks.slc.as_ref().map_or(GcNeed::None, |slc| slc.need(state));
        let is_short = self.rules.is_short(free, blocks.reserve_blocks);
        let refreshes = !is_short && !self.closing && !state.refreshes.is_empty();
        let fold = fold.max(if refreshes { GcNeed::Idle } else { GcNeed::None });
        let is_idle = !is_short && !has_begun && fold == GcNeed::None;
        if is_idle && state.failed.is_empty() || self.frozen {
            return GcNeed::None;
        }
        if has_begun && !self.rules.preemptible {
            return GcNeed::Exclusive;
        }
        if state.retires() || !state.failed.is_empty() {
            return GcNeed::Urgent;
        }
        let folding_gains = || blocks.slc.as_ref().is_some_and(|slc| slc.gains(state));
        let gains = has_begun || blocks.index.has_victim(plane) || folding_gains();
        if !gains {
            return if self.closing { GcNeed::None } else { fold };
        }
        if free <= blocks.reserve_blocks {
            GcNeed::Urgent
        } else if self.closing {
            if has_begun { GcNeed::Idle } else { GcNeed::None }
        } else if let Some(is_busy) = self.is_busy {
            if is_busy { GcNeed::Due } else { fold }
        } else if job.credit_ppm >= PPM {
            GcNeed::Due
        } else if fold > GcNeed::None {
            fold
        } else if self.rules.in_background || has_begun && job.joined {
            GcNeed::Idle
        } else {
            GcNeed::None
        }
    }

    /// Returns the need of the neediest plane of a die.
    ///
    /// Queried at every decision: the result is cached until a plane's blocks change.
    #[inline]
    pub(super) fn need_of_die(&mut self, die: u32, tables: &mut PageTables) -> GcNeed {
        if let Some(need) = tables.blocks.needs.of(die) {
            return need;
        }
        self.find_need(die, tables)
    }

    fn find_need(&mut self, die: u32, tables: &mut PageTables) -> GcNeed {
        if tables.blocks.failing.has_failed_programs() {
            let planes = tables.blocks.numbering.planes_of(die);
            planes.for_each(|plane| self.give_up_empty(plane, tables));
        }
        let blocks = &mut tables.blocks;
        let planes = blocks.numbering.planes_of(die);
        let need = planes.map(|plane| self.need_of_plane(plane, blocks)).max();
        let mut need = need.expect("a die has at least one plane");
        if self.collecting >= self.rules.dies_max && matches!(need, GcNeed::Idle | GcNeed::Due) {
            need = self.wait_for_turn(die, need);
        }
        blocks.needs.found(die, need);
        need
    }

    /// Retires failed blocks of a plane without valid pages, the victim among them.
    #[cold]
    fn give_up_empty(&mut self, plane: u32, tables: &mut PageTables) {
        if tables.blocks.give_up_empty(plane) && !self.jobs[plane as usize].in_flight {
            let victim = self.end_job(plane, tables);
            tables.blocks.failing.give_up(victim.block);
        }
    }

    /// Limits the number of collecting dies: returns the need of a die that may collect, else none.
    #[cold]
    fn wait_for_turn(&mut self, die: u32, need: GcNeed) -> GcNeed {
        let state = &mut self.dies[die as usize];
        if state.jobs > 0 {
            return need;
        }
        if !state.waits {
            state.waits = true;
            self.waiting_dies.push_back(die);
        }
        GcNeed::None
    }

    /// Returns the next die that has waited for its turn, and has to decide anew.
    #[inline]
    pub(super) fn next_to_wake(&mut self, blocks: &mut Blocks) -> Option<u32> {
        if self.collecting >= self.rules.dies_max {
            return None;
        }
        let die = self.waiting_dies.pop_front()?;
        self.dies[die as usize].waits = false;
        blocks.needs.forget_die(die);
        Some(die)
    }

    /// Credits a plane with the moves that the rate permits for a host write.
    #[inline]
    pub(super) fn earn_moves(&mut self, plane: u32, blocks: &mut Blocks) {
        let free = || blocks.planes[plane as usize].free_blocks();
        let earned_ppm = match self.rules.pace {
            Pace::Fixed { rate_ppm: 0 } => return,
            _ if free() >= self.rules.start_blocks => return,
            Pace::Fixed { rate_ppm } => rate_ppm,
            Pace::FreeSpace { start_pages, reserve_pages } => {
                let missing = (start_pages - self.pages_to_come(plane, blocks)).max(0);
                2 * self.price_ppm(plane) * missing / (start_pages - reserve_pages)
            }
        };
        if earned_ppm > 0 {
            self.jobs[plane as usize].credit_ppm += earned_ppm;
            blocks.needs.forget(plane);
        }
    }

    /// Returns the steps, in millionths, for each page gained with the last victim; at first one.
    fn price_ppm(&self, plane: u32) -> i64 {
        match self.jobs[plane as usize].price_ppm {
            0 => PPM,
            price_ppm => price_ppm,
        }
    }

    /// Returns the free pages of a plane with the processed pages of its victim, a number that an
    /// erase does not change abruptly.
    fn pages_to_come(&self, plane: u32, blocks: &Blocks) -> i64 {
        let pages = blocks.numbering.pages_per_block();
        let state = &blocks.planes[plane as usize];
        let done = if state.victim.is_some() { self.jobs[plane as usize].cursor } else { 0 };
        let whole = i64::from(state.free_blocks()) * i64::from(pages);
        whole + i64::from(state.open_pages(pages)) + i64::from(done)
    }

    /// Charges moves to the credit of a plane, if there is any; a program of several pages may
    /// overdraw it.
    #[inline]
    pub(super) fn spend_moves(&mut self, plane: u32, pages: usize, blocks: &mut Blocks) {
        let credit_ppm = &mut self.jobs[plane as usize].credit_ppm;
        if *credit_ppm >= PPM {
            *credit_ppm -= PPM * pages as i64;
            blocks.needs.forget(plane);
        }
    }

    /// Returns the plane to collect: the current one, unless another has a greater need.
    pub(super) fn choose_plane(&mut self, die: u32, tables: &mut PageTables) -> Option<u32> {
        let need = self.need_of_die(die, tables);
        if need == GcNeed::None {
            return None;
        }
        let current = self.dies[die as usize].plane;
        let begun = tables.blocks.victim_of(current).is_some();
        if begun && self.need_of_plane(current, &tables.blocks) == need {
            return Some(current);
        }
        self.neediest_plane(die, need, &tables.blocks)
    }

    /// Not inlined, as most victims are collected without another choice.
    #[cold]
    fn neediest_plane(&self, die: u32, need: GcNeed, blocks: &Blocks) -> Option<u32> {
        let planes = blocks.numbering.planes_of(die);
        let needy = planes.filter(|plane| self.need_of_plane(*plane, blocks) == need);
        // First one with a victim, then the one with the fewest free blocks.
        needy.min_by_key(|plane| {
            let state = &blocks.planes[*plane as usize];
            (state.victim.is_none(), state.free_blocks(), *plane)
        })
    }

    /// Chooses a victim; `None` if there is none.
    pub(super) fn begin_job(&mut self, plane: u32, tables: &mut PageTables) -> Option<()> {
        if self.rules.beside.is_some_and(|beside| beside.in_step) {
            self.begin_in_step(tables.blocks.numbering.die(plane), &[plane], tables);
            return tables.blocks.victim_of(plane).map(|_| ());
        }
        let free = tables.blocks.planes[plane as usize].free_blocks();
        let may_refresh = !self.rules.is_short(free, tables.blocks.reserve_blocks);
        let victim = tables.blocks.choose_victim(plane, may_refresh)?;
        self.job_begins(plane, victim, tables);
        Some(())
    }

    /// Returns the transfer units of the page of flash whose first valid page this is; `None`: all
    /// of it.
    #[inline]
    pub(super) fn transfers(&self, source: u32, blocks: &Blocks) -> Option<NonZeroU32> {
        let each = self.unit_transfers?;
        let pages = blocks.numbering.rest_of_flash_page(source);
        let valid = pages.filter(|page| blocks.owner(*page).is_some()).count() as u32;
        NonZeroU32::new(valid * each)
    }

    /// Counts a new victim of a plane.
    pub(super) fn job_begins(&mut self, plane: u32, victim: u32, tables: &mut PageTables) {
        tables.touch_owners(victim);
        let job = &mut self.jobs[plane as usize];
        job.cursor = 0;
        job.price_ppm = new_price_ppm(victim, 0, &tables.blocks);
        let die = &mut self.dies[tables.blocks.numbering.die(plane) as usize];
        die.jobs += 1;
        self.collecting += u32::from(die.jobs == 1);
        tables.blocks.needs.forget(plane);
    }

    /// Ends the victim of a plane; returns it.
    pub(super) fn end_job(&mut self, plane: u32, tables: &mut PageTables) -> Victim {
        let job = &mut self.jobs[plane as usize];
        job.held.clear();
        job.joined = false;
        let victim = tables.blocks.planes[plane as usize].victim.take();
        let die = &mut self.dies[tables.blocks.numbering.die(plane) as usize];
        die.jobs -= 1;
        self.collecting -= u32::from(die.jobs == 0);
        tables.blocks.needs.forget(plane);
        tables.map.victim_done();
        victim.expect("a job ends that was begun")
    }
}

impl GcDie {
    fn idle(die: u32, numbering: &Numbering) -> GcDie {
        GcDie { plane: numbering.planes_of(die).start, page: 0, jobs: 0, waits: false }
    }
}

/// Returns the steps, in millionths, per page gained with this victim: moves of its valid pages,
/// and its erase. Pages below `cursor` count as dense as the rest.
fn new_price_ppm(victim: u32, cursor: u32, blocks: &Blocks) -> i64 {
    let pages = i64::from(blocks.numbering.pages_per_block());
    let rest = (pages - i64::from(cursor)).max(1);
    let valid = i64::from(blocks.index.valid(victim)) * pages / rest;
    (valid + 1) * PPM / (pages - valid).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::drive;

    /// A drive whose collection aims at nearly every block free.
    fn made(more: &str) -> (Collection, PageTables) {
        let scenario = drive(1, &["ftl.gc_start_free_share=0.99", more]);
        let tables = PageTables::new(&scenario).expect("a drive that fits into memory");
        (Collection::new(&scenario, &tables.blocks.numbering), tables)
    }

    #[test]
    fn moves_are_earned_and_spent_and_may_be_owed() {
        let (mut collection, mut tables) = made("ftl.gc_rate_pages_per_write=0.75");
        let blocks = &mut tables.blocks;
        collection.earn_moves(0, blocks);
        assert_eq!(collection.jobs[0].credit_ppm, 0, "all 40 blocks are free");
        blocks.allocate(0, 0);
        collection.earn_moves(0, blocks);
        collection.earn_moves(0, blocks);
        assert_eq!(collection.jobs[0].credit_ppm, 1_500_000);
        // A program takes three pages, with a credit of one and a half.
        collection.spend_moves(0, 3, blocks);
        assert_eq!(collection.jobs[0].credit_ppm, -1_500_000);
        collection.spend_moves(0, 1, blocks);
        assert_eq!(collection.jobs[0].credit_ppm, -1_500_000, "less than a page is not spent");
    }

    #[test]
    fn the_pace_follows_free_space() {
        // Blocks of 16 pages; collection starts below 10 free ones, and 2 are reserved.
        let scenario = drive(1, &["ftl.gc_pace=free-space", "ftl.gc_start_free_share=0.25"]);
        let mut tables = PageTables::new(&scenario).expect("a drive that fits into memory");
        let mut collection = Collection::new(&scenario, &tables.blocks.numbering);
        let blocks = &mut tables.blocks;
        let mut earned = |free_blocks: u32, open_pages: u32, price_ppm: i64, cursor: u32| {
            while blocks.planes[0].free_blocks() > free_blocks
                || blocks.planes[0].open_pages(16) > open_pages
            {
                blocks.allocate(0, 0);
            }
            let job = &mut collection.jobs[0];
            (job.credit_ppm, job.price_ppm, job.cursor) = (0, price_ppm, cursor);
            collection.earn_moves(0, blocks);
            collection.jobs[0].credit_ppm
        };
        assert_eq!(earned(10, 0, 3 * PPM, 0), 0, "enough are free");
        // 8 of the 128 pages between the two are gone: twice 3 moves, times that share.
        assert_eq!(earned(9, 8, 3 * PPM, 0), 375_000);
        assert_eq!(earned(6, 0, 3 * PPM, 0), 3 * PPM, "half way a page pays for what gains one");
        assert_eq!(earned(6, 0, 0, 0), PPM, "before the first victim one move for each");
        assert_eq!(earned(2, 0, 3 * PPM, 0), 6 * PPM);
        assert_eq!(earned(2, 0, 3 * PPM, 16), 6 * PPM, "without a victim nothing is to come");
    }

    #[test]
    fn a_page_costs_the_moves_and_the_erase_that_gain_it() {
        let (_, mut tables) = made("ftl.gc_pace=free-space");
        let blocks = &mut tables.blocks;
        assert_eq!(new_price_ppm(0, 0, blocks), PPM / 16, "an erase gains all 16 pages of a block");
        (0..12).for_each(|page| blocks.validate(page, page));
        assert_eq!(new_price_ppm(0, 0, blocks), 13 * PPM / 4);
        // Half of the second half is valid: the first counts alike.
        (24..30).for_each(|page| blocks.validate(page, page));
        assert_eq!(new_price_ppm(1, 8, blocks), 13 * PPM / 4);
    }

    #[test]
    fn a_die_that_need_not_collect_waits_until_another_has_done() {
        let (mut collection, mut tables) = made("ftl.gc_dies_max=1");
        // A page of the second block fills the first, without a valid page, on dies 0 and 1.
        for plane in [0, 2] {
            for _ in 0..=16 {
                tables.blocks.allocate(plane, 0);
            }
        }
        assert_eq!(collection.need_of_die(0, &mut tables), GcNeed::Idle);
        collection.begin_job(0, &mut tables).expect("a block without valid pages");
        assert_eq!(collection.need_of_die(1, &mut tables), GcNeed::None);
        assert_eq!(collection.next_to_wake(&mut tables.blocks), None);
        let victim = collection.end_job(0, &mut tables);
        assert_eq!(victim.block, 0, "it was opened first");
        assert_eq!(collection.next_to_wake(&mut tables.blocks), Some(1));
        assert_eq!(collection.need_of_die(1, &mut tables), GcNeed::Idle);
        assert_eq!(collection.next_to_wake(&mut tables.blocks), None, "each is woken once");
    }
}
