//! What those who listen are told of dies and channels: the meter of power and the timeline.

use reprieve_base::{Dur, Time};
use reprieve_nand::{EraseMode, ProgramSuspension, Run};

use super::Flash;
use super::lane::LaneId;
use crate::power::Class;
use crate::timeline::{Arrival, Name, Timeline, Window, Work};
use crate::txn::{Kind, NONE, Txn};

impl Flash {
    /// Begins to draw a timeline; nothing has happened yet.
    pub fn draw(&mut self, window: Window) {
        let planes_apart = self.parallelism.independent_plane_reads;
        let has_power = self.meter.is_some();
        let timeline = Timeline::new(window, &self.geometry, &self.timing, planes_apart, has_power);
        if let Some(meter) = &mut self.meter {
            meter.keep_trace();
        }
        self.timeline = Some(Box::new(timeline));
        self.listens = true;
    }

    /// The timeline, as long as it is drawn.
    #[inline]
    fn drawn(&mut self) -> Option<&mut Timeline> {
        self.timeline.as_deref_mut().filter(|timeline| !timeline.has_ended())
    }

    /// Whether a timeline is drawn, or was.
    #[inline]
    pub fn is_drawn(&self) -> bool {
        self.timeline.is_some()
    }

    /// The timeline, drawn or not.
    pub fn timeline(&mut self) -> Option<&mut Timeline> {
        self.timeline.as_deref_mut()
    }

    /// The timeline, for those who only look.
    pub fn timeline_ref(&self) -> Option<&Timeline> {
        self.timeline.as_deref()
    }

    /// A request arrives at the drive.
    #[cold]
    pub fn tell_arrival(&mut self, now: Time, arrival: Arrival) {
        if let Some(timeline) = self.drawn() {
            timeline.arrived(now, arrival);
        }
    }

    /// A request is complete.
    #[cold]
    pub fn tell_completion(&mut self, now: Time, slot: u32) {
        if let Some(timeline) = self.drawn() {
            timeline.completed(now, slot);
        }
    }

    /// The pages of a read, and of those that follow it, are sensed until `until`.
    #[cold]
    pub(super) fn tell_sense(&mut self, id: u32, now: Time, until: Time) {
        if self.meter.is_some() {
            self.meter_sense(id, now, until);
        }
        if self.drawn().is_none() {
            return;
        }
        let (work, die) = (self.work(id), self.txns[id].die);
        let command = self.timing.command * self.planes_of(id);
        let channel = self.channel_of(die);
        let Some(timeline) = self.drawn() else { return };
        timeline.transfer(channel, die, Name::Command, now, command);
        timeline.read(die, work, now, (now + command, until));
    }

    /// What is wanted of a page that is sensed crosses the channel.
    #[cold]
    pub(super) fn tell_out(&mut self, id: u32, now: Time, from: Time, length: Dur) {
        if self.meter.is_some() {
            self.meter_out(id, now, from, length);
        }
        let Txn { die, at, start, .. } = self.txns[id];
        let channel = self.channel_of(die);
        let Some(timeline) = self.drawn() else { return };
        timeline.transfer(channel, die, Name::DataOut, from, length);
        timeline.page_leaves((die, at.plane), start, (from, from + length));
    }

    /// The array of a die, or of one of its planes that read by themselves, is free of a read.
    #[cold]
    pub(super) fn tell_freed(&mut self, die: u32, plane: u32, now: Time) {
        if let Some(timeline) = self.drawn() {
            timeline.freed(die, plane, now);
        }
    }

    /// A page has left a die, or gone into its register: what it lay in is free, unless there is
    /// another.
    #[cold]
    pub(super) fn tell_page_left(&mut self, die: u32, plane: u32, now: Time) {
        let unit = &self.units[die as usize].die;
        let is_free = match self.parallelism.independent_plane_reads {
            true => unit.plane_is_free(plane),
            false => unit.is_free(),
        };
        if is_free {
            self.tell_freed(die, plane, now);
        }
    }

