//! Clocks of what stands in the way on each die, set as soon as something begins.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::at_work::AtWork;
use super::clocks::{Clock, Side};
use super::die_facts::{
    BARS_CHANGED, DieFacts, HAS_BARRED, HAS_STANDS, InTheWay, LISTED, Look, Stands,
};

/// The clocks of all dies of a drive, and which dies are to be looked at.
///
/// Of most that happens it follows at once what stands in the way, and the clocks are set; where it
/// does not, the die is put on a list and looked at when the instant ends.
pub(crate) struct DieClocks {
    /// Places of a die at which reads wait for different things: its planes, or one.
    places: u32,
    pub(crate) by_plane: bool,
    /// Who waits may come to a clock late: it has to show what stood in the way before.
    pub(crate) looks_always: bool,
    /// Clocks are set as soon as something begins; else all dies are looked at.
    pub(super) sets: bool,
    /// The flags of [`DieClocks::bars`] where reads wait and where none does.
    bars: [u8; 2],
    /// Of decisions, counted from 1: there may be several at one instant.
    round: u64,
    /// The die on which something began last in this round, if all is known of it, or `NONE`.
    known: u32,
    /// By place, what keeps what runs there from making way.
    stands: Vec<Stands>,
    pub(super) facts: Vec<DieFacts>,
    /// Where planes are told apart, of each the clocks of reads and of barred reads.
    planes: Vec<[Clock; 2]>,
    /// Dies to look at, as it was not told what stands in the way there.
    listed: Vec<u32>,
    /// There are some, or all are to be looked at.
    has_more: bool,
}

impl DieClocks {
    /// `planes`: how many are told apart; `suspends`: something can make way.
    pub(super) fn new(
        dies: u32,
        planes: Option<u32>,
        (looks_always, suspends): (bool, bool),
    ) -> DieClocks {
        let places = planes.unwrap_or(1);
        DieClocks {
            places,
            by_plane: planes.is_some(),
            looks_always,
            sets: planes.is_none() && !looks_always,
            bars: [looks_always, true].map(|waits| u8::from(waits && suspends) * BARS_CHANGED),
            round: 1,
            known: NONE,
            stands: vec![Stands::default(); (dies * places) as usize],
            facts: vec![DieFacts::NEW; dies as usize],
            planes: vec![[Clock::NEW; 2]; (dies * planes.unwrap_or(0)) as usize],
            listed: Vec::with_capacity(dies as usize),
            has_more: false,
        }
    }

    /// While requests wait for the buffer all dies that something happens to are looked at, and
    /// when the first one begins to wait all dies at all.
    pub(super) fn serve_buffer(&mut self, waits: bool, is_first: bool) {
        self.sets = !self.by_plane && !self.looks_always && !waits;
        self.has_more |= is_first;
    }

    /// What is flagged on a die, where reads wait or not, if reads may be barred now, or no longer:
    /// nothing if nothing can be suspended, as nothing is barred then.
    #[inline(always)]
    fn bars(&self, has_reads: bool) -> u8 {
        self.bars[usize::from(has_reads)]
    }

    /// Where a transaction waits, of what is told apart: a die or a plane.
    #[inline(always)]
    pub(super) fn place_of_wait(&self, die: u32, plane: u32) -> u32 {
        if self.by_plane { die * self.places + plane } else { die }
    }

    /// The clock of those who wait there.
    #[inline(always)]
    pub(super) fn clock(&self, place: u32, side: Side) -> &Clock {
        match self.by_plane {
            true => self.clock_by_plane(place, side),
            false => &self.facts[place as usize].clocks[side as usize],
        }
    }

    #[cold]
    fn clock_by_plane(&self, place: u32, side: Side) -> &Clock {
        match side {
            Side::Write => &self.facts[(place / self.places) as usize].clocks[side as usize],
            Side::Read | Side::Barred => &self.planes[place as usize][side as usize - 1],
        }
    }

    fn clock_mut(&mut self, (die, plane): (u32, u32), side: Side) -> &mut Clock {
        if self.by_plane && side != Side::Write {
            return &mut self.planes[(die * self.places + plane) as usize][side as usize - 1];
        }
        &mut self.facts[die as usize].clocks[side as usize]
    }

    // ---- What happens on a die ------------------------------------------------------------------

    /// A read has come to the queue of its die.
    #[inline(always)]
    pub(super) fn read_queued(&mut self, txn: &Txn, work: AtWork<'_>) -> &DieFacts {
        self.known = NONE;
        let facts = &mut self.facts[txn.die as usize];
        // A clock of reads that nobody has read may be wrong; that of programs is right.
        facts.set = 0;
        if work.may_bar() {
            facts.flags |= BARS_CHANGED;
        } else if self.sets && work.stays() {
            let cause = facts.clocks[Side::Write as usize].cause();
            facts.clocks[Side::Read as usize].turn(cause, txn.mark);
            // A page may be sensed or leave at this very instant, which is not told.
            if work.runs() {
                facts.set = self.round;
            }
        }
        facts.old_pages += u32::from(txn.kind == Kind::RmwRead);
        facts
    }

