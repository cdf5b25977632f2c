//! Replication of planes: the steady state of a large drive whose pages differ, from a few planes.
//!
//! With fixed placement the planes are independent, and with striping each has the same part of
//! every region of a load. So a drive of a few such planes is overwritten page by page, and its
//! planes are copied: the k-th logical page of a plane lies where the k-th of its model does. Then
//! the load is written to the whole drive for a while, so that copies of one plane do not collect
//! at the same time.

use reprieve_base::{Geometry, Stream, Superblocks, UserError};
use reprieve_config::{Precondition, Scenario};
use reprieve_policy::place;
use reprieve_trace::{PlaneShare, WorkloadConfig};

use super::replay::Replay;
use super::{Ftl, Kept, Mapping};

/// Logical pages up to which a whole drive is overwritten page by page, in some seconds.
pub(super) const BY_NAME_PAGES: u32 = 1 << 22;
/// Most writes to the whole drive by which copies of one plane are made to diverge.
const PARTING_WRITES: u64 = 1 << 22;

/// Preconditioning in steps.
pub(super) trait Incremental {
    /// Advances by about `writes` page writes.
    fn advance(&mut self, ftl: &mut Ftl, scenario: &Scenario, writes: u64)
    -> Result<(), UserError>;

    /// Whether the target state is reached.
    fn is_done(&self) -> bool;

    /// Write amplification of its last overwrites, where they say so.
    fn waf(&self) -> Option<f64>;
}

/// Creates the preconditioning by page of the drive of a few planes.
type ByName<P> = fn(&Scenario, &mut Ftl, Kept) -> P;

/// Replication of a large drive; `P` preconditions the drive of a few planes.
pub(super) struct PlaneReplication<P> {
    /// The drive of a few planes.
    scenario: Scenario,
    stage: ReplicationStage<P>,
}

enum ReplicationStage<P> {
    /// The drive of a few planes is to be created.
    ToBegin,
    /// The drive of a few planes is preconditioned.
    Overwriting {
        models: Ftl,
        preconditioner: P,
    },
    Copying(Copying),
    /// Writes by which copies of one plane diverge.
    Parting {
        replay: Replay,
        left: u64,
    },
}

/// Copied planes, and the progress.
struct Copying {
    models: Ftl,
    /// The model of each plane of the drive.
    model_of: Vec<u32>,
    /// Logical pages whose places are copied.
    done: u32,
}

/// Returns the drive of a few planes that models a large one; `None`: not applicable.
fn models(scenario: &Scenario, by_name_pages: u32) -> Option<Scenario> {
    let all_pages = scenario.logical_pages();
    let geometry = Superblocks::new(scenario.ftl.twin_blocks, &scenario.geometry)
        .inner_geometry(scenario.geometry);
    let has_own_pages = scenario.ftl.streams.hot_window_share.is_some()
        || scenario.ftl.demand.is_some()
        || scenario.ftl.faults.factory_bad_share > 0.0;
    let is_fixed = || place::make(scenario, &geometry).is_fixed();
    if scenario.ftl.precondition != Precondition::Steady
        || all_pages <= by_name_pages
        || has_own_pages
        || !is_fixed()
        || !scenario.ftl.streams.gc_separate && scenario.writes_evenly()
    {
        return None;
    }
    let pages = scenario.user_pages().div_ceil(geometry.planes());
    let units = pages * scenario.units_per_page();
    let mut planes = (by_name_pages / units).min(geometry.planes() / 2).max(1);
    // Loads with long requests need more planes.
    loop {
        if planes > geometry.planes() / 2 {
            return None;
        }
        if let Some(models) = models_of(scenario, &geometry, planes, pages) {
            return Some(models);
        }
        planes *= 2;
    }
}

/// Returns the drive with `planes` planes of the inner geometry, each with `pages` user pages.
fn models_of(
    scenario: &Scenario,
    geometry: &Geometry,
    planes: u32,
    pages: u32,
) -> Option<Scenario> {
    let page_bytes = u64::from(geometry.page_bytes);
    let share = PlaneShare {
        page_bytes,
        all_planes: geometry.planes().into(),
        planes: planes.into(),
        capacity_bytes: scenario.capacity_bytes(),
        share_bytes: u64::from(planes) * u64::from(pages) * page_bytes,
    };
    let mut few = scenario.drawing_apart("precondition.models");
    (few.geometry.channels, few.geometry.dies_per_channel) = (planes, 1);
    few.geometry.chips_per_channel = 1;
    if !few.ftl.twin_blocks {
        few.geometry.planes_per_die = 1;
    }
    let physical = few.geometry.pages() as f64;
    few.ftl.over_provisioning = 1.0 - f64::from(planes * pages) / physical;
    assert_eq!(few.user_pages(), planes * pages, "pages of the user are rounded to the nearest");
    if scenario.writes_evenly() {
        (few.workload, few.flows) = (None, Vec::new());
        return Some(few);
    }
    let loads = few.workload.iter_mut();
    for load in loads.chain(few.flows.iter_mut().map(|flow| &mut flow.workload)) {
        if matches!(load, WorkloadConfig::Trace(_)) || !load.changes_data() {
            continue;
        }
        *load = load.of_planes(&share)?;
    }
    Some(few)
}