    /// The page of the next program comes in while one runs.
    fn tell_load(&mut self, id: u32, now: Time, (length, planes): (Dur, u64)) {
        let Txn { die, kind, .. } = self.txns[id];
        if self.meter.is_some() {
            self.meter_in(Class::of(kind), now, length, planes);
        }
        let channel = self.channel_of(die);
        let Some(timeline) = self.drawn() else { return };
        timeline.transfer(channel, die, Name::DataIn, now, length);
        timeline.touch(die);
    }

    /// A program or erase starts, or its data comes in while another one runs.
    #[cold]
    pub(super) fn tell_start(&mut self, id: u32, loads: bool, now: Time, data_in: (Dur, u64)) {
        match loads {
            true => self.tell_load(id, now, data_in),
            false => self.tell_begin(id, now, Some(data_in)),
        }
    }

    /// A program or erase begins, with its data unless that has come before.
    #[cold]
    pub(super) fn tell_begin(&mut self, id: u32, now: Time, data_in: Option<(Dur, u64)>) {
        if self.meter.is_some() {
            self.meter_begin(id, now, data_in);
        }
        let Txn { die, kind, .. } = self.txns[id];
        let (channel, run) = (self.channel_of(die), self.run_of((die, LaneId::WHOLE), now));
        let (prelude, transfer) = match kind {
            Kind::Erase => (Name::Command, Name::Command),
            Kind::GcCopy => (Name::Sense, Name::Command),
            _ => (Name::DataIn, Name::DataIn),
        };
        let Some(timeline) = self.drawn() else { return };
        if let Some((length, _)) = data_in {
            timeline.transfer(channel, die, transfer, now, length);
        }
        let apart = timeline.planes_apart();
        let mut each = id;
        let mut last = None;
        while each != NONE {
            let plane = self.txns[each].at.plane;
            // Pages of one wordline follow each other.
            if last != Some(plane) && (last.is_none() || apart) {
                let work = self.work(each);
                if let Some(timeline) = self.drawn() {
                    timeline.begin(die, now, work, run, prelude);
                }
            }
            last = Some(plane);
            each = self.txns[each].next;
        }
    }

    /// The operation of a lane goes on; `transfer` of its data crosses the channel again.
    #[cold]
    pub(super) fn tell_resume(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        transfer: Option<Dur>,
    ) {
        if self.meter.is_some() {
            self.meter_resume(die, now, transfer);
        }
        let (channel, run) = (self.channel_of(die), self.run_of((die, lane), now));
        let id = self.units[die as usize].lane(lane).operation();
        let prelude = self.resumption(id, transfer.is_some());
        if let (Some(timeline), Some(length)) = (self.drawn(), transfer) {
            timeline.transfer(channel, die, Name::DataIn, now, length);
        }
        self.on_planes(id, |timeline, plane| timeline.resume((die, plane), now, run, prelude));
    }

    /// How an operation begins that goes on.
    fn resumption(&self, id: u32, comes_again: bool) -> Name {
        match self.txns[id].kind {
            Kind::Erase => Name::SetUp,
            _ if comes_again => Name::DataIn,
            _ => Name::Restore,
        }
    }

    /// The operation of a lane has been asked to make way and does so at `free_at`.
    #[cold]
    pub(super) fn tell_stop(&mut self, (die, lane): (u32, LaneId), now: Time, free_at: Time) {
        if self.meter.is_some() {
            self.meter_stop(die, now, free_at);
        }
        let unit = &self.units[die as usize];
        let (id, part) = (unit.lane(lane).operation(), unit.die.part().clone());
        let breaks_off = self.breaks_off(id, free_at - now);
        self.on_planes(id, |timeline, plane| {
            let run = timeline.run(die, plane).stopped(now, free_at, &part);
            timeline.stop((die, plane), (now, free_at), run, breaks_off);
        });
    }

