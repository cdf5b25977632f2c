//! The flash translation layer: mapping, allocation in the planes, and garbage collection's steps.

mod bitmap_plane;
mod bitmap_precondition;
mod blocks;
mod cache;
mod collect;
mod demand;
mod faults;
mod free;
mod job;
mod kept;
mod map;
mod parallel_gc;
mod peek;
mod plane;
mod precondition;
mod rebuild;
mod registries;
mod rehearsal;
mod replay;
mod restore;
mod room;
mod rules;
mod scope;
mod sectors;
mod table;
mod tile;
mod verify;
mod wear;
mod work;
mod write_frontiers;

use std::collections::VecDeque;
use std::ops::Range;

use reprieve_base::{Geometry, PageAddress, Slab, Superblocks, UserError};
use reprieve_config::Scenario;
use reprieve_policy::place::{self, Placement};
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::victim::{self, VictimPolicy};
use reprieve_policy::work::GcNeed;

use crate::blocks::BlockIndex;
use demand::DemandMap;
use faults::Failing;
use map::Map;
use plane::{Allocated, Plane};
use room::RoomView;
use rules::GcRules;
use sectors::SectorMap;
use wear::WearTable;
use write_frontiers::WriteFrontiers;

pub use kept::Kept;
pub use map::Mapping;
pub use precondition::Preconditioner;
pub use registries::registries;
#[cfg(feature = "testing")]
pub use sectors::BREAKS as SECTOR_BREAKS;
pub use tile::models_bytes;
#[cfg(feature = "testing")]
pub use verify::BREAKS;

/// Entries looked at together by [`Ftl::touch`]: about as many misses as a core has in flight.
const TOUCH_CHUNK: usize = 16;
/// Millionths.
const PPM: i64 = 1_000_000;

/// Page-level mapping with an allocation pool for each plane.
pub struct Ftl {
    /// As it is to this layer, where twin blocks are one.
    geometry: Geometry,
    twins: Superblocks,
    map: Map,
    planes: Vec<Plane>,
    /// Erases begun in each, by which queued reads notice that their address may be void.
    erases: Vec<u32>,
    index: BlockIndex,
    /// Of each full block, how many of its plane were filled before it.
    filled: Vec<u32>,
    victim: Box<dyn VictimPolicy>,
    gc_dies: Vec<GcDie>,
    gc: GcRules,
    /// Dies with a victim under way, and those that wait because they are too many.
    collecting: u32,
    waiting_dies: VecDeque<u32>,
    /// So many free blocks of a plane are kept from the host.
    reserve_blocks: u32,
    /// A plane that has fewer good blocks cannot go on.
    needed_blocks: u32,
    fronts: WriteFrontiers,
    logical_pages: u32,
    /// The mapping in flash, if it is there.
    demand: Option<DemandMap>,
    /// Which sectors of pages hold data, if anybody asks.
    pub sectors: SectorMap,
    wear: WearTable,
    failing: Failing,
    /// Valid pages are moved by copyback, in one step.
    copyback: bool,
    placement: Box<dyn Placement>,
    /// Nothing is begun any more that need not be.
    closing: bool,
    /// No step of collection is taken, not even of what was begun.
    frozen: bool,
}

/// Garbage collection on one die.
#[derive(Clone, Copy, Debug)]
struct GcDie {
    /// The plane, counted over the drive, that it works on.
    plane: u32,
    /// Where planes collect side by side: the page of its victim that is read next.
    page: u32,
    /// How much the die needs it; `None`: to be found out.
    need: Option<GcNeed>,
    /// Planes of the die with a victim under way.
    jobs: u32,
    /// Among the dies that wait until fewer collect.
    waits: bool,
}

