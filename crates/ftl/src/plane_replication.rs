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

use super::page_names::{Names, PreparedPages};
use super::replay::Replay;
use super::replicated_names::ReplicatedNames;
use super::{FreeTarget, Ftl};

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
    Overwriting(Box<(Ftl, P)>),
    /// Writes by which copies of one plane diverge.
    Parting { replay: Replay, left: u64 },
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
        || !scenario.ftl.streams.gc_separate && scenario.overwrites().are_even()
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
    if scenario.overwrites().are_even() {
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
        kept: FreeTarget,
        by_name: fn(&Scenario, &mut Ftl, FreeTarget) -> P,
        writes: u64,
    ) -> Result<bool, UserError> {
        match &mut self.stage {
            ReplicationStage::ToBegin => {
                let mut models = Ftl::new(&self.scenario)?;
                let preconditioner = by_name(&self.scenario, &mut models, kept);
                self.stage = ReplicationStage::Overwriting(Box::new((models, preconditioner)));
            }
            ReplicationStage::Overwriting(both) => {
                let (models, preconditioner) = &mut **both;
                preconditioner.advance(models, &self.scenario, writes)?;
                if preconditioner.is_done() {
                    ftl.replicate(models, &model_of(ftl, models, self.scenario.seed));
                    ftl.settle(&scenario.drawing_apart("precondition.victim"));
                    ftl.tables.expect_many();
                    let replay = Replay::new(scenario, kept)?;
                    // The writes of a plane vary by the root of their number: about a block.
                    let geometry = &ftl.numbering.geometry;
                    let per_plane = u64::from(geometry.pages_per_block).pow(2);
                    let left = (per_plane * u64::from(geometry.planes())).min(PARTING_WRITES);
                    self.stage = ReplicationStage::Parting { replay, left };
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

/// Returns the model of each plane: each is copied equally often, in a random order.
fn model_of(ftl: &Ftl, models: &Ftl, seed: u64) -> Vec<u32> {
    let count = models.numbering.geometry.planes();
    let mut stream = Stream::new(seed, "precondition.copies", 0);
    let planes = 0..ftl.numbering.geometry.planes();
    let mut model_of: Vec<u32> = planes.map(|plane| plane % count).collect();
    for round in model_of.chunks_mut(count as usize) {
        for last in (1..round.len()).rev() {
            round.swap(last, stream.below(last as u64 + 1) as usize);
        }
    }
    model_of
}

impl Ftl {
    /// Takes the state of planes of a smaller drive, one for each of its own.
    fn replicate(&mut self, models: &Ftl, model_of: &[u32]) {
        let names = ReplicatedNames::new(self, models, model_of);
        if self.sectors.is_tracked() {
            for lpn in 0..self.tables.map.logical_pages() {
                self.sectors.copy(lpn, &models.sectors, names.like(lpn).0);
            }
        }
        let (own, of) = (&mut self.tables.blocks, &models.tables.blocks);
        let count = own.numbering.geometry.blocks_per_plane as usize;
        for (plane, model) in model_of.iter().map(|model| *model as usize).enumerate() {
            let (blocks, modelled) = (plane * count, model * count);
            let state = &of.planes[model];
            assert!(state.victim.is_none() && state.failed.is_empty(), "nothing is under way");
            let good_blocks = own.planes[plane].good_blocks;
            assert_eq!(good_blocks, state.good_blocks, "a plane has bad blocks of its own");
            own.planes[plane] = state.clone();
            own.fill_order[blocks..blocks + count]
                .copy_from_slice(&of.fill_order[modelled..modelled + count]);
            for block in 0..count {
                let valid = of.index.valid((modelled + block) as u32);
                own.index.add_valid_pages((blocks + block) as u32, valid);
            }
        }
        for page in names.missing() {
            let block = own.numbering.block_of(page);
            own.index.remove_valid(block);
            own.planes[own.numbering.plane_of(block) as usize].committed -= 1;
        }
        self.tables.start_with(Names::new(PreparedPages::Replicated(names)));
    }
}

/// Returns the memory for the models of a drive besides its own, if it is replicated; from the
/// memory of a drive.
pub fn models_bytes(scenario: &Scenario, of_drive: impl Fn(&Scenario) -> u64) -> u64 {
    models(scenario, BY_NAME_PAGES).map_or(0, |models| of_drive(&models))
}

#[cfg(test)]
mod tests;
