//! A drive that runs before the run: stopped where it is, its tables are what the run starts from.

use reprieve_config::{Faults, Scenario};
use reprieve_policy::txn::{NONE, Txn};

use super::plane::Plane;
use super::{Ftl, Mapping};

impl Ftl {
    /// An FTL of one die that stands where another is lent from; nothing is asked of it.
    pub fn stand_in(scenario: &Scenario) -> Ftl {
        let mut small = scenario.clone();
        small.ftl.faults.factory_bad_share = 0.0;
        // Half of the data, so that a page more by rounding has room too.
        small.ftl.over_provisioning = f64::midpoint(small.ftl.over_provisioning, 1.0);
        let geometry = &mut small.geometry;
        (geometry.channels, geometry.dies_per_channel, geometry.chips_per_channel) = (1, 1, 1);
        Ftl::new(&small).expect("a drive of one of its dies has room for less data")
    }

    /// From now on victims are drawn apart from those of the run, and nothing fails.
    pub fn rehearse(&mut self, scenario: &Scenario) {
        self.settle(&scenario.drawing_apart("precondition.run_in"));
        let none = Faults { program_failure: 0.0, erase_failure: 0.0, ..scenario.ftl.faults };
        self.tables.blocks.failing.set_faults(none);
        self.tables.expect_many();
    }

    /// From now on no step of collection is taken: those under way come to their end.
    pub fn freeze(&mut self) {
        self.collection.set_frozen(true, &mut self.tables.blocks);
    }

    /// A write that was not begun never came: its page is where it was.
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

    /// The tables are as they are when the drive stands still, and a drive may start from them.
    pub fn keep(&mut self, scenario: &Scenario) {
        assert!(self.collection.stands_still(), "a step is under way on a drive that stands still");
        let blocks = &mut self.tables.blocks;
        self.collection.set_frozen(false, blocks);
        blocks.failing.set_faults(scenario.ftl.faults);
        let retires = blocks.planes.iter().any(Plane::retires);
        assert!(!retires, "a block has failed where none does");
        self.settle(scenario);
        self.tables.blocks.forget_wear();
        self.tables.thin_out();
    }
}
