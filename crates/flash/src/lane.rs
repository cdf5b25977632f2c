//! A lane: planes of a die that act together, with the operations that are stacked there.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Slab, Time};
use reprieve_policy::suspend::{Answer, Reason};
use reprieve_policy::txn::{NONE, Txn};

use super::FlashEvent;

/// A lane of a die: all its planes, or one that was split off by plane suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(u8);

impl LaneId {
    /// The planes that act together: all but the split-off ones.
    pub(super) const WHOLE: LaneId = LaneId(0);

    /// Returns the lane of a split-off plane.
    pub(super) fn of_plane(plane: u32) -> LaneId {
        LaneId(u8::try_from(plane + 1).expect("the scenario checks how many planes there are"))
    }

    /// The split-off plane; `None`: the lane of all planes.
    pub(super) fn plane(self) -> Option<u32> {
        u32::from(self.0).checked_sub(1)
    }

    /// Packs the lane and a generation into one word, and unpacks it.
    #[inline(always)]
    pub(super) fn pack(self, generation: u32) -> u32 {
        u32::from(self.0) << GENERATION_BITS | generation
    }

    #[inline(always)]
    pub(super) fn unpack(word: u32) -> (LaneId, u32) {
        (LaneId((word >> GENERATION_BITS) as u8), word & GENERATION_MASK)
    }
}

const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// An operation on a lane, and the start of its suspension.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Frame {
    /// The first transaction of a program or erase; the others of its command follow it. `NONE`: no
    /// operation.
    pub(super) operation: u32,
    pub(super) suspended_since: Time,
    /// Reads that began in its last suspension.
    pub(super) reads: u32,
    /// Planes at its start.
    pub(super) planes: u64,
}

impl Frame {
    const EMPTY: Frame =
        Frame { operation: NONE, suspended_since: Time::ZERO, reads: 0, planes: 1 };

    /// Returns the total time in suspension until `now` of a suspended operation.
    #[inline(always)]
    pub(super) fn suspended_for(&self, txns: &Slab<Txn>, now: Time) -> Dur {
        let since_ns = (now - self.suspended_since).ns();
        Dur::from_ns(txns[self.operation].suspended_ns + since_ns)
    }
}

/// The operations of a lane and its next scheduled completion.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Lane {
    /// Operation that runs or was suspended last.
    pub(super) top: Frame,
    /// The suspended erase inside which that program began.
    pub(super) below: Frame,
    /// When the current phase of the array ends, without a suspension.
    pub(super) scheduled: Time,
    /// A completion that was scheduled under an earlier generation is stale.
    generation: u32,
    /// The last suspension: when it was requested and when the array was free.
    pub(super) asked: Time,
    pub(super) free_at: Time,
    /// Last answer of the chain about a suspension of the running operation.
    pub(super) answer: Answer,
    /// Whether it was for a host write only.
    pub(super) asked_by_write: bool,
}

impl Lane {
    pub(super) const IDLE: Lane = Lane {
        top: Frame::EMPTY,
        below: Frame::EMPTY,
        scheduled: Time::ZERO,
        generation: 0,
        asked: Time::ZERO,
        free_at: Time::ZERO,
        answer: Answer::No(Reason::NothingWaits),
        asked_by_write: false,
    };

    /// Returns the operation that runs or was suspended last, or `NONE`.
    #[inline(always)]
    pub(super) fn operation(&self) -> u32 {
        self.top.operation
    }

    /// Schedules the end of the array's phase; earlier completions are stale.
    #[inline]
    pub(super) fn schedule(
        &mut self,
        (die, lane): (u32, LaneId),
        until: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        self.scheduled = until;
        self.make_stale();
        out.schedule(until, FlashEvent::Array { die, lane, generation: self.generation });
    }

    /// Moves the end of the array's phase to `until`, earlier than scheduled.
    #[inline(always)]
    pub(super) fn schedule_sooner(
        &mut self,
        (die, lane): (u32, LaneId),
        until: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        // Stale in any case, but an empty instant takes time too.
        let stale = FlashEvent::Array { die, lane, generation: self.generation };
        out.withdraw(self.scheduled, stale);
        self.schedule((die, lane), until, out);
    }

    /// Makes earlier scheduled events stale.
    #[inline(always)]
    pub(super) fn make_stale(&mut self) {
        self.generation = (self.generation + 1) & GENERATION_MASK;
    }

    /// Whether a completion of that generation is valid.
    #[inline(always)]
    pub(super) fn holds(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Pushes a program inside a suspended erase.
    #[cold]
    pub(super) fn push_operation(&mut self) {
        assert_eq!(self.below.operation, NONE, "a program inside a program inside an erase");
        self.below = self.top;
    }

    /// Pops the completed operation; the one below is on top again.
    #[inline]
    pub(super) fn pop_operation(&mut self) -> Frame {
        let complete = self.top;
        self.top.operation = NONE;
        if self.below.operation != NONE {
            self.top = std::mem::replace(&mut self.below, Frame::EMPTY);
        }
        complete
    }

    /// Returns the part of a wait from `mark` to `now` during entry into the last suspension.
    #[inline]
    pub(super) fn suspend_wait(&self, mark: Time, now: Time) -> Dur {
        let (from, to) = (self.asked.max(mark), self.free_at.min(now));
        if to > from { to - from } else { Dur::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_and_its_generation_fit_one_word() {
        for lane in [LaneId::WHOLE, LaneId::of_plane(0), LaneId::of_plane(127)] {
            for generation in [0, 1, GENERATION_MASK] {
                assert_eq!(LaneId::unpack(lane.pack(generation)), (lane, generation));
            }
        }
        assert_eq!(LaneId::of_plane(3).plane(), Some(3));
        assert_eq!(LaneId::WHOLE.plane(), None);
    }

    #[test]
    fn an_erase_comes_back_when_the_program_inside_it_is_complete() {
        let mut lane = Lane::IDLE;
        lane.top = Frame { operation: 3, suspended_since: Time::ZERO, reads: 0, planes: 2 };
        lane.push_operation();
        lane.top = Frame { operation: 4, planes: 1, ..lane.top };
        assert_eq!(lane.pop_operation().operation, 4);
        assert_eq!((lane.top.operation, lane.top.planes), (3, 2));
        assert_eq!(lane.pop_operation().operation, 3);
        assert_eq!(lane.operation(), NONE);
    }
}
