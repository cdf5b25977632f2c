//! What begins and ends on dies, as who blames waits is told of it.

use reprieve_base::Time;
use reprieve_observe::blame::Cause;
use reprieve_policy::txn::{Kind, LatencyComponent, Txn};

use super::blame::Blame;
use super::clocks::Side;
use super::die_facts::AtWork;

impl Blame {
    /// A read has come to the queue of its die.
    #[inline(always)]
    pub(crate) fn read_queued(&mut self, id: u32, txn: &Txn, work: AtWork, now: Time) {
        self.dies.read_queued(txn, work, now);
        if Self::is_wanted(txn) {
            self.queued(id, txn, Side::Read);
        }
    }

    /// A program or erase has come to the queue of its die, where reads wait or not.
    #[inline(always)]
    pub(crate) fn write_queued(&mut self, id: u32, txn: &Txn, has_reads: bool, work: AtWork) {
        let is_wanted = Self::is_wanted(txn);
        self.dies.write_queued(txn.die, has_reads, work, is_wanted);
        if is_wanted {
            self.queued(id, txn, Side::Write);
        }
    }

    /// It begins to wait, unless a dispatcher held it back: then it waits already.
    #[inline(always)]
    fn queued(&mut self, id: u32, txn: &Txn, side: Side) {
        let account = self.accounts.known(id);
        let Some(account) = account.filter(|_| !self.dies.by_plane) else {
            self.queued_slowly(id, txn);
            return;
        };
        if !account.waits {
            if txn.kind == Kind::HostRead && txn.further_senses == 0 {
                account.tally.clear();
            }
            let clock = &self.dies.facts[txn.die as usize].clocks[side as usize];
            account.begin((txn.die, side), clock, txn.mark);
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
        self.ends(id, txn, now);
        let facts = self.dies.senses(txn, has_reads, now);
        if txn.kind == Kind::RmwRead {
            facts.old_pages -= u32::from(txn.further_senses == 0);
        }
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
        self.ends(id, txn, now);
        self.dies.runs(txn, has_reads, now);
    }

    /// A transaction that begins, or goes on, waits no longer, if it did.
    #[inline(always)]
    fn ends(&mut self, id: u32, txn: &Txn, now: Time) {
        if !self.dies.sets {
            // A dispatcher may have moved it, or it waits at a plane.
            self.settle(id, now);
        } else if let Some(account) = self.accounts.known(id).filter(|account| account.waits) {
            debug_assert!(Self::is_wanted(txn), "{id} waits, and nobody wants to know what for");
            debug_assert_eq!(account.at, txn.die, "without a dispatcher nothing moves");
            let clocks = &self.dies.facts[txn.die as usize].clocks;
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
        self.dies.frees(txn.die);
        if Self::is_wanted(txn) {
            let account = self.accounts.known(id);
            let Some(account) = account.filter(|_| !self.dies.by_plane) else {
                self.suspended_slowly(id, txn, now);
                return;
            };
            let clock = &self.dies.facts[txn.die as usize].clocks[Side::Write as usize];
            account.begin((txn.die, Side::Write), clock, now);
        }
    }

    #[cold]
    fn suspended_slowly(&mut self, id: u32, txn: &Txn, now: Time) {
        self.begin(id, (txn.die, txn.at.plane), Side::Write, now);
    }
}
