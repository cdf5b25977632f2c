//! The host in a timeline: parallel requests, and counters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprieve_base::Time;

use super::Window;
use super::names::{Name, Note};
use super::trace::{CounterUnit, FlowArrow, Trace, Track};

/// A request in a timeline.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its slot in the drive.
    pub slot: u32,
    /// Its number in order of arrival.
    pub number: u64,
    /// Name of its operation.
    pub name: Name,
    /// Its first sector, and its length; `None`: without an address.
    pub range: Option<(u64, u64)>,
}

/// An open request.
#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    arrival: Arrival,
    at: Time,
    /// The track on which it is drawn.
    lane: u32,
}

/// All requests, on as many tracks as are open at once.
pub struct HostTracks {
    group: Track,
    lanes: Vec<Track>,
    /// Free tracks.
    free: BinaryHeap<Reverse<u32>>,
    /// Open requests by slot.
    open: Vec<Option<OpenRequest>>,
    count: u64,
    in_drive: Counter,
}

impl HostTracks {
    pub fn new(trace: &mut Trace, rank: u64) -> HostTracks {
        let group = trace.track("host", None, rank);
        let in_drive = trace.counter("open requests", &group, 0, CounterUnit::Count);
        HostTracks {
            lanes: Vec::new(),
            free: BinaryHeap::new(),
            open: Vec::new(),
            count: 0,
            in_drive: Counter::new(in_drive),
            group,
        }
    }

    /// Returns the number of an open request.
    pub fn number(&self, slot: u32) -> u64 {
        self.open[slot as usize].as_ref().expect("the request is open").arrival.number
    }

    pub fn arrived(&mut self, now: Time, arrival: Arrival, window: Window, trace: &mut Trace) {
        let lane = match self.free.pop() {
            Some(Reverse(lane)) => lane,
            None => {
                let lane = self.lanes.len() as u32;
                self.lanes.push(trace.track("requests", Some(&self.group), u64::from(lane) + 1));
                lane
            }
        };
        let slot = arrival.slot as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, None);
        }
        let before = self.open[slot].replace(OpenRequest { arrival, at: now, lane });
        debug_assert!(before.is_none(), "two requests in one place");
        self.count += 1;
        self.in_drive.set(now, self.count as f64, window, trace);
    }

    pub fn completed(&mut self, now: Time, slot: u32, window: Window, trace: &mut Trace) {
        let open = self.open[slot as usize].take().expect("what completes was open");
        self.free.push(Reverse(open.lane));
        self.count -= 1;
        self.in_drive.set(now, self.count as f64, window, trace);
        if window.shows(open.at, now) {
            let lane = open.lane as usize;
            open.begin(&mut self.lanes[lane], trace);
            trace.end(&mut self.lanes[lane], now);
        }
    }

    /// Ends the timeline at `now`, with open requests.
    pub fn close(&mut self, now: Time, window: Window, trace: &mut Trace) {
        for open in self.open.iter().flatten().filter(|open| window.shows(open.at, now)) {
            open.begin(&mut self.lanes[open.lane as usize], trace);
        }
        self.in_drive.close(window, trace);
    }
}

impl OpenRequest {
    fn begin(&self, track: &mut Track, trace: &mut Trace) {
        let (lba, bytes) = self.arrival.range.unwrap_or_default();
        let notes = [(Note::Request, self.arrival.number), (Note::Lba, lba), (Note::Bytes, bytes)];
        let notes = if self.arrival.range.is_some() { &notes[..] } else { &notes[..1] };
        trace.begin(track, self.at, self.arrival.name, notes, FlowArrow::None);
    }
}

/// A counter, of which the last value of each instant counts.
#[derive(Clone, Debug)]
pub struct Counter {
    track: Track,
    /// The value at the current instant.
    pending: Option<(Time, f64)>,
    drawn: Option<f64>,
}

impl Counter {
    pub fn new(track: Track) -> Counter {
        Counter { track, pending: None, drawn: None }
    }

    /// Sets the value, until another follows at the same instant.
    pub fn set(&mut self, now: Time, value: f64, window: Window, trace: &mut Trace) {
        if self.pending.is_none_or(|(at, _)| at < now) {
            // Draws the value at the start of the timeline.
            if now > window.from {
                self.close(window, trace);
            }
        }
        self.pending = Some((now, value));
    }

    /// Draws the pending value.
    pub fn close(&mut self, window: Window, trace: &mut Trace) {
        let Some((at, value)) = self.pending.take() else { return };
        let at = at.max(window.from);
        if at < window.until && self.drawn != Some(value) {
            self.drawn = Some(value);
            trace.measure(&mut self.track, at, value);
        }
    }
}
