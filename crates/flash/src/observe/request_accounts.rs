//! Accounts of requests: what the last page of each waited for, and the waits for the buffer.

use reprieve_base::Time;
use reprieve_observe::blame::{Blamed, Cause, Tally};

use super::by_slot::BySlot;
use super::clocks::BufferClock;

/// What is kept of a request.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct RequestAccount {
    /// What its last page was blamed on.
    pub(super) tally: Tally,
    /// The die that read or programmed that page, if one did.
    pub(super) die: Option<u32>,
    /// What the clock of the buffer showed when its data came, while it waits for room there.
    from: Option<Blamed>,
}

/// The accounts of the requests of a drive, and the clock of those that wait for the buffer.
#[derive(Clone, Debug)]
pub(super) struct RequestAccounts {
    accounts: BySlot<RequestAccount>,
    buffer: BufferClock,
}

impl RequestAccounts {
    pub(super) fn new() -> RequestAccounts {
        let new = RequestAccount { tally: Tally::NOTHING, die: None, from: None };
        RequestAccounts { accounts: BySlot::new(new), buffer: BufferClock::NEW }
    }

    /// The account of the request in a slot.
    #[inline(always)]
    pub(super) fn at(&mut self, request: u32) -> &mut RequestAccount {
        self.accounts.at(request)
    }

    /// A page of a request is complete that no die had to do with since it waited.
    #[inline(always)]
    pub(super) fn page_without_die(&mut self, request: u32) -> &mut RequestAccount {
        let account = self.accounts.at(request);
        account.tally.clear();
        account.die = None;
        account
    }

    /// A request begins to wait for the buffer. Returns whether it is the first one that does so at
    /// this instant, so that all dies have to say what they do.
    pub(super) fn wait_for_buffer(&mut self, request: u32, now: Time) -> bool {
        let shown = self.buffer.join(now);
        self.accounts.at(request).from = Some(shown);
        self.buffer.awakes()
    }

    /// A page of a request is in the buffer, perhaps its last one. Returns its account, and
    /// whether the request was waiting and waits no longer.
    #[inline]
    pub(super) fn page_in_buffer(
        &mut self,
        request: u32,
        is_last: bool,
        now: Time,
    ) -> (&RequestAccount, bool) {
        let waits = self.page_without_die(request).from.is_some();
        if waits {
            self.page_waited(request, is_last, now);
        }
        (self.accounts.at(request), waits && is_last)
    }

    /// A page of a request had to wait for the buffer.
    #[cold]
    fn page_waited(&mut self, request: u32, is_last: bool, now: Time) {
        let account = self.accounts.at(request);
        let from = if is_last { account.from.take() } else { account.from };
        let from = from.expect("the caller has seen it");
        account.tally.add_all(&self.buffer.read(now).since(&from));
        if is_last {
            self.buffer.leave();
        }
    }

    /// A request is open no longer: what its last page was blamed on is put into `sum`. Returns the
    /// sum of that over all causes, the die of that page if it has one, and whether the request was
    /// waiting for the buffer.
    #[inline(always)]
    pub(super) fn close(&mut self, request: u32, sum: &mut Blamed) -> (u64, Option<u32>, bool) {
        let account = self.accounts.at(request);
        let ns = account.tally.put_into(sum);
        account.tally.clear();
        let die = account.die.take();
        let waits = account.from.is_some();
        if waits {
            account.from = None;
            self.buffer.leave();
        }
        (ns, die, waits)
    }

    /// Whether a request waits for room in the buffer.
    #[inline(always)]
    pub(super) fn wait(&self) -> bool {
        self.buffer.runs()
    }

    /// Whether that is so since this instant; asked once.
    #[inline(always)]
    pub(super) fn take_awakes(&mut self) -> bool {
        self.buffer.take_awakes()
    }

    /// A die that counted as one cause of those waits counts as another one, or as none.
    pub(super) fn move_die(&mut self, before: Option<Cause>, after: Option<Cause>, now: Time) {
        self.buffer.move_die(before, after, now);
    }
}
