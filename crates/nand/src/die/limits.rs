//! Limits of suspension that may change during operations.

use std::sync::Arc;

use super::Die;
use crate::command::Part;
use crate::timing::Suspension;

impl Die {
    /// Returns the properties that all dies of the drive share.
    pub fn part(&self) -> &Arc<Part> {
        &self.part
    }

    /// Changes the limits: how often, and how soon again, an operation is suspended.
    ///
    /// Panics if the part differs in anything else.
    pub fn set_limits(&mut self, part: &Arc<Part>) {
        let Suspension { max_per_program, max_per_erase, min_progress, .. } = part.suspension;
        let suspension =
            Suspension { max_per_program, max_per_erase, min_progress, ..self.part.suspension };
        assert_eq!(**part, Part { suspension, ..*self.part }, "a part stays what it is");
        self.part = Arc::clone(part);
    }
}
