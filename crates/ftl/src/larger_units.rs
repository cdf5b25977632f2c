//! Preconditioning in larger mapping units, where a load always writes several of them together.
//!
//! Mapping units that are written together are overwritten together, and collection keeps them
//! adjacent: the drive is in the state of one whose mapping unit is as large as all of them.

use reprieve_base::UserError;
use reprieve_config::{Precondition, Scenario};

use super::block_index::BlockIndex;
use super::plane_replication::Incremental;
use super::{Ftl, Mapping};

/// A drive on its way to the steady state in larger units; `P` brings the drive of those there.
pub(super) struct LargerUnits<P> {
    scenario: Scenario,
    /// `None`: it has to be made.
    drive: Option<(Ftl, P)>,
    /// Write amplification of its last overwrites.
    pub(super) waf: Option<f64>,
}

impl<P: Incremental> LargerUnits<P> {
    /// Returns that of a scenario; `None`: its loads do not write so, or units differ.
    pub(super) fn of(scenario: &Scenario) -> Option<LargerUnits<P>> {
        let is_steady = scenario.ftl.precondition == Precondition::Steady;
        let units_differ = scenario.ftl.streams.hot_window_share.is_some()
            || scenario.ftl.demand.is_some()
            || scenario.zones.is_some();
        if !is_steady || units_differ {
            return None;
        }
        let scenario = scenario.overwrites().in_larger_units()?;
        Some(LargerUnits { scenario, drive: None, waf: None })
    }

    /// Goes on for about `writes` writes of units; returns true when the drive is steady.
    ///
    /// `begin` begins what brings the drive of larger units there.
    pub(super) fn advance(
        &mut self,
        ftl: &mut Ftl,
        begin: &dyn Fn(&Scenario, &mut Ftl) -> P,
        writes: u64,
    ) -> Result<bool, UserError> {
        let (mut larger, mut preconditioner) = match self.drive.take() {
            Some(drive) => drive,
            None => {
                let mut larger = Ftl::new(&self.scenario)?;
                let preconditioner = begin(&self.scenario, &mut larger);
                (larger, preconditioner)
            }
        };
        preconditioner.advance(&mut larger, &self.scenario, writes)?;
        self.waf = preconditioner.waf();
        let is_done = preconditioner.is_done();
        match is_done {
            true => ftl.divide(larger),
            false => self.drive = Some((larger, preconditioner)),
        }
        Ok(is_done)
    }
}

impl Ftl {
    /// Takes the state of a drive with larger units, each of which becomes several.
    pub(super) fn divide(&mut self, larger: Ftl) {
        let lpns = larger.tables.map.logical_pages();
        let units = self.tables.map.logical_pages() / lpns;
        self.sectors.hold_all();
        match larger.tables.map.prepared() {
            Some(names) => self.tables.start_with(names.clone().divided(units.ilog2())),
            None => (0..lpns).for_each(|lpn| self.divide_page(&larger, lpn, units)),
        }
        let (own, of) = (&mut self.tables.blocks, larger.tables.blocks);
        let geometry = own.numbering.geometry;
        let (blocks, pages) = (geometry.blocks_per_plane, geometry.pages_per_block);
        own.index = BlockIndex::new(geometry.planes(), blocks, pages);
        for block in 0..geometry.blocks() as u32 {
            own.index.add_valid_pages(block, of.index.valid(block) * units);
        }
        own.fill_order = of.fill_order;
        for (plane, mut state) in own.planes.iter_mut().zip(of.planes) {
            (state.together, state.committed) = (plane.together, state.committed * units);
            state.fronts.iter_mut().for_each(|front| front.next_page *= units);
            *plane = state;
        }
    }

    fn divide_page(&mut self, larger: &Ftl, lpn: u32, units: u32) {
        let mapping = larger.tables.map.get(lpn);
        for unit in 0..units {
            let own = lpn * units + unit;
            if let Mapping::Flash(page) = mapping {
                self.tables.map.set(own, Mapping::Flash(page * units + unit));
                self.tables.blocks.name(page * units + unit, own);
            } else {
                self.tables.map.set(own, mapping);
                self.sectors.trim_page(own);
            }
        }
    }
}
