//! Who is to blame: clocks of what stands in the way on each die, set as soon as something begins.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;
use reprieve_policy::txn::NONE;

use super::clocks::{Account, BufferClock, Clock, RequestAccount, Side};

/// What stands in the way on a die or plane, of each [`Side`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InTheWay {
    pub(crate) read: Cause,
    pub(crate) barred: Cause,
}

/// What alone keeps an operation from making way, since it began or went on last.
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
    /// By [`Side`]; where planes are told apart, that of programs alone is in use.
    pub(super) clocks: [Clock; 3],
    /// Of the constants below.
    pub(super) flags: u8,
    /// As what it is counted among those that stand in the way of who waits for the buffer.
    counted: Option<Cause>,
    /// The first of the reads that wait there and are barred.
    first_barred: Option<u32>,
    /// Reads of old pages, for writes, that are queued.
    pub(super) old_pages: u32,
    /// The round in which clocks were set last as something began.
    pub(super) set: u64,
    /// The round in which what runs began or went on, and the last in which the die decided.
    pub(super) began: u64,
    decided: u64,
}

impl DieFacts {
    #[inline(always)]
    pub(super) fn stand(&mut self, round: u64, cause: Cause, has_reads: bool, now: Time) {
        self.set = round;
        self.clocks[Side::Write as usize].turn(cause, now);
        // Nobody else reads it, and who comes later has it set.
        if has_reads {
            self.clocks[Side::Read as usize].turn(cause, now);
        }
    }
}

/// Which reads are barred may have changed.
pub(super) const BARS_CHANGED: u8 = 1;
/// Reads wait there that are barred, or did.
pub(super) const HAS_BARRED: u8 = 1 << 1;
/// Something alone keeps what runs from making way.
pub(super) const HAS_STANDS: u8 = 1 << 2;
/// On the list of dies to look at.
const LISTED: u8 = 1 << 3;

/// The flag of a die on which reads wait that may be barred now, or no longer.
#[inline(always)]
pub(super) fn bars(has_reads: bool) -> u8 {
    u8::from(has_reads) * BARS_CHANGED
}

/// Clocks and accounts of a drive.
pub struct Blame {
    /// Places of a die at which reads wait for different things: its planes, or one.
    pub(super) places: u32,
    pub(crate) by_plane: bool,
    /// Who waits may come to a clock late: it has to show what stood in the way before.
    pub(crate) looks_always: bool,
    /// Clocks are set as soon as something begins; else all is looked at.
    pub(super) sets: bool,
    /// Of decisions, counted from 1: there may be several at one instant.
    pub(super) round: u64,
    /// The die on which something began last in this round, if all is known of it, or `NONE`.
    pub(super) known: u32,
    /// What keeps what runs there from making way.
    pub(super) stands: Vec<Stands>,
    pub(super) dies: Vec<DieFacts>,
    /// Where planes are told apart, of each the clocks of reads and of barred reads.
    pub(super) planes: Vec<[Clock; 2]>,
    /// Dies to look at, as it was not told what stands in the way there.
    listed: Vec<u32>,
    /// There are some, or all are to be looked at.
    pub(super) has_more: bool,
    pub(super) buffer: BufferClock,
    /// By transaction.
    pub(super) accounts: Vec<Account>,
    /// By slot.
    pub(super) requests: Vec<RequestAccount>,
}

