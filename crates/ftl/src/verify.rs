//! Invariants between the FTL's tables, between two steps.

use reprieve_base::{Geometry, Slab};
use reprieve_policy::txn::{NONE, Txn};

use super::blocks::Blocks;
use super::page_tables::PageTables;
use super::{Ftl, Mapping};

/// Roles of a block; each has exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Free,
    Open,
    Full,
    Victim,
    /// A program has failed on it, and its valid pages have to move.
    Failed,
    /// Bad.
    Bad,
}

impl Ftl {
    /// Checks the mapping against the valid pages, their counts, and the roles of the blocks.
    ///
    /// `programmed` has the pages of every block that its die has programmed since its erase.
    pub fn verify(&self, txns: &Slab<Txn>, programmed: &[u16]) -> Result<(), String> {
        self.tables.verify(txns)?;
        self.tables.blocks.verify(programmed)?;
        self.sectors.verify(&self.tables.map)?;
        self.tables.map.verify_cache()
    }
}

impl PageTables {
    /// Checks that valid pages and their logical pages match one to one.
    fn verify(&self, txns: &Slab<Txn>) -> Result<(), String> {
        let mut mapped = 0u64;
        let pages = self.blocks.numbering.geometry.pages() as u32;
        for lpn in 0..self.map.all_pages() {
            let page = match self.map.get(lpn) {
                Mapping::Flash(page) => page,
                Mapping::Buffered(id) if txns[id].lpn != lpn => {
                    return Err(format!(
                        "logical page {lpn} is in the buffer as transaction {id}, which writes {}",
                        txns[id].lpn
                    ));
                }
                Mapping::Buffered(id) if txns[id].old != NONE => txns[id].old,
                Mapping::Buffered(_) | Mapping::Unwritten | Mapping::Trimmed => continue,
            };
            mapped += 1;
            if page >= pages || self.blocks.owner(page) != Some(lpn) {
                return Err(format!(
                    "logical page {lpn} is on page {page}, which does not hold it"
                ));
            }
        }
        // Each mapped page is distinct, so that equal numbers make it a bijection.
        let valid = (0..pages).filter(|page| self.blocks.owner(*page).is_some()).count() as u64;
        if valid != mapped {
            return Err(format!("{valid} pages are valid, and {mapped} logical pages have one"));
        }
        Ok(())
    }
}

impl Blocks {
    /// Checks that every block has one role and the counted valid pages, and fits its die's
    /// programs.
    fn verify(&self, programmed: &[u16]) -> Result<(), String> {
        let roles = self.roles()?;
        let Geometry { pages_per_block: pages, blocks_per_plane, .. } = self.numbering.geometry;
        for (block, role) in (0..).zip(roles) {
            let plane = &self.planes[(block / blocks_per_plane) as usize];
            let done = self.programmed_of(block, programmed)?;
            let fits = match role {
                Role::Free => done == 0,
                Role::Open => plane.fronts.iter().any(|front| {
                    front.block == Some(block % blocks_per_plane) && front.next_page == done
                }),
                // A zone may have been finished before it was full.
                Role::Full => done == pages || self.fronts.has_zones(),
                Role::Victim => {
                    plane.retires() || done == pages || done == 0 || self.fronts.has_zones()
                }
                Role::Failed => done > 0,
                Role::Bad => self.index.valid(block) == 0,
            };
            if !fits {
                return Err(format!("block {block} is {role:?} and has {done} pages programmed"));
            }
            let all = self.numbering.pages_of(block);
            let owned = all
                .filter(|page| self.owner(*page).is_some_and(|_| page % pages < done))
                .count() as u32;
            let counted = self.index.valid(block);
            if owned != counted {
                return Err(format!(
                    "block {block} has {owned} valid pages among those programmed, and {counted} \
                     are counted"
                ));
            }
        }
        for plane in 0..self.numbering.geometry.planes() {
            self.index.verify(plane)?;
            self.verify_good_blocks(plane)?;
        }
        Ok(())
    }

    /// Returns the programmed mapping units of a block, or of a superblock, whose planes are in
    /// step.
    fn programmed_of(&self, block: u32, programmed: &[u16]) -> Result<u32, String> {
        let (plane, block) = (
            block / self.numbering.geometry.blocks_per_plane,
            block % self.numbering.geometry.blocks_per_plane,
        );
        let of = |twin: u32| {
            let plane = plane * self.numbering.superblocks.planes() + twin;
            u32::from(
                programmed[(plane * self.numbering.geometry.blocks_per_plane + block) as usize],
            )
        };
        let done = (0..self.numbering.superblocks.planes()).map(of).sum();
        let out_of_step = (0..self.numbering.superblocks.planes())
            .find(|twin| of(*twin) != self.numbering.superblocks.pages_on(*twin, done));
        match out_of_step {
            None => Ok(done * self.numbering.units_per_page()),
            Some(twin) => Err(format!(
                "block {block} of plane {twin} of die {plane} has {} of the {done} pages that the \
                 superblock has programmed",
                of(twin)
            )),
        }
    }

