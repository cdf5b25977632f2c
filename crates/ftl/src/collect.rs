//! Garbage collection within a plane, one flash operation at a time.
//!
//! A die requests the next step whenever it has time, so that host operations run between any two:
//! a read of a valid page, its program into the open block, or a copyback, and at last the erase.

use reprieve_base::{PageAddress, Slab, Time};
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::GcNeed;

use super::blocks::Blocks;
use super::collection::Collection;
use super::job::HeldPage;
use super::page_tables::PageTables;
use super::plane::Victim;
use super::write_frontiers::LEVELLING_FRONT;

/// Erases by which wear may exceed the permitted spread while collection has its turn.
const OWN_TURN_ERASES: u32 = 2;

impl Collection {
    /// Returns the next step on a die, if none is running and one is useful.
    pub(super) fn next_step(&mut self, die: u32, tables: &mut PageTables) -> Option<Kind> {
        if self.rules.beside.is_some() {
            return self.next_side_by_side(die, tables);
        }
        let current = self.dies[die as usize].plane;
        if self.jobs[current as usize].in_flight {
            return None;
        }
        let plane = self.choose_plane(die, tables)?;
        self.dies[die as usize].plane = plane;
        self.step_of_plane(plane, tables)
    }

    /// Returns the next step on a plane without a running one, if it has a victim.
    #[inline(always)]
    fn step_of_plane(&mut self, plane: u32, tables: &mut PageTables) -> Option<Kind> {
        if tables.blocks.victim_of(plane).is_none() {
            self.begin_job(plane, tables)?;
        }
        self.step_of(plane, &mut tables.blocks)
    }

    /// Returns the next step with a plane's victim; `None`: no block is left to move a page to.
    pub(super) fn step_of(&mut self, plane: u32, blocks: &mut Blocks) -> Option<Kind> {
        let pages = blocks.numbering.pages_per_block();
        let state = &blocks.planes[plane as usize];
        let job = &mut self.jobs[plane as usize];
        let victim = state.victim.expect("just made sure of");
        let first = victim.block * pages;
        job.drop_overwritten(blocks);
        while job.cursor < pages && blocks.owner(first + job.cursor).is_none() {
            job.cursor += 1;
        }
        if self.batch > 1 && self.rules.beside.is_some() {
            // Read ahead of the order, and not programmed yet.
            job.skip_done(blocks, victim.block);
        }
        let to_write = job.first_to_write(pages, self.batch, &blocks.fronts);
        if victim.levels {
            open_for_levelling(plane, blocks);
        }
        if job.cursor == pages {
            let held = job.held.len() as u32;
            let filler = self.find_filler(victim, held, blocks);
            self.jobs[plane as usize].filler = filler;
            if filler.is_some() {
                return Some(Kind::GcRead);
            }
        }
        let job = &self.jobs[plane as usize];
        let (step, moved) = if let Some(first) = to_write {
            (Kind::GcProgram, Some(first.lpn))
        } else if job.cursor == pages {
            assert!(!victim.retires, "a block without valid pages was to be given up before");
            (Kind::Erase, None)
        } else if self.copyback {
            (Kind::GcCopy, blocks.owner(first + job.cursor))
        } else {
            (Kind::GcRead, None)
        };
        let state = &blocks.planes[plane as usize];
        if moved.is_none_or(|lpn| state.can_allocate(front_of_moved(plane, blocks, lpn), pages)) {
            return Some(step);
        }
        blocks.failing.has_no_free(plane, blocks.planes[plane as usize].good_blocks);
        None
    }

    /// Takes the step that `next_step` named.
    #[inline(always)]
    pub(super) fn take_step(&mut self, die: u32, blocks: &mut Blocks, now: Time) -> Txn {
        if self.rules.beside.is_some() {
            return self.take_side_by_side(die, blocks, now);
        }
        self.take_step_of_plane(self.dies[die as usize].plane, blocks, now)
    }

