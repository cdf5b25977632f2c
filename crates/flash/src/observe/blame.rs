//! Who is to blame for waits: the clocks of dies, and the accounts that are kept by them.

use reprieve_base::Time;
use reprieve_observe::blame::{Blamed, Cause};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::by_slot::BySlot;
use super::clocks::{Account, Side};
use super::die_clocks::DieClocks;
use super::request_accounts::RequestAccounts;

/// Who blames the waits of a drive: each nanosecond on what stood in the way.
pub struct Blame {
    /// What stands in the way on each die.
    pub(crate) dies: DieClocks,
    /// What transactions waited for, by the clock of the die where they did.
    pub(super) accounts: BySlot<Account>,
    /// What becomes of that for their requests, and what those waited for the buffer.
    requests: RequestAccounts,
}

impl Blame {
    /// `planes`: how many are told apart; `suspends`: something can make way.
    pub(crate) fn new(
        dies: u32,
        planes: Option<u32>,
        (looks_always, suspends): (bool, bool),
    ) -> Blame {
        Blame {
            dies: DieClocks::new(dies, planes, (looks_always, suspends)),
            accounts: BySlot::new(Account::NEW),
            requests: RequestAccounts::new(),
        }
    }

    /// Whether what a transaction waits for is blamed on anything: it is part of a request.
    #[inline(always)]
    pub(super) fn is_wanted(txn: &Txn) -> bool {
        let of_host = matches!(txn.kind, Kind::HostRead | Kind::RmwRead | Kind::Program);
        of_host && txn.request != NONE
    }

    // ---- Waits for a die ------------------------------------------------------------------------

    /// A transaction begins to wait at a plane of a die at `since`.
    #[inline(always)]
    pub(super) fn begin(&mut self, id: u32, (die, plane): (u32, u32), side: Side, since: Time) {
        let place = self.dies.place_of_wait(die, plane);
        self.accounts.at(id).begin((place, side), self.dies.clock(place, side), since);
    }

    /// A transaction waits no longer, if it did.
    #[inline(never)]
    pub(super) fn settle(&mut self, id: u32, now: Time) {
        if let Some(account) = self.accounts.known(id).filter(|account| account.waits) {
            account.end(self.dies.clock(account.at, account.side), now);
        }
    }

    /// A queued read of a place is barred from now on, or no longer.
    #[inline]
    pub(crate) fn bar(&mut self, id: u32, at: (u32, u32), is_barred: bool, now: Time) {
        let account = self.accounts.at(id);
        let side = if is_barred { Side::Barred } else { Side::Read };
        if account.waits && account.side != side {
            self.settle(id, now);
            self.begin(id, at, side, now);
        }
    }

    /// A transaction waits for its die from its mark on; a read perhaps to be sensed again.
    #[inline(always)]
    pub(super) fn waits(&mut self, id: u32, txn: &Txn) {
        let side = if txn.kind.is_read() { Side::Read } else { Side::Write };
        if txn.kind == Kind::HostRead && txn.further_senses == 0 {
            self.accounts.at(id).tally.clear();
        }
        self.begin(id, (txn.die, txn.at.plane), side, txn.mark);
    }

    /// The same of one that is in no queue that is told of.
    pub(crate) fn waits_elsewhere(&mut self, id: u32, txn: &Txn) {
        if txn.die != NONE {
            self.dies.comes_elsewhere(txn.die);
            if Self::is_wanted(txn) {
                self.waits(id, txn);
            }
        }
    }

    // ---- Waits for the buffer -------------------------------------------------------------------

    /// A request begins to wait for the buffer.
    pub fn buffer_begins(&mut self, request: u32, now: Time) {
        let is_first = self.requests.wait_for_buffer(request, now);
        self.dies.serve_buffer(true, is_first);
    }

    /// A page of it waits no longer, that of `id` or one without its own; it was the last.
    #[inline]
    pub fn buffer_ends(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        let (of_request, leaves) = self.requests.page_in_buffer(request, is_last, now);
        if let Some(id) = id {
            let account = self.accounts.at(id);
            (account.waits, account.loaded_ns) = (false, 0);
            account.tally.set(&of_request.tally);
        }
        if leaves {
            self.leave_buffer();
        }
    }

    #[cold]
    fn leave_buffer(&mut self) {
        self.dies.serve_buffer(self.requests.wait(), false);
    }

    /// Whether somebody waits for room in the buffer.
    #[inline(always)]
    pub(crate) fn buffer_is_wanted(&self) -> bool {
        self.requests.wait()
    }

    /// Whether that is so since this instant: then every die has to say what stands in the way.
    #[inline(always)]
    pub(crate) fn take_awakes(&mut self) -> bool {
        let awakes = self.requests.take_awakes();
        if awakes {
            self.dies.forget_counted();
        }
        awakes
    }

    /// What stands in the way of programs on a die while somebody waits for room in the buffer, and
    /// whether the die counts for that wait.
    pub(crate) fn set_writes(&mut self, die: u32, cause: Cause, counts: bool, now: Time) {
        let after = counts.then_some(cause);
        let before = self.dies.count(die, after);
        self.requests.move_die(before, after, now);
        self.dies.set_write(die, cause, now);
    }

    // ---- What becomes of it for requests --------------------------------------------------------

    /// The request is open no longer: what its last page was blamed on is put into `sum`, which is
    /// empty. The sum of that over all causes, and its die if it has one.
    #[inline(always)]
    pub fn close(&mut self, request: u32, sum: &mut Blamed) -> (u64, Option<u32>) {
        let (ns, die, waits) = self.requests.close(request, sum);
        if waits {
            self.leave_buffer();
        }
        (ns, die)
    }

    /// The old page of a write has been read, or another write's that it waited for: what is not
    /// blamed on anything yet went behind that read.
    pub fn old_page_read(&mut self, id: u32, txn: &Txn) {
        // A write that was acknowledged before has no account: its slot may hold an older one.
        if txn.request == NONE {
            return;
        }
        let waits = [LatencyComponent::Buffer, LatencyComponent::Rmw];
        let [buffer_ns, rmw_ns] = waits.map(|part| txn.parts.0[part as usize]);
        let tally = &mut self.accounts.at(id).tally;
        let waited_ns = buffer_ns + rmw_ns;
        let rest_ns = waited_ns.checked_sub(tally.sum_ns()).unwrap_or_else(|| {
            panic!("transaction {id} is blamed {tally:?} for {waited_ns} ns until its old page")
        });
        tally.add(Cause::HostRead, rest_ns);
    }

    /// A page of a request is complete, from no die.
    pub fn page_there(&mut self, request: u32) {
        self.requests.page_without_die(request);
    }

    /// The page of a transaction of a request is complete.
    #[inline(always)]
    pub fn page_ends(&mut self, request: u32, id: u32, die: u32) {
        let account = self.requests.at(request);
        account.die = Some(die);
        match self.accounts.known(id) {
            Some(of) => account.tally.set(&of.tally),
            None => account.tally.clear(),
        }
    }
}
