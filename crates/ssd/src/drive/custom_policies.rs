//! A drive under policies, or a dispatcher, of the program that embeds it.

use reprieve_base::UserError;
use reprieve_config::Scenario;
use reprieve_policy::Policies;
use reprieve_policy::dispatch::Dispatcher;

use super::{Options, Ssd};
use crate::observe::Observe;

impl Ssd {
    /// Creates the drive of a scenario under these policies, in place of those of the scenario.
    ///
    /// The scenario's limits of a die and rules of suspension apply to them as well. A run-in takes
    /// place under them, with times of its own from 0. Errors as [`Ssd::with`].
    pub fn with_policies(
        scenario: Scenario,
        options: &Options,
        policies: Policies,
    ) -> Result<Ssd, UserError> {
        let mut ssd = Ssd::make(scenario, options, policies)?;
        ssd.preparation.has_custom_policies = true;
        Ok(ssd)
    }

    /// Returns the drive under this dispatcher, in place of the one that the scenario names.
    ///
    /// One that places writes does it in place of the scenario's placement; the read of a page that
    /// was never written goes where that placement has it. Errors besides if it does and writes go
    /// to several open blocks of a plane.
    pub fn with_dispatcher(
        scenario: Scenario,
        log_requests: bool,
        dispatcher: Box<dyn Dispatcher>,
    ) -> Result<Ssd, UserError> {
        let mut ssd = Ssd::new(scenario, log_requests)?;
        ssd.put_under(dispatcher)?;
        Ok(ssd)
    }

    /// Adds an observer of all events on the drive.
    pub fn join_observer(&mut self, observer: Box<dyn Observe>) {
        self.run.pages.flash.join(observer);
    }

    pub(super) fn put_under(&mut self, dispatcher: Box<dyn Dispatcher>) -> Result<(), UserError> {
        let stream = &self.scenario.ftl.streams.policy;
        if dispatcher.places() && stream != "single" {
            return Err(UserError::new(format!(
                "ftl.stream = {stream:?}: a dispatcher sees one next page of a plane; must be \
                 \"single\" under one that places writes"
            )));
        }
        if dispatcher.places() && !self.scenario.parts().is_empty() {
            let what = "workload.channels, workload.dies: the dispatcher places writes on any die; \
                        flows have dies of their own only under one that does not";
            return Err(UserError::new(what));
        }
        if dispatcher.rewrites() {
            self.run.pages.totals.redistributed_pages = Some(0);
        }
        self.run.pages.flash.stage.set_dispatcher(dispatcher);
        Ok(())
    }
}
