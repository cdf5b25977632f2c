//! Wait attribution of requests: the causes of each one's last page, and waits for the buffer.

use reprieve_base::Time;
use reprieve_observe::causes::{CAUSES, CauseTimes};

use super::clocks::{BufferClock, slot};

/// Attribution of an open request.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct RequestAccount {
    /// Causes of the waits of its last page.
    pub(super) times: CauseTimes,
    /// The die that read or programmed that page, if one did.
    pub(super) die: Option<u32>,
    /// Reading of the buffer's clock at the arrival of its data, while it waits for room there.
    from: Option<CauseTimes>,
}

/// Attribution of all open requests, by slot, and the clock of requests that wait for the buffer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct RequestAccounts {
    accounts: Vec<RequestAccount>,
    pub(super) buffer: BufferClock,
}

impl RequestAccounts {
    const NEW: RequestAccount =
        RequestAccount { times: CauseTimes([0; CAUSES]), die: None, from: None };

    pub(super) fn new() -> RequestAccounts {
        RequestAccounts { accounts: Vec::new(), buffer: BufferClock::NEW }
    }

    /// Returns the account of the request in a slot.
    pub(super) fn at(&mut self, request: u32) -> &mut RequestAccount {
        slot(&mut self.accounts, request, RequestAccounts::NEW)
    }

    /// Ends a page of a request without a die since its wait.
    pub(super) fn page_without_die(&mut self, request: u32) -> &mut RequestAccount {
        let account = self.at(request);
        (account.times, account.die) = (CauseTimes::default(), None);
        account
    }

    /// Starts the wait of a request for the buffer.
    pub(super) fn wait_for_buffer(&mut self, request: u32, now: Time) {
        let reading = self.buffer.join(now);
        self.at(request).from = Some(reading);
    }

    /// Ends the wait of a page of a request for the buffer, perhaps its last one; returns the
    /// causes.
    pub(super) fn page_in_buffer(&mut self, request: u32, is_last: bool, now: Time) -> CauseTimes {
        let account = self.page_without_die(request);
        let Some(from) = account.from else { return CauseTimes::default() };
        if is_last {
            account.from = None;
        }
        let mut times = CauseTimes::default();
        times.add_between(&from, self.buffer.read(now));
        if is_last {
            self.buffer.leave();
        }
        self.at(request).times = times;
        times
    }

    /// Closes a request; returns the causes of its last page's waits, and that page's die.
    pub(super) fn close(&mut self, request: u32) -> (CauseTimes, Option<u32>) {
        let closed = std::mem::replace(self.at(request), RequestAccounts::NEW);
        if closed.from.is_some() {
            self.buffer.leave();
        }
        (closed.times, closed.die)
    }
}
