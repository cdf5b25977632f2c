//! Parallel collection on the planes of a die: common victims, and steps that share a command.
//!
//! All collecting planes read, then all program, and at last all erase: so their steps share
//! multi-plane commands, where pages and blocks fit.

use reprieve_base::Time;
use reprieve_nand::MultiPlane;
use reprieve_policy::txn::{Kind, Txn};
use reprieve_policy::work::GcNeed;

use super::blocks::Blocks;
use super::collection::Collection;
use super::page_tables::PageTables;
use super::rules::Beside;

impl Collection {
    fn beside(&self) -> Beside {
        self.rules.beside.expect("asked only where planes collect side by side")
    }

    /// Returns the next step on a die, if one is useful besides the running ones.
    #[cold]
    pub(super) fn next_side_by_side(&mut self, die: u32, tables: &mut PageTables) -> Option<Kind> {
        let need = self.need_of_die(die, tables);
        if need == GcNeed::None {
            return None;
        }
        let (mut reading, planes) = (false, tables.blocks.numbering.planes_of(die));
        for plane in planes.clone() {
            let job = &self.jobs[plane as usize];
            if job.in_flight && !job.reads {
                return None;
            }
            reading |= job.in_flight;
        }
        self.begin_together(die, need, tables);
        let mut steps = [(Kind::GcRead, 0), (Kind::GcProgram, 0), (Kind::Erase, 0)];
        for (number, plane) in planes.clone().enumerate() {
            if !self.goes_on(plane, &tables.blocks) {
                continue;
            }
            let kind = self.step_of(plane, &mut tables.blocks);
            for (own, set) in &mut steps {
                *set |= u128::from(kind == Some(*own)) << number;
            }
        }
        let (kind, set) = steps.into_iter().find(|(_, set)| *set != 0)?;
        if reading && kind != Kind::GcRead {
            return None;
        }
        let alike = || planes.clone().filter(|plane| set >> (plane - planes.start) & 1 > 0);
        let (plane, page) = match kind {
            Kind::GcRead => self.next_read_of(alike, &tables.blocks),
            Kind::GcProgram => (self.next_program_of(alike, &tables.blocks), 0),
            _ => (alike().next().expect("the set is not empty"), 0),
        };
        let state = &mut self.dies[die as usize];
        (state.plane, state.page) = (plane, page);
        Some(kind)
    }

    /// Starts victims on planes with the die's need, and with the first one of a die, also on
    /// planes that will need one soon.
    fn begin_together(&mut self, die: u32, need: GcNeed, tables: &mut PageTables) {
        let is_first = self.dies[die as usize].jobs == 0;
        if !is_first && !self.rules.preemptible {
            // Without preemption the host would be blocked.
            return;
        }
        if self.beside().in_step {
            return self.begin_set(die, need, is_first && !self.closing, tables);
        }
        for plane in tables.blocks.numbering.planes_of(die) {
            let has_begun = tables.blocks.victim_of(plane).is_some();
            if !has_begun && self.need_of_plane(plane, &tables.blocks) == need {
                let _none_after_all = self.begin_job(plane, tables);
            }
        }
        if !is_first || self.dies[die as usize].jobs == 0 || self.closing {
            return;
        }
        for plane in tables.blocks.numbering.planes_of(die) {
            if self.may_join(plane, &tables.blocks) && self.begin_job(plane, tables).is_some() {
                self.jobs[plane as usize].joined = true;
            }
        }
    }

    /// Whether a plane starts a victim when another plane of its die does.
    pub(super) fn may_join(&self, plane: u32, blocks: &Blocks) -> bool {
        let state = &blocks.planes[plane as usize];
        let below = self.beside().joins_below_blocks.max(self.rules.start_blocks);
        state.victim.is_none() && state.free_blocks() < below
    }

    /// Whether a plane has a victim to continue, and no running step.
    fn goes_on(&self, plane: u32, blocks: &Blocks) -> bool {
        let has_begun = blocks.victim_of(plane).is_some();
        let in_flight = self.jobs[plane as usize].in_flight;
        has_begun && !in_flight && self.need_of_plane(plane, blocks) != GcNeed::None
    }

    /// Returns plane and page of the next read: the first among the pages that most planes can read
    /// with one command, as pages of one plane alone can be read in any order.
    fn next_read_of<I: Iterator<Item = u32>>(
        &self,
        planes: impl Fn() -> I,
        blocks: &Blocks,
    ) -> (u32, u32) {
        let cursor = |plane: u32| self.jobs[plane as usize].cursor;
        let first = planes().next().expect("a plane reads next");
        let (mut most, mut best) = (1, (first, cursor(first)));
        let count = planes().count();
        if count == 1 || self.beside().reads_apart {
            return best;
        }
        let from = planes().map(cursor).min().expect("there are two at least");
        let units = blocks.numbering.units_per_page();
        let from = blocks.numbering.first_unit(from);
        for page in (from..blocks.numbering.pages_per_block()).step_by(units as usize) {
            for plane in planes().filter(|plane| self.is_unread(*plane, page, blocks)) {
                let reads = |other: &u32| self.reads_beside(plane, *other, page, blocks);
                let with = planes().filter(reads).count();
                if with > most {
                    (most, best) = (with, (plane, page));
                }
            }
            if most == count {
                break;
            }
        }
        best
    }

