//! What begins and ends on dies, as who blames waits is told of it.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::blame::{BARS_CHANGED, Blame, DieFacts, HAS_BARRED, HAS_STANDS, Stands, bars};
use super::clocks::Side;

impl Blame {
    /// A read has come to the queue of its die.
    #[inline(always)]
    pub(crate) fn read_queued(&mut self, id: u32, txn: &Txn) {
        // A clock of reads that nobody has read may be wrong.
        let facts = self.frees(txn.die);
        facts.flags |= BARS_CHANGED;
        facts.old_pages += u32::from(txn.kind == Kind::RmwRead);
        if Self::is_wanted(txn) {
            self.queued(id, txn, Side::Read);
        }
    }

    /// A program or erase has come to the queue of its die, where reads wait or not, and something
    /// is at work or not that was told of.
    #[inline(always)]
    pub(crate) fn write_queued(&mut self, id: u32, txn: &Txn, (has_reads, works): (bool, bool)) {
        self.known = NONE;
        let facts = &mut self.dies[txn.die as usize];
        // The clock of programs is right as long as something is at work.
        if works && !has_reads && self.sets {
            facts.set = self.round;
        }
        if Self::is_wanted(txn) {
            facts.flags |= bars(has_reads || self.looks_always);
            self.queued(id, txn, Side::Write);
        }
    }

    /// It begins to wait, unless a dispatcher held it back: then it waits already.
    #[inline(always)]
    fn queued(&mut self, id: u32, txn: &Txn, side: Side) {
        let account = self.accounts.get_mut(id as usize);
        let Some(account) = account.filter(|_| !self.by_plane) else {
            self.queued_slowly(id, txn);
            return;
        };
        if !account.waits {
            if txn.kind == Kind::HostRead && txn.further_senses == 0 {
                account.tally.clear();
            }
            let clock = &self.dies[txn.die as usize].clocks[side as usize];
            account.begin((txn.die, side), clock, txn.mark);
        }
    }

    #[cold]
    fn queued_slowly(&mut self, id: u32, txn: &Txn) {
        if !self.account(id).waits {
            self.waits(id, txn, txn.mark);
        }
    }

    /// A page is sensed, from now on in the way of all, reads among them or not.
    #[inline(always)]
    pub(crate) fn sensed(&mut self, id: u32, txn: &Txn, has_reads: bool, now: Time) {
        let facts = self.ends_and_stands(id, txn, has_reads, now);
        if txn.kind == Kind::RmwRead {
            facts.old_pages -= u32::from(txn.further_senses == 0);
        }
    }

    /// A page is sensed with another one.
    pub(crate) fn sensed_beside(&mut self, id: u32, txn: &Txn, now: Time) {
        let is_old_page = txn.kind == Kind::RmwRead && txn.further_senses == 0;
        self.dies[txn.die as usize].old_pages -= u32::from(is_old_page);
        if Self::is_wanted(txn) {
            self.settle(id, now);
        }
    }

    /// The data of a program comes in while another one runs.
    pub(crate) fn loaded(&mut self, id: u32, txn: &Txn, now: Time) {
        self.list(txn.die);
        if Self::is_wanted(txn) {
            self.settle(id, now);
            self.account(id).loaded_ns = txn.parts.0[LatencyComponent::Queue as usize];
        }
    }

    /// A program that had come in begins: it was in the register, behind the program before it.
    pub(crate) fn loaded_starts(&mut self, id: u32, txn: &Txn, now: Time) {
        if Self::is_wanted(txn) {
            self.settle(id, now);
            let queue_ns = txn.parts.0[LatencyComponent::Queue as usize];
            let account = self.account(id);
            account.tally.add(Cause::HostProgram, queue_ns - account.loaded_ns);
        }
    }

    /// A program or erase of one transaction begins or goes on.
    #[inline(always)]
    pub(crate) fn starts(&mut self, id: u32, txn: &Txn, has_reads: bool, now: Time) {
        let (round, always) = (self.round, self.looks_always);
        let facts = self.ends_and_stands(id, txn, has_reads, now);
        facts.began = round;
        facts.flags |= bars(has_reads || always);
        if facts.flags != 0 {
            self.runs_among_reads(txn.die);
        }
    }