    /// Takes an erase on another plane of a die that needs collection and is due to erase; with
    /// `block`, only of the block of that number.
    #[cold]
    pub(super) fn take_erase(
        &mut self,
        die: u32,
        block: Option<u32>,
        tables: &mut PageTables,
        now: Time,
    ) -> Option<Txn> {
        let numbering = tables.blocks.numbering;
        if numbering.superblocks.exist() {
            return self.take_twin_erase(die, &tables.blocks, now);
        }
        for plane in numbering.planes_of(die) {
            let state = &tables.blocks.planes[plane as usize];
            // Failed blocks are not erased.
            let fails = state.retires() || !state.failed.is_empty();
            // Without preemption a new victim would block the host.
            let begins = state.victim.is_none() && !self.rules.preemptible;
            let in_flight = self.jobs[plane as usize].in_flight;
            let is_needed = || self.need_of_plane(plane, &tables.blocks) != GcNeed::None;
            if in_flight || fails || begins || !is_needed() {
                continue;
            }
            if self.step_of_plane(plane, tables) != Some(Kind::Erase) {
                continue;
            }
            self.jobs[plane as usize].reads = false;
            let victim = tables.blocks.victim_of(plane);
            let blocks = numbering.geometry.blocks_per_plane;
            if block.is_none() || victim.map(|victim| victim % blocks) == block {
                return Some(self.take_step_of_plane(plane, &mut tables.blocks, now));
            }
        }
        None
    }

    /// Takes the erase of the next plane's block of a victim whose first is being erased.
    fn take_twin_erase(&mut self, die: u32, blocks: &Blocks, now: Time) -> Option<Txn> {
        let plane = self.dies[die as usize].plane;
        let job = &mut self.jobs[plane as usize];
        if job.erased_planes == blocks.numbering.superblocks.planes() {
            return None;
        }
        let victim = blocks.victim_of(plane).expect("it is being erased");
        let block = victim % blocks.numbering.geometry.blocks_per_plane;
        let at = PageAddress { plane: job.erased_planes, block, page: 0 };
        job.erased_planes += 1;
        Some(Txn::new(Kind::Erase, die, at, NONE, NONE, now))
    }

    /// Takes the program of a further held page of a superblock, on the next plane at the same page
    /// offset; `None`: no page is held, or it goes to the next offset.
    fn take_twin_page(
        &mut self,
        first: &Txn,
        number: u32,
        blocks: &mut Blocks,
        now: Time,
    ) -> Option<Txn> {
        let plane = blocks.numbering.plane(first.die, first.at);
        let held = *self.jobs[plane as usize].held.get(number as usize)?;
        if first.at.plane + number == blocks.numbering.superblocks.planes() {
            return None;
        }
        let front = front_of_moved(plane, blocks, held.lpn);
        if front != front_of_moved(plane, blocks, first.lpn) {
            return None;
        }
        let at = blocks.allocate(plane, front);
        let mut txn = Txn::new(Kind::GcProgram, first.die, at, held.lpn, NONE, now);
        txn.old = held.source;
        Some(txn)
    }

    #[inline(always)]
    pub(super) fn take_step_of_plane(&mut self, plane: u32, blocks: &mut Blocks, now: Time) -> Txn {
        let numbering = blocks.numbering;
        let pages = numbering.pages_per_block();
        let die = numbering.die(plane);
        let job = &mut self.jobs[plane as usize];
        job.in_flight = true;
        if let Some(source) = job.filler.take() {
            return self.read_of(plane, source, blocks, now);
        }
        let victim = blocks.victim_of(plane).expect("a step is taken after it was named");
        let block = victim - numbering.blocks_of(plane).start;
        let at = PageAddress { plane: plane - numbering.planes_of(die).start, block, page: 0 };
        let to_write = job.first_to_write(pages, self.batch, &blocks.fronts);
        let (kind, at, lpn, old) = if let Some(HeldPage { source, lpn }) = to_write {
            let front = front_of_moved(plane, blocks, lpn);
            let at = blocks.allocate_together(plane, front);
            let pages = self.pages_moved(plane, at, front, blocks);
            self.spend_moves(plane, pages, blocks);
            (Kind::GcProgram, at, lpn, source)
        } else if job.cursor == pages {
            job.erased_planes = 1;
            blocks.erases[plane as usize] += 1;
            (Kind::Erase, at, NONE, NONE)
        } else {
            let source = victim * pages + job.cursor;
            job.cursor = numbering.rest_of_flash_page(source).end - victim * pages;
            if !self.copyback {
                return self.read_of(plane, source, blocks, now);
            }
            let lpn = blocks.owner(source).expect("the page named to be read is valid");
            self.spend_moves(plane, 1, blocks);
            let at = blocks.allocate(plane, front_of_moved(plane, blocks, lpn));
            (Kind::GcCopy, at, lpn, source)
        };
        let erases_seen = blocks.erases_in(plane);
        Txn { old, erases_seen, ..Txn::new(kind, die, at, lpn, NONE, now) }
    }

