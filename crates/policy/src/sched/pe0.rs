//! PE0: read priority scheduling on a hypothetical part that programs and erases in no time.

use reprieve_base::{Dur, Entry};
use reprieve_nand::Timing;

use super::{Choice, DieView, Scheduler, per, rps};

pub(super) const ENTRY: Entry = Entry {
    name: "pe0",
    doc: "rps on a hypothetical part whose programs and erases take no time in the array",
};

pub(super) struct Pe0;

impl Scheduler for Pe0 {
    fn choose(&self, view: &DieView) -> Choice {
        rps::choose(view)
    }

    fn serves_reads_first(&self) -> bool {
        true
    }

    fn timing(&self, timing: Timing) -> Timing {
        per::with_array_time(timing, Dur::ZERO)
    }
}
