//! A drive that is given its requests one by one, while somebody else's clock runs.
//!
//! The caller keeps the time: it hands over each request with its arrival, says how far time has
//! come, and is told what was completed. The same instants pass as in a run of the same requests.

use reprieve_base::{Op, Request, Time, UserError};

use super::Ssd;
use crate::scenario::Scenario;
use crate::stats::LogBatch;

/// What a drive is doing at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Requests that have arrived and are not answered.
    pub open_requests: usize,
    /// Transactions of flash that wait or are under way.
    pub transactions: usize,
    /// Operations suspended so far: programs, and erases.
    pub suspensions: [u64; 2],
    /// Pages read and programmed, and blocks erased, by anyone.
    pub operations: [u64; 3],
}

impl Ssd {
    /// Takes the drive out of the hands of its workload; it must be preconditioned.
    ///
    /// Panics if the drive has not been made with `Options::served`.
    pub fn start_serving(&mut self) -> Result<(), UserError> {
        assert!(
            self.flows.is_served && self.is_preconditioned(),
            "the drive is not ready to serve"
        );
        self.start_now()
    }

    /// The last instant that has passed.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets pass every instant up to this one.
    ///
    /// Errors if too many blocks of the drive have failed.
    pub fn advance(&mut self, until: Time) -> Result<(), UserError> {
        loop {
            let next = self.next_event();
            if next > until || next == Time::NEVER {
                break;
            }
            self.pass(next, Time::NEVER);
        }
        self.ftl.check_blocks()
    }

    /// Hands over a request at its arrival, and returns its number in order of arrival.
    ///
    /// Panics if that instant has passed already: a drive that has decided does not decide again.
    /// The first request arrives at zero at the soonest.
    pub fn submit(&mut self, request: Request) -> Result<u64, UserError> {
        let arrival = request.arrival;
        if arrival > Time::ZERO {
            self.advance(Time::from_ns(arrival.ns() - 1))?;
        }
        let is_new = arrival > self.now || self.stats.arrived == 0;
        assert!(is_new, "a request arrives at {arrival}, and it is {}", self.now);
        debug_assert_eq!(request.op == Op::Flush, request.bytes == 0, "only a flush has no length");
        let number = self.stats.arrived;
        self.flows.offer(request);
        self.pass(arrival, arrival);
        Ok(number)
    }

    /// Moves what was completed since the last call into `into`, which is emptied before.
    ///
    /// Panics if the drive keeps no log of requests.
    pub fn take_completed(&mut self, into: &mut LogBatch) {
        into.clear();
        std::mem::swap(self.stats.log.as_mut().expect("the drive keeps a log"), into);
    }

    /// What the drive is doing.
    pub fn activity(&self) -> Activity {
        let counts = &self.flash.counts;
        Activity {
            open_requests: self.host.requests.len(),
            transactions: self.flash.txns.len(),
            suspensions: counts.suspensions,
            operations: [counts.reads(), counts.programs(), counts.erases],
        }
    }

    /// Lets other rules hold from now on: what may be suspended, how often, and when.
    ///
    /// Panics if the scenario differs in more than `Scenario::may_become` lets it.
    pub fn set_rules(&mut self, scenario: Scenario) {
        assert!(self.scenario.may_become(&scenario), "a drive stays what it is");
        self.flash.set_rules(&scenario);
        self.scenario = scenario;
    }
}
