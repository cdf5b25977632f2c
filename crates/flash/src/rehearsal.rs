//! A back end that runs before the run: policies that are lent to it, and its end.

use reprieve_policy::Policies;

use super::Flash;

impl Flash {
    /// Takes these policies in place of those that it has, which say the same of themselves.
    pub fn exchange_policies(&mut self, policies: Policies) -> Policies {
        let Policies { scheduler, suspension } = policies;
        Policies {
            scheduler: std::mem::replace(&mut self.serving.scheduler, scheduler),
            suspension: self.controller.suspension.exchange(suspension),
        }
    }

    /// Forgets waiting transactions, except pages that collection has begun to read.
    pub fn forget_waiting(&mut self) {
        self.stage.forget_waiting();
        self.controller.dies.forget_waiting();
    }
}
