//! The meter: power of all dies and channels, phase by phase.

mod runs;

use std::sync::Arc;

use reprieve_base::event::{Event, EventQueue, Schedule, Words};
use reprieve_base::{Archive, Dur, Slab, Time, parts};
use reprieve_config::Power;
use reprieve_nand::{ACTIVITIES, Activity, CorePower, Part, Run, Segment};

use super::drawn::Drawn;
use super::ledger::{Ledger, OpenOperation};
use super::report::{PowerReport, STATES};
use super::series::{PowerSeries, PowerStep};
use super::{AtWork, Class, Commands, Sensing, Transfer, share};

/// Changes of power at an instant.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
enum Change {
    SenseBegins { die: u32, class: Class, sensing: Sensing },
    SenseEnds { die: u32, class: Class, sensing: Sensing },
    TransferBegins { transfer: Transfer },
    TransferEnds { class: Class, transfer: Transfer },
}

/// A scheduled change.
#[derive(Clone, Copy, Debug)]
enum DueChange {
    /// A change by its index.
    At(u32),
    /// The end of a segment of a lane's run; stale after the start of another run.
    Segment { place: Place, run: u32 },
}

impl Event for DueChange {
    #[inline]
    fn words(self) -> Words {
        match self {
            DueChange::At(place) => [u32::MAX, place, 0],
            DueChange::Segment { place: (die, lane), run } => [lane as u32, die, run],
        }
    }

    #[inline]
    fn from_words([lane, first, run]: Words) -> DueChange {
        match lane {
            u32::MAX => DueChange::At(first),
            lane => DueChange::Segment { place: (first, lane as usize), run },
        }
    }
}

/// A die, and a lane of it: 0 for all its planes, n for plane n - 1 after it was split off.
pub type Place = (u32, usize);

/// State of a die for the meter.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Die {
    /// Start of the current state.
    since: Time,
    /// Senses, and those of copybacks among them.
    senses: Commands,
    copies: Commands,
    /// By number, up to the highest split-off plane.
    lanes: Vec<MeteredLane>,
}

/// A lane of a die.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct MeteredLane {
    /// The current run, its segment, and its power above an idle die.
    run: Option<(Run, Segment)>,
    run_uw: u64,
    /// Counts runs, and stops of them.
    runs: u32,
    page_type: usize,
    /// Operations that are not complete; the last runs or was suspended last.
    open: Vec<OpenOperation>,
    suspended: u32,
}

impl Die {
    fn suspended(&self) -> u32 {
        self.lanes.iter().map(|lane| lane.suspended).sum()
    }
}

/// Power of dies and channels, and its integral.
#[derive(Clone, Debug)]
pub struct Meter {
    power: CorePower,
    resume_fj: u64,
    bit_fj: u64,
    volts: [Option<f64>; 2],
    part: Arc<Part>,
    dies: Vec<Die>,
    due: EventQueue<DueChange>,
    changes: Slab<Change>,
    drawn: Drawn,
    state_ns: [u128; STATES],
    active_ns: [u128; ACTIVITIES],
    suspended_ns: u128,
    ledger: Ledger,
}

impl Meter {
    /// Saves or restores the state that changes.
    pub fn archive(&mut self, archive: &mut Archive) {
        self.due.archive(archive);
        parts!(archive; self.dies, self.changes, self.drawn, self.state_ns, self.active_ns);
        parts!(archive; self.suspended_ns);
        self.ledger.archive(archive);
    }

    /// Creates the meter of idle dies.
    pub fn new(power: &Power, part: &Arc<Part>, dies: u32) -> Meter {
        let (core, timing) = (power.core(), &part.timing);
        // As in the drive: a busy die has about two changes for each read time.
        let spacing = Dur::from_ns(timing.read.ns() / (2 * u64::from(dies)));
        let die = Die {
            since: Time::ZERO,
            senses: Commands::default(),
            copies: Commands::default(),
            lanes: vec![MeteredLane::default()],
        };
        Meter {
            power: core,
            resume_fj: power.resume_pj * 1000,
            bit_fj: power.bit_fj(),
            volts: [power.vdd_core_v, power.vdd_q_v],
            part: Arc::clone(part),
            dies: vec![die; dies as usize],
            due: EventQueue::new(spacing, timing.program_array(timing.program_iterations)),
            changes: Slab::with_capacity(1024),
            drawn: Drawn::new(core.idle_uw * u64::from(dies), power.series.map(PowerSeries::new)),
            state_ns: [0; STATES],
            active_ns: [0; ACTIVITIES],
            suspended_ns: 0,
            ledger: Ledger::new(core, Arc::clone(part)),
        }
    }