impl Ftl {
    /// The FTL of a scenario, with nothing written.
    ///
    /// Errors if its tables do not fit into memory.
    pub fn new(scenario: &Scenario) -> Result<Ftl, UserError> {
        let ftl = &scenario.ftl;
        let twins = Superblocks::new(ftl.twin_blocks, &scenario.geometry);
        let geometry = twins.inner_geometry(scenario.geometry);
        let physical = u32::try_from(geometry.pages()).expect("the scenario limits the pages");
        let pages = scenario.logical_pages() + demand::map_pages(scenario);
        let fronts = WriteFrontiers::new(scenario);
        let together = scenario.timing.pages_together();
        let blocks = geometry.blocks_per_plane;
        let batch = together.max(twins.planes());
        let plane = Plane::new(ftl.wear.least_worn_first, blocks, together, batch);
        let mut drive = Ftl {
            geometry,
            twins,
            map: Map::new(pages, physical)?,
            planes: vec![plane; geometry.planes() as usize],
            erases: vec![0; geometry.planes() as usize],
            index: BlockIndex::new(
                geometry.planes(),
                geometry.blocks_per_plane,
                geometry.pages_per_block,
            ),
            filled: vec![0; geometry.blocks() as usize],
            victim: victim::make(scenario, geometry),
            gc_dies: (0..geometry.dies())
                .map(|die| GcDie {
                    plane: die * geometry.planes_per_die,
                    page: 0,
                    need: None,
                    jobs: 0,
                    waits: false,
                })
                .collect(),
            gc: GcRules::of(scenario),
            collecting: 0,
            waiting_dies: VecDeque::new(),
            reserve_blocks: ftl.gc_hard_free_blocks,
            needed_blocks: room::needed_blocks(scenario, pages, &fronts),
            fronts,
            logical_pages: scenario.logical_pages(),
            demand: DemandMap::of(scenario)?,
            sectors: SectorMap::of(scenario)?,
            wear: WearTable::new(geometry.blocks(), &ftl.wear),
            failing: Failing::new(scenario),
            copyback: ftl.copyback,
            placement: place::make(scenario, &geometry),
            closing: false,
            frozen: false,
        };
        let margins = scenario.collection_margins();
        let open_blocks = drive.fronts.count();
        assert_eq!(margins.further_open_blocks + 1, open_blocks, "open blocks are miscounted");
        drive.free_good_blocks(scenario);
        Ok(drive)
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Pages of a block as it is to this layer: of twins, those of all.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block
    }

    /// Planes on which such a block lies.
    pub fn planes_of_block(&self) -> u64 {
        u64::from(self.twins.planes())
    }

    /// Where the data of a logical page is.
    #[inline]
    pub fn lookup(&self, lpn: u32) -> Mapping {
        self.map.get(lpn)
    }

    /// Brings the table entries of logical pages into the caches, with their misses overlapping.
    pub fn touch(&self, lpns: &[u32]) {
        let mut sum = 0;
        for chunk in lpns.chunks(TOUCH_CHUNK) {
            let mut mappings = [Mapping::Unwritten; TOUCH_CHUNK];
            for (mapping, lpn) in mappings.iter_mut().zip(chunk) {
                // A request past the end is told when it arrives.
                if *lpn < self.logical_pages() {
                    *mapping = self.map.get(*lpn);
                }
            }
            for mapping in mappings {
                if let Mapping::Flash(page) = mapping {
                    let block = page / self.geometry.pages_per_block;
                    sum ^= self.map.owner(page).unwrap_or(0) ^ self.index.valid(block);
                }
            }
        }
        std::hint::black_box(sum);
    }

    /// The logical page whose valid data a page holds that is counted over the drive.
    pub fn owner(&self, page: u32) -> Option<u32> {
        self.map.owner(page)
    }

    /// Die and address of a page counted over the drive.
    #[inline]
    pub fn locate_page(&self, page: u32) -> (u32, PageAddress) {
        let Geometry { pages_per_block, blocks_per_plane, planes_per_die, .. } = self.geometry;
        let (block, page) = (page / pages_per_block, page % pages_per_block);
        let (plane, block) = (block / blocks_per_plane, block % blocks_per_plane);
        let at = PageAddress { plane: plane % planes_per_die, block, page };
        (plane / planes_per_die, self.twins.outer(at))
    }

