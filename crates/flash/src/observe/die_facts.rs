//! What is known of a die, of what stands in the way there, from one instant to the next.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;

use super::clocks::{Clock, Side};

/// What stands in the way on a die or plane, of each [`Side`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InTheWay {
    pub(crate) read: Cause,
    pub(crate) barred: Cause,
}

/// What there is to look at on a die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The clocks are set, but for that of barred reads.
    pub(crate) is_set: bool,
    /// Which reads are barred.
    pub(crate) has_bars: bool,
}

/// The only things that keep an operation from making way, since it began or went on last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stands {
    /// For any read: it has used up its suspensions.
    pub(crate) limit: bool,
    /// For a read of what it holds: that.
    pub(crate) bar: bool,
}

/// What is known of a die from one instant to the next.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct DieFacts {
    /// By [`Side`]; where planes are told apart, only that of programs is in use.
    pub(super) clocks: [Clock; 3],
    /// Of the constants below.
    pub(super) flags: u8,
    /// The cause as which it counts for those who wait for the buffer.
    pub(super) counted: Option<Cause>,
    /// The first of the reads that wait there and are barred.
    pub(super) first_barred: Option<u32>,
    /// Reads of old pages, for writes, that are queued.
    pub(super) old_pages: u32,
    /// The round in which clocks were set last as something began.
    pub(super) set: u64,
    /// The round in which what runs began or went on, and the last in which the die decided.
    pub(super) began: u64,
    pub(super) decided: u64,
}

impl DieFacts {
    pub(super) const NEW: DieFacts = DieFacts {
        clocks: [Clock::NEW; 3],
        flags: 0,
        counted: None,
        first_barred: None,
        old_pages: 0,
        set: 0,
        began: 0,
        decided: 0,
    };

    /// From now on `cause` is what stands in the way of all who wait, reads among them or not.
    #[inline(always)]
    pub(super) fn stand(&mut self, round: u64, cause: Cause, has_reads: bool, now: Time) {
        self.set = round;
        self.clocks[Side::Write as usize].turn(cause, now);
        // Where no read waits nobody looks at their clock, and a read that comes has it set.
        if has_reads {
            self.clocks[Side::Read as usize].turn(cause, now);
        }
    }
}

/// Which reads are barred may have changed.
pub(super) const BARS_CHANGED: u8 = 1;
/// Reads wait there that are barred, or did.
pub(super) const HAS_BARRED: u8 = 1 << 1;
/// One thing alone keeps what runs from making way.
pub(super) const HAS_STANDS: u8 = 1 << 2;
/// On the list of dies to look at.
pub(super) const LISTED: u8 = 1 << 3;