    /// A program or erase has come to the queue of its die; a wait for it is blamed on something
    /// if `is_wanted`.
    #[inline(always)]
    pub(super) fn write_queued(
        &mut self,
        die: u32,
        work: AtWork<'_>,
        is_wanted: bool,
    ) -> &DieFacts {
        self.known = NONE;
        let has_reads = work.has_reads();
        let bars = self.bars(has_reads);
        let facts = &mut self.facts[die as usize];
        // The clock of programs is right as long as something runs.
        if work.runs() && !(has_reads && work.may_bar()) && self.sets {
            facts.set = self.round;
        }
        if is_wanted {
            facts.flags |= bars;
        }
        facts
    }

    /// A transaction has come that is in no queue that is told of: nothing is known of its die.
    pub(super) fn comes_elsewhere(&mut self, die: u32) {
        self.list(die);
        self.frees(die).flags |= BARS_CHANGED;
    }

    /// From now on `cause` is what stands in the way of all who wait for a die, reads among them or
    /// not, where clocks are set. `ends` sees them before: somebody may wait no longer.
    #[inline(always)]
    fn stand(
        &mut self,
        (die, cause): (u32, Cause),
        (has_reads, bars): (bool, u8),
        now: Time,
        ends: impl FnOnce(&[Clock; 3]),
    ) -> &mut DieFacts {
        debug_assert!(self.sets, "what stands in the way is looked at");
        let facts = &mut self.facts[die as usize];
        ends(&facts.clocks);
        facts.stand(self.round, cause, has_reads, now);
        facts.flags |= bars;
        self.known = if facts.flags == 0 { die } else { NONE };
        facts
    }

    /// A page that is sensed is what stands in the way on its die.
    #[inline(always)]
    pub(super) fn senses(
        &mut self,
        txn: &Txn,
        has_reads: bool,
        now: Time,
        ends: impl FnOnce(&[Clock; 3]),
    ) -> &mut DieFacts {
        self.stand((txn.die, Cause::of(txn.kind)), (has_reads, 0), now, ends)
    }

    /// A program or erase that begins or goes on is what stands in the way on its die, where reads
    /// wait or not, and the chain has not been asked.
    #[inline(always)]
    pub(super) fn runs(
        &mut self,
        txn: &Txn,
        has_reads: bool,
        now: Time,
        ends: impl FnOnce(&[Clock; 3]),
    ) {
        let (round, bars) = (self.round, self.bars(has_reads));
        let facts = self.stand((txn.die, Cause::of(txn.kind)), (has_reads, bars), now, ends);
        facts.began = round;
        if facts.flags & HAS_STANDS != 0 {
            self.forget_stands(txn.die);
        }
    }

    /// The same where clocks are not set: the die has to be looked at.
    #[cold]
    pub(super) fn runs_unset(&mut self, die: u32, has_reads: bool) {
        self.list(die);
        let bars = self.bars(has_reads);
        let facts = &mut self.facts[die as usize];
        facts.flags |= bars;
        facts.began = self.round;
        if facts.flags & HAS_STANDS != 0 {
            self.forget_stands(die);
        }
    }

    /// What stood in the way on a die no longer does, or may not.
    #[inline(always)]
    pub(super) fn frees(&mut self, die: u32) -> &mut DieFacts {
        self.known = NONE;
        let facts = &mut self.facts[die as usize];
        facts.set = 0;
        facts
    }

    #[cold]
    fn forget_stands(&mut self, die: u32) {
        self.facts[die as usize].flags &= !HAS_STANDS;
        let first = self.place(die, 0);
        self.stands[first..][..self.places as usize].fill(Stands::default());
    }

    /// A program or erase is on its way into suspension, until an instant, perhaps for the only
    /// read that waits: then that is not barred.
    #[inline(always)]
    pub(crate) fn suspending(
        &mut self,
        die: u32,
        for_only_read: bool,
        (free_at, now): (Time, Time),
    ) {
        if free_at <= now {
            self.frees(die);
            self.list(die);
            return;
        }
        let facts = match self.sets {
            true => self.stand((die, Cause::SuspendEntry), (true, 0), now, |_| ()),
            false => {
                self.list(die);
                &mut self.facts[die as usize]
            }
        };
        if for_only_read && facts.flags & HAS_BARRED == 0 {
            facts.flags &= !BARS_CHANGED;
            if facts.flags == 0 {
                self.known = die;
            }
        }
    }

