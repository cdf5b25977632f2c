//! Observers of events on dies and channels.

mod attribution;
mod clocks;
mod draw;
mod power;
mod request_attribution;
mod waits;

use reprieve_base::{Archive, Dur, Geometry, Time, parts};
use reprieve_config::Scenario;
use reprieve_nand::Run;
use reprieve_observe::power::{Meter, PowerReport};
use reprieve_observe::stats::{AGES, Ages};
use reprieve_observe::timeline::{Arrival, Timeline, Window};
use reprieve_policy::txn::{NONE, Txn};

use super::budget::Budget;
use super::die::DieUnit;
use super::dies::Dies;
use super::facts::FlashFacts;
use super::lane::LaneId;
use super::thermal::{Thermal, ThermalReport};
pub use attribution::Attribution;
pub(super) use attribution::ReadCauses;
pub use waits::LongestEraseWait;

/// The drive at an event.
pub struct Scene<'a> {
    pub(super) now: Time,
    pub(super) dies: &'a Dies,
    /// Planes of the command that starts.
    pub(super) planes: u32,
    /// The lane on which a program or erase changes.
    pub(super) lane: LaneId,
}

impl<'a> Scene<'a> {
    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// A transaction.
    pub fn txn(&self, id: u32) -> &'a Txn {
        &self.dies.txns[id]
    }

    /// The transactions of a command, by the first of them.
    pub fn command(&self, first: u32) -> impl Iterator<Item = &'a Txn> + use<'a> {
        let txns = &self.dies.txns;
        let next = |id: &u32| Some(txns[*id].next).filter(|next| *next != NONE);
        std::iter::successors(Some(first), next).map(|id| &txns[id])
    }

    fn unit(&self, die: u32) -> &'a DieUnit {
        &self.dies[die]
    }

    /// The channel of a die.
    fn channel_of(&self, die: u32) -> usize {
        self.unit(die).channel as usize
    }

    /// Returns the run of a program or erase that has just started or resumed.
    fn run(&self, id: u32) -> Run {
        let unit = self.unit(self.txn(id).die);
        unit.run(self.lane, self.now).expect("a program or erase runs")
    }
}

/// Receiver of events, each with the first transaction of its command.
///
/// A statistic implements the events that it needs.
pub trait Observe: Send {
    /// A transaction starts to wait before it is queued at its die.
    fn held_back(&mut self, _: &Scene, _id: u32) {}

    /// A transaction has been queued at its die.
    fn queued(&mut self, _: &Scene, _id: u32) {}

    /// Pages are sensed until `until`.
    fn sensing(&mut self, _: &Scene, _id: u32, _until: Time) {}

    /// A die has sensed its pages.
    fn sensed(&mut self, _die: u32) {}

    /// A program or erase has started; its command, or data, crosses the channel for this time, for
    /// this many planes, unless it was loaded before.
    fn started(&mut self, _: &Scene, _id: u32, _data_in: Option<(Dur, u64)>) {}

    /// The data of a program comes in while another program runs.
    fn loaded(&mut self, _: &Scene, _id: u32, _data_in: (Dur, u64)) {}

    /// A plane was split off the lane of all planes, with its part of the operation.
    fn split(&mut self, _: &Scene, _id: u32) {}

    /// A program or erase enters suspension, until `free_at`.
    fn suspending(&mut self, _: &Scene, _id: u32, _free_at: Time) {}

    /// The operation is suspended.
    fn suspended(&mut self, _: &Scene, _id: u32) {}

    /// It resumes; its data crosses the channel again for this time, if needed.
    fn resumed(&mut self, _: &Scene, _id: u32, _data_in: Option<Dur>) {}

    /// The operation is complete.
    fn completed(&mut self, _: &Scene, _id: u32) {}

    /// Data of a sensed page crosses the channel from `from` on, for a time.
    fn transferred(&mut self, _: &Scene, _id: u32, _from: Time, _length: Dur) {}

    /// A page has left the page buffer of a die or plane.
    fn page_left(&mut self, _: &Scene, _die: u32, _plane: u32) {}

    /// The data of a read is available.
    fn read_done(&mut self, _: &Scene, _id: u32) {}

    /// A request has arrived at the drive.
    fn request_arrived(&mut self, _now: Time, _: Arrival) {}

    /// A request is complete.
    fn request_done(&mut self, _now: Time, _slot: u32) {}
}

