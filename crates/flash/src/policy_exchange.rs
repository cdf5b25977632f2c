//! Policies lent to the back end of a run-in, and the end of its waiting transactions.

use reprieve_policy::Policies;

use super::Flash;

impl Flash {
    /// Replaces the policies by others with the same properties, and returns the old ones.
    pub fn exchange_policies(&mut self, policies: Policies) -> Policies {
        let Policies { scheduler, suspension } = policies;
        Policies {
            scheduler: std::mem::replace(&mut self.serving.scheduler, scheduler),
            suspension: self.controller.suspension.exchange(suspension),
        }
    }

    /// Drops waiting transactions, except pages whose read for garbage collection has started.
    pub fn forget_waiting(&mut self) {
        self.stage.forget_waiting();
        self.controller.dies.forget_waiting();
    }
}
