//! Accounts of waits: of transactions, by the clocks of what stands in the way, and of requests.

use reprieve_base::Time;
use reprieve_observe::blame::{Blamed, Cause, Tally};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::blame::{BARS_CHANGED, Blame};
use super::clocks::{Account, Clock, RequestAccount, Side};

impl Blame {
    /// Where planes are told apart, the clock of who waits at one.
    #[cold]
    fn clock_of_plane(&self, at: u32, side: Side) -> &Clock {
        match side {
            Side::Write => &self.dies[(at / self.places) as usize].clocks[side as usize],
            Side::Read | Side::Barred => &self.planes[at as usize][side as usize - 1],
        }
    }

    #[inline(always)]
    pub(super) fn account(&mut self, id: u32) -> &mut Account {
        let index = id as usize;
        if index >= self.accounts.len() {
            self.add_accounts(index);
        }
        &mut self.accounts[index]
    }

    #[cold]
    pub(super) fn add_accounts(&mut self, index: usize) {
        self.accounts.resize(index + 1, Account::NEW);
    }

    /// A transaction, which has an account, begins to wait at a plane of a die at `since`.
    #[inline(always)]
    pub(super) fn begin(&mut self, id: u32, at: (u32, u32), side: Side, since: Time) {
        if self.by_plane {
            self.begin_at_plane(id, at, side, since);
            return;
        }
        let clock = &self.dies[at.0 as usize].clocks[side as usize];
        self.accounts[id as usize].begin((at.0, side), clock, since);
    }

    #[cold]
    fn begin_at_plane(&mut self, id: u32, at: (u32, u32), side: Side, since: Time) {
        let at = at.0 * self.places + at.1;
        let clock = *self.clock_of_plane(at, side);
        self.accounts[id as usize].begin((at, side), &clock, since);
    }

    /// It waits no longer.
    #[inline(never)]
    pub(super) fn settle(&mut self, id: u32, now: Time) {
        let Some(account) = self.accounts.get_mut(id as usize) else { return };
        if !account.waits {
            return;
        }
        if self.by_plane {
            self.settle_at_plane(id, now);
            return;
        }
        let clock = &self.dies[account.at as usize].clocks[account.side as usize];
        if !account.end(clock, now) {
            account.end_after_turns(clock, now);
        }
    }

    #[cold]
    fn settle_at_plane(&mut self, id: u32, now: Time) {
        let Account { at, side, .. } = self.accounts[id as usize];
        let clock = *self.clock_of_plane(at, side);
        let account = &mut self.accounts[id as usize];
        if !account.end(&clock, now) {
            account.end_after_turns(&clock, now);
        }
    }

    /// A queued read of a place is barred from now on, or no longer.
    #[inline]
    pub(crate) fn bar(&mut self, id: u32, at: (u32, u32), is_barred: bool, now: Time) {
        let account = self.account(id);
        let side = if is_barred { Side::Barred } else { Side::Read };
        if account.waits && account.side != side {
            self.settle(id, now);
            self.begin(id, at, side, now);
        }
    }

    /// Whether somebody wants to know what a transaction waits for.
    #[inline(always)]
    pub(super) fn is_wanted(txn: &Txn) -> bool {
        let of_host = matches!(txn.kind, Kind::HostRead | Kind::RmwRead | Kind::Program);
        of_host && txn.request != NONE
    }

    /// A transaction waits for its die from `since` on; a read perhaps to be sensed again.
    #[inline(always)]
    pub(super) fn waits(&mut self, id: u32, txn: &Txn, since: Time) {
        let side = if txn.kind.is_read() { Side::Read } else { Side::Write };
        let is_new = txn.kind == Kind::HostRead && txn.further_senses == 0;
        if is_new {
            self.accounts[id as usize].tally.clear();
        }
        self.begin(id, (txn.die, txn.at.plane), side, since);
    }

    /// The same of one that is in no queue that is told of.
    pub(crate) fn waits_elsewhere(&mut self, id: u32, txn: &Txn) {
        if txn.die != NONE {
            self.list(txn.die);
            self.frees(txn.die).flags |= BARS_CHANGED;
            if Self::is_wanted(txn) {
                self.account(id);
                self.waits(id, txn, txn.mark);
            }
        }
    }

    #[inline(always)]
    fn request(&mut self, request: u32) -> &mut RequestAccount {
        let index = request as usize;
        if index >= self.requests.len() {
            self.add_requests(index);
        }
        &mut self.requests[index]
    }

    #[cold]
    fn add_requests(&mut self, index: usize) {
        let new = RequestAccount { tally: Tally::NOTHING, die: None, from: None };
        self.requests.resize(index + 1, new);
    }

    /// A request begins to wait for the buffer.
    pub fn buffer_begins(&mut self, request: u32, now: Time) {
        let shown = self.buffer.join(now);
        self.has_more |= self.buffer.awakes();
        self.sets = false;
        self.request(request).from = Some(shown);
    }

    /// A page of it waits no longer, that of `id` or one without its own; it was the last.
    pub fn buffer_ends(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        let account = self.request(request);
        account.tally.clear();
        account.die = None;
        if account.from.is_some() {
            self.buffer_waited(request, is_last, now);
        }
        if let Some(id) = id {
            self.account(id);
            let account = &mut self.accounts[id as usize];
            (account.waits, account.loaded_ns) = (false, 0);
            account.tally.set(&self.requests[request as usize].tally);
        }
    }

    /// The page had to wait.
    #[cold]
    fn buffer_waited(&mut self, request: u32, is_last: bool, now: Time) {
        let account = &mut self.requests[request as usize];
        let from = if is_last { account.from.take() } else { account.from };
        let from = from.expect("the caller has seen it");
        account.tally.add_all(&self.buffer.read(now).since(&from));
        if is_last {
            self.leave_buffer();
        }
    }

    #[cold]
    fn leave_buffer(&mut self) {
        self.buffer.leave();
        self.sets = !self.by_plane && !self.looks_always && !self.buffer.runs();
    }

    /// The request is open no longer: what its last page was blamed on is added to `sum`. The sum
    /// of that over all causes, and its die if it has one.
    #[inline(always)]
    pub fn close(&mut self, request: u32, sum: &mut Blamed) -> (u64, Option<u32>) {
        let account = self.request(request);
        let ns = account.tally.add_to(sum);
        account.tally.clear();
        let die = account.die.take();
        if account.from.is_some() {
            account.from = None;
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
        let tally = &mut self.account(id).tally;
        let waited_ns = buffer_ns + rmw_ns;
        let rest_ns = waited_ns.checked_sub(tally.sum_ns()).unwrap_or_else(|| {
            panic!("transaction {id} is blamed {tally:?} for {waited_ns} ns until its old page")
        });
        tally.add(Cause::HostRead, rest_ns);
    }

    /// A page of a request is complete, from no die.
    pub fn page_there(&mut self, request: u32) {
        let account = self.request(request);
        account.tally.clear();
        account.die = None;
    }

    /// The page of a transaction of a request is complete.
    #[inline(always)]
    pub fn page_ends(&mut self, request: u32, id: u32, die: u32) {
        if request as usize >= self.requests.len() {
            self.add_requests(request as usize);
        }
        let account = &mut self.requests[request as usize];
        account.die = Some(die);
        match self.accounts.get(id as usize) {
            Some(of) => account.tally.set(&of.tally),
            None => account.tally.clear(),
        }
    }
}