    /// Where a page that was never written lies in an image that was written in order.
    pub fn image_page(&self, lpn: u32) -> (u32, PageAddress) {
        let Geometry { pages_per_block, blocks_per_plane, planes_per_die, .. } = self.geometry;
        let plane = self.placement.home(lpn);
        let index = lpn / self.geometry.planes();
        let block = index / pages_per_block % blocks_per_plane;
        let page = index % pages_per_block;
        let at = PageAddress { plane: plane % planes_per_die, block, page };
        (plane / planes_per_die, self.twins.outer(at))
    }

    /// Blocks whose erase has begun in the plane of an address, for [`Txn::erases_seen`].
    #[inline]
    pub fn erases(&self, die: u32, at: PageAddress) -> u32 {
        self.erases[self.plane_of(die, at) as usize]
    }

    /// The plane, counted over the drive, that takes the next page of `lpn`; `None`: all are full.
    ///
    /// `is_idle` says whether a die has nothing to do. Block and page are named when the program
    /// starts.
    #[inline]
    pub fn place_write(&mut self, lpn: u32, is_idle: &dyn Fn(u32) -> bool) -> Option<u32> {
        let view = RoomView {
            planes: &self.planes,
            geometry: &self.geometry,
            blocks_kept: self.blocks_kept(),
            is_idle,
        };
        let plane = self.placement.plane(lpn, &view)?;
        self.planes[plane as usize].committed += 1;
        Some(plane)
    }

    /// Blocks of a plane that must not be full of valid pages: the reserve, the open ones, and one
    /// that has something to be collected.
    #[inline]
    fn blocks_kept(&self) -> u32 {
        self.reserve_blocks + self.fronts.count() + 1
    }

    /// Die and address, as far as it is known, of a page that will be written to a plane.
    #[inline]
    pub fn in_plane(&self, plane: u32) -> (u32, PageAddress) {
        let planes_per_die = self.geometry.planes_per_die;
        (plane / planes_per_die, PageAddress { plane: plane % planes_per_die, block: 0, page: 0 })
    }

    /// Whether an open block of a plane, counted over the drive, can take a host page now.
    #[inline]
    fn has_room(&self, plane: u32, front: u8) -> bool {
        let plane = &self.planes[plane as usize];
        plane.has_room(usize::from(front), self.reserve_blocks, self.geometry.pages_per_block)
    }

    /// A write of `lpn` is in the buffer, as transaction `id`; overtakes the one before it.
    ///
    /// Returns what the newest data was until now.
    #[inline(always)]
    pub fn accept_write(&mut self, lpn: u32, id: u32, txns: &mut Slab<Txn>) -> Mapping {
        let before = self.map.get(lpn);
        txns[id].old = overtake(before, txns);
        if !self.fronts.is_simple() {
            txns[id].front = self.fronts.of_write(lpn);
        }
        self.map.set(lpn, Mapping::Buffered(id));
        before
    }

    /// The page of a host write is programmed.
    #[inline(always)]
    pub fn finish_write(&mut self, txn: &Txn) {
        if txn.stale {
            let plane = self.plane_of(txn.die, txn.at);
            self.planes[plane as usize].committed -= 1;
            return;
        }
        if txn.old != NONE {
            self.discard(txn.old);
        }
        let page = self.page_number(txn.die, txn.at);
        self.map.set(txn.lpn, Mapping::Flash(page));
        self.validate(page, txn.lpn);
    }

    /// The host needs the data of a logical page no more.
    pub fn trim(&mut self, lpn: u32, txns: &mut Slab<Txn>) {
        let old = overtake(self.map.get(lpn), txns);
        if old != NONE {
            self.discard(old);
        }
        self.map.set(lpn, Mapping::Trimmed);
        self.sectors.trim_page(lpn);
        if let Some(demand) = &mut self.demand {
            demand.trimmed(lpn);
        }
    }

