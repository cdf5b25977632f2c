//! PER: read priority scheduling on a hypothetical part whose programs and erases take tR.

use reprieve_base::{Dur, Entry};
use reprieve_nand::{PAGE_TYPES_MAX, PageTypes, SlcMode, Slices, Timing};

use super::{Choice, DieView, Scheduler, rps};

pub(super) const ENTRY: Entry = Entry {
    name: "per",
    doc: "rps on a hypothetical part whose programs and erases take tR in the array",
};

pub(super) struct Per;

/// The part with one array time for a whole program and for a whole erase.
pub(super) fn with_array_time(timing: Timing, array: Dur) -> Timing {
    Timing {
        program_iterations: 1,
        program_pulse: array,
        verify: Dur::ZERO,
        erase: array,
        erase_segments: 1,
        erase_verify: Dur::ZERO,
        erase_loops: None,
        page_types: timing
            .page_types
            .map(|types| PageTypes { program_iterations: [1; PAGE_TYPES_MAX], ..types }),
        spread: None,
        coarse_iterations: None,
        slices: timing.slices.map(|slices| Slices { overhead: Dur::ZERO, ..slices }),
        slc: timing.slc.map(|mode| SlcMode { program_iterations: 1, ..mode }),
        ..timing
    }
}

impl Scheduler for Per {
    fn choose(&self, view: &DieView) -> Choice {
        rps::choose(view)
    }

    fn serves_reads_first(&self) -> bool {
        true
    }

    fn timing(&self, timing: Timing) -> Timing {
        with_array_time(timing, timing.read)
    }
}
