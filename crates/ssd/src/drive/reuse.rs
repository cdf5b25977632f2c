//! Look-up of a prepared state, and its dependencies.

use std::fmt::{self, Write};
use std::sync::Arc;

use reprieve_config::{EquilibriumLoad, Scenario};
use reprieve_state::{Claim, Found, Key, Prepared, Store};
use twox_hash::XxHash3_128;

use super::equilibrium::Equilibrium;

/// Polls of another thread's preparation without progress, before it is no longer waited for: it
/// may have been abandoned.
const PATIENCE: u32 = 40;

/// Source of a drive's prepared state.
pub(super) enum Origin {
    /// The store is searched first.
    Stored(Arc<Store>),
    /// Another drive prepares it; it had `steps` done in the last `looks` polls.
    Awaited { store: Arc<Store>, key: Key, steps: u64, looks: u32 },
    /// It is prepared, and shared with others.
    Claimed(Claim),
    /// It is prepared for this drive alone.
    Own,
}

/// Result of a look-up.
pub(super) enum Look {
    /// Not found.
    None,
    /// Being prepared by another drive.
    Soon,
    State(Prepared),
}

impl Origin {
    /// Looks up a state; `key` has its dependencies, or is `None` if it cannot be shared.
    pub(super) fn look(&mut self, key: impl FnOnce() -> Option<Key>) -> Look {
        let (store, key, seen) = match std::mem::replace(self, Origin::Own) {
            Origin::Stored(store) => match key() {
                Some(key) => (store, key, (0, 0)),
                None => return Look::None,
            },
            Origin::Awaited { store, key, steps, looks } => (store, key, (steps, looks)),
            origin => {
                *self = origin;
                return Look::None;
            }
        };
        match store.find(key) {
            Found::State(prepared) => return Look::State(prepared),
            Found::Absent(claim) => *self = Origin::Claimed(claim),
            Found::Awaited(steps) => {
                let looks = if steps == seen.0 { seen.1 + 1 } else { 0 };
                if looks < PATIENCE {
                    *self = Origin::Awaited { store, key, steps, looks };
                    return Look::Soon;
                }
            }
        }
        Look::None
    }

    /// Counts a step of the preparation; after the last, returns the claim on its result.
    pub(super) fn step(&mut self, is_last: bool) -> Option<Claim> {
        let Origin::Claimed(claim) = self else { return None };
        claim.step();
        match std::mem::replace(self, Origin::Own) {
            Origin::Claimed(claim) if is_last => Some(claim),
            origin => {
                *self = origin;
                None
            }
        }
    }
}

/// Returns the dependencies of the state of a drive for an equilibrium.
pub(super) fn key(equilibrium: &Equilibrium, scenario: &Scenario) -> Key {
    let mut own = equilibrium.without_end();
    // Names, and the section of the loads, have no influence.
    (own.device, own.fio, own.equilibrium) = (String::new(), None, EquilibriumLoad::Scenario);
    let mut words = Words(XxHash3_128::new());
    // Pages go to the dies of all flows of the run.
    write!(words, "{:?}", (own, equilibrium.rests, scenario.parts())).expect("it takes all");
    let build = env!("REPRIEVE_BUILD").parse().expect("a build has a number");
    Key { drive: words.0.finish_128(), build }
}

/// A hash of the text that is written to it.
struct Words(XxHash3_128);

impl Write for Words {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        self.0.write(words.as_bytes());
        Ok(())
    }
}
