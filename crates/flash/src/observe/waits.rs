//! A complete custom statistic: the longest wait of a host read for an erase.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use reprieve_base::{Dur, Time};
use reprieve_policy::txn::Kind;

use super::{Observe, Scene};

/// The longest time in which a queued host read waited during an erase on its die, until it was
/// sensed. Clones share the value.
#[derive(Clone, Debug, Default)]
pub struct LongestEraseWait(Arc<Mutex<Waits>>);

#[derive(Debug, Default)]
struct Waits {
    longest: Dur,
    /// Total erase time of each die, and the start of the current one.
    erasing: BTreeMap<u32, (Dur, Option<Time>)>,
    /// Total erase time of the die at the arrival of each queued read.
    before: BTreeMap<u32, Dur>,
}

impl Waits {
    /// Returns the erase time of a die until `now`.
    fn erased(&self, die: u32, now: Time) -> Dur {
        let (whole, since) = self.erasing.get(&die).copied().unwrap_or_default();
        whole + since.map_or(Dur::ZERO, |since| now - since)
    }

    fn runs(&mut self, scene: &Scene, id: u32, runs: bool) {
        let txn = scene.txn(id);
        if txn.kind == Kind::Erase {
            let whole = self.erased(txn.die, scene.now());
            self.erasing.insert(txn.die, (whole, runs.then(|| scene.now())));
        }
    }
}

impl LongestEraseWait {
    /// Returns the longest wait.
    pub fn longest(&self) -> Dur {
        self.waits().longest
    }

    fn waits(&self) -> std::sync::MutexGuard<'_, Waits> {
        self.0.lock().expect("nobody panics while it is held")
    }
}

impl Observe for LongestEraseWait {
    fn queued(&mut self, scene: &Scene, id: u32) {
        let txn = scene.txn(id);
        if txn.kind == Kind::HostRead {
            let mut waits = self.waits();
            let before = waits.erased(txn.die, scene.now());
            waits.before.insert(id, before);
        }
    }

    fn sensing(&mut self, scene: &Scene, id: u32, _: Time) {
        let mut waits = self.waits();
        let mut each = id;
        while each != reprieve_policy::txn::NONE {
            if let Some(before) = waits.before.remove(&each) {
                let waited = waits.erased(scene.txn(each).die, scene.now()).saturating_sub(before);
                waits.longest = waits.longest.max(waited);
            }
            each = scene.txn(each).next;
        }
    }

    fn started(&mut self, scene: &Scene, id: u32, _: Option<(Dur, u64)>) {
        self.waits().runs(scene, id, true);
    }

    fn resumed(&mut self, scene: &Scene, id: u32, _: Option<Dur>) {
        self.waits().runs(scene, id, true);
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        self.waits().runs(scene, id, false);
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        self.waits().runs(scene, id, false);
    }
}
