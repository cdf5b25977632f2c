//! Events for the meter of power and the budget.

use reprieve_base::{Dur, Time};
use reprieve_observe::power::{Class, Meter, Place, Sensing, Transfer};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::{Budget, Observe, Scene};

impl Observe for Meter {
    fn sensing(&mut self, scene: &Scene, id: u32, until: Time) {
        let Txn { die, kind, at, .. } = *scene.txn(id);
        let planes = scene.planes;
        let from = scene.now + scene.dies.facts.timing.command * u64::from(planes);
        let page_type = self.page_type(at.page);
        let sensing = Sensing { from, to: until, planes, page_type, is_copy: false };
        self.sense(scene.now, die, Class::of(kind), sensing);
    }

    fn started(&mut self, scene: &Scene, id: u32, data_in: Option<(Dur, u64)>) {
        let Txn { die, kind, at, old, .. } = *scene.txn(id);
        let (now, class, run) = (scene.now, Class::of(kind), scene.run(id));
        self.begin(now, die, (class, at.page), run);
        match (kind, data_in) {
            (Kind::GcCopy, _) => {
                let command = scene.dies.facts.timing.command;
                let read_ns = (run.first().end - now).ns() - 2 * command.ns();
                let from = now + command;
                let page_type = self.page_type(scene.dies.facts.address(old).page);
                let to = from + Dur::from_ns(read_ns);
                let sensing = Sensing { from, to, planes: 1, page_type, is_copy: true };
                self.sense(now, die, Class::GcRead, sensing);
            }
            (Kind::Erase, _) | (_, None) => {}
            (_, Some(data_in)) => bring_in(self, scene, id, class, data_in),
        }
    }

    fn loaded(&mut self, scene: &Scene, id: u32, data_in: (Dur, u64)) {
        bring_in(self, scene, id, Class::of(scene.txn(id).kind), data_in);
    }

    fn split(&mut self, scene: &Scene, id: u32) {
        Meter::split(self, scene.now, place(scene, id));
    }

    fn suspending(&mut self, scene: &Scene, id: u32, free_at: Time) {
        self.stop(scene.now, place(scene, id), free_at);
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        Meter::suspended(self, scene.now, place(scene, id));
    }

    fn resumed(&mut self, scene: &Scene, id: u32, data_in: Option<Dur>) {
        let run = scene.run(id);
        self.resume(scene.now, place(scene, id), run);
        if let Some(length) = data_in {
            bring_in(self, scene, id, Class::Suspension, (length, run.planes().into()));
        }
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        self.ended(scene.now, place(scene, id));
    }

    fn transferred(&mut self, scene: &Scene, id: u32, from: Time, length: Dur) {
        let txn = scene.txn(id);
        let bytes = match (txn.out_units, scene.dies.facts.transfer_unit_bytes) {
            (Some(units), Some(bytes)) => u64::from(units.get()) * u64::from(bytes),
            _ => u64::from(scene.dies.facts.geometry.page_bytes),
        };
        self.transfer(scene.now, Class::of(txn.kind), Transfer { from, to: from + length, bytes });
    }
}

/// Returns the meter's place for an operation on a lane.
fn place(scene: &Scene, id: u32) -> Place {
    let lane = scene.lane.plane().map_or(0, |plane| plane as usize + 1);
    (scene.txn(id).die, lane)
}

/// Adds the data-in of a program for a number of planes.
fn bring_in(meter: &mut Meter, scene: &Scene, id: u32, class: Class, (length, planes): (Dur, u64)) {
    let pages = planes * u64::from(scene.dies.facts.pages_of_program(scene.txn(id).front));
    let pages = pages * u64::from(scene.dies.facts.timing.passes());
    let bytes = pages * u64::from(scene.dies.facts.geometry.page_bytes);
    let now = scene.now;
    meter.transfer(now, class, Transfer { from: now, to: now + length, bytes });
}

impl Observe for Budget {
    fn sensing(&mut self, scene: &Scene, id: u32, _: Time) {
        self.sense(scene.txn(id).die, scene.planes);
    }

    fn started(&mut self, scene: &Scene, id: u32, _: Option<(Dur, u64)>) {
        self.run(place(scene, id), scene.txn(id).kind, scene.run(id).planes());
    }

    fn split(&mut self, scene: &Scene, id: u32) {
        let Txn { die, kind, .. } = *scene.txn(id);
        let has_others = scene.unit(die).whole.operation() != NONE;
        Budget::split(self, place(scene, id), kind, has_others);
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        Budget::suspended(self, place(scene, id));
    }

    fn resumed(&mut self, scene: &Scene, id: u32, _: Option<Dur>) {
        Budget::resumed(self, place(scene, id), scene.txn(id).kind, scene.run(id).planes());
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        self.ended(place(scene, id));
    }
}
