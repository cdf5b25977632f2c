//! Saving the drive's state before its first request or after its last, and starting from one.

use std::path::Path;

use reprieve_base::{Time, UserError};

use super::Ssd;
use crate::flash::check_state;
use crate::ftl::{Ftl, Preconditioner};
use crate::scenario::Scenario;
use crate::state::State;

/// Brings a drive with nothing written into the state of a file.
pub(super) fn restore(
    path: &Path,
    scenario: &Scenario,
    ftl: &mut Ftl,
) -> Result<Preconditioner, UserError> {
    State::check(scenario)?;
    check_state(scenario)?;
    let mut state = State::read(path, scenario)?;
    ftl.restore(&mut state, scenario).map_err(|error| error.at(path.display()))?;
    Ok(Preconditioner::done())
}

impl Ssd {
    /// Writes the drive's state: of the preconditioned drive, or of the drive after its last
    /// request, when what was begun has come to its end.
    ///
    /// Letting it come to its end takes simulated time: ask for the summary before. Errors if
    /// requests are still to come, or the file cannot be written.
    pub fn save_state(&mut self, path: &Path) -> Result<(), UserError> {
        State::check(&self.scenario)?;
        check_state(&self.scenario)?;
        let at_start = !self.started && self.preconditioner.is_done();
        if !at_start && !self.ended {
            return Err(UserError::new(
                "a state is saved when the drive is preconditioned, before its first request, or \
                 after its last",
            ));
        }
        if self.ended {
            self.close();
        }
        let mut state = State::default();
        self.ftl.save(&mut state);
        state.write(path, &self.scenario)
    }

    /// Lets what was begun come to its end: pages in the buffer are programmed, victims erased.
    fn close(&mut self) {
        self.ftl.close();
        self.hold_no_more();
        for die in 0..self.scenario.geometry.dies() {
            self.flash.wake(die);
        }
        self.decide::<true>();
        while self.events.next_time() != Time::NEVER {
            self.now = self.events.next_time();
            while let Some(event) = self.events.pop_at(self.now) {
                self.handle::<true>(event);
            }
            self.decide::<true>();
            if self.checker.is_some() {
                self.check_instant(false);
            }
        }
        self.end_checks();
        let left = self.flash.txns.len();
        assert!(left == 0, "at {} {left} transactions have no end", self.now);
    }
}
