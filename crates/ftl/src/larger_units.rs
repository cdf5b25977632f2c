//! Preconditioning in larger mapping units, where a load always writes several of them together.
//!
//! Mapping units that are written together are overwritten together, and collection keeps them
//! side by side: their drive is in the state of one whose mapping unit is as large as all of them.

use reprieve_base::UserError;
use reprieve_config::{Precondition, Scenario};

use super::block_index::BlockIndex;
use super::tile::InPieces;
use super::{Ftl, Kept, Mapping};

/// How far a drive of larger units is.
pub(super) struct InUnits {
    pub(super) is_done: bool,
    /// Write amplification of its last overwrites.
    pub(super) waf: Option<f64>,
}

/// A drive on its way to the steady state in larger units; `P` brings the drive of those there.
pub(super) struct LargerUnits<P> {
    scenario: Scenario,
    /// `None`: it has to be made.
    drive: Option<(Ftl, P)>,
}

impl<P: InPieces> LargerUnits<P> {
    /// Of a scenario, if its loads write so, and nothing else of a unit's depends on its number.
    pub(super) fn of(scenario: &Scenario) -> Option<LargerUnits<P>> {
        let is_steady = scenario.ftl.precondition == Precondition::Steady;
        let has_own_units = scenario.ftl.streams.hot_window_share.is_some()
            || scenario.ftl.demand.is_some()
            || scenario.zones.is_some();
        let scenario = scenario.in_larger_units().filter(|_| is_steady && !has_own_units)?;
        Some(LargerUnits { scenario, drive: None })
    }

    /// Goes on for about `writes` writes of units, and says how far it is.
    ///
    /// `begin` begins what brings the drive of larger units there.
    pub(super) fn advance(
        &mut self,
        ftl: &mut Ftl,
        (kept, begin): (Kept, fn(&Scenario, &mut Ftl, Kept) -> P),
        writes: u64,
    ) -> Result<InUnits, UserError> {
        let (mut larger, mut preconditioner) = match self.drive.take() {
            Some(drive) => drive,
            None => {
                let mut larger = Ftl::new(&self.scenario)?;
                let preconditioner = begin(&self.scenario, &mut larger, kept);
                (larger, preconditioner)
            }
        };
        preconditioner.advance(&mut larger, &self.scenario, writes)?;
        let course = InUnits { is_done: preconditioner.is_done(), waf: preconditioner.waf() };
        match course.is_done {
            true => ftl.divide(larger),
            false => self.drive = Some((larger, preconditioner)),
        }
        Ok(course)
    }
}

impl Ftl {
    /// Takes the state of a drive with larger units, each of which becomes several.
    fn divide(&mut self, larger: Ftl) {
        let lpns = larger.tables.map.logical_pages();
        let units = self.tables.map.logical_pages() / lpns;
        self.sectors.hold_all();
        match larger.tables.map.prepared() {
            Some(names) => self.tables.start_with(names.clone().divided(units.ilog2())),
            None => (0..lpns).for_each(|lpn| self.divide_page(&larger, lpn, units)),
        }
        let own = &mut self.tables.blocks;
        let of = larger.tables.blocks;
        let geometry = own.numbering.geometry;
        own.index =
            BlockIndex::new(geometry.planes(), geometry.blocks_per_plane, geometry.pages_per_block);
        for block in 0..geometry.blocks() as u32 {
            own.index.add_valid_pages(block, of.index.valid(block) * units);
        }
        own.fill_order = of.fill_order;
        for (plane, mut state) in own.planes.iter_mut().zip(of.planes) {
            state.together = plane.together;
            state.committed *= units;
            state.fronts.iter_mut().for_each(|front| front.next_page *= units);
            *plane = state;
        }
    }

    fn divide_page(&mut self, larger: &Ftl, lpn: u32, units: u32) {
        let mapping = larger.tables.map.get(lpn);
        for unit in 0..units {
            let own = lpn * units + unit;
            match mapping {
                Mapping::Flash(page) => {
                    let page = page * units + unit;
                    self.tables.map.set(own, Mapping::Flash(page));
                    self.tables.blocks.name(page, own);
                }
                other => {
                    self.tables.map.set(own, other);
                    self.sectors.trim_page(own);
                }
            }
        }
    }
}
