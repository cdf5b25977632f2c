//! A die, or an independent plane, in a timeline: reads, and operations in pieces.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Run, Timing};

use super::Window;
use super::names::{Name, Note};
use super::trace::{Annotation, FlowArrow, Trace, Track};

/// Annotations of a page operation.
#[derive(Clone, Copy, Debug)]
pub struct DrawnWork {
    /// Name.
    pub name: Name,
    /// Number of the host request that waits for it.
    pub request: Option<u64>,
    /// First sector of its logical page.
    pub lba: Option<u64>,
    /// Its address; an erase at page 0.
    pub at: PageAddress,
    /// Pages or blocks of the command.
    pub pages: u64,
    /// Of a block, not of a page.
    pub is_erase: bool,
}

/// A read that senses a page, or holds it.
#[derive(Clone, Copy, Debug)]
struct Read {
    work: DrawnWork,
    start: Time,
    sensed: (Time, Time),
}

/// A program or erase that is not complete.
#[derive(Clone, Copy, Debug)]
struct DrawnOperation {
    work: DrawnWork,
    /// The open slice; `None`: it is suspended.
    piece: Option<Piece>,
    suspensions: u64,
    /// Number of the arrows that join its pieces, from the second on.
    flow: Option<u64>,
}

/// A run of an operation, up to its end or suspension.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Time,
    run: Run,
    /// Step before its phases, and its end.
    prelude: (Name, Time),
    stop: Option<Stop>,
}

/// The suspension of a piece.
#[derive(Clone, Copy, Debug)]
struct Stop {
    name: Name,
    asked: Time,
    free_at: Time,
}

/// A die, or a plane of it, with one operation at a time.
#[derive(Clone, Debug)]
pub struct LaneTrack {
    track: Track,
    read: Option<Read>,
    /// Transfers of the pages of the read.
    outs: Vec<(Time, Time)>,
    /// Operations, each inside the one before it; all but the last are suspended.
    open: Vec<DrawnOperation>,
}

/// Writer of slices for lanes.
pub struct Pen<'a> {
    pub trace: &'a mut Trace,
    pub window: Window,
    /// The phases of operations, if wanted.
    pub phases: Option<&'a Timing>,
    /// Number of arrows.
    pub flows: &'a mut u64,
}

impl LaneTrack {
    pub fn new(track: Track) -> LaneTrack {
        LaneTrack { track, read: None, outs: Vec::new(), open: Vec::new() }
    }

    /// Starts a read, which senses from one instant to another.
    pub fn read(&mut self, work: DrawnWork, start: Time, sensed: (Time, Time)) {
        debug_assert!(self.read.is_none(), "two reads at once in an array");
        self.read = Some(Read { work, start, sensed });
    }

    /// Draws the transfer of a page of the read that started at `start`.
    pub fn page_leaves(&mut self, start: Time, from: Time, to: Time) {
        if self.read.is_some_and(|read| read.start == start) {
            self.outs.push((from, to));
        }
    }

    /// Ends the array time of a read, if there is one.
    pub fn freed(&mut self, now: Time, pen: &mut Pen) {
        let Some(read) = self.read.take() else { return };
        if pen.window.shows(read.start, now) {
            let (track, trace) = (&mut self.track, &mut *pen.trace);
            let (notes, count) = read.work.notes(0);
            trace.begin(track, read.start, read.work.name, &notes[..count], FlowArrow::None);
            trace.slice(track, read.sensed, Name::Sense, &[]);
            for out in &self.outs {
                trace.slice(track, *out, Name::DataOut, &[]);
            }
            trace.end(track, now);
        }
        self.outs.clear();
    }

    /// Starts a program or erase, perhaps inside a suspended one.
    pub fn begin(&mut self, now: Time, work: DrawnWork, run: Run, prelude: Name) {
        let piece = Piece::new(now, run, prelude);
        self.open.push(DrawnOperation { work, piece: Some(piece), suspensions: 0, flow: None });
    }

    /// Resumes the operation suspended last.
    pub fn resume(&mut self, now: Time, run: Run, prelude: Name) {
        let operation = self.open.last_mut().expect("something is suspended");
        operation.piece = Some(Piece::new(now, run, prelude));
    }

    /// Stops the running operation for a request, which is part of `run`.
    pub fn stop(&mut self, asked: Time, free_at: Time, run: Run, breaks_off: bool) {
        let running = self.open.last_mut().and_then(|operation| operation.piece.as_mut());
        let piece = running.expect("something runs that can be stopped");
        let (prelude, until) = piece.prelude;
        // An interruptible set-up has voltages to reset; data and restores have none.
        let in_phase = asked > until || prelude == Name::SetUp && free_at != until;
        let name = match breaks_off && in_phase {
            true => Name::VoltageReset,
            false => Name::ToSuspensionPoint,
        };
        piece.run = run;
        piece.stop = Some(Stop { name, asked, free_at });
    }

    /// Returns the run of the running operation.
    pub fn run(&self) -> Run {
        let running = self.open.last().and_then(|operation| operation.piece);
        running.expect("something runs").run
    }

