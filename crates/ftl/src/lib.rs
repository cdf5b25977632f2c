//! The flash translation layer: mapping, allocation in the planes, and garbage collection's steps.

mod bad_blocks;
mod bitmap_plane;
mod bitmap_precondition;
mod block_index;
mod blocks;
mod cache;
mod chunked_table;
mod collect;
mod collection;
mod contradiction;
mod demand;
mod entries;
mod faults;
mod fill;
mod filler;
mod free;
mod free_block_target;
mod in_order;
mod in_step;
mod job;
mod larger_units;
mod map;
mod needed_blocks;
mod needs;
mod next_gc_step;
mod numbering;
mod overwrite_scope;
mod overwriting;
mod owners;
mod page_names;
mod page_tables;
mod parallel_gc;
mod pass;
mod permutation;
mod plane;
mod plane_replication;
mod plane_view;
mod precondition;
mod ranked_bits;
mod rebuild;
mod refresh;
mod registries;
mod replay;
mod replicated_names;
mod restore;
mod rules;
mod run_in_phases;
mod sectors;
mod slc_folding;
mod slc_plane;
mod sparse_table;
mod table;
mod two_pass;
mod verify;
mod wear;
mod work;
mod write_frontiers;
mod zone_slots;
mod zone_table;

use std::ops::Range;

use reprieve_base::{Archive, Geometry, PageAddress, Slab, UserError};
use reprieve_config::Scenario;
use reprieve_policy::place::{self, Placement};
use reprieve_policy::txn::{NONE, Txn};

use collection::Collection;
use plane::Plane;
use plane_view::RoomView;
use zone_slots::ZoneSlots;

pub use blocks::Blocks;
pub use demand::DemandMap;
pub use faults::Failing;
pub use free_block_target::FreeTarget;
pub use map::{Map, Mapping};
pub use numbering::Numbering;
pub use page_tables::PageTables;
pub use plane_replication::models_bytes;
pub use precondition::Preconditioner;
pub use registries::registries;
#[cfg(feature = "testing")]
pub use sectors::BREAKS as SECTOR_BREAKS;
pub use sectors::SectorMap;
pub use slc_folding::SlcCache;
pub use slc_plane::SlcCounts;
#[cfg(feature = "testing")]
pub use verify::BREAKS;
pub use wear::WearTable;
pub use zone_table::{Zone, ZoneCounts, ZoneErase, ZoneRequest, ZoneState, ZoneTable};

/// Millionths.
const PPM: i64 = 1_000_000;

/// Page-level mapping with an allocation pool for each plane: tables, garbage collection, and the
/// choice of a plane for each write.
pub struct Ftl {
    /// Numbering of pages and blocks.
    pub numbering: Numbering,
    /// Places of logical pages, and contents of blocks.
    pub tables: PageTables,
    /// Sectors of pages that hold data, if tracked.
    pub sectors: SectorMap,
    collection: Collection,
    placement: Box<dyn Placement>,
    /// Zones that are being written; `None` without zones.
    zones: Option<Box<ZoneSlots>>,
}

impl Ftl {
    /// Saves or restores the state that changes.
    pub fn archive(&mut self, archive: &mut Archive) {
        self.tables.archive(archive);
        self.sectors.archive(archive);
        self.collection.archive(archive);
        self.placement.archive(archive);
        if let Some(zones) = &mut self.zones {
            zones.archive(archive);
        }
    }

    /// Creates the FTL of a scenario, with nothing written.
    ///
    /// Errors if its tables do not fit into memory.
    pub fn new(scenario: &Scenario) -> Result<Ftl, UserError> {
        let numbering = Numbering::of(scenario);
        Ok(Ftl {
            numbering,
            tables: PageTables::new(scenario)?,
            sectors: SectorMap::of(scenario)?,
            collection: Collection::new(scenario, &numbering),
            placement: place::make(scenario, &numbering.geometry),
            zones: ZoneSlots::of(scenario),
        })
    }

    /// Returns the place of an unwritten page in an image that was written in order.
    pub fn image_page(&self, lpn: u32) -> (u32, PageAddress) {
        let Geometry { pages_per_block, blocks_per_plane, .. } = self.numbering.geometry;
        let plane = self.placement.home(lpn);
        let units = self.numbering.units_per_page();
        let row = self.placement.image_row(lpn);
        let row = row.unwrap_or(lpn / units / self.numbering.geometry.planes());
        let index = row * units + lpn % units;
        let block = index / pages_per_block % blocks_per_plane;
        let page = index % pages_per_block;
        (self.numbering.die(plane), self.numbering.address(plane, block, page))
    }

