//! A drive whose valid pages have no names: one bit for each physical page says if it is valid.

use std::thread;

use reprieve_base::Stream;
use reprieve_config::Scenario;
use reprieve_policy::victim::{self, VictimPolicy};

use super::bitmap_plane::{BitmapPlane, FRONT};
use super::names::Names;
use super::plane::Plane;
use super::scope::Scope;
use super::{Ftl, Kept, Mapping};

/// Threads that are of use at most: each has a victim policy with lists for the whole drive.
const THREADS_MAX: usize = 64;

/// Which physical pages are valid, while nobody knows which logical pages they hold.
///
/// It stands in for the mapping tables and the index of blocks; the planes are the drive's.
pub(super) struct BitmapDrive {
    /// One for each plane of the drive.
    pages: Vec<BitmapPlane>,
    /// One for each group of planes, of which each thread works on one. What a policy knows of a
    /// plane and draws for it is that plane's own, so that it does not matter how many there are.
    victims: Vec<Box<dyn VictimPolicy>>,
    /// Scratch, one for each group: valid pages in the order of the logical pages that they get.
    dealt: Vec<Vec<u32>>,
    /// Planes of a group, but for the last.
    group_planes: usize,
}

/// A plane at work: its pages, its blocks, and what is asked of it.
struct Own<'a> {
    pages: &'a mut BitmapPlane,
    plane: &'a mut Plane,
    scope: &'a mut Scope,
}

impl BitmapDrive {
    /// Nothing valid; `threads` at most are put to work, and so many free blocks kept in a plane.
    pub(super) fn new(ftl: &Ftl, scenario: &Scenario, threads: usize, kept: Kept) -> BitmapDrive {
        let planes = ftl.tables.blocks.planes.len();
        let group_planes = planes.div_ceil(threads.clamp(1, THREADS_MAX));
        let pages = (0..)
            .zip(&ftl.tables.blocks.planes)
            .map(|(plane, _)| BitmapPlane::new(ftl, plane, kept));
        let groups = planes.div_ceil(group_planes);
        let apart = scenario.drawing_apart("precondition.victim");
        BitmapDrive {
            pages: pages.collect(),
            victims: (0..groups).map(|_| victim::make(&apart, ftl.numbering.geometry)).collect(),
            dealt: vec![Vec::new(); groups],
            group_planes,
        }
    }

    /// Threads that the system has for us.
    pub(super) fn threads() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// Writes logical pages of an empty plane for the first time.
    pub(super) fn fill(&mut self, ftl: &mut Ftl, plane: u32, pages: u32) {
        let victim = &mut *self.victims[plane as usize / self.group_planes];
        let state = &mut ftl.tables.blocks.planes[plane as usize];
        state.committed += pages;
        self.pages[plane as usize].program(state, victim, pages);
        debug_assert!(
            ftl.tables.blocks.has_room(plane, FRONT),
            "over-provisioning leaves room for all logical pages"
        );
    }