    /// A program or erase is complete on a die, where reads wait or not.
    #[inline(always)]
    pub(crate) fn completed(&mut self, die: u32, has_reads: bool) {
        let bars = self.bars(has_reads);
        self.frees(die).flags |= bars;
    }

    // ---- Which dies are to be looked at ---------------------------------------------------------

    /// Has a die looked at, at the end of the instant.
    pub(super) fn list(&mut self, die: u32) {
        self.known = NONE;
        let flags = &mut self.facts[die as usize].flags;
        if *flags & LISTED == 0 {
            *flags |= LISTED;
            self.listed.push(die);
            self.has_more = true;
        }
    }

    /// A die has decided at this instant. Returns whether it is known what stands in the way there.
    #[inline(always)]
    pub(crate) fn decides(&mut self, die: u32) -> bool {
        // What runs has begun, or is on its way into suspension: that the die decided says nothing.
        self.known == die || self.decides_unseen(die)
    }

    #[inline(always)]
    fn decides_unseen(&mut self, die: u32) -> bool {
        let round = self.round;
        let facts = &mut self.facts[die as usize];
        facts.decided = round;
        facts.set == round && facts.flags & !HAS_STANDS == 0
    }

    /// If it is not, the die is looked at if something waits there, or if all dies are looked at.
    #[inline(always)]
    pub(crate) fn is_unknown(&mut self, die: u32, waits: bool) {
        if waits || !self.sets {
            self.list(die);
        }
    }

    /// The same where it may decide once more at this instant.
    pub(super) fn decided(&mut self, die: u32) {
        self.list(die);
        self.facts[die as usize].decided = self.round;
    }

    /// A die that was not among those that decide has got its turn: perhaps something has begun.
    pub(crate) fn granted(&mut self, die: u32) {
        if self.facts[die as usize].set == self.round {
            self.list(die);
        }
    }

    /// Whether there is more to look at than the dies that decide.
    #[inline(always)]
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Takes the next die from the list; `None` if there is no other.
    #[inline(always)]
    pub(crate) fn next_listed(&mut self) -> Option<u32> {
        let next = self.listed.pop();
        self.has_more = next.is_some();
        next
    }

    /// A die that was taken from the list is looked at: what there is to look at.
    #[inline(always)]
    pub(crate) fn looked_at(&mut self, die: u32) -> Look {
        let facts = &mut self.facts[die as usize];
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

    // ---- What is seen there ---------------------------------------------------------------------

    /// Whether the chain was asked about what runs on a die.
    #[inline(always)]
    pub(crate) fn was_asked(&self, die: u32) -> bool {
        let facts = &self.facts[die as usize];
        facts.decided > facts.began
    }

    /// What keeps what runs on a plane, or on all of a die, from making way.
    pub(crate) fn stands(&mut self, die: u32, plane: Option<u32>) -> &mut Stands {
        let place = self.place(die, plane.unwrap_or(0));
        self.facts[die as usize].flags |= HAS_STANDS;
        &mut self.stands[place]
    }

    #[inline(always)]
    fn place(&self, die: u32, plane: u32) -> usize {
        (die * self.places + if self.places > 1 { plane } else { 0 }) as usize
    }

    /// The first of the reads that wait at a die and are barred.
    #[inline(always)]
    pub(crate) fn first_barred(&self, die: u32) -> Option<u32> {
        self.facts[die as usize].first_barred
    }

    pub(crate) fn set_first_barred(&mut self, die: u32, read: Option<u32>) {
        let facts = &mut self.facts[die as usize];
        facts.first_barred = read;
        facts.flags = facts.flags & !HAS_BARRED | if read.is_some() { HAS_BARRED } else { 0 };
    }

    /// Whether the old page of a write waits for a die.
    pub(crate) fn old_page_waits(&self, die: u32) -> bool {
        self.facts[die as usize].old_pages > 0
    }

    /// What stands in the way of reads at a place from `now` on.
    pub(crate) fn set_reads(&mut self, place: (u32, u32), way: InTheWay, now: Time) {
        self.set_read(place, way.read, now);
        self.set_barred(place, way.barred, now);
    }

    /// The same of reads of pages that nothing holds.
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
        self.facts[die as usize].clocks[Side::Write as usize].turn(cause, now);
    }

    /// The cause as which a die counts for those who wait for the buffer; returns the one before.
    pub(super) fn count(&mut self, die: u32, cause: Option<Cause>) -> Option<Cause> {
        std::mem::replace(&mut self.facts[die as usize].counted, cause)
    }

    /// No die counts for those who wait for the buffer.
    pub(super) fn forget_counted(&mut self) {
        self.facts.iter_mut().for_each(|facts| facts.counted = None);
    }
}