    /// Starts to record every step of power.
    pub fn keep_trace(&mut self) {
        self.drawn.trace = Some(Vec::new());
    }

    /// Resets the highest power to that from `at` on.
    pub fn forget_peaks(&mut self, at: Time) {
        self.advance(at);
        self.drawn.peak_uw = [0; 3];
    }

    /// Takes the recorded steps of power, once they fill a batch.
    pub fn take_steps(&mut self, count: usize) -> Option<Vec<PowerStep>> {
        self.drawn.trace.as_mut().filter(|steps| steps.len() >= count).map(std::mem::take)
    }

    /// Returns the type of a page of a block.
    pub fn page_type(&self, page: u32) -> usize {
        self.part.timing.page_types.map_or(0, |types| types.of(page))
    }

    fn push(&mut self, at: Time, change: Change) {
        let place = self.changes.insert(change);
        self.due.schedule(at, DueChange::At(place));
    }

    /// Adds a sense of pages.
    pub fn sense(&mut self, now: Time, die: u32, class: Class, sensing: Sensing) {
        self.advance(now);
        self.ledger.sense(class, sensing);
        self.push(sensing.from, Change::SenseBegins { die, class, sensing });
    }

    /// Adds a transfer.
    pub fn transfer(&mut self, now: Time, class: Class, transfer: Transfer) {
        self.advance(now);
        self.ledger.io_fj[class as usize] += u128::from(self.transfer_fj(&transfer));
        self.push(transfer.from, Change::TransferBegins { transfer });
        self.push(transfer.to, Change::TransferEnds { class, transfer });
    }

    fn transfer_fj(&self, transfer: &Transfer) -> u64 {
        transfer.bytes * 8 * self.bit_fj
    }

    /// Returns the power of a transfer, rounded down to a microwatt.
    fn transfer_uw(&self, transfer: &Transfer) -> u64 {
        let ns = (transfer.to - transfer.from).ns();
        self.transfer_fj(transfer).checked_div(ns).unwrap_or(0)
    }

    /// Returns the energy of both supplies; a transfer counts once it is complete.
    pub fn energy_fj(&self) -> u128 {
        self.drawn.core_fj + self.drawn.io_fj
    }

    /// Returns the power of all dies that are idle.
    pub fn idle_uw(&self) -> u64 {
        self.power.idle_uw * self.dies.len() as u64
    }

    /// Iterates over the work of each die.
    pub fn at_work(&self) -> impl Iterator<Item = AtWork> {
        self.dies.iter().map(|die| {
            let (senses, copies) = (die.senses, die.copies);
            let mut work =
                AtWork { senses, copies, suspended: die.suspended(), ..AtWork::default() };
            for lane in &die.lanes {
                let Some((run, _)) = &lane.run else { continue };
                let is_erase = run.activities()[0] == Activity::ErasePulse;
                let runs = if is_erase { &mut work.erases } else { &mut work.programs };
                let shares_base = lane.open.last().is_some_and(OpenOperation::shares_base);
                runs.bases += u32::from(!shares_base);
                runs.planes += run.planes();
            }
            work
        })
    }