    /// Failing blocks count as lost at once, before they are bad.
    fn verify_good_blocks(&self, plane: u32) -> Result<(), String> {
        let blocks = self.numbering.geometry.blocks_per_plane;
        let bad = self.failing.bad_in(plane * blocks..(plane + 1) * blocks).count();
        let state = &self.planes[plane as usize];
        let failing = state.failed.len() + usize::from(state.retires());
        let counted = state.good_blocks;
        let own = state.slc.get().map_or(0, |slc| slc.own_blocks);
        if (counted + own) as usize + failing + bad == blocks as usize {
            return Ok(());
        }
        Err(format!(
            "plane {plane} of {blocks} blocks has {bad} bad and {failing} failed ones, and \
             {counted} are counted as good"
        ))
    }

    fn roles(&self) -> Result<Vec<Role>, String> {
        let blocks = self.numbering.geometry.blocks_per_plane;
        let mut roles: Vec<Option<Role>> = vec![None; self.numbering.geometry.blocks() as usize];
        let mut assign = |block: u32, role: Role| match roles[block as usize].replace(role) {
            None => Ok(()),
            Some(before) => Err(format!("block {block} is {before:?} and {role:?}")),
        };
        for (number, plane) in (0..).zip(&self.planes) {
            let first = number * blocks;
            let mut free = plane.free_list().into_iter();
            free.try_for_each(|block| assign(first + block, Role::Free))?;
            plane.open_blocks().try_for_each(|block| assign(first + block, Role::Open))?;
            plane.failed.iter().try_for_each(|block| assign(*block, Role::Failed))?;
            let mut bad = self.failing.bad_in(first..first + blocks);
            bad.try_for_each(|block| assign(block, Role::Bad))?;
            let mut victim = plane.victim.iter();
            victim.try_for_each(|victim| assign(victim.block, Role::Victim))?;
            let full = (first..first + blocks).filter(|block| self.index.is_full(*block));
            full.into_iter().try_for_each(|block| assign(block, Role::Full))?;
            let in_slc = plane.slc.get().into_iter().flat_map(|slc| &slc.full);
            in_slc.into_iter().try_for_each(|block| assign(first + block, Role::Full))?;
        }
        let all: Option<Vec<Role>> = roles.iter().copied().collect();
        all.ok_or_else(|| {
            let lost = roles.iter().position(Option::is_none).expect("one has no role");
            format!("block {lost} has no role: neither free, open, full, a victim, failed nor bad")
        })
    }
}

/// A way to corrupt the tables, and a part of the resulting message.
#[cfg(feature = "testing")]
type FtlBreak = (fn(&mut Ftl), &'static str);

/// Ways to corrupt the tables.
#[cfg(feature = "testing")]
pub const BREAKS: &[FtlBreak] = &[
    // Two logical pages on one page.
    (|ftl| ftl.tables.map.set(4, ftl.tables.map.get(5)), "does not hold it"),
    // A valid page without an owner.
    (|ftl| ftl.tables.map.set(4, Mapping::Trimmed), "pages are valid, and"),
    (
        |ftl| {
            let block = ftl.tables.blocks.a_full_block();
            ftl.tables.blocks.index.remove_valid(block);
        },
        "are counted",
    ),
    // An open block that will be picked as a victim.
    (
        |ftl| {
            ftl.tables
                .blocks
                .index
                .fill(ftl.tables.blocks.planes[2].fronts[0].block.expect("one is open") + 48)
        },
        "is Open and Full",
    ),
    // A block full of data on the free list, or on none.
    (
        |ftl| {
            let block = ftl.tables.blocks.a_full_block();
            ftl.tables.blocks.planes[(block / 24) as usize].add_free(block % 24, 0);
        },
        "is Free and Full",
    ),
    (|ftl| ftl.tables.blocks.index.reclaim(ftl.tables.blocks.a_full_block()), "has no role"),
    // A block that is lost and not counted.
    (|ftl| ftl.tables.blocks.planes[1].good_blocks -= 1, "are counted as good"),
    // A separate open block for moved pages, which another plane has open too.
    (
        |ftl| {
            let open = ftl.tables.blocks.planes[3].fronts[0];
            ftl.tables.blocks.planes[3].fronts[1] = open;
        },
        "is Open and Open",
    ),
];

#[cfg(feature = "testing")]
impl Blocks {
    /// Returns a full block, counted over the drive.
    fn a_full_block(&self) -> u32 {
        let full = |block: &u32| self.index.is_full(*block) && self.index.valid(*block) > 0;
        (0..self.numbering.geometry.blocks() as u32).rev().find(full).expect("a drive in use")
    }
}