    /// A transaction waits no longer, if it did, and is what stands in the way on its die.
    #[inline(always)]
    fn ends_and_stands(&mut self, id: u32, txn: &Txn, has_reads: bool, now: Time) -> &mut DieFacts {
        if !self.sets {
            return self.ends_unset(id, txn, now);
        }
        let facts = &mut self.dies[txn.die as usize];
        if let Some(account) = self.accounts.get_mut(id as usize).filter(|account| account.waits) {
            debug_assert!(Self::is_wanted(txn), "{id} waits, and nobody wants to know what for");
            debug_assert_eq!(account.at, txn.die, "without a dispatcher nothing moves");
            let clock = &facts.clocks[account.side as usize];
            if !account.end(clock, now) {
                account.end_after_turns(clock, now);
            }
        }
        facts.stand(self.round, Cause::of(txn.kind), has_reads, now);
        self.known = txn.die;
        if facts.flags != 0 {
            self.known = NONE;
        }
        facts
    }

    /// The same where clocks are not set: the die has to be looked at.
    #[inline(never)]
    fn ends_unset(&mut self, id: u32, txn: &Txn, now: Time) -> &mut DieFacts {
        self.settle(id, now);
        self.list(txn.die);
        &mut self.dies[txn.die as usize]
    }

    /// A program or erase waits no longer, and begins or goes on.
    pub(crate) fn starts_one(&mut self, id: u32, txn: &Txn, now: Time) {
        if Self::is_wanted(txn) {
            self.settle(id, now);
        }
    }

    /// It is in the way on its die, where reads wait or not, and the chain has not been asked.
    #[inline(always)]
    pub(crate) fn runs(&mut self, txn: &Txn, has_reads: bool, now: Time) {
        let (round, bars) = (self.round, bars(has_reads || self.looks_always));
        let facts = self.stand(txn.die, Cause::of(txn.kind), has_reads, now);
        facts.began = round;
        facts.flags |= bars;
        if facts.flags != 0 {
            self.runs_among_reads(txn.die);
        }
    }

    /// It is not known without a look what it is to the reads that wait there.
    #[inline(never)]
    fn runs_among_reads(&mut self, die: u32) {
        self.known = NONE;
        if self.dies[die as usize].flags & HAS_STANDS != 0 {
            self.forget_stands(die);
        }
    }

    #[cold]
    fn forget_stands(&mut self, die: u32) {
        self.dies[die as usize].flags &= !HAS_STANDS;
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
        let facts = self.stand(die, Cause::SuspendEntry, true, now);
        if for_only_read && facts.flags & !BARS_CHANGED == 0 {
            facts.flags = 0;
            self.known = die;
        } else if for_only_read && facts.flags & HAS_BARRED == 0 {
            facts.flags &= !BARS_CHANGED;
        }
    }

    /// It is suspended.
    #[inline(always)]
    pub(crate) fn suspended(&mut self, id: u32, txn: &Txn, now: Time) {
        self.frees(txn.die);
        if Self::is_wanted(txn) {
            let account = self.accounts.get_mut(id as usize);
            let Some(account) = account.filter(|_| !self.by_plane) else {
                self.suspended_slowly(id, txn, now);
                return;
            };
            let clock = &self.dies[txn.die as usize].clocks[Side::Write as usize];
            account.begin((txn.die, Side::Write), clock, now);
        }
    }

    #[cold]
    fn suspended_slowly(&mut self, id: u32, txn: &Txn, now: Time) {
        self.account(id);
        self.begin(id, (txn.die, txn.at.plane), Side::Write, now);
    }

    /// A program or erase is complete on a die, where reads wait or not.
    #[inline(always)]
    pub(crate) fn completed(&mut self, die: u32, has_reads: bool) {
        let bars = bars(has_reads || self.looks_always);
        self.frees(die).flags |= bars;
    }
}