/// Observers of events; an absent one costs one branch an event.
///
/// Observers change nothing on dies and channels; only the budget makes operations wait.
pub struct Observers {
    /// Whether there is an observer.
    pub(super) listens: bool,
    /// Limit on power drawn at the same time, if set.
    pub(super) budget: Option<Box<Budget>>,
    /// Where power is accounted for.
    pub(super) meter: Option<Box<Meter>>,
    /// Throttling by temperature, if modelled.
    thermal: Option<Box<Thermal>>,
    /// Timeline, if drawn.
    pub(super) timeline: Option<Box<Timeline>>,
    /// Where waits are attributed to causes.
    pub(super) attribution: Option<Box<Attribution>>,
    /// Added observers.
    own: Vec<Box<dyn Observe>>,
    /// Progress of operations at their suspension, if recorded.
    pub(super) ages: Option<Box<Ages>>,
}

impl Observers {
    /// Saves or restores the built-in observers; there may be no others.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let is_watched = self.timeline.is_some() || !self.own.is_empty();
        assert!(!is_watched, "a drive is saved that somebody watches");
        parts!(archive; self.budget, self.ages, self.attribution);
        self.listens |= self.attribution.is_some();
        if let Some(meter) = &mut self.meter {
            meter.archive(archive);
        }
        if let Some(thermal) = &mut self.thermal {
            thermal.archive(archive);
        }
    }

    pub(super) fn new(scenario: &Scenario, dies: &Dies, reads_first: bool) -> Observers {
        let thermal = Thermal::of(scenario);
        let mut budget = Budget::of(scenario, &dies.facts.timing, reads_first);
        if let (Some(thermal), Some(budget)) = (&thermal, &mut budget) {
            budget.set_limit(thermal.limit_uw());
        }
        let count = dies.facts.geometry.dies();
        let power = scenario.power.as_ref();
        let meter = power.map(|power| Box::new(Meter::new(power, dies.part(), count)));
        Observers {
            listens: meter.is_some(),
            budget: budget.map(Box::new),
            meter,
            thermal: thermal.map(Box::new),
            timeline: None,
            attribution: None,
            own: Vec::new(),
            ages: None,
        }
    }

    /// Starts a timeline, before the first event.
    pub(super) fn draw(&mut self, window: Window, facts: &FlashFacts) {
        let planes_apart = facts.parallelism.independent_plane_reads;
        let FlashFacts { geometry, timing, .. } = facts;
        let has_power = self.meter.is_some();
        let timeline = Timeline::new(window, geometry, timing, planes_apart, has_power);
        self.trace_power();
        self.timeline = Some(Box::new(timeline));
        self.listens = true;
    }

    /// Adds an observer.
    pub(super) fn join(&mut self, observer: Box<dyn Observe>) {
        self.own.push(observer);
        self.listens = true;
    }

    /// Starts the attribution of waits, before the first event.
    ///
    /// `has_delays`: transactions may wait before they are in the queue of their die.
    pub(super) fn attribute_waits(&mut self, facts: &FlashFacts, has_delays: bool) {
        let attribution = Attribution::new(facts, has_delays || facts.splits);
        self.attribution = Some(Box::new(attribution));
        self.listens = true;
    }

    /// Starts to record the progress of operations at their suspension.
    pub(super) fn keep_ages(&mut self, geometry: &Geometry) {
        self.ages = Some(Box::new(Ages::new(geometry.dies(), geometry.planes_per_die)));
    }

    /// Starts to record every step of power, if there is a meter.
    pub fn trace_power(&mut self) {
        self.meter.iter_mut().for_each(|meter| meter.keep_trace());
    }

    /// Resets the largest powers; the measured part of the run starts at `at`.
    pub(super) fn forget_peaks(&mut self, at: Time) {
        // Advances the meter to `at`, which cannot return to earlier temperature checks.
        self.look_at_temperature(at);
        self.meter.iter_mut().for_each(|meter| meter.forget_peaks(at));
        self.thermal.iter_mut().for_each(|thermal| thermal.forget_counts());
    }

    /// Whether the budget follows the temperature.
    #[inline(always)]
    pub fn has_thermal(&self) -> bool {
        self.thermal.is_some()
    }

    /// Updates the throttling at each temperature check that is due by `now`.
    pub fn look_at_temperature(&mut self, now: Time) {
        if let (Some(thermal), Some(meter), Some(budget)) =
            (&mut self.thermal, &mut self.meter, &mut self.budget)
        {
            thermal.look(now, meter, budget);
        }
    }

    /// Returns when dies that wait for power have to decide again, once.
    pub fn take_thermal_wake(&mut self) -> Option<Time> {
        self.thermal.as_mut()?.take_wake(self.budget.as_ref()?)
    }

    /// Returns the temperature, if modelled.
    pub fn thermal_report(&self) -> Option<ThermalReport> {
        Some(self.thermal.as_ref()?.report())
    }

    /// Notifies all observers of an event, with the state of the drive.
    #[cold]
    pub(super) fn notify(&mut self, scene: &Scene, mut tell: impl FnMut(&mut dyn Observe, &Scene)) {
        self.each(|observer| tell(observer, scene));
    }

    /// Calls a function for each observer.
    fn each(&mut self, mut tell: impl FnMut(&mut dyn Observe)) {
        if let Some(budget) = self.budget.as_deref_mut() {
            tell(budget);
        }
        if let Some(meter) = self.meter.as_deref_mut() {
            tell(meter);
        }
        if let Some(attribution) = self.attribution.as_deref_mut() {
            tell(attribution);
        }
        if let Some(timeline) = self.timeline.as_deref_mut().filter(|drawn| !drawn.has_ended()) {
            tell(timeline);
        }
        self.own.iter_mut().for_each(|own| tell(&mut **own));
    }

    /// Handles the list of dies that decide at this instant.
    #[cold]
    pub(super) fn touched(&mut self, dies: &[u32]) {
        if let Some(timeline) = self.timeline.as_deref_mut().filter(|drawn| !drawn.has_ended()) {
            dies.iter().for_each(|die| timeline.touch(*die));
        }
        if let Some(attribution) = self.attribution.as_deref_mut() {
            dies.iter().for_each(|die| attribution.touch(*die));
        }
    }

    /// Ends the instant.
    pub(super) fn instant(&mut self, scene: &Scene) {
        let Some(timeline) = self.timeline.as_deref_mut().filter(|drawn| !drawn.has_ended()) else {
            return;
        };
        let touched = timeline.take_touched();
        for die in &touched {
            let unit = scene.unit(*die);
            let waiting = unit.reads.count() + unit.writes.count();
            timeline.waiting(scene.now, *die, waiting.into());
        }
        let steps = self.meter.as_mut().and_then(|meter| meter.take_steps(4096));
        timeline.give_back(touched);
        timeline.power(&steps.unwrap_or_default());
        timeline.instant(scene.now);
    }

    /// Handles the arrival of a request.
    #[cold]
    pub fn request_arrived(&mut self, now: Time, arrival: Arrival) {
        self.each(|observer| observer.request_arrived(now, arrival));
    }

    /// Handles the completion of a request.
    #[cold]
    pub fn request_done(&mut self, now: Time, slot: u32) {
        self.each(|observer| observer.request_done(now, slot));
    }

    /// Handles the end of the run.
    pub fn end(&mut self, now: Time) {
        let steps = self.meter.as_mut().and_then(|meter| {
            meter.advance(now);
            meter.take_steps(1)
        });
        if let Some(timeline) = self.timeline.as_deref_mut().filter(|drawn| !drawn.has_ended()) {
            timeline.power(&steps.unwrap_or_default());
            timeline.finish(now);
        }
    }

    /// Returns power and energy until `now`, if there is a meter.
    pub fn power_report(&self, now: Time) -> Option<PowerReport> {
        self.meter.as_ref().map(|meter| meter.report(now))
    }

    /// Ends the sensing of one plane, or of all planes of a command.
    #[inline(always)]
    pub(super) fn sensed(&mut self, die: u32, is_one: bool) {
        if let Some(budget) = &mut self.budget {
            budget.sensed(die, is_one);
        }
        if let Some(attribution) = &mut self.attribution {
            attribution.sensed(die);
        }
    }

    /// Errors if the budget is broken at `now`.
    pub fn verify_budget(&mut self, now: Time) -> Result<(), String> {
        let (Some(budget), Some(meter)) = (&mut self.budget, &mut self.meter) else {
            return Ok(());
        };
        meter.advance(now);
        budget.verify(meter.idle_uw(), meter.at_work())
    }

    /// Whether a timeline is or was drawn, or an added observer receives requests.
    #[inline]
    pub fn is_drawn(&self) -> bool {
        self.timeline.is_some() || !self.own.is_empty()
    }

    /// Returns the timeline, complete or not.
    pub fn timeline_mut(&mut self) -> Option<&mut Timeline> {
        self.timeline.as_deref_mut()
    }

    /// Returns the timeline.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_deref()
    }

    /// Returns the attribution of waits, if enabled.
    #[inline]
    pub fn attribution(&mut self) -> Option<&mut Attribution> {
        self.attribution.as_deref_mut()
    }

    /// Returns suspensions of programs and of erases by progress, if recorded.
    pub fn ages(&self) -> Option<&[[u64; AGES]; 2]> {
        self.ages.as_ref().map(|ages| ages.counts())
    }
}
