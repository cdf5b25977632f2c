//! What begins and ends on dies, as who blames waits is told of it.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;
use reprieve_policy::txn::{Kind, LatencyComponent, Txn};

use super::at_work::AtWork;
use super::blame::Blame;
use super::by_slot::BySlot;
use super::clocks::{Account, Clock, Side};

impl Blame {
    /// A read has come to the queue of its die.
    #[inline(always)]
    pub(crate) fn read_queued(&mut self, id: u32, txn: &Txn, work: AtWork<'_>) {
        let by_plane = self.dies.by_plane;
        let facts = self.dies.read_queued(txn, work);
        if Self::is_wanted(txn) {
            match self.accounts.known(id).filter(|_| !by_plane) {
                Some(account) => {
                    account.queued(txn, Side::Read, &facts.clocks[Side::Read as usize]);
                }
                None => self.queued_slowly(id, txn),
            }
        }
    }

    /// A program or erase has come to the queue of its die.
    #[inline(always)]
    pub(crate) fn write_queued(&mut self, id: u32, txn: &Txn, work: AtWork<'_>) {
        let (by_plane, is_wanted) = (self.dies.by_plane, Self::is_wanted(txn));
        let facts = self.dies.write_queued(txn.die, work, is_wanted);
        if is_wanted {
            match self.accounts.known(id).filter(|_| !by_plane) {
                Some(account) => {
                    account.queued(txn, Side::Write, &facts.clocks[Side::Write as usize]);
                }
                None => self.queued_slowly(id, txn),
            }
        }
    }

    #[cold]
    fn queued_slowly(&mut self, id: u32, txn: &Txn) {
        if !self.accounts.at(id).waits {
            self.waits(id, txn);
        }
    }

    /// A page is sensed, from now on in the way of all, reads among them or not.
    #[inline(always)]
    pub(crate) fn sensed(&mut self, id: u32, txn: &Txn, has_reads: bool, now: Time) {
        if !self.dies.sets {
            self.sensed_unset(id, txn, now);
            return;
        }
        let ends = Self::ends(&mut self.accounts, id, txn, now);
        let facts = self.dies.senses(txn, has_reads, now, ends);
        if txn.kind == Kind::RmwRead {
            facts.old_pages -= u32::from(txn.further_senses == 0);
        }
    }

    /// The same where clocks are not set: a dispatcher may have moved it, or it waits at a plane.
    #[cold]
    fn sensed_unset(&mut self, id: u32, txn: &Txn, now: Time) {
        self.dies.list(txn.die);
        self.sensed_beside(id, txn, now);
    }

    /// A page is sensed with another one.
    pub(crate) fn sensed_beside(&mut self, id: u32, txn: &Txn, now: Time) {
        let is_old_page = txn.kind == Kind::RmwRead && txn.further_senses == 0;
        self.dies.facts[txn.die as usize].old_pages -= u32::from(is_old_page);
        if Self::is_wanted(txn) {
            self.settle(id, now);
        }
    }

    /// The data of a program comes in while another one runs.
    pub(crate) fn loaded(&mut self, id: u32, txn: &Txn, now: Time) {
        self.dies.list(txn.die);
        if Self::is_wanted(txn) {
            self.settle(id, now);
            self.accounts.at(id).loaded_ns = txn.parts.0[LatencyComponent::Queue as usize];
        }
    }

    /// A program that had come in begins: it was in the register, behind the program before it.
    pub(crate) fn loaded_starts(&mut self, id: u32, txn: &Txn, now: Time) {
        if Self::is_wanted(txn) {
            self.settle(id, now);
            let queue_ns = txn.parts.0[LatencyComponent::Queue as usize];
            let account = self.accounts.at(id);
            account.tally.add(Cause::HostProgram, queue_ns - account.loaded_ns);
        }
    }

    /// A program or erase of one transaction begins or goes on.
    #[inline(always)]
    pub(crate) fn starts(&mut self, id: u32, txn: &Txn, has_reads: bool, now: Time) {
        if !self.dies.sets {
            self.settle(id, now);
            self.dies.runs_unset(txn.die, has_reads);
            return;
        }
        let ends = Self::ends(&mut self.accounts, id, txn, now);
        self.dies.runs(txn, has_reads, now, ends);
    }

    /// A program or erase of several transactions, or one that was in the register, begins.
    pub(crate) fn runs(&mut self, txn: &Txn, has_reads: bool, now: Time) {
        match self.dies.sets {
            true => self.dies.runs(txn, has_reads, now, |_| ()),
            false => self.dies.runs_unset(txn.die, has_reads),
        }
    }

    /// A transaction that begins, or goes on, waits no longer, if it did: by the clocks of its die.
    #[inline(always)]
    fn ends(
        accounts: &mut BySlot<Account>,
        id: u32,
        txn: &Txn,
        now: Time,
    ) -> impl FnOnce(&[Clock; 3]) {
        move |clocks| {
            let Some(account) = accounts.known(id).filter(|account| account.waits) else { return };
            debug_assert!(Self::is_wanted(txn), "{id} waits, and nobody wants to know what for");
            debug_assert_eq!(account.at, txn.die, "without a dispatcher nothing moves");
            account.end(&clocks[account.side as usize], now);
        }
    }

    /// One of several transactions of a program or erase that begins or goes on waits no longer.
    pub(crate) fn starts_one(&mut self, id: u32, txn: &Txn, now: Time) {
        if Self::is_wanted(txn) {
            self.settle(id, now);
        }
    }

    /// A program or erase is suspended, and waits to go on.
    #[inline(always)]
    pub(crate) fn suspended(&mut self, id: u32, txn: &Txn, now: Time) {
        let by_plane = self.dies.by_plane;
        let facts = self.dies.frees(txn.die);
        if Self::is_wanted(txn) {
            let Some(account) = self.accounts.known(id).filter(|_| !by_plane) else {
                self.suspended_slowly(id, txn, now);
                return;
            };
            account.begin((txn.die, Side::Write), &facts.clocks[Side::Write as usize], now);
        }
    }

    #[cold]
    fn suspended_slowly(&mut self, id: u32, txn: &Txn, now: Time) {
        self.begin(id, (txn.die, txn.at.plane), Side::Write, now);
    }
}
