//! A preparation that was done before: looked for by all that it depends on, and taken as it was.

use std::fmt::{self, Write};
use std::sync::Arc;

use reprieve_base::{Archive, UserError, parts};
use reprieve_config::{EquilibriumLoad, Scenario};
use reprieve_ftl::Ftl;
use reprieve_state::{Claim, Found, Key, Store};
use twox_hash::XxHash3_128;

use super::equilibrium::Equilibrium;
use super::preparation::Preparation;

/// Steps of a preparation that is worth a file: tenths of a second.
const STEPS_WORTH_A_FILE: u64 = 8;
/// Looks at somebody else's preparation without a step of it after which it is not waited for: a
/// drive that is prepared may be left alone.
const PATIENCE: u32 = 40;

/// How a drive that is to be prepared comes by its state.
pub(super) enum Origin {
    /// It looks in this place first.
    Stored(Arc<Store>),
    /// Somebody else prepares it, and had done so many steps at so many looks.
    Awaited { store: Arc<Store>, key: Key, steps: u64, looks: u32 },
    /// It is prepared, for others too.
    Claimed(Claim),
    /// It is prepared for itself, or was.
    Own,
}

impl Preparation {
    /// Whether the state was found, or is still waited for.
    pub(super) fn looks_elsewhere(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
    ) -> Result<bool, UserError> {
        let (store, key, seen) = match std::mem::replace(&mut self.origin, Origin::Own) {
            Origin::Stored(store) => match self.key(scenario) {
                Some(key) => (store, key, (0, 0)),
                None => return Ok(false),
            },
            Origin::Awaited { store, key, steps, looks } => (store, key, (steps, looks)),
            origin => {
                self.origin = origin;
                return Ok(false);
            }
        };
        match store.find(key) {
            Found::Absent(claim) => self.origin = Origin::Claimed(claim),
            Found::Awaited(steps) => {
                let looks = if steps == seen.0 { seen.1 + 1 } else { 0 };
                if looks < PATIENCE {
                    self.origin = Origin::Awaited { store, key, steps, looks };
                    return Ok(true);
                }
            }
            Found::State(prepared) => {
                let mut archive = prepared.parts();
                self.take(&mut archive, ftl);
                if archive.check().is_ok() {
                    return Ok(true);
                }
                *ftl = Ftl::new(scenario)?;
                self.begin_anew(ftl);
            }
        }
        Ok(false)
    }

    /// A step of the preparation is done: keeps the state for others once that is the last.
    pub(super) fn step_done(&mut self, ftl: &mut Ftl) {
        let Origin::Claimed(claim) = &self.origin else { return };
        let steps = claim.step();
        if self.is_done() {
            let mut archive = claim.archive();
            self.exchange(&mut archive, ftl);
            let Origin::Claimed(claim) = std::mem::replace(&mut self.origin, Origin::Own) else {
                unreachable!("just seen")
            };
            claim.keep(archive, steps >= STEPS_WORTH_A_FILE);
        }
    }

    /// Writes the prepared drive, or takes it back.
    pub(super) fn exchange(&mut self, archive: &mut Archive, ftl: &mut Ftl) {
        // Those who share a load may have it from different sections.
        let load = self.load.clone();
        self.archive(archive);
        self.load = load;
        parts!(archive; self.replay);
        ftl.archive(archive);
    }

    /// Returns all that the state depends on; `None` if others cannot have the same.
    fn key(&self, scenario: &Scenario) -> Option<Key> {
        let equilibrium = self.equilibrium.as_ref().filter(|it| it.words.is_some())?;
        (!self.has_custom_policies).then(|| key(equilibrium, scenario))
    }
}

fn key(equilibrium: &Equilibrium, scenario: &Scenario) -> Key {
    let mut own = equilibrium.without_end();
    // Its names, and the section that its loads are from, change nothing.
    (own.device, own.fio, own.equilibrium) = (String::new(), None, EquilibriumLoad::Scenario);
    let mut words = Words(XxHash3_128::new());
    // Pages go to the dies of all flows of the run.
    write!(words, "{:?}", (own, equilibrium.rests, scenario.parts())).expect("it takes all");
    let build = env!("REPRIEVE_BUILD").parse().expect("a build has a number");
    Key { drive: words.0.finish_128(), build }
}

/// A hash of text that is written to it.
struct Words(XxHash3_128);

impl Write for Words {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        self.0.write(words.as_bytes());
        Ok(())
    }
}