    /// Takes the read of a page of flash of a plane, from its first valid page on.
    #[inline(always)]
    pub(super) fn read_of(&self, plane: u32, source: u32, blocks: &Blocks, now: Time) -> Txn {
        let (die, at) = blocks.numbering.locate(source);
        let lpn = blocks.owner(source).expect("the page named to be read is valid");
        let out_units = self.transfers(source, blocks);
        let erases_seen = blocks.erases_in(plane);
        let read = Txn::new(Kind::GcRead, die, at, lpn, NONE, now);
        Txn { old: source, out_units, erases_seen, ..read }
    }

    /// Returns how many pages a program of a plane moves, the first of which goes to `first`.
    #[inline]
    fn pages_moved(&self, plane: u32, first: PageAddress, front: usize, blocks: &Blocks) -> usize {
        let planes = blocks.numbering.superblocks.planes();
        let goes_there = |held: &&HeldPage| front_of_moved(plane, blocks, held.lpn) == front;
        let held = self.jobs[plane as usize].held.iter();
        match blocks.numbering.superblocks.exist() {
            // A page that has become cold since its read may make more than a program takes.
            false => held.filter(goes_there).take(self.batch as usize).count(),
            // The pages that `take_twin_page` places on the other planes.
            true => held.take((planes - first.plane) as usize).take_while(goes_there).count(),
        }
    }

    /// Takes the program of a further held page, in the wordline of `first`, which was taken.
    pub(super) fn take_held(
        &mut self,
        first: &Txn,
        number: u32,
        blocks: &mut Blocks,
        now: Time,
    ) -> Option<Txn> {
        if blocks.numbering.superblocks.exist() {
            return self.take_twin_page(first, number, blocks, now);
        }
        let plane = blocks.numbering.plane(first.die, first.at);
        let front = front_of_moved(plane, blocks, first.lpn);
        let own = |held: &&HeldPage| front_of_moved(plane, blocks, held.lpn) == front;
        let mut held = self.jobs[plane as usize].held.iter().filter(own).take(self.batch as usize);
        let held = held.nth(number as usize)?;
        let (at, place) = blocks.numbering.beside(first.at, number);
        let txn = Txn::new(Kind::GcProgram, first.die, at, held.lpn, NONE, now);
        Some(Txn { place, old: held.source, ..txn })
    }

    /// Completes a step and its transaction. Returns whether it was a program that has failed.
    #[inline(always)]
    pub(super) fn finish_step(
        &mut self,
        id: u32,
        tables: &mut PageTables,
        txns: &mut Slab<Txn>,
    ) -> bool {
        let Txn { kind, die, at, old, lpn, .. } = txns[id];
        let numbering = tables.blocks.numbering;
        let plane = numbering.plane(die, at);
        self.jobs[plane as usize].in_flight = false;
        if tables.blocks.planes[plane as usize].retires() {
            tables.blocks.needs.forget(plane);
        }
        let mut has_failed = false;
        match kind {
            Kind::GcRead => self.hold_read(plane, HeldPage { source: old, lpn }, &tables.blocks),
            Kind::GcProgram | Kind::GcCopy if self.move_failed(&txns[id], &mut tables.blocks) => {
                has_failed = true;
            }
            Kind::GcProgram | Kind::GcCopy => {
                self.jobs[plane as usize].release(old);
                if let Some(slc) = &mut tables.blocks.slc {
                    slc.moved(&tables.blocks.planes[plane as usize]);
                }
                tables.relocate(old, numbering.page_of(&txns[id]), lpn, txns);
            }
            // The blocks of a superblock are erased at once, and count as one.
            _ if numbering.superblocks.exist() && at.plane > 0 => {}
            _ => {
                let victim = self.end_job(plane, tables);
                self.reclaimed(plane, victim, &mut tables.blocks);
            }
        }
        txns.release(id);
        has_failed
    }