    /// Whether `other`, which may be `plane`, can read the page of this number with it.
    fn reads_beside(&self, plane: u32, other: u32, page: u32, blocks: &Blocks) -> bool {
        let block = |plane: u32| {
            let victim = blocks.victim_of(plane).expect("it was begun");
            victim % blocks.numbering.geometry.blocks_per_plane
        };
        self.fits((block(plane), page), (block(other), page)) && self.is_unread(other, page, blocks)
    }

    /// Whether a page of the page of flash from `page` on is valid and unread, on the victim of a
    /// plane.
    fn is_unread(&self, plane: u32, page: u32, blocks: &Blocks) -> bool {
        self.first_unread(plane, page, blocks).is_some()
    }

    /// Returns the first of these pages, counted over the drive.
    fn first_unread(&self, plane: u32, page: u32, blocks: &Blocks) -> Option<u32> {
        let victim = blocks.victim_of(plane).expect("it was begun");
        let first = victim * blocks.numbering.pages_per_block() + blocks.numbering.first_unit(page);
        blocks.numbering.rest_of_flash_page(first).find(|source| {
            blocks.owner(*source).is_some() && !self.jobs[plane as usize].holds(*source)
        })
    }

    /// Whether one command takes these blocks and pages of different planes.
    fn fits(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        match self.beside().multi_plane {
            MultiPlane::None => false,
            MultiPlane::Page => one.1 == other.1,
            MultiPlane::Block => one == other,
        }
    }

    /// Returns the plane that programs next: the one farthest behind the others, so that the open
    /// blocks align.
    fn next_program_of<I: Iterator<Item = u32>>(
        &self,
        planes: impl Fn() -> I,
        blocks: &Blocks,
    ) -> u32 {
        let pages = blocks.numbering.pages_per_block();
        let next = |plane: u32| self.next_of_held(plane, blocks).1;
        let behind = |plane: &u32| {
            let to = |other: u32| (next(other) + pages - next(*plane)) % pages;
            planes().map(to).max()
        };
        planes().min_by_key(behind).expect("a plane programs next")
    }

    /// Returns block and page, in its plane, of the next program of held pages.
    fn next_of_held(&self, plane: u32, blocks: &Blocks) -> (u32, u32) {
        let pages = blocks.numbering.pages_per_block();
        let first = self.jobs[plane as usize].first_to_write(pages, self.batch, &blocks.fronts);
        let front = blocks
            .fronts
            .of_victim(blocks.planes[plane as usize].victim, first.expect("it programs next").lpn);
        blocks.planes[plane as usize].next(front, pages)
    }

    /// Takes the step that `next_side_by_side` named.
    #[cold]
    pub(super) fn take_side_by_side(&mut self, die: u32, blocks: &mut Blocks, now: Time) -> Txn {
        let (plane, page) = (self.dies[die as usize].plane, self.dies[die as usize].page);
        match self.step_of(plane, blocks).expect("a step is taken after it was named") {
            Kind::GcRead => self.take_read(plane, page, blocks, now),
            _ => self.take_of_plane(plane, blocks, now),
        }
    }

    /// Takes a step of the kind of `first`, which was just taken, on another plane, if it fits.
    #[cold]
    pub(super) fn take_beside(
        &mut self,
        first: &Txn,
        blocks: &mut Blocks,
        now: Time,
    ) -> Option<Txn> {
        self.rules.beside?;
        for plane in blocks.numbering.planes_of(first.die) {
            if !self.goes_on(plane, blocks) || self.step_of(plane, blocks) != Some(first.kind) {
                continue;
            }
            let page = first.at.page * blocks.numbering.units_per_page();
            let placed = (first.at.block, page);
            let leader = blocks.numbering.plane(first.die, first.at);
            match first.kind {
                Kind::GcRead if self.beside().reads_apart => {}
                Kind::GcRead if self.reads_beside(leader, plane, page, blocks) => {
                    return Some(self.take_read(plane, page, blocks, now));
                }
                Kind::GcProgram if self.fits(placed, self.next_of_held(plane, blocks)) => {
                    return Some(self.take_of_plane(plane, blocks, now));
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the plane in its die of the next step, if it is an independent plane read.
    #[cold]
    pub(super) fn next_read_beside(&mut self, die: u32, tables: &mut PageTables) -> Option<u32> {
        let apart = self.rules.beside.is_some_and(|beside| beside.reads_apart);
        if !apart || self.next_side_by_side(die, tables) != Some(Kind::GcRead) {
            return None;
        }
        Some(self.dies[die as usize].plane - tables.blocks.numbering.planes_of(die).start)
    }

    fn take_of_plane(&mut self, plane: u32, blocks: &mut Blocks, now: Time) -> Txn {
        self.jobs[plane as usize].reads = false;
        self.take_step_of_plane(plane, blocks, now)
    }

    /// Takes the read of a page of the victim of a plane, which need not be the next in order.
    fn take_read(&mut self, plane: u32, page: u32, blocks: &Blocks, now: Time) -> Txn {
        let source = self.first_unread(plane, page, blocks).expect("it was named to be read");
        let job = &mut self.jobs[plane as usize];
        (job.in_flight, job.reads) = (true, true);
        self.read_of(plane, source, blocks, now)
    }
}