    /// Whether an operation that is suspended in a phase breaks it off, or sets its voltages back
    /// as it does at every end of one, when that takes so long.
    fn breaks_off(&self, id: u32, length: Dur) -> bool {
        let Txn { die, kind, .. } = self.txns[id];
        let suspension = &self.units[die as usize].die.part().suspension;
        let reset = self.timing.voltage_reset;
        match (kind, suspension.erase_mode) {
            (Kind::Erase, EraseMode::Immediate) => length <= reset,
            (Kind::Erase, EraseMode::Timeout(_)) => length == reset,
            (Kind::Erase, EraseMode::Deferred) => false,
            _ => suspension.program == ProgramSuspension::Ipc && length <= reset,
        }
    }

    /// The operation of `id`, which was that of a lane, is suspended or complete.
    #[cold]
    pub(super) fn tell_left(&mut self, id: u32, now: Time, is_complete: bool) {
        let die = self.txns[id].die;
        if self.meter.is_some() {
            self.meter_left(die, now, is_complete);
        }
        self.on_planes(id, |timeline, plane| timeline.left((die, plane), now, is_complete));
    }

    /// Calls for the track of each plane on which `id` and what follows it works, or of its die.
    fn on_planes(&mut self, id: u32, mut call: impl FnMut(&mut Timeline, u32)) {
        let timeline = self.timeline.as_deref_mut();
        let Some(timeline) = timeline.filter(|timeline| !timeline.has_ended()) else { return };
        let mut each = id;
        let mut last = None;
        while each != NONE {
            let Txn { at, next, .. } = self.txns[each];
            if last != Some(at.plane) && (last.is_none() || timeline.planes_apart()) {
                call(timeline, at.plane);
            }
            last = Some(at.plane);
            each = next;
        }
    }

    fn run_of(&self, (die, lane): (u32, LaneId), now: Time) -> Run {
        self.units[die as usize].run(lane, now).expect("a program or erase runs")
    }

    /// What a timeline says of a command that begins with `id`.
    fn work(&self, id: u32) -> Work {
        let txn = &self.txns[id];
        let timeline = self.timeline_ref().expect("the caller has one");
        let has_lba =
            !matches!(txn.kind, Kind::Erase | Kind::MapRead | Kind::MapUpdate | Kind::MapProgram);
        let (mut pages, mut each) = (0, id);
        while each != NONE {
            let other = &self.txns[each];
            pages += u64::from(!timeline.planes_apart() || other.at.plane == txn.at.plane);
            each = other.next;
        }
        Work {
            name: Name::of_kind(txn.kind),
            request: (txn.request != NONE).then(|| timeline.request(txn.request)),
            lba: (has_lba && txn.lpn != NONE).then(|| timeline.lba_of(txn.lpn)),
            at: txn.at,
            pages,
            is_erase: txn.kind == Kind::Erase,
        }
    }

    /// Everything that decides at this instant is about to: what waits for it has changed.
    #[cold]
    pub(super) fn tell_touched(&mut self) {
        let dies = std::mem::take(&mut self.dirty_dies);
        if let Some(timeline) = self.drawn() {
            dies.iter().for_each(|die| timeline.touch(*die));
        }
        self.dirty_dies = dies;
    }

    /// The instant is over.
    #[cold]
    pub(super) fn tell_instant(&mut self, now: Time) {
        let Some(timeline) = self.drawn() else { return };
        let touched = timeline.take_touched();
        for die in &touched {
            let unit = &self.units[*die as usize];
            let queues = [&unit.reads, &unit.writes].map(|queue| queue.iter(&self.txns).count());
            let queued = queues.iter().sum::<usize>() as u64;
            if let Some(timeline) = self.drawn() {
                timeline.waiting(now, *die, queued);
            }
        }
        let steps = self.meter.as_mut().and_then(|meter| meter.take_steps(4096));
        let Some(timeline) = self.drawn() else { return };
        timeline.give_back(touched);
        timeline.power(&steps.unwrap_or_default());
        timeline.instant(now);
    }

    /// The run is over.
    pub fn end_timeline(&mut self, now: Time) {
        let steps = self.meter.as_mut().and_then(|meter| {
            meter.advance(now);
            meter.take_steps(1)
        });
        let Some(timeline) = self.drawn() else { return };
        timeline.power(&steps.unwrap_or_default());
        timeline.finish(now);
    }
}