    /// Holds the valid pages of a page of flash that was read, from the first on.
    #[inline]
    fn hold_read(&mut self, plane: u32, first: HeldPage, blocks: &Blocks) {
        let held = &mut self.jobs[plane as usize].held;
        held.push(first);
        if blocks.numbering.units_per_page() == 1 {
            return;
        }
        // Of another block only as many as the last program of the victim still takes.
        let is_own = blocks.victim_of(plane) == Some(blocks.numbering.block_of(first.source));
        let room = if is_own { u32::MAX } else { self.batch.saturating_sub(held.len() as u32) };
        let others = blocks.numbering.rest_of_flash_page(first.source).skip(1);
        let valid = others.filter_map(|source| Some((source, blocks.owner(source)?)));
        held.extend(valid.take(room as usize).map(|(source, lpn)| HeldPage { source, lpn }));
    }

    /// Moves a page again after a failed program; false if the program has not failed.
    #[inline]
    fn move_failed(&mut self, txn: &Txn, blocks: &mut Blocks) -> bool {
        if !blocks.failing.fails_programs() || !blocks.program_failed(txn) {
            return false;
        }
        if txn.kind == Kind::GcCopy {
            // Nothing of it is held.
            let job = &mut self.jobs[blocks.numbering.plane(txn.die, txn.at) as usize];
            job.cursor = job.cursor.min(txn.old % blocks.numbering.pages_per_block());
        }
        true
    }

    /// Completes the erase of a victim, or its failure.
    fn reclaimed(&mut self, plane: u32, victim: Victim, blocks: &mut Blocks) {
        let has_failed = blocks.reclaimed(plane, victim.block);
        level_wear(plane, victim.levels, blocks);
        let free = blocks.planes[plane as usize].free_blocks();
        if !has_failed && free >= self.rules.start_blocks {
            self.jobs[plane as usize].credit_ppm = 0;
        }
    }
}

/// Returns the open block of a plane to which a page of its victim is moved.
#[inline]
pub(super) fn front_of_moved(plane: u32, blocks: &Blocks, lpn: u32) -> usize {
    blocks.fronts.of_victim(blocks.planes[plane as usize].victim, lpn)
}

/// Opens a block for pages that wear levelling moves: the most worn one.
#[cold]
fn open_for_levelling(plane: u32, blocks: &mut Blocks) {
    let pages_per_block = blocks.numbering.geometry.pages_per_block;
    let first = blocks.numbering.blocks_of(plane).start;
    let state = &mut blocks.planes[plane as usize];
    if state.is_open(LEVELLING_FRONT, pages_per_block) {
        return;
    }
    let worn = state.most_worn_free(|own| blocks.wear.of(first + own));
    let Some((block, _)) = worn else { return };
    let full = state.open_block(LEVELLING_FRONT, block);
    blocks.needs.forget(plane);
    if let Some(full) = full {
        blocks.filled(plane, full);
    }
}

/// Searches a plane for a block whose erases lag too far behind the most worn one's.
///
/// One pass over the plane per erase, and none without static wear levelling. As levelling frees no
/// space, collection has its turn after a block was levelled, unless wear spreads further.
fn level_wear(plane: u32, has_levelled: bool, blocks: &mut Blocks) {
    if blocks.wear.spread.is_none() {
        return;
    }
    let of_plane = blocks.numbering.blocks_of(plane);
    let most = of_plane.clone().map(|block| blocks.wear.of(block)).max().unwrap_or(0);
    let full = of_plane.clone().filter(|block| blocks.index.is_full(*block));
    let allowed = if has_levelled { OWN_TURN_ERASES } else { 0 };
    let unworn = blocks.wear.far_behind(full, most.saturating_sub(allowed));
    let open = blocks.planes[plane as usize].fronts[LEVELLING_FRONT].block;
    let open = open.map(|own| of_plane.start + own);
    let lags = blocks.wear.far_behind(open.into_iter(), most).is_some();
    let state = &mut blocks.planes[plane as usize];
    (state.unworn, state.completes_levelling) = (unworn, lags);
}