    /// Advances to `now`.
    pub fn advance(&mut self, now: Time) {
        while self.due.next_time() <= now {
            let at = self.due.next_time();
            let Some(due) = self.due.pop_at(at) else { break };
            self.drawn.pass(at);
            match due {
                DueChange::Segment { place, run } => self.go_on(place, run),
                DueChange::At(place) => {
                    let change = self.changes.remove(place);
                    self.apply(change);
                }
            }
        }
        self.drawn.pass(now);
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::SenseBegins { die, class, sensing } => {
                self.settle(die);
                for senses in self.senses_of(die, &sensing) {
                    senses.planes += sensing.planes;
                    senses.bases += 1;
                }
                self.drawn.core_uw += self.sense_uw(&sensing);
                self.push(sensing.to, Change::SenseEnds { die, class, sensing });
            }
            Change::SenseEnds { die, sensing, .. } => {
                self.settle(die);
                for senses in self.senses_of(die, &sensing) {
                    senses.planes -= sensing.planes;
                    senses.bases -= 1;
                }
                self.drawn.core_uw -= self.sense_uw(&sensing);
            }
            Change::TransferBegins { transfer } => self.drawn.io_uw += self.transfer_uw(&transfer),
            Change::TransferEnds { transfer, .. } => {
                self.drawn.io_uw -= self.transfer_uw(&transfer);
                self.carry(&transfer, transfer.to);
            }
        }
    }

    /// Returns the counts that include a sense.
    fn senses_of(&mut self, die: u32, sensing: &Sensing) -> impl Iterator<Item = &mut Commands> {
        let Die { senses, copies, .. } = &mut self.dies[die as usize];
        [Some(senses), Some(copies).filter(|_| sensing.is_copy)].into_iter().flatten()
    }

    fn sense_uw(&self, sensing: &Sensing) -> u64 {
        self.power.of(Activity::Sense, sensing.page_type).on(sensing.planes)
    }

    /// Adds the energy of a transfer until `until`.
    fn carry(&mut self, transfer: &Transfer, until: Time) {
        let &Transfer { from, to, .. } = transfer;
        let fj = self.transfer_fj(transfer);
        let spent = share(fj, (until - from).ns(), (to - from).ns());
        self.drawn.carry((from, to), until, (spent, fj));
    }

    /// Adds the time since the last change of a die's state.
    fn settle(&mut self, die: u32) {
        let unit = &mut self.dies[die as usize];
        let ns = u128::from((self.drawn.now - unit.since).ns());
        if ns == 0 {
            return;
        }
        unit.since = self.drawn.now;
        // With several active lanes, the first counts as the die's state.
        let mut state = None;
        for (run, segment) in unit.lanes.iter().filter_map(|lane| lane.run.as_ref()) {
            if let Some(activity) = segment.activity {
                self.active_ns[activity as usize] += ns * u128::from(run.planes());
                state.get_or_insert(activity as usize);
            }
        }
        let (senses, suspended) = (unit.senses.planes, unit.suspended());
        let state = state.unwrap_or(match (senses, suspended) {
            (0, 0) => STATES - 1,
            (0, _) => STATES - 2,
            _ => Activity::Sense as usize,
        });
        self.state_ns[state] += ns;
        self.active_ns[Activity::Sense as usize] += ns * u128::from(senses);
        self.suspended_ns += ns * u128::from(suspended);
    }

    /// Returns the report of the run until `now`, without later events.
    pub fn report(&self, now: Time) -> PowerReport {
        self.clone().close(now)
    }

    fn close(mut self, now: Time) -> PowerReport {
        self.advance(now);
        for die in 0..self.dies.len() as u32 {
            self.settle(die);
            for lane in std::mem::take(&mut self.dies[die as usize].lanes) {
                lane.open.iter().for_each(|open| self.ledger.end(open, now));
            }
        }
        let pending: Vec<Change> = self.changes.iter().map(|(_, change)| *change).collect();
        for change in pending {
            match change {
                Change::SenseBegins { class, sensing, .. }
                | Change::SenseEnds { class, sensing, .. } => {
                    self.ledger.cut_sense(class, sensing, now);
                }
                Change::TransferEnds { class, transfer } => self.cut(class, &transfer, now),
                Change::TransferBegins { .. } => {}
            }
        }
        PowerReport {
            dies: self.dies.len() as u64,
            now,
            idle_fj: u128::from(self.power.idle_uw)
                * self.dies.len() as u128
                * u128::from(now.ns()),
            by_class: [self.ledger.core_fj, self.ledger.io_fj],
            by_operation_ns: (self.ledger.active_ns, self.ledger.suspended_ns),
            measured_fj: [self.drawn.core_fj, self.drawn.io_fj],
            measured_ns: (self.active_ns, self.suspended_ns),
            state_ns: self.state_ns,
            peak_uw: self.drawn.peak_uw,
            volts: self.volts,
            series: self.drawn.series.map(|series| series.batch(now)),
            trace: self.drawn.trace,
        }
    }

    /// Cuts a transfer, current or booked ahead, at the end of the run.
    fn cut(&mut self, class: Class, transfer: &Transfer, now: Time) {
        let &Transfer { from, to, .. } = transfer;
        let fj = self.transfer_fj(transfer);
        let spent = if from < now { share(fj, (now - from).ns(), (to - from).ns()) } else { 0 };
        self.ledger.io_fj[class as usize] -= u128::from(fj - spent);
        if from < now {
            self.carry(transfer, now);
        }
    }
}
