//! The controller of all dies: carries out decisions, from the command of an operation to its
//! completion.

use reprieve_base::event::Schedule;
use reprieve_base::{Archive, Dur, PageAddress, Time, parts};
use reprieve_config::Scenario;
use reprieve_nand::{MultiPlane, Refusal};
use reprieve_observe::check::Checker;
use reprieve_observe::stats::FlashCounts;
use reprieve_policy::sched::Scheduler;
use reprieve_policy::suspend::{self, Chain, SuspendPolicy};
use reprieve_policy::txn::Kind;

use super::FlashEvent;
use super::channel::{ChannelGrant, Channels};
use super::dies::Dies;
use super::lane::LaneId;
use super::media::{Media, WornCells};
use super::observe::{Observe, Observers, Scene};

/// Dies, channels and observers.
///
/// Each command is carried out at once, or refused by a die. The controller decides nothing: it
/// wakes dies that are free or have waiting transactions, and `Flash` decides.
pub(super) struct Controller {
    pub(super) dies: Dies,
    pub(super) channels: Channels,
    /// The suspension policy with its guards; notified of each suspension and completion.
    pub(super) suspension: Chain,
    /// Bit errors and wear, if modelled.
    pub(super) media: Option<Box<Media>>,
    /// Pages and blocks of other planes in the current command.
    pub(super) others: Vec<PageAddress>,
    /// Transactions completed since the caller last took them.
    pub(super) done: Vec<u32>,
    /// A command that a die refused, and the reason: an error of the layer above.
    pub(super) refused: Option<(u32, Refusal)>,
    /// Counters.
    pub(super) counts: FlashCounts,
    /// Observers of events.
    pub(super) observers: Observers,
}

