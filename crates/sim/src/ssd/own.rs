//! A drive under policies of the program that embeds it.

use reprieve_base::UserError;

use super::{Options, Ssd};
use crate::policies::Policies;
use crate::scenario::Scenario;

impl Ssd {
    /// The drive of a scenario under these policies, in place of those that the scenario names.
    ///
    /// What the scenario says of the limits of a die and of what may suspend what holds for them
    /// as well. A drive that runs in for its steady state does it under them, with times of its own
    /// that begin at 0. Errors as [`Ssd::with`].
    pub fn with_policies(
        scenario: Scenario,
        options: &Options,
        policies: Policies,
    ) -> Result<Ssd, UserError> {
        let mut ssd = Ssd::make(scenario, options, policies)?;
        ssd.has_own_policies = true;
        Ok(ssd)
    }

    /// Whether the loop runs that asks only what a plain drive needs: for tests.
    #[doc(hidden)]
    pub fn runs_plain_loop(&self) -> bool {
        self.plain
    }
}
