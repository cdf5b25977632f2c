//! A drive that gets its requests one by one, under the clock of a caller.
//!
//! The caller hands over each request with its arrival, advances the time, and takes completions.
//! Instants are those of a run of these requests.

use std::collections::VecDeque;

use reprieve_base::{Op, Request, Time, UserError};
use reprieve_config::Scenario;
use reprieve_observe::stats::LogBatch;

use super::Ssd;
use super::handover::{Completion, Details, Route};

/// Activity of a drive at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Requests that have arrived and are not complete.
    pub open_requests: usize,
    /// Transactions of flash that wait or run.
    pub transactions: usize,
    /// Suspended operations so far: programs, and erases.
    pub suspensions: [u64; 2],
    /// Pages read and programmed, and blocks erased, by host and drive.
    pub operations: [u64; 3],
}

impl Ssd {
    /// Removes the workload of the drive, which must be preconditioned.
    ///
    /// Panics if the drive has not been made with `Options::served`.
    pub fn start_serving(&mut self) -> Result<(), UserError> {
        assert!(
            self.run.flows.is_served && self.is_preconditioned(),
            "the drive is not ready to serve"
        );
        self.start_now()
    }

    /// Returns the last instant that was simulated.
    pub fn now(&self) -> Time {
        self.run.now
    }

    /// Runs every instant up to `until`.
    ///
    /// Errors if too many blocks of the drive have failed.
    pub fn advance(&mut self, until: Time) -> Result<(), UserError> {
        loop {
            let next = self.run.next_event();
            if next > until || next == Time::NEVER {
                break;
            }
            self.run.pass(next, Time::NEVER);
        }
        self.run.pages.ftl.tables.blocks.failing.check()
    }

    /// Hands over a request at its arrival, and returns its number in order of arrival.
    ///
    /// Panics if that instant has been simulated already, with its decisions. The first request
    /// arrives at zero at the soonest.
    pub fn submit(&mut self, request: Request) -> Result<u64, UserError> {
        let arrival = request.arrival;
        if arrival > Time::ZERO {
            self.advance(Time::from_ns(arrival.ns() - 1))?;
        }
        let is_new = arrival > self.run.now || self.run.stats.arrived == 0;
        assert!(is_new, "a request arrives at {arrival}, and it is {}", self.run.now);
        debug_assert_eq!(request.op == Op::Flush, request.bytes == 0, "only a flush has no length");
        let number = self.run.stats.arrived;
        self.run.flows.offer(request);
        self.run.pass(arrival, arrival);
        Ok(number)
    }

    /// Hands over a request that arrives later, or now after all that have arrived.
    ///
    /// Panics if the drive has not been made with `Options::handed_over`, or when a request arrives
    /// on a route that the drive does not have.
    #[inline(always)]
    pub fn hand_over(&mut self, request: Request, tag: u64, route: Route) {
        debug_assert!(request.arrival >= self.run.now, "a request arrives in the past");
        self.run.flows.hand_over(request, tag, route);
    }

    /// Returns the number of requests handed over.
    pub fn handed_over(&self) -> u64 {
        self.run.flows.handover.as_ref().map_or(0, |handover| handover.count())
    }

    /// Runs instants until `wanted` completions can be taken, but none after `until`; returns
    /// whether they can.
    ///
    /// Events of the drive at an instant precede arrivals, as in a run. An instant may run again:
    /// the drive decides anew with later arrivals. Errors as [`Ssd::advance`] does. Panics if
    /// requests are open and no event is left.
    pub fn advance_to_done(&mut self, until: Time, wanted: usize) -> Result<bool, UserError> {
        let behind = Time::from_ns(until.ns() + 1);
        let missing = wanted.saturating_sub(self.done_count()) as u64;
        let completed = self.run.stats.completed.saturating_add(missing);
        while self.run.stats.completed < completed {
            let arrival = self.run.flows.next_time();
            let bound = arrival.min(behind);
            self.run.host.run_to(self.run.events.next_time().min(bound), self.run.events.orders());
            let next = self.run.next_event().min(bound);
            if next == behind {
                self.run.pages.ftl.tables.blocks.failing.check()?;
                self.run.check_goes_on();
                break;
            }
            self.run.pass(next, arrival);
        }
        while self.run.next_event() == self.run.now {
            self.run.pass(self.run.now, Time::NEVER);
        }
        self.run.pages.ftl.tables.blocks.failing.check()?;
        Ok(self.run.stats.completed >= completed)
    }

    /// Returns the number of completions to be taken.
    #[inline(always)]
    pub fn done_count(&self) -> usize {
        self.run.flows.handover.as_ref().map_or(0, |handover| handover.done.len())
    }

    /// Takes the oldest completion.
    #[inline(always)]
    pub fn take_done(&mut self) -> Option<Completion> {
        let handover = self.run.flows.handover.as_mut()?;
        if let Some(details) = &mut handover.details {
            details.pop_front();
        }
        handover.done.pop_front()
    }

    /// Starts to keep the details of completions; no request may have been handed over.
    pub fn keep_details(&mut self) {
        self.run.pages.flash.keep_attribution();
        let handover = self.run.flows.handover.as_mut().expect("requests are handed over");
        assert_eq!(handover.count(), 0, "the details of earlier requests are not known");
        handover.details = Some(VecDeque::new());
    }

    /// Whether the details of completions are kept.
    pub fn keeps_details(&self) -> bool {
        self.run.flows.handover.as_ref().is_some_and(|handover| handover.details.is_some())
    }

    /// Returns the details of the completion that [`Ssd::take_done`] takes next, if they are kept.
    #[inline(always)]
    pub fn next_details(&self) -> Option<&Details> {
        self.run.flows.handover.as_ref()?.details.as_ref()?.front()
    }

    /// Starts to measure at `at`, which is not before `now`, with no event due between the last
    /// instant and `now`. Requests that arrived earlier are excluded.
    pub fn measure_from(&mut self, at: Time, now: Time) {
        self.run.stats.measure_anew(at);
        if at == now {
            self.run.now = now;
            self.run.measure_from(at);
        }
    }

    /// Returns the completions to be taken, in order.
    pub fn done(&self) -> impl Iterator<Item = &Completion> {
        self.run.flows.handover.iter().flat_map(|handover| &handover.done)
    }

    /// Moves the completions since the last call into `into`, which is emptied before.
    ///
    /// Panics if the drive keeps no log of requests.
    pub fn take_completed(&mut self, into: &mut LogBatch) {
        into.clear();
        std::mem::swap(self.run.stats.log.as_mut().expect("the drive keeps a log"), into);
    }

    /// Whether there are completions to be taken.
    ///
    /// Panics if the drive keeps no log of requests.
    pub fn has_completed(&self) -> bool {
        !self.run.stats.log.as_ref().expect("the drive keeps a log").id.is_empty()
    }

    /// Returns the activity of the drive.
    pub fn activity(&self) -> Activity {
        let counts = self.run.pages.flash.counts();
        Activity {
            open_requests: self.run.host.requests.len(),
            transactions: self.run.pages.flash.txns().len(),
            suspensions: counts.suspensions,
            operations: [counts.reads(), counts.programs(), counts.erases],
        }
    }

    /// Replaces the rules of suspension: which operations, how often, and when.
    ///
    /// Panics if the scenario differs in more than `Scenario::may_become` permits.
    pub fn set_rules(&mut self, scenario: Scenario) {
        assert!(self.scenario.may_become(&scenario), "a drive stays what it is");
        self.run.pages.flash.set_rules(&scenario);
        self.scenario = scenario;
    }
}