impl<P: Incremental> PlaneReplication<P> {
    /// Creates the replication of a scenario, if its drive is larger and can be replicated.
    pub(super) fn of(scenario: &Scenario, by_name_pages: u32) -> Option<PlaneReplication<P>> {
        let scenario = models(scenario, by_name_pages)?;
        Some(PlaneReplication { scenario, stage: ReplicationStage::ToBegin })
    }

    /// Advances by about `writes` page writes; true when the drive is in its steady state.
    ///
    /// `by_name` creates the preconditioning of the drive of a few planes.
    pub(super) fn advance(
        &mut self,
        ftl: &mut Ftl,
        scenario: &Scenario,
        (kept, by_name): (Kept, ByName<P>),
        writes: u64,
    ) -> Result<bool, UserError> {
        match &mut self.stage {
            ReplicationStage::ToBegin => {
                let mut models = Ftl::new(&self.scenario)?;
                let preconditioner = by_name(&self.scenario, &mut models, kept);
                self.stage = ReplicationStage::Overwriting { models, preconditioner };
            }
            ReplicationStage::Overwriting { models, preconditioner } => {
                preconditioner.advance(models, &self.scenario, writes)?;
                if preconditioner.is_done() {
                    let mut done = Ftl::stand_in(&self.scenario);
                    std::mem::swap(&mut done, models);
                    self.stage = ReplicationStage::Copying(Copying::new(done, ftl, &self.scenario));
                }
            }
            ReplicationStage::Copying(copying) => {
                if copying.advance(ftl, writes) {
                    for (plane, first) in (0..).zip(firsts(ftl)) {
                        copying.copy_owners(ftl, plane, first);
                    }
                    copying.count_valid(ftl);
                    copying.copy_blocks(ftl);
                    ftl.settle(&scenario.drawing_apart("precondition.victim"));
                    let replay = Replay::new(scenario, kept)?;
                    self.stage = ReplicationStage::Parting {
                        replay,
                        left: parting_writes(&ftl.numbering.geometry),
                    };
                }
            }
            ReplicationStage::Parting { replay, left } => {
                let done = replay.overwrite(ftl, writes.min(*left))?;
                *left = left.saturating_sub(done.written);
                return Ok(*left == 0);
            }
        }
        Ok(false)
    }
}

/// Returns the writes after which the writes of a plane vary by about a block, the root of their
/// number.
fn parting_writes(geometry: &Geometry) -> u64 {
    let per_plane = u64::from(geometry.pages_per_block).pow(2);
    (per_plane * u64::from(geometry.planes())).min(PARTING_WRITES)
}

impl Copying {
    fn new(models: Ftl, ftl: &Ftl, scenario: &Scenario) -> Copying {
        let count = models.numbering.geometry.planes();
        let planes = ftl.numbering.geometry.planes();
        // Each plane is copied equally often, in a random order.
        let mut stream = Stream::new(scenario.seed, "precondition.copies", 0);
        let mut model_of: Vec<u32> = (0..planes).map(|plane| plane % count).collect();
        for round in model_of.chunks_mut(count as usize) {
            for last in (1..round.len()).rev() {
                round.swap(last, stream.below(last as u64 + 1) as usize);
            }
        }
        Copying { models, model_of, done: 0 }
    }

    /// Copies the places of about `pages` logical pages; true when all are copied.
    ///
    /// Goes through the tables from front to back; [`Copying::copy_owners`] copies the owners.
    fn advance(&mut self, ftl: &mut Ftl, pages: u64) -> bool {
        let end = (u64::from(self.done) + pages).min(ftl.tables.map.logical_pages().into()) as u32;
        let planes = ftl.numbering.geometry.planes();
        let count = self.models.numbering.geometry.planes();
        let units = ftl.numbering.units_per_page();
        let offsets = self.offsets(ftl);
        let firsts = firsts(&self.models);
        let of_column = |column: u32| {
            let plane = ftl.placement.home(column * units) as usize;
            (firsts[self.model_of[plane] as usize], offsets[plane])
        };
        let columns: Vec<(u32, u32)> = (0..planes).map(of_column).collect();
        let (page, mut unit) = (self.done / units, self.done % units);
        let (mut row, mut column) = (page / planes, page % planes);
        for lpn in self.done..end {
            let (first, offset) = columns[column as usize];
            let like = (row * count + first) * units + unit;
            ftl.tables.map.set(lpn, moved_by(self.models.tables.map.get(like), offset));
            ftl.sectors.copy(lpn, &self.models.sectors, like);
            unit += 1;
            if unit == units {
                (column, unit) = (column + 1, 0);
            }
            if column == planes {
                (row, column) = (row + 1, 0);
            }
        }
        self.done = end;
        end == ftl.tables.map.logical_pages()
    }