    /// Suspends the running operation.
    pub fn suspended(&mut self, now: Time, pen: &mut Pen) {
        let operation = self.open.last_mut().expect("something ran");
        if operation.flow.is_none() {
            *pen.flows += 1;
            operation.flow = Some(*pen.flows);
        }
        let flow = operation.flow.map_or(FlowArrow::None, FlowArrow::Through);
        operation.write(now, flow, &mut self.track, pen);
        operation.piece = None;
        operation.suspensions += 1;
    }

    /// Completes the running operation.
    pub fn ended(&mut self, now: Time, pen: &mut Pen) {
        let operation = self.open.pop().expect("something ran");
        let flow = operation.flow.map_or(FlowArrow::None, FlowArrow::Last);
        operation.write(now, flow, &mut self.track, pen);
    }

    /// Draws open reads and operations at the end of the timeline.
    pub fn close(&mut self, now: Time, pen: &mut Pen) {
        let read = self.read.take().map(|read| (read.start, read.work, 0, FlowArrow::None));
        let running = self.open.pop().and_then(|operation| {
            let flow = operation.flow.map_or(FlowArrow::None, FlowArrow::Last);
            Some((operation.piece?.from, operation.work, operation.suspensions, flow))
        });
        let Some((from, work, suspensions, flow)) = read.or(running) else { return };
        if pen.window.shows(from, now) {
            let (notes, count) = work.notes(suspensions);
            pen.trace.begin(&mut self.track, from, work.name, &notes[..count], flow);
        }
    }
}

impl DrawnWork {
    fn notes(&self, suspensions: u64) -> ([Annotation; 7], usize) {
        let mut notes = [(Note::Plane, u64::from(self.at.plane)); 7];
        notes[1] = (Note::Block, u64::from(self.at.block));
        let mut count = 2;
        let mut add = |note, value: Option<u64>| {
            if let Some(value) = value {
                notes[count] = (note, value);
                count += 1;
            }
        };
        add(Note::Page, (!self.is_erase).then_some(u64::from(self.at.page)));
        add(Note::Request, self.request);
        add(Note::Lba, self.lba);
        add(Note::Pages, (self.pages > 1).then_some(self.pages));
        add(Note::Suspensions, (suspensions > 0).then_some(suspensions));
        (notes, count)
    }
}

impl Piece {
    fn new(from: Time, run: Run, prelude: Name) -> Piece {
        Piece { from, run, prelude: (prelude, run.first().end), stop: None }
    }
}

impl DrawnOperation {
    /// Draws the piece that ends at `now`.
    fn write(&self, now: Time, flow: FlowArrow, track: &mut Track, pen: &mut Pen) {
        let piece = self.piece.as_ref().expect("what is over has run");
        if !pen.window.shows(piece.from, now) {
            return;
        }
        let (notes, count) = self.work.notes(self.suspensions);
        pen.trace.begin(track, piece.from, self.work.name, &notes[..count], flow);
        let mut parts =
            DrawnParts { stop: piece.stop, in_stop: false, now, track, trace: pen.trace };
        let (name, until) = piece.prelude;
        parts.draw(piece.from, until, name);
        if let Some(timing) = pen.phases {
            let mut segment = piece.run.first();
            while let Some(next) = piece.run.after(&segment, timing) {
                if let Some(activity) = next.activity {
                    parts.draw(segment.end, next.end, Name::of_phase(activity));
                }
                segment = next;
            }
        }
        parts.finish();
        pen.trace.end(track, now);
    }
}

/// Slices inside a piece, in order: its phases, and from the request on its suspension.
struct DrawnParts<'a> {
    stop: Option<Stop>,
    /// The slice of the stop has started.
    in_stop: bool,
    /// The end of the piece.
    now: Time,
    track: &'a mut Track,
    trace: &'a mut Trace,
}

impl DrawnParts<'_> {
    /// Draws a phase up to its end; the part after the request lies inside the stop, unless the
    /// stop aborts it.
    fn draw(&mut self, from: Time, to: Time, name: Name) {
        let to = to.min(self.now);
        let Some(stop) = self.stop.filter(|stop| stop.asked < to) else {
            self.slice(from, to, name);
            return;
        };
        self.slice(from, stop.asked, name);
        self.enter(&stop);
        if stop.name != Name::VoltageReset {
            self.slice(from.max(stop.asked), to, name);
        }
    }

    fn slice(&mut self, from: Time, to: Time, name: Name) {
        if from < to {
            self.trace.slice(self.track, (from, to), name, &[]);
        }
    }

    fn enter(&mut self, stop: &Stop) {
        if !self.in_stop {
            self.trace.begin(self.track, stop.asked, stop.name, &[], FlowArrow::None);
            self.in_stop = true;
        }
    }

    /// Draws the rest of the stop.
    fn finish(&mut self) {
        let Some(stop) = self.stop else { return };
        if self.in_stop || stop.asked < stop.free_at {
            self.enter(&stop);
            self.trace.end(self.track, stop.free_at);
        }
    }
}