    /// Returns the plane, counted over the drive, for the next page of `lpn`; `None`: all are full.
    ///
    /// `load` returns how many writes wait for a die. Block and page are assigned when the program
    /// starts.
    #[inline]
    pub fn place_write(&mut self, lpn: u32, load: &dyn Fn(u32) -> u32) -> Option<u32> {
        let view = RoomView { blocks: &self.tables.blocks, load };
        let plane = self.placement.plane(lpn, &view)?;
        self.tables.blocks.planes[plane as usize].committed += 1;
        Some(plane)
    }

    /// Accepts a write of `lpn` with a placement handle into the buffer, as transaction `id`, which
    /// overtakes an earlier one.
    ///
    /// Returns the place of the previous data.
    #[inline(always)]
    pub fn accept_write(&mut self, lpn: u32, handle: u8, id: u32, txns: &mut Slab<Txn>) -> Mapping {
        let PageTables { map, blocks, .. } = &mut self.tables;
        let before = map.get(lpn);
        txns[id].old = overtake(before, txns);
        if !blocks.fronts.is_simple() {
            txns[id].front = match &self.zones {
                Some(zones) => zones.place_of_page(lpn),
                None => blocks.fronts.of_write(lpn, handle),
            };
        }
        map.set(lpn, Mapping::Buffered(id));
        before
    }

    /// Sends a write to its die: to a block in SLC mode, if there is room.
    #[inline]
    pub fn send_write(&mut self, txn: &mut Txn) {
        let blocks = &mut self.tables.blocks;
        if let Some(slc) = &mut blocks.slc {
            txn.front = slc.send(&mut blocks.planes[txn.target as usize], txn.front);
            blocks.needs.forget(txn.target);
        }
    }

    /// Trims a logical page.
    pub fn trim(&mut self, lpn: u32, txns: &mut Slab<Txn>) {
        let old = overtake(self.tables.map.get(lpn), txns);
        if old != NONE {
            self.tables.blocks.discard(old);
        }
        self.tables.map.trim(lpn);
        self.sectors.trim_page(lpn);
    }

    /// Trims sectors of a page; returns true if the page was written and is known to be empty now.
    pub fn trim_sectors(&mut self, lpn: u32, trimmed: Range<u32>) -> bool {
        let before = self.tables.map.get(lpn);
        let is_written = matches!(before, Mapping::Flash(_) | Mapping::Buffered(_));
        self.sectors.trim(lpn, trimmed) && is_written
    }

    /// Returns the next die that has waited for its turn to collect, and has to decide anew.
    #[inline]
    pub fn next_to_wake(&mut self) -> Option<u32> {
        self.collection.next_to_wake(&mut self.tables.blocks)
    }

    /// Completes a step of collection and its transaction. Returns whether it was a program that
    /// has failed.
    #[inline(always)]
    pub fn finish_step(&mut self, id: u32, txns: &mut Slab<Txn>) -> bool {
        self.collection.finish_step(id, &mut self.tables, txns)
    }

    /// Opens or closes a busy window, in which optional collection runs.
    pub fn set_busy(&mut self, is_busy: bool) {
        self.collection.is_busy = Some(is_busy);
        self.tables.blocks.needs.forget_all();
    }

    /// Returns the free blocks that planes with garbage lack, and the current victims.
    pub fn blocks_to_collect(&self) -> u32 {
        let (blocks, rules) = (&self.tables.blocks, &self.collection.rules);
        let wanted = rules.start_blocks.max(blocks.reserve_blocks + 1);
        let of = |(number, plane): (u32, &Plane)| match plane.victim.is_some() {
            false if !blocks.index.has_victim(number) => 0,
            has_begun => wanted.saturating_sub(plane.free_blocks()) + u32::from(has_begun),
        };
        (0..).zip(&blocks.planes).map(of).sum()
    }

    /// Whether a die collects: a step is running, or the host cannot interrupt its steps.
    pub fn collects(&self, die: u32) -> bool {
        let Collection { jobs, rules, .. } = &self.collection;
        self.numbering.planes_of(die).any(|plane| {
            let has_victim = self.tables.blocks.victim_of(plane).is_some();
            jobs[plane as usize].in_flight || has_victim && !rules.preemptible
        })
    }

    /// Stops all but urgent collection; current victims are completed.
    pub fn close(&mut self) {
        self.collection.close(&mut self.tables.blocks);
    }
}

/// Overtakes the data of `newest`; returns the flash page with the data below it, or `NONE`.
#[inline]
fn overtake(newest: Mapping, txns: &mut Slab<Txn>) -> u32 {
    match newest {
        Mapping::Buffered(id) => {
            txns[id].stale = true;
            txns[id].old
        }
        Mapping::Flash(page) => page,
        Mapping::Unwritten | Mapping::Trimmed => NONE,
    }
}

#[cfg(test)]
mod tests;