    /// Copies the logical pages of a plane's pages, in order of address.
    fn copy_owners(&self, ftl: &mut Ftl, plane: u32, first: u32) {
        let (planes, count) =
            (ftl.numbering.geometry.planes(), self.models.numbering.geometry.planes());
        let (per_plane, units) =
            (ftl.numbering.pages_per_plane(), u64::from(ftl.numbering.units_per_page()));
        let model = self.model_of[plane as usize];
        for page in 0..per_plane {
            let Some(like) = self.models.tables.blocks.owner(model * per_plane + page) else {
                continue;
            };
            let (own, unit) = (u64::from(like) / units, u64::from(like) % units);
            let row = own / u64::from(count);
            let lpn = (row * u64::from(planes) + u64::from(first)) * units + unit;
            // A plane may have one logical page fewer than its model.
            if lpn < u64::from(ftl.tables.map.logical_pages()) {
                ftl.tables.blocks.name(plane * per_plane + page, lpn as u32);
            }
        }
    }

    /// Returns the distance of the pages of each plane, counted over the drive, from its model's,
    /// modulo 2^32.
    fn offsets(&self, ftl: &Ftl) -> Vec<u32> {
        let per_plane = ftl.numbering.pages_per_plane();
        let offset =
            |(plane, model): (u32, &u32)| plane.wrapping_sub(*model).wrapping_mul(per_plane);
        (0..).zip(&self.model_of).map(offset).collect()
    }

    /// Counts the valid pages of each block, whose logical pages are set.
    fn count_valid(&self, ftl: &mut Ftl) {
        let pages = ftl.numbering.geometry.pages_per_block;
        for plane in 0..ftl.numbering.geometry.planes() {
            let blocks = ftl.numbering.geometry.blocks_per_plane;
            for block in plane * blocks..(plane + 1) * blocks {
                let owned = |page: &u32| ftl.tables.blocks.owner(*page).is_some();
                let valid = (block * pages..(block + 1) * pages).filter(owned).count() as u32;
                ftl.tables.blocks.index.add_valid_pages(block, valid);
                ftl.tables.blocks.planes[plane as usize].committed += valid;
            }
        }
    }

    /// Copies the roles of blocks, and their order of filling.
    fn copy_blocks(&self, ftl: &mut Ftl) {
        let blocks = ftl.numbering.geometry.blocks_per_plane as usize;
        for (plane, model) in self.model_of.iter().map(|model| *model as usize).enumerate() {
            let state = &self.models.tables.blocks.planes[model];
            assert!(state.victim.is_none() && state.failed.is_empty(), "nothing is under way");
            let copy = &mut ftl.tables.blocks.planes[plane];
            assert_eq!(copy.good_blocks, state.good_blocks, "a plane has bad blocks of its own");
            // A plane may have one logical page fewer than its model.
            let committed = copy.committed;
            *copy = state.clone();
            copy.committed = committed;
            let filled =
                &self.models.tables.blocks.fill_order[model * blocks..(model + 1) * blocks];
            ftl.tables.blocks.fill_order[plane * blocks..(plane + 1) * blocks]
                .copy_from_slice(filled);
        }
    }
}

/// Returns each plane's first user page, in the order of logical pages.
fn firsts(ftl: &Ftl) -> Vec<u32> {
    let mut firsts = vec![0; ftl.numbering.geometry.planes() as usize];
    let home = |page| ftl.placement.home(page * ftl.numbering.units_per_page());
    (0..ftl.numbering.geometry.planes()).for_each(|page| firsts[home(page) as usize] = page);
    firsts
}

/// Moves a page by a number of pages.
fn moved_by(mapping: Mapping, offset: u32) -> Mapping {
    match mapping {
        Mapping::Flash(page) => Mapping::Flash(page.wrapping_add(offset)),
        other => panic!("a page of a drive in its steady state is {other:?}"),
    }
}

/// Returns the memory for the models of a drive besides its own, if it is replicated; from the
/// memory of a drive.
pub fn models_bytes(scenario: &Scenario, of_drive: impl Fn(&Scenario) -> u64) -> u64 {
    models(scenario, BY_NAME_PAGES).map_or(0, |models| of_drive(&models))
}

#[cfg(test)]
mod tests;