    /// Overwrites logical pages of the drive, each as likely as any other, where the placement
    /// scheme says; returns the pages that garbage collection moved for it.
    pub(super) fn overwrite(&mut self, ftl: &mut Ftl, writes: u64, stream: &mut Stream) -> u64 {
        let pages_per_plane =
            ftl.numbering.geometry.pages_per_block * ftl.numbering.geometry.blocks_per_plane;
        let mut moved = 0;
        for _ in 0..writes {
            let plane = ftl.place_write(0, &|_| true);
            let plane = plane.expect("the drive has more room than logical pages") as usize;
            let victim = &mut *self.victims[plane / self.group_planes];
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

    /// Overwrites logical pages of each plane that has a scope of its own, about `writes` of each
    /// group; returns the pages that garbage collection moved for it.
    pub(super) fn overwrite_homes(
        &mut self,
        ftl: &mut Ftl,
        scopes: &mut [Scope],
        writes: u64,
    ) -> u64 {
        let work = |victim: &mut dyn VictimPolicy, group: Vec<Own<'_>>| {
            let (mut moved, mut rest) = (0, writes);
            for Own { pages, plane, scope } in group {
                let now = rest.min(scope.left);
                moved += pages.overwrite(plane, victim, now, scope);
                scope.left -= now;
                rest -= now;
            }
            moved
        };
        let groups =
            groups(&mut self.pages, &mut ftl.tables.blocks.planes, scopes, self.group_planes);
        let jobs = self.victims.iter_mut().zip(groups);
        if jobs.len() == 1 {
            return jobs.map(|(victim, group)| work(&mut **victim, group)).sum();
        }
        thread::scope(|threads| {
            let work = &work;
            let spawned: Vec<_> = jobs
                .map(|(victim, group)| threads.spawn(move || work(&mut **victim, group)))
                .collect();
            let moved = spawned.into_iter().map(|thread| thread.join());
            moved.map(|moved| moved.expect("a thread does not panic")).sum()
        })
    }

    /// Overwrites logical pages of a plane that has a scope of its own.
    pub(super) fn overwrite_home(&mut self, ftl: &mut Ftl, scope: &mut Scope, writes: u64) {
        let plane = scope.plane as usize;
        let victim = &mut *self.victims[plane / self.group_planes];
        let state = &mut ftl.tables.blocks.planes[plane];
        self.pages[plane].overwrite(state, victim, writes, scope);
    }

    /// Makes a plane with so many logical pages a copy of that of a scope, which has no fewer.
    pub(super) fn copy_plane(&mut self, ftl: &mut Ftl, from: &mut Scope, plane: u32, lpns: u32) {
        let blocks = &mut ftl.tables.blocks;
        let mut state = blocks.planes[from.plane as usize].clone();
        let mut pages = self.pages[from.plane as usize].of_plane(plane);
        // Where planes share their pages it has what it has come to.
        let fewer = if from.is_shared { 0 } else { from.lpns - lpns };
        (0..fewer).for_each(|_| pages.lose_one(&mut from.stream));
        (state.committed, state.next_victim) = (state.committed - fewer, None);
        blocks.planes[plane as usize] = state;
        self.pages[plane as usize] = pages;
    }

    /// Makes so many pages of the drive valid, of planes that share them and have about as many.
    pub(super) fn share_out(&mut self, ftl: &mut Ftl, lpns: u32, stream: &mut Stream) {
        let planes = &mut ftl.tables.blocks.planes;
        let mut valid: u32 = planes.iter().map(|plane| plane.committed).sum();
        for plane in (0..planes.len()).cycle().take(valid.abs_diff(lpns) as usize) {
            let (state, own) = (&mut planes[plane], &mut self.pages[plane]);
            if valid > lpns {
                own.lose_one(stream);
                (state.committed, valid) = (state.committed - 1, valid - 1);
            } else {
                let victim = &mut *self.victims[plane / self.group_planes];
                own.make_room(state, victim);
                own.program(state, victim, 1);
                (state.committed, valid) = (state.committed + 1, valid + 1);
            }
        }
    }

    /// Gives the valid pages of each of these scopes, or of the drive, its logical pages, without
    /// memory for the order that is drawn.
    pub(super) fn name_by_number(&self, ftl: &mut Ftl, scopes: Vec<Scope>) {
        let names = Names::new(ftl, self.pages.iter().map(BitmapPlane::words), scopes);
        ftl.tables.start_with(names);
    }

    /// Gives the valid pages of the drive the logical pages `lpns`, every way equally likely.
    pub(super) fn name(&self, ftl: &mut Ftl, scope: &mut Scope) {
        let mut pages: Vec<u32> = self.pages.iter().flat_map(BitmapPlane::valid_pages).collect();
        shuffle(&mut pages, &mut scope.stream);
        give_names(ftl, scope, &pages);
    }

    /// Gives the valid pages of each of these planes, as many as there are groups at most, the
    /// logical pages of its scope, every way equally likely.
    pub(super) fn name_homes(&mut self, ftl: &mut Ftl, scopes: &mut [Scope]) {
        let planes = &self.pages;
        let deal = |(scope, pages): (&mut Scope, &mut Vec<u32>)| {
            pages.clear();
            pages.extend(planes[scope.plane as usize].valid_pages());
            shuffle(pages, &mut scope.stream);
        };
        let jobs = scopes.iter_mut().zip(&mut self.dealt);
        if jobs.len() == 1 {
            jobs.for_each(deal);
        } else {
            // What panics there panics here, when all have ended.
            thread::scope(|threads| {
                let deal = &deal;
                jobs.for_each(|job| drop(threads.spawn(move || deal(job))));
            });
        }
        scopes.iter().zip(&self.dealt).for_each(|(scope, pages)| give_names(ftl, scope, pages));
    }

    /// Groups of planes, each of which is one thread's.
    pub(super) fn groups(&self) -> usize {
        self.victims.len()
    }

    /// Tells the drive what its blocks have come to: valid pages, and the order of filling.
    pub(super) fn give_back(&self, ftl: &mut Ftl) {
        self.pages.iter().for_each(|plane| {
            plane.give_back(&mut ftl.tables.blocks.index, &mut ftl.tables.blocks.fill_order)
        });
    }
}

/// The planes that have scopes of their own, by groups; scopes are in the order of planes.
fn groups<'a>(
    pages: &'a mut [BitmapPlane],
    planes: &'a mut [Plane],
    scopes: &'a mut [Scope],
    group_planes: usize,
) -> Vec<Vec<Own<'a>>> {
    let mut groups: Vec<Vec<Own<'a>>> = Vec::new();
    groups.resize_with(pages.len().div_ceil(group_planes), Vec::new);
    let mut scopes = scopes.iter_mut().peekable();
    for (number, (pages, plane)) in pages.iter_mut().zip(planes).enumerate() {
        if let Some(scope) = scopes.next_if(|scope| scope.plane as usize == number) {
            groups[number / group_planes].push(Own { pages, plane, scope });
        }
    }
    assert!(scopes.next().is_none(), "scopes are in the order of planes");
    groups
}

fn shuffle(pages: &mut [u32], stream: &mut Stream) {
    for last in (1..pages.len()).rev() {
        pages.swap(last, stream.below(last as u64 + 1) as usize);
    }
}

fn give_names(ftl: &mut Ftl, scope: &Scope, pages: &[u32]) {
    assert_eq!(scope.lpns as usize, pages.len(), "as many pages are valid as have names");
    for (lpn, page) in scope.logical_pages(ftl.tables.map.logical_pages()).zip(pages) {
        ftl.tables.map.set(lpn, Mapping::Flash(*page));
        ftl.tables.blocks.name(*page, lpn);
    }
}
