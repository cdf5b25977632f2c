//! Preconditioning without logical page numbers: one valid bit for each physical page.

use reprieve_base::Stream;
use reprieve_config::Scenario;
use reprieve_policy::victim::{self, VictimPolicy};

use super::bitmap_plane::{BitmapPlane, FRONT};
use super::overwrite_scope::Scope;
use super::page_names::{DrawnNames, Names, PreparedPages};
use super::{FreeTarget, Ftl, Mapping};

/// Valid physical pages before logical pages are assigned to them.
///
/// It replaces the mapping tables and the block index; the planes are the drive's.
pub(super) struct BitmapDrive {
    /// One for each plane of the drive.
    pages: Vec<BitmapPlane>,
    victim: Box<dyn VictimPolicy>,
}

impl BitmapDrive {
    /// Returns a drive without valid pages, which keeps some free blocks in each plane.
    pub(super) fn new(ftl: &Ftl, scenario: &Scenario, kept: FreeTarget) -> BitmapDrive {
        let planes = 0..ftl.tables.blocks.planes.len() as u32;
        let apart = scenario.drawing_apart("precondition.victim");
        BitmapDrive {
            pages: planes.map(|plane| BitmapPlane::new(ftl, plane, kept)).collect(),
            victim: victim::make(&apart, ftl.numbering.geometry),
        }
    }

    /// Writes logical pages of an empty plane for the first time.
    pub(super) fn fill(&mut self, ftl: &mut Ftl, plane: u32, pages: u32) {
        let victim = &mut *self.victim;
        let state = &mut ftl.tables.blocks.planes[plane as usize];
        state.committed += pages;
        self.pages[plane as usize].program(state, victim, pages);
        debug_assert!(
            ftl.tables.blocks.has_room(plane, FRONT),
            "over-provisioning leaves room for all logical pages"
        );
    }

    /// Overwrites logical pages of the drive with equal probability, placed by the placement
    /// scheme; returns the pages that garbage collection moved.
    pub(super) fn overwrite(&mut self, ftl: &mut Ftl, writes: u64, stream: &mut Stream) -> u64 {
        let pages_per_plane =
            ftl.numbering.geometry.pages_per_block * ftl.numbering.geometry.blocks_per_plane;
        let mut moved = 0;
        for _ in 0..writes {
            let plane = ftl.place_write(0, &|_| 0);
            let plane = plane.expect("the drive has more room than logical pages") as usize;
            let victim = &mut *self.victim;
            let (state, own) = (&mut ftl.tables.blocks.planes[plane], &mut self.pages[plane]);
            moved += own.make_room(state, victim);
            let (target, _) = own.take(state, victim, 1);
            let old = loop {
                let page = stream.below(ftl.numbering.geometry.pages()) as u32;
                let plane = page / pages_per_plane;
                if self.pages[plane as usize].is_valid(page % pages_per_plane) {
                    break page;
                }
            };
            self.pages[plane].validate(target);
            let plane = (old / pages_per_plane) as usize;
            self.pages[plane].invalidate(old % pages_per_plane);
            ftl.tables.blocks.planes[plane].committed -= 1;
        }
        moved
    }

    /// Overwrites logical pages of planes with separate scopes, about `writes` in all; returns the
    /// pages that garbage collection moved.
    pub(super) fn overwrite_homes(
        &mut self,
        ftl: &mut Ftl,
        scopes: &mut [Scope],
        writes: u64,
    ) -> u64 {
        let (mut moved, mut rest) = (0, writes);
        for scope in scopes {
            let now = rest.min(scope.left);
            moved += self.overwrite_home(ftl, scope, now);
            scope.left -= now;
            rest -= now;
        }
        moved
    }

    /// Overwrites logical pages of a plane with a separate scope; returns the pages that garbage
    /// collection moved.
    pub(super) fn overwrite_home(&mut self, ftl: &mut Ftl, scope: &mut Scope, writes: u64) -> u64 {
        let plane = scope.plane as usize;
        let state = &mut ftl.tables.blocks.planes[plane];
        self.pages[plane].overwrite(state, &mut *self.victim, writes, scope)
    }

    /// Makes a plane with `lpns` logical pages a copy of that of a scope with at least as many.
    pub(super) fn copy_plane(&mut self, ftl: &mut Ftl, from: &mut Scope, plane: u32, lpns: u32) {
        let blocks = &mut ftl.tables.blocks;
        let mut state = blocks.planes[from.plane as usize].clone();
        let mut pages = self.pages[from.plane as usize].of_plane(plane);
        // Planes that share pages keep their number of valid ones.
        let fewer = if from.is_shared { 0 } else { from.lpns - lpns };
        (0..fewer).for_each(|_| pages.lose_one(&mut from.stream));
        (state.committed, state.next_victim) = (state.committed - fewer, None);
        blocks.planes[plane as usize] = state;
        self.pages[plane as usize] = pages;
    }

    /// Validates `lpns` pages of the drive in all, one a plane in turn.
    pub(super) fn share_out(&mut self, ftl: &mut Ftl, lpns: u32, stream: &mut Stream) {
        let planes = &mut ftl.tables.blocks.planes;
        let mut valid: u32 = planes.iter().map(|plane| plane.committed).sum();
        for plane in (0..planes.len()).cycle().take(valid.abs_diff(lpns) as usize) {
            let (state, own) = (&mut planes[plane], &mut self.pages[plane]);
            if valid > lpns {
                own.lose_one(stream);
                (state.committed, valid) = (state.committed - 1, valid - 1);
            } else {
                let victim = &mut *self.victim;
                own.make_room(state, victim);
                own.program(state, victim, 1);
                (state.committed, valid) = (state.committed + 1, valid + 1);
            }
        }
    }

    /// Assigns the logical pages of these scopes, or of the drive, to the valid pages, without
    /// memory for the drawn order.
    pub(super) fn name_by_number(&self, ftl: &mut Ftl, scopes: Vec<Scope>) {
        let names = DrawnNames::new(ftl, self.pages.iter().map(BitmapPlane::words), scopes);
        ftl.tables.start_with(Names::new(PreparedPages::Drawn(names)));
    }

    /// Assigns the logical pages of a scope to the valid pages of its plane, or of the drive, in a
    /// random order.
    pub(super) fn name(&self, ftl: &mut Ftl, scope: &mut Scope, by_plane: bool) {
        let plane = scope.plane as usize;
        let planes = if by_plane { &self.pages[plane..=plane] } else { &self.pages[..] };
        let mut pages: Vec<u32> = planes.iter().flat_map(BitmapPlane::valid_pages).collect();
        for last in (1..pages.len()).rev() {
            pages.swap(last, scope.stream.below(last as u64 + 1) as usize);
        }
        assert_eq!(scope.lpns as usize, pages.len(), "as many pages are valid as have names");
        for (lpn, page) in scope.logical_pages(ftl.tables.map.logical_pages()).zip(pages) {
            ftl.tables.map.set(lpn, Mapping::Flash(page));
            ftl.tables.blocks.name(page, lpn);
        }
    }

    /// Sets the drive's blocks: valid pages, and the order of filling.
    pub(super) fn give_back(&self, ftl: &mut Ftl) {
        self.pages.iter().for_each(|plane| {
            plane.give_back(&mut ftl.tables.blocks.index, &mut ftl.tables.blocks.fill_order)
        });
    }
}
