//! The timeline of a run: dies, channels and requests, as a trace for Perfetto.

mod host;
mod lane;
mod names;
mod proto;
mod trace;

use reprieve_base::{Dur, Geometry, SECTOR_BYTES, Time};
use reprieve_nand::{Run, Timing};
use serde_json::{Value, json};

use crate::power::PowerStep;
pub use host::Arrival;
use host::{Counter, HostTracks};
pub use lane::DrawnWork;
use lane::{LaneTrack, Pen};
pub use names::Name;
use names::Note;
use trace::{CounterUnit, Trace, Track};

/// Maximum of slices, which the viewer opens without trouble.
pub const SLICES_MAX: u64 = 5_000_000;

/// Part of a run in its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start: earlier slices are omitted.
    pub from: Time,
    /// End: slices that start then or later are omitted.
    pub until: Time,
    /// Whether phases of programs and erases are drawn.
    pub phases: bool,
    /// Maximum of slices, at which the timeline is cut.
    pub slices_max: u64,
}

impl Window {
    /// The whole run, without phases.
    pub const ALL: Window =
        Window { from: Time::ZERO, until: Time::NEVER, phases: false, slices_max: SLICES_MAX };

    fn shows(&self, from: Time, to: Time) -> bool {
        from < self.until && (to > self.from || from >= self.from)
    }
}

/// A timeline in progress.
pub struct Timeline {
    window: Window,
    timing: Timing,
    trace: Trace,
    flows: u64,
    /// Dies, or independent planes.
    lanes: Vec<LaneTrack>,
    lanes_per_die: u32,
    channels: Vec<Track>,
    host: HostTracks,
    /// Number of page operations that wait for each die.
    waiting: Vec<Counter>,
    /// Dies for which it may have changed.
    touched: Vec<u32>,
    power: Option<Counter>,
    page_sectors: u64,
    ended: Option<Ended>,
}

/// The end of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    at: Time,
    was_cut: bool,
}

impl Timeline {
    /// Creates the timeline of a drive before its first event.
    pub fn new(
        window: Window,
        geometry: &Geometry,
        timing: &Timing,
        planes_apart: bool,
        has_power: bool,
    ) -> Timeline {
        let mut trace = Trace::new();
        let host = HostTracks::new(&mut trace, 0);
        let dies = trace.track("dies", None, 1);
        let mut lanes = Vec::new();
        let lanes_per_die = if planes_apart { geometry.planes_per_die } else { 1 };
        for die in 0..geometry.dies() {
            let own = trace.track(&format!("die {die}"), Some(&dies), u64::from(die));
            if !planes_apart {
                lanes.push(LaneTrack::new(own));
                continue;
            }
            lanes.extend((0..lanes_per_die).map(|plane| {
                let name = format!("die {die} plane {plane}");
                LaneTrack::new(trace.track(&name, Some(&own), u64::from(plane)))
            }));
        }
        let group = trace.track("channels", None, 2);
        let channels = (0..geometry.channels)
            .map(|it| trace.track(&format!("channel {it}"), Some(&group), u64::from(it)))
            .collect();
        let group = trace.track("waiting page operations", None, 3);
        let waiting = (0..geometry.dies())
            .map(|die| {
                let name = format!("waiting for die {die}");
                Counter::new(trace.counter(&name, &group, u64::from(die), CounterUnit::Count))
            })
            .collect();
        let power = has_power.then(|| {
            let group = trace.track("power", None, 4);
            Counter::new(trace.counter("power of all dies", &group, 0, CounterUnit::Milliwatts))
        });
        Timeline {
            window,
            timing: *timing,
            trace,
            flows: 0,
            lanes,
            lanes_per_die,
            channels,
            host,
            waiting,
            touched: Vec::new(),
            power,
            page_sectors: u64::from(geometry.page_bytes) / SECTOR_BYTES,
            ended: None,
        }
    }

    /// Returns the first sector of a logical page.
    pub fn lba_of(&self, lpn: u32) -> u64 {
        u64::from(lpn) * self.page_sectors
    }

    /// Returns the number of an open request.
    pub fn request(&self, slot: u32) -> u64 {
        self.host.number(slot)
    }

    fn lane(&mut self, die: u32, plane: u32) -> (&mut LaneTrack, Pen<'_>) {
        let lane = match self.lanes_per_die {
            1 => die,
            planes => die * planes + plane,
        };
        let phases = self.window.phases.then_some(&self.timing);
        let (trace, flows) = (&mut self.trace, &mut self.flows);
        let pen = Pen { trace, window: self.window, phases, flows };
        (&mut self.lanes[lane as usize], pen)
    }

    /// Whether an operation on several planes is drawn on the track of each.
    pub fn planes_apart(&self) -> bool {
        self.lanes_per_die > 1
    }

    /// Whether the timeline has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Starts a read.
    pub fn read(&mut self, die: u32, work: DrawnWork, start: Time, sensed: (Time, Time)) {
        self.lane(die, work.at.plane).0.read(work, start, sensed);
        self.touch(die);
    }

    /// Draws the transfer of a page of the read that started at `start`.
    pub fn page_leaves(&mut self, (die, plane): (u32, u32), start: Time, (from, to): (Time, Time)) {
        self.lane(die, plane).0.page_leaves(start, from, to);
    }

