//! Phases of a run-in: start, freeze and end; its tables are the initial state of the run.

use reprieve_config::{Faults, Scenario};
use reprieve_policy::txn::{NONE, Txn};

use super::plane::Plane;
use super::{Ftl, Mapping};

impl Ftl {
    /// Creates a placeholder, one die in size, for an FTL that is lent to the run-in.
    pub fn stand_in(scenario: &Scenario) -> Ftl {
        let mut small = scenario.clone();
        small.ftl.faults.factory_bad_share = 0.0;
        // Half of the data, to have space for a page more by rounding.
        small.ftl.over_provisioning = f64::midpoint(small.ftl.over_provisioning, 1.0);
        let geometry = &mut small.geometry;
        (geometry.channels, geometry.dies_per_channel, geometry.chips_per_channel) = (1, 1, 1);
        Ftl::new(&small).expect("a drive of one of its dies has room for less data")
    }

    /// Starts a run-in: victims have a separate random stream, and no operation fails.
    pub fn begin_run_in(&mut self, scenario: &Scenario) {
        self.settle(&scenario.drawing_apart("precondition.run_in"));
        let none = Faults { program_failure: 0.0, erase_failure: 0.0, ..scenario.ftl.faults };
        self.tables.blocks.failing.set_faults(none);
        self.tables.expect_many();
    }

    /// Stops garbage collection after its current steps.
    pub fn freeze(&mut self) {
        self.collection.set_frozen(true, &mut self.tables.blocks);
    }

    /// Undoes a write that has not started: its page keeps its old place.
    pub fn take_back_write(&mut self, txn: &Txn) {
        if txn.target != NONE {
            self.tables.blocks.planes[txn.target as usize].committed -= 1;
        }
        if txn.stale {
            return;
        }
        let before = if txn.old == NONE { Mapping::Trimmed } else { Mapping::Flash(txn.old) };
        self.tables.map.set(txn.lpn, before);
        if txn.old == NONE {
            self.sectors.trim_page(txn.lpn);
        }
    }

    /// Ends a run-in on an idle drive: a run may start from the tables.
    pub fn end_run_in(&mut self, scenario: &Scenario) {
        assert!(self.collection.stands_still(), "a collection step runs on an idle drive");
        let blocks = &mut self.tables.blocks;
        self.collection.set_frozen(false, blocks);
        blocks.failing.set_faults(scenario.ftl.faults);
        let retires = blocks.planes.iter().any(Plane::retires);
        assert!(!retires, "a block has failed in a run-in");
        self.settle(scenario);
        self.tables.blocks.forget_wear();
        self.tables.thin_out();
    }
}
