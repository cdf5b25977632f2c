//! Slices of the timeline for events.

use reprieve_base::{Dur, Time};
use reprieve_nand::{EraseMode, ProgramSuspension};
use reprieve_observe::timeline::{Arrival, DrawnWork, Name, Timeline};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::{Observe, Scene};

impl Observe for Timeline {
    fn sensing(&mut self, scene: &Scene, id: u32, until: Time) {
        let die = scene.txn(id).die;
        let command = scene.dies.facts.timing.command * u64::from(scene.planes);
        self.transfer(scene.channel_of(die), die, Name::Command, scene.now, command);
        let work = work(self, scene, id);
        self.read(die, work, scene.now, (scene.now + command, until));
    }

    fn started(&mut self, scene: &Scene, id: u32, data_in: Option<(Dur, u64)>) {
        let Txn { die, kind, .. } = *scene.txn(id);
        let (prelude, transfer) = match kind {
            Kind::Erase => (Name::Command, Name::Command),
            Kind::GcCopy => (Name::Sense, Name::Command),
            _ => (Name::DataIn, Name::DataIn),
        };
        if let Some((length, _)) = data_in {
            self.transfer(scene.channel_of(die), die, transfer, scene.now, length);
        }
        let run = scene.run(id);
        each_track(self, scene, id, |timeline, first, _| {
            let work = work(timeline, scene, first);
            timeline.begin(die, scene.now, work, run, prelude);
        });
    }

    fn loaded(&mut self, scene: &Scene, id: u32, (length, _): (Dur, u64)) {
        let die = scene.txn(id).die;
        self.transfer(scene.channel_of(die), die, Name::DataIn, scene.now, length);
        self.touch(die);
    }

    fn suspending(&mut self, scene: &Scene, id: u32, free_at: Time) {
        let (now, die) = (scene.now, scene.txn(id).die);
        let breaks_off = breaks_off(scene, id, free_at - now);
        let part = scene.unit(die).die.part();
        each_track(self, scene, id, |timeline, _, plane| {
            let run = timeline.run(die, plane).stopped(now, free_at, part);
            timeline.stop((die, plane), (now, free_at), run, breaks_off);
        });
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        left(self, scene, id, false);
    }

    fn resumed(&mut self, scene: &Scene, id: u32, data_in: Option<Dur>) {
        let (now, Txn { die, kind, .. }) = (scene.now, *scene.txn(id));
        let prelude = match kind {
            Kind::Erase => Name::SetUp,
            _ if data_in.is_some() => Name::DataIn,
            _ => Name::Restore,
        };
        if let Some(length) = data_in {
            self.transfer(scene.channel_of(die), die, Name::DataIn, now, length);
        }
        let run = scene.run(id);
        each_track(self, scene, id, |timeline, _, plane| {
            timeline.resume((die, plane), now, run, prelude);
        });
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        left(self, scene, id, true);
    }

    fn transferred(&mut self, scene: &Scene, id: u32, from: Time, length: Dur) {
        let Txn { die, at, start, .. } = *scene.txn(id);
        self.transfer(scene.channel_of(die), die, Name::DataOut, from, length);
        self.page_leaves((die, at.plane), start, (from, from + length));
    }

    fn page_left(&mut self, scene: &Scene, die: u32, plane: u32) {
        let unit = &scene.unit(die).die;
        let is_free = match scene.dies.facts.parallelism.independent_plane_reads {
            true => unit.plane_reads().is_free(plane),
            false => unit.is_free(),
        };
        if is_free {
            self.freed(die, plane, scene.now);
        }
    }

    fn request_arrived(&mut self, now: Time, arrival: Arrival) {
        self.arrived(now, arrival);
    }

    fn request_done(&mut self, now: Time, slot: u32) {
        Timeline::completed(self, now, slot);
    }
}

fn left(timeline: &mut Timeline, scene: &Scene, id: u32, is_complete: bool) {
    let (now, die) = (scene.now, scene.txn(id).die);
    each_track(timeline, scene, id, |timeline, _, plane| {
        timeline.left((die, plane), now, is_complete);
    });
}

/// Calls for the track of each plane on which a command works, or of its die, with the first
/// transaction there.
fn each_track(
    timeline: &mut Timeline,
    scene: &Scene,
    id: u32,
    mut call: impl FnMut(&mut Timeline, u32, u32),
) {
    let mut each = id;
    let mut last = None;
    while each != NONE {
        let Txn { at, next, .. } = *scene.txn(each);
        // Pages of one wordline follow each other.
        if last != Some(at.plane) && (last.is_none() || timeline.planes_apart()) {
            call(timeline, each, at.plane);
        }
        last = Some(at.plane);
        each = next;
    }
}

/// Whether the suspension of an operation aborts its phase or resets its voltages, as every end of
/// a phase does, in a time of its own.
fn breaks_off(scene: &Scene, id: u32, length: Dur) -> bool {
    let Txn { die, kind, .. } = *scene.txn(id);
    let suspension = &scene.unit(die).die.part().suspension;
    let reset = scene.dies.facts.timing.voltage_reset;
    match (kind, suspension.erase_mode) {
        (Kind::Erase, EraseMode::Immediate) => length <= reset,
        (Kind::Erase, EraseMode::Timeout(_)) => length == reset,
        (Kind::Erase, EraseMode::Deferred) => false,
        _ => suspension.program == ProgramSuspension::Ipc && length <= reset,
    }
}

/// Returns the annotations of a command that begins with `id`.
fn work(timeline: &Timeline, scene: &Scene, id: u32) -> DrawnWork {
    let txn = scene.txn(id);
    let has_lba =
        !matches!(txn.kind, Kind::Erase | Kind::MapRead | Kind::MapUpdate | Kind::MapProgram);
    let is_shown = |other: &&Txn| !timeline.planes_apart() || other.at.plane == txn.at.plane;
    DrawnWork {
        name: Name::of_kind(txn.kind),
        request: (txn.request != NONE).then(|| timeline.request(txn.request)),
        lba: (has_lba && txn.lpn != NONE).then(|| timeline.lba_of(txn.lpn)),
        at: txn.at,
        pages: scene.command(id).filter(is_shown).count() as u64,
        is_erase: txn.kind == Kind::Erase,
    }
}