impl Blame {
    pub(crate) fn new(dies: u32, planes: Option<u32>, looks_always: bool) -> Blame {
        let places = planes.unwrap_or(1);
        let facts = DieFacts {
            clocks: [Clock::NEW; 3],
            flags: 0,
            counted: None,
            first_barred: None,
            old_pages: 0,
            set: 0,
            began: 0,
            decided: 0,
        };
        Blame {
            places,
            by_plane: planes.is_some(),
            looks_always,
            sets: planes.is_none() && !looks_always,
            round: 1,
            known: NONE,
            planes: vec![[Clock::NEW; 2]; (dies * planes.unwrap_or(0)) as usize],
            stands: vec![Stands::default(); (dies * places) as usize],
            dies: vec![facts; dies as usize],
            listed: Vec::with_capacity(dies as usize),
            has_more: false,
            buffer: BufferClock::NEW,
            accounts: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Has a die looked at, at the end of the instant.
    pub(super) fn list(&mut self, die: u32) {
        self.known = NONE;
        let flags = &mut self.dies[die as usize].flags;
        if *flags & LISTED == 0 {
            *flags |= LISTED;
            self.listed.push(die);
            self.has_more = true;
        }
    }

    /// A die has decided at this instant. Says whether it is known what stands in the way there.
    #[inline(always)]
    pub(crate) fn decides(&mut self, die: u32) -> bool {
        // What runs has begun, or is on its way into suspension: that the die decided says nothing.
        self.known == die || self.decides_unseen(die)
    }

    #[inline(always)]
    fn decides_unseen(&mut self, die: u32) -> bool {
        let round = self.round;
        let facts = &mut self.dies[die as usize];
        facts.decided = round;
        facts.set == round && facts.flags & !HAS_STANDS == 0
    }

    /// If not, it is looked at if something waits there, or all is looked at.
    #[inline(always)]
    pub(crate) fn is_unknown(&mut self, die: u32, waits: bool) {
        if waits || !self.sets {
            self.list(die);
        }
    }

    /// The same where it may decide once more at this instant.
    pub(super) fn decided(&mut self, die: u32) {
        self.list(die);
        self.dies[die as usize].decided = self.round;
    }

    /// A die that was not among those that decide has got its turn: perhaps something has begun.
    pub(crate) fn granted(&mut self, die: u32) {
        if self.dies[die as usize].set == self.round {
            self.list(die);
        }
    }

    /// From now on this is what stands in the way of all who wait for a die, reads among them or
    /// not.
    #[inline(always)]
    pub(super) fn stand(
        &mut self,
        die: u32,
        cause: Cause,
        has_reads: bool,
        now: Time,
    ) -> &mut DieFacts {
        if !self.sets {
            self.list(die);
            return &mut self.dies[die as usize];
        }
        let facts = &mut self.dies[die as usize];
        facts.stand(self.round, cause, has_reads, now);
        self.known = die;
        if facts.flags != 0 {
            self.known = NONE;
        }
        facts
    }

    /// What stood in the way on a die does no more, or may not.
    #[inline(always)]
    pub(super) fn frees(&mut self, die: u32) -> &mut DieFacts {
        self.known = NONE;
        let facts = &mut self.dies[die as usize];
        facts.set = 0;
        facts
    }

    #[inline(always)]
    pub(super) fn place(&self, die: u32, plane: u32) -> usize {
        (die * self.places + if self.places > 1 { plane } else { 0 }) as usize
    }

    fn clock_mut(&mut self, at: (u32, u32), side: Side) -> &mut Clock {
        if self.by_plane && side != Side::Write {
            return &mut self.planes[(at.0 * self.places + at.1) as usize][side as usize - 1];
        }
        &mut self.dies[at.0 as usize].clocks[side as usize]
    }

    /// Whether there is more to look at than the dies that decide.
    #[inline(always)]
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// The dies that are listed.
    pub(crate) fn take_listed(&mut self) -> Vec<u32> {
        self.has_more = false;
        std::mem::take(&mut self.listed)
    }

    /// Takes the list back when it has been gone through.
    pub(crate) fn give_back(&mut self, mut listed: Vec<u32>) {
        listed.clear();
        self.listed = listed;
    }

    /// A die is taken off the list: whether its clocks are set, but for that of barred reads, and
    /// whether to look which reads are.
    #[inline(always)]
    pub(crate) fn looked_at(&mut self, die: u32) -> Look {
        let facts = &mut self.dies[die as usize];
        let is_set = self.sets && facts.set == self.round;
        let look = Look { is_set, has_bars: facts.flags & BARS_CHANGED != 0 };
        facts.flags &= !(BARS_CHANGED | LISTED);
        look
    }

    /// Another round of decisions begins.
    #[inline(always)]
    pub(crate) fn end_round(&mut self) {
        self.round += 1;
        self.known = NONE;
    }

    /// Whether the chain was asked about what runs on a die.
    #[inline(always)]
    pub(crate) fn was_asked(&self, die: u32) -> bool {
        let facts = &self.dies[die as usize];
        facts.decided > facts.began
    }

    /// What keeps what runs on a plane, or on all of a die, from making way.
    pub(crate) fn stands(&mut self, die: u32, plane: Option<u32>) -> &mut Stands {
        let place = self.place(die, plane.unwrap_or(0));
        self.dies[die as usize].flags |= HAS_STANDS;
        &mut self.stands[place]
    }

    /// The first of the reads that wait at a die and are barred.
    #[inline(always)]
    pub(crate) fn first_barred(&self, die: u32) -> Option<u32> {
        self.dies[die as usize].first_barred
    }

    pub(crate) fn set_first_barred(&mut self, die: u32, read: Option<u32>) {
        let facts = &mut self.dies[die as usize];
        facts.first_barred = read;
        facts.flags = facts.flags & !HAS_BARRED | if read.is_some() { HAS_BARRED } else { 0 };
    }

    /// Whether the old page of a write waits for a die.
    pub(crate) fn old_page_waits(&self, die: u32) -> bool {
        self.dies[die as usize].old_pages > 0
    }

    /// What stands in the way of reads at a place from `now` on.
    pub(crate) fn set_reads(&mut self, place: (u32, u32), way: InTheWay, now: Time) {
        self.set_read(place, way.read, now);
        self.set_barred(place, way.barred, now);
    }

    /// The same of those that nothing holds the page of.
    #[inline(always)]
    pub(crate) fn set_read(&mut self, place: (u32, u32), cause: Cause, now: Time) {
        self.clock_mut(place, Side::Read).turn(cause, now);
    }

    /// The same of barred ones.
    #[inline(always)]
    pub(crate) fn set_barred(&mut self, place: (u32, u32), cause: Cause, now: Time) {
        self.clock_mut(place, Side::Barred).turn(cause, now);
    }

    /// What stands in the way of programs on a die.
    #[inline(always)]
    pub(crate) fn set_write(&mut self, die: u32, cause: Cause, now: Time) {
        self.dies[die as usize].clocks[Side::Write as usize].turn(cause, now);
    }

    /// The same while somebody waits for room in the buffer: whether it does in the way of that.
    pub(crate) fn set_writes(&mut self, die: u32, cause: Cause, counts: bool, now: Time) {
        let after = counts.then_some(cause);
        let before = std::mem::replace(&mut self.dies[die as usize].counted, after);
        self.buffer.move_die(before, after, now);
        self.set_write(die, cause, now);
    }

    /// Whether somebody waits for room in the buffer.
    #[inline(always)]
    pub(crate) fn buffer_is_wanted(&self) -> bool {
        self.buffer.runs()
    }

    /// Whether that is so since this instant: then every die has to say what stands in the way.
    #[inline(always)]
    pub(crate) fn take_awakes(&mut self) -> bool {
        let awakes = self.buffer.take_awakes();
        if awakes {
            self.dies.iter_mut().for_each(|facts| facts.counted = None);
        }
        awakes
    }
}

/// What there is to look at on a die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The clocks are set, but for that of barred reads.
    pub(crate) is_set: bool,
    /// Which reads are barred.
    pub(crate) has_bars: bool,
}