    /// Ends the array time of a read on a die, or on a plane.
    pub fn freed(&mut self, die: u32, plane: u32, now: Time) {
        let (lane, mut pen) = self.lane(die, plane);
        lane.freed(now, &mut pen);
    }

    /// Starts a program or erase.
    pub fn begin(&mut self, die: u32, now: Time, work: DrawnWork, run: Run, prelude: Name) {
        self.lane(die, work.at.plane).0.begin(now, work, run, prelude);
        self.touch(die);
    }

    /// Resumes the operation suspended last on a die or plane.
    pub fn resume(&mut self, (die, plane): (u32, u32), now: Time, run: Run, prelude: Name) {
        self.lane(die, plane).0.resume(now, run, prelude);
    }

    /// Returns the run of the operation on a die or plane.
    pub fn run(&mut self, die: u32, plane: u32) -> Run {
        self.lane(die, plane).0.run()
    }

    /// Stops the operation on a die or plane for a request, which is part of `run`; `breaks_off`: a
    /// phase is aborted with a voltage reset.
    pub fn stop(
        &mut self,
        (die, plane): (u32, u32),
        (asked, free_at): (Time, Time),
        run: Run,
        breaks_off: bool,
    ) {
        self.lane(die, plane).0.stop(asked, free_at, run, breaks_off);
    }

    /// Completes or suspends the operation on a die or plane.
    pub fn left(&mut self, (die, plane): (u32, u32), now: Time, is_complete: bool) {
        let (lane, mut pen) = self.lane(die, plane);
        if is_complete {
            lane.ended(now, &mut pen);
        } else {
            lane.suspended(now, &mut pen);
        }
    }

    /// Draws a transfer.
    pub fn transfer(&mut self, channel: usize, die: u32, name: Name, from: Time, length: Dur) {
        let to = from + length;
        if length > Dur::ZERO && self.window.shows(from, to) {
            let notes = [(Note::Die, u64::from(die))];
            self.trace.slice(&mut self.channels[channel], (from, to), name, &notes);
        }
    }

    /// Starts a request.
    pub fn arrived(&mut self, now: Time, arrival: Arrival) {
        self.host.arrived(now, arrival, self.window, &mut self.trace);
    }

    /// Completes a request.
    pub fn completed(&mut self, now: Time, slot: u32) {
        self.host.completed(now, slot, self.window, &mut self.trace);
    }

    /// Notes that the queues of a die may have changed.
    pub fn touch(&mut self, die: u32) {
        self.touched.push(die);
    }

    /// Takes the list of dies whose queues may have changed.
    pub fn take_touched(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.touched)
    }

    /// Counts page operations that wait for a die; the list of dies is returned at the end.
    pub fn waiting(&mut self, now: Time, die: u32, count: u64) {
        self.waiting[die as usize].set(now, count as f64, self.window, &mut self.trace);
    }

    /// Returns the list of dies, to be reused at the next instant.
    pub fn give_back(&mut self, mut touched: Vec<u32>) {
        touched.clear();
        self.touched = touched;
    }

    /// Adds steps of the power of all dies.
    pub fn power(&mut self, steps: &[PowerStep]) {
        let Some(counter) = &mut self.power else { return };
        for step in steps {
            let power_mw = (step.core_uw + step.io_uw) as f64 / 1000.0;
            counter.set(step.from, power_mw, self.window, &mut self.trace);
        }
    }

    /// Ends an instant: a full timeline ends.
    pub fn instant(&mut self, now: Time) {
        if self.trace.slices >= self.window.slices_max {
            self.end(now, true);
        }
    }

    /// Marks the start of the statistics: a counter that is 0 before and 1 from then on.
    #[cold]
    pub fn measured_from(&mut self, at: Time) {
        let group = self.trace.track("measurement", None, 5);
        let track = self.trace.counter("measured", &group, 0, CounterUnit::Count);
        let mut measured = Counter::new(track);
        for (from, value) in [(Time::ZERO, 0.0), (at, 1.0)] {
            measured.set(from, value, self.window, &mut self.trace);
        }
        measured.close(self.window, &mut self.trace);
    }

    /// Ends the run; unfinished operations are drawn as open.
    pub fn finish(&mut self, now: Time) {
        if self.ended.is_none() {
            self.end(now, false);
        }
    }

    #[cold]
    fn end(&mut self, now: Time, was_cut: bool) {
        let phases = self.window.phases.then_some(&self.timing);
        for lane in &mut self.lanes {
            let (trace, flows) = (&mut self.trace, &mut self.flows);
            lane.close(now, &mut Pen { trace, window: self.window, phases, flows });
        }
        self.host.close(now, self.window, &mut self.trace);
        for counter in self.waiting.iter_mut().chain(&mut self.power) {
            counter.close(self.window, &mut self.trace);
        }
        self.ended = Some(Ended { at: now, was_cut });
    }

    /// Takes the bytes of the trace since the last call; all of them at its end.
    pub fn take(&mut self) -> Vec<u8> {
        self.trace.take(self.ended.is_some())
    }

    /// Returns the section of the summary.
    pub fn summary(&self) -> Value {
        let cut = self.ended.filter(|ended| ended.was_cut);
        json!({
            "slices": self.trace.slices,
            "slices_max": self.window.slices_max,
            "cut_ns": cut.map(|ended| ended.at.ns()),
        })
    }
}
