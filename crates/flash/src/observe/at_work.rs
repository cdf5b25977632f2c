//! What is at work on a die, as far as it matters to who blames waits.

use reprieve_policy::txn::NONE;

use crate::die::DieUnit;
use crate::facts::FlashFacts;

/// A die, asked only for what is wanted of it.
#[derive(Clone, Copy)]
pub(crate) struct AtWork<'a> {
    pub(crate) facts: &'a FlashFacts,
    pub(crate) unit: &'a DieUnit,
}

impl AtWork<'_> {
    /// A read waits for it.
    #[inline(always)]
    pub(crate) fn has_reads(self) -> bool {
        self.unit.reads.first().is_some()
    }

    /// An operation has the array.
    #[inline(always)]
    pub(crate) fn runs(self) -> bool {
        self.unit.die.is_running()
    }

    /// Whether what was told last of the array is what stands in the way there still. Of pages that
    /// were sensed together those that leave last may be of another cause.
    #[inline(always)]
    pub(crate) fn stays(self) -> bool {
        !self.unit.die.takes_reads() && (self.facts.reads_alone || self.runs())
    }

    /// An operation may be suspended, and bar reads of what it holds.
    #[inline(always)]
    pub(crate) fn may_bar(self) -> bool {
        self.facts.makes_way && (self.unit.whole.operation() != NONE || self.facts.splits)
    }
}