    /// Sectors of a page are trimmed, and others are not; true if the page was written and it is
    /// known that it now holds none.
    pub fn trim_sectors(&mut self, lpn: u32, trimmed: Range<u32>) -> bool {
        let is_written = matches!(self.map.get(lpn), Mapping::Flash(_) | Mapping::Buffered(_));
        self.sectors.trim(lpn, trimmed) && is_written
    }

    /// A page's data is not needed any more, anywhere.
    #[inline]
    fn discard(&mut self, page: u32) {
        let block = page / self.geometry.pages_per_block;
        self.planes[(block / self.geometry.blocks_per_plane) as usize].committed -= 1;
        self.invalidate(page);
    }

    /// A page holds no valid data any more.
    #[inline]
    fn invalidate(&mut self, page: u32) {
        self.map.disown(page);
        let block = page / self.geometry.pages_per_block;
        if self.index.remove_valid(block) || self.failing.has_failed_programs() {
            // The first block of the plane that is worth reclaiming, or one to give up is empty.
            self.forget_need(block / self.geometry.blocks_per_plane);
        }
    }

    #[inline]
    fn validate(&mut self, page: u32, lpn: u32) {
        self.map.own(page, lpn);
        self.index.add_valid(page / self.geometry.pages_per_block);
    }

    #[inline]
    fn plane_of(&self, die: u32, at: PageAddress) -> u32 {
        die * self.geometry.planes_per_die + self.twins.inner(at).plane
    }

    /// A page, counted over the drive.
    #[inline]
    pub fn page_number(&self, die: u32, at: PageAddress) -> u32 {
        let at = self.twins.inner(at);
        let plane = die * self.geometry.planes_per_die + at.plane;
        let block = plane * self.geometry.blocks_per_plane + at.block;
        block * self.geometry.pages_per_block + at.page
    }

    /// Takes the next page of an open block of a plane, counted over the drive.
    #[inline]
    fn allocate(&mut self, plane: u32, front: usize) -> PageAddress {
        let got = self.planes[plane as usize].allocate(front, self.geometry.pages_per_block);
        self.taken(plane, got)
    }

    /// Takes what a program of a plane takes: the first page of the next wordline.
    #[inline]
    fn allocate_together(&mut self, plane: u32, front: usize) -> PageAddress {
        let pages_per_block = self.geometry.pages_per_block;
        let got = self.planes[plane as usize].allocate_together(front, pages_per_block);
        self.taken(plane, got)
    }

    /// The address of what was taken from a plane, and what follows from a block's having been
    /// opened for it.
    #[inline(always)]
    fn taken(&mut self, plane: u32, got: Allocated) -> PageAddress {
        let Geometry { blocks_per_plane, planes_per_die, .. } = self.geometry;
        if got.page == 0 {
            self.forget_need(plane);
        }
        if let Some(full) = got.filled {
            let full = plane * blocks_per_plane + full;
            let fills = &mut self.planes[plane as usize].fills;
            self.filled[full as usize] = *fills;
            *fills += 1;
            self.index.fill(full);
            self.victim.filled(plane, full);
        }
        let at = PageAddress { plane: plane % planes_per_die, block: got.block, page: got.page };
        self.twins.outer(at)
    }

    /// Where a read finds its page now that something was erased in its plane.
    #[cold]
    fn located_anew(&self, txn: &Txn) -> PageAddress {
        let page = match (txn.kind, self.map.get(txn.lpn)) {
            (Kind::RmwRead | Kind::MapUpdate, _) if txn.old != NONE => txn.old,
            (Kind::HostRead | Kind::MapRead, Mapping::Flash(page)) => page,
            // Overwritten or trimmed since it was queued: the old copy is what it reads.
            _ => return txn.at,
        };
        let (die, at) = self.locate_page(page);
        let is_there = die == txn.die && (at.plane == txn.at.plane || self.twins.exist());
        if is_there { at } else { txn.at }
    }
}

/// What `newest` held is overtaken; returns the flash page with the data below it, or `NONE`.
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