impl Controller {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.dies.archive(archive);
        self.channels.archive(archive);
        self.suspension.archive(archive);
        if let Some(media) = &mut self.media {
            media.archive(archive);
        }
        parts!(archive; self.done, self.counts);
        self.observers.archive(archive);
    }

    /// Creates the controller of a scenario, all blocks erased, under these policies.
    pub(super) fn new(
        scenario: &Scenario,
        scheduler: &dyn Scheduler,
        policy: Box<dyn SuspendPolicy>,
    ) -> Controller {
        let dies = Dies::new(scenario, scheduler);
        let (geometry, reads_first) = (dies.facts.geometry, scheduler.reads_first());
        let write_in_erase = dies.facts.write_in_erase;
        let mut made = Controller {
            channels: Channels::new(&geometry, scenario.channel.order, reads_first),
            suspension: Chain::new(policy, scenario, write_in_erase, geometry.dies()),
            media: Media::of(scenario),
            others: Vec::with_capacity(geometry.planes_per_die as usize),
            done: Vec::with_capacity(64),
            refused: None,
            counts: counts_of(scenario, &dies),
            observers: Observers::new(scenario, &dies, reads_first),
            dies,
        };
        made.tell_cycles();
        made
    }

    /// Sets the history of the cells before the run.
    pub(super) fn start_worn(&mut self, cells: WornCells) {
        if let Some(media) = &mut self.media {
            media.start_worn(cells);
        }
        self.tell_cycles();
    }

    /// Passes the cycles of blocks to dies that erase in loops.
    fn tell_cycles(&mut self) {
        let Some(media) = self.media.as_ref().filter(|_| self.dies.erases_in_loops()) else {
            return;
        };
        let geometry = self.dies.facts.geometry;
        let blocks = |plane| (0..geometry.blocks_per_plane).map(move |block| (plane, block));
        for (plane, block) in (0..geometry.planes_per_die).flat_map(blocks) {
            let at = PageAddress { plane, block, page: 0 };
            for (die, unit) in (0..).zip(&mut self.dies.units) {
                unit.die.set_cycles(plane, block, media.cycles(die, at));
            }
        }
    }

    /// Replaces the suspension policy and its rules.
    pub(super) fn set_rules(&mut self, scenario: &Scenario) {
        self.suspension.set_rules(suspend::make(&scenario.suspend_rules), scenario);
        self.dies.set_rules(scenario);
    }

    /// Resets counters; the measured part of the run starts at `at`.
    #[cold]
    pub(super) fn forget_counts(&mut self, at: Time) {
        self.counts = self.counts.none();
        self.media.iter_mut().for_each(|media| media.counts.rber_max = 0.0);
        self.observers.forget_peaks(at);
    }

    /// Starts to record commands and transfers, for [`Controller::pass_record`].
    pub(super) fn keep_record(&mut self) {
        self.dies.units.iter_mut().for_each(|unit| unit.usage.seen.keep());
        self.channels.keep_record();
    }

    /// Passes the commands and transfers since the last call to a checker.
    pub(super) fn pass_record(&mut self, checker: &mut Checker) {
        for (die, unit) in (0..).zip(&mut self.dies.units) {
            unit.usage.seen.take().for_each(|seen| checker.die_did(die, seen));
        }
        self.channels.pass_record(checker);
    }

    /// Queues a transaction at its die.
    #[inline]
    pub(super) fn admit(&mut self, id: u32) {
        self.dies.push(id);
        if self.observers.listens {
            let now = self.dies.txns[id].mark;
            self.observe(now, |observer, scene| observer.queued(scene, id));
        }
    }

    /// Starts the wait of a transaction, from its mark on, before it is queued.
    #[cold]
    pub(super) fn held_back(&mut self, id: u32) {
        let now = self.dies.txns[id].mark;
        self.observe(now, |observer, scene| observer.held_back(scene, id));
    }

    /// Handles an event.
    #[inline(always)]
    pub(super) fn handle(
        &mut self,
        event: FlashEvent,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        match event {
            FlashEvent::Array { die, lane, generation } => match lane == LaneId::WHOLE {
                true => self.die_elapsed(die, generation, now, out),
                false => self.lane_elapsed((die, lane), generation, now, out),
            },
            FlashEvent::PlaneSensed { die, plane } => self.plane_elapsed(die, plane, now),
            FlashEvent::Out { die } => self.page_left(die, now, out),
            FlashEvent::Decoded { txn } => self.decoded(txn, now),
            FlashEvent::Channel { channel } => self.channels.transfer_ended(channel),
            FlashEvent::Wake { die } => self.dies.wake(die),
            FlashEvent::Sensed { die } => self.observers.sensed(die, false),
        }
    }

    /// Takes the channel for a die, or queues the die and returns false.
    #[inline(always)]
    pub(super) fn has_channel(
        &mut self,
        die: u32,
        now: Time,
        grant: ChannelGrant,
        kind: Kind,
    ) -> bool {
        self.channels.has(self.dies.on_channel(die), kind, now, grant)
    }

    /// Whether a free die has all resources for an operation; else it is queued for the channel.
    #[inline(always)]
    pub(super) fn can_begin(
        &mut self,
        (die, kind, since): (u32, Kind, Time),
        now: Time,
        grant: ChannelGrant,
    ) -> bool {
        let is_program = kind.is_program();
        if is_program && self.dies[die].die.output_in_use() {
            // Data-in would need the register from which a page still leaves.
            return false;
        }
        if let Some(budget) = &mut self.observers.budget {
            if !budget.admits_start((die, kind, since)) {
                return false;
            }
        }
        let needs_channel = is_program || self.dies.facts.timing.command > Dur::ZERO;
        !needs_channel || self.has_channel(die, now, grant, kind)
    }

    /// Reserves the channel for a die that moves pages, until the erase; returns whether the step
    /// can start.
    #[cold]
    pub(super) fn keeps_channel(
        &mut self,
        die: u32,
        kind: Kind,
        now: Time,
        grant: ChannelGrant,
    ) -> bool {
        let place = self.dies.on_channel(die);
        if kind == Kind::Erase {
            self.channels.release(place);
            return true;
        }
        if self.channels.is_held_by(place) {
            return true;
        }
        // Where commands take no time a read starts without the channel.
        let has_it = kind.is_program() || self.dies.facts.timing.command > Dur::ZERO;
        if !has_it && !self.has_channel(die, now, grant, kind) {
            return false;
        }
        self.channels.hold(place);
        true
    }

    /// Notifies the power meter of the end of the instant.
    pub(super) fn end_instant(&mut self, now: Time) {
        let scene = Scene { now, dies: &self.dies, planes: 1, lane: LaneId::WHOLE };
        self.observers.instant(&scene);
    }

    /// Notifies the observers, with the current state of the drive.
    #[inline]
    pub(super) fn observe(&mut self, now: Time, tell: impl FnMut(&mut dyn Observe, &Scene)) {
        self.observe_lane(LaneId::WHOLE, now, tell);
    }

    /// Notifies the observers of an event on a lane.
    #[inline]
    pub(super) fn observe_lane(
        &mut self,
        lane: LaneId,
        now: Time,
        tell: impl FnMut(&mut dyn Observe, &Scene),
    ) {
        if self.observers.listens {
            let planes = self.others.len() as u32 + 1;
            self.observers.notify(&Scene { now, dies: &self.dies, planes, lane }, tell);
        }
    }
}

/// Creates the counters, with those that only some drives have.
fn counts_of(scenario: &Scenario, dies: &Dies) -> FlashCounts {
    let multi_plane = scenario.parallelism.multi_plane != MultiPlane::None;
    FlashCounts {
        suspensions_by_write: scenario.suspend_rules.host_write_suspends.erase.then_some(0),
        multi_plane: multi_plane.then_some([0; 3]),
        padded_pages: (dies.facts.pages_together > 1).then_some(0),
        padded_units: dies.facts.has_units().then_some(0),
        copybacks: scenario.ftl.copyback.then_some(0),
        ..FlashCounts::default()
    }
}
