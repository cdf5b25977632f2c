//! Power failure in a run: its time, and the start of the drive after it.

use reprieve_base::{Time, UserError};
use reprieve_config::{Acknowledge, PowerLoss, Scenario};
use reprieve_policy::Policies;

use super::power_loss_view::{PowerLossView, Recovered};
use super::{Options, Ssd};

impl Ssd {
    /// Simulates until `at`: every instant up to it, and none after it. False if the workload is
    /// done before.
    ///
    /// Errors as [`Ssd::step`] does.
    pub fn run_until(&mut self, at: Time) -> Result<bool, UserError> {
        if !self.started {
            self.preparation.precondition(&self.scenario, &mut self.run.pages.ftl)?;
            self.start()?;
        }
        while self.next_instant() <= at && !self.ended {
            self.ended = !self.run.instant();
        }
        self.run.check_course()?;
        Ok(!self.ended && !self.is_done())
    }

    /// Whether no request is open or still to arrive.
    fn is_done(&self) -> bool {
        self.run.host.requests.is_empty() && self.run.flows.next_time() == Time::NEVER
    }

    /// Returns the next instant.
    pub fn next_instant(&self) -> Time {
        self.run.next_instant()
    }

    /// Runs a drive with power loss in steps; `None`: no power loss in this run.
    ///
    /// Errors if the workload is done before the power fails.
    pub(super) fn step_to_cut(&mut self, until: u64) -> Result<Option<bool>, UserError> {
        let Some(at) = self.loss().at else { return Ok(None) };
        let at = Time::ZERO + at;
        while self.cut.is_none() && self.run.stats.completed < until {
            if self.next_instant() > at && !self.is_done() {
                self.fail_power(at);
                self.run.stats.measuring.check(self.run.stats.arrived, self.run.now)?;
            } else if !self.run.instant() {
                self.run.check_course()?;
                return Err(UserError::new(format!(
                    "power_loss.at_us: the power fails at {at}, and the last request is complete \
                     at {}; must be earlier",
                    self.run.now
                )));
            }
        }
        Ok(Some(self.cut.is_none()))
    }

    fn fail_power(&mut self, at: Time) {
        self.run.now = at;
        let view = self.power_loss();
        let cut = view.cut(at, self.loss().policy);
        if self.run.pages.record.checker.is_some() {
            view.check_cut(&cut, &view.recover(&cut));
        }
        self.ended = true;
        self.run.pages.flash.observers_mut().end(at);
        self.cut = Some(Box::new(cut));
    }

    fn loss(&self) -> &PowerLoss {
        self.scenario.power_loss.as_ref().expect("only such drives ask")
    }

    /// Returns the view of a loss of power before the next instant.
    ///
    /// Panics if the scenario does not prepare for one.
    pub fn power_loss(&self) -> PowerLossView<'_> {
        PowerLossView {
            scenario: &self.scenario,
            loss: self.loss(),
            ftl: &self.run.pages.ftl,
            flash: &self.run.pages.flash,
            journal: self
                .run
                .pages
                .record
                .journal
                .as_deref()
                .expect("a drive that is prepared has one"),
            is_durable: self.run.pages.buffer.acknowledge == Acknowledge::Through,
            checker: self.run.pages.record.checker.as_deref(),
            now: self.run.now,
            next: self.next_instant(),
        }
    }

    /// Creates the drive of a scenario, of the same shape, after a recovery from the power failure
    /// of this one.
    ///
    /// Errors as [`Ssd::with`] does.
    pub fn after(
        &self,
        recovered: &Recovered,
        scenario: Scenario,
        options: &Options,
    ) -> Result<Ssd, UserError> {
        crate::memory::check(&scenario)?;
        let state = self.power_loss().state_after(recovered);
        let policies = Policies::of(&scenario);
        Ssd::from_parts(scenario, options, Some((state, "the recovery".to_string())), policies)
    }
}
