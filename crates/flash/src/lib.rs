//! The flash back end: dies, channels and queues, from a waiting transaction to its completion.
//!
//! It knows no mapping and no host: which page a program gets, and what garbage collection does
//! next, it asks of its `Work`. The drive and the rig differ in nothing else.

mod asking;
mod blame;
mod budget;
mod cache;
mod channel;
mod classes;
mod cut;
mod decide;
mod decode;
mod die;
mod dispatch;
mod facts;
mod gathering;
mod in_the_way;
mod independent;
mod lane;
mod media;
mod multi_plane;
mod observe;
mod occupancy;
mod operation;
mod plane_suspend;
pub mod power_loss;
mod queue;
mod read;
mod rehearsal;
mod start;
mod tally;
mod wordline;
mod write_queue;

use std::sync::Arc;

use reprieve_base::{PageAddress, Slab, Time};
use reprieve_nand::{MultiPlane, Part, Refusal, Shape, Timing};

use budget::Budget;
use channel::ChannelBus;
use die::DieUnit;
use dispatch::Stage;
use facts::FlashFacts;
use lane::LaneId;
use media::Media;
pub use media::{Aftermath, WornCells};
use observe::Observers;
pub use observe::{LongestEraseWait, Observe, Scene};
use queue::Queue;
use reprieve_base::event::{Event, Schedule, Words};
use reprieve_config::Scenario;
use reprieve_observe::check::Checker;
use reprieve_observe::power::Meter;
use reprieve_observe::stats::{AGES, Ages, FlashCounts};
use reprieve_policy::Policies;
use reprieve_policy::sched::Scheduler;
use reprieve_policy::suspend::{self, Chain};
use reprieve_policy::txn::Txn;
use write_queue::WriteQueue;

/// What can happen in the back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlashEvent {
    /// The array of a lane has done what it does; stale if that is of an earlier generation.
    Array {
        /// The die.
        die: u32,
        /// The lane of the die.
        lane: LaneId,
        /// Its generation when the completion was scheduled.
        generation: u32,
    },
    /// A plane that reads by itself has sensed its page.
    PlaneSensed {
        /// The die.
        die: u32,
        /// The plane in the die.
        plane: u32,
    },
    /// A page has left a die over the channel.
    Out {
        /// The die.
        die: u32,
    },
    /// A channel is free and dies wait for it.
    Channel {
        /// The channel.
        channel: u32,
    },
    /// A page that has left its die is decoded.
    Decoded {
        /// The transaction.
        txn: u32,
    },
    /// A die that has its channel to itself has sensed; it matters to a budget of power only.
    Sensed {
        /// The die.
        die: u32,
    },
    /// A die has a reason to decide again.
    Poke {
        /// The die.
        die: u32,
    },
}

impl Event for FlashEvent {
    #[inline(always)]
    fn words(self) -> Words {
        match self {
            FlashEvent::Array { die, lane, generation } => [0, die, lane.pack(generation)],
            FlashEvent::Out { die } => [1, die, 0],
            FlashEvent::Channel { channel } => [2, channel, 0],
            FlashEvent::Poke { die } => [3, die, 0],
            FlashEvent::PlaneSensed { die, plane } => [4, die, plane],
            FlashEvent::Decoded { txn } => [5, txn, 0],
            FlashEvent::Sensed { die } => [6, die, 0],
        }
    }

    #[inline(always)]
    fn from_words([what, first, second]: Words) -> FlashEvent {
        match what {
            0 => {
                let (lane, generation) = LaneId::unpack(second);
                FlashEvent::Array { die: first, lane, generation }
            }
            1 => FlashEvent::Out { die: first },
            2 => FlashEvent::Channel { channel: first },
            3 => FlashEvent::Poke { die: first },
            4 => FlashEvent::PlaneSensed { die: first, plane: second },
            5 => FlashEvent::Decoded { txn: first },
            6 => FlashEvent::Sensed { die: first },
            what => unreachable!("no event of the flash is {what}"),
        }
    }
}

/// The first word of events that are not the flash's is this or more.
pub const FLASH_EVENTS: u32 = 7;

/// Dies, channels, queues and the policies that choose between them.
pub struct Flash {
    facts: FlashFacts,
    units: Vec<DieUnit>,
    channels: Vec<ChannelBus>,
    /// Transactions in flight.
    pub txns: Slab<Txn>,
    /// What a free die does next.
    serving: Serving,
    /// Whether what runs makes way for what waits.
    suspension: Chain,
    /// What a dispatcher sees and orders before dies decide.
    stage: Stage,
    write_queue: WriteQueue,
    /// Where else the command that begins works: pages and blocks of other planes.
    others: Vec<PageAddress>,
    /// Cells that err and wear; `None`: they do neither.
    media: Option<Box<Media>>,
    /// What has to decide at the end of the instant.
    agenda: Agenda,
    /// Transactions completed since the caller last took them.
    pub done: Vec<u32>,
    /// A command that a die refused, and why: a mistake in what the layer above asked for.
    pub refused: Option<(u32, Refusal)>,
    /// Counters.
    pub counts: FlashCounts,
    /// Who keeps account of what happens.
    observers: Observers,
}

/// The scheduler, with what it says of itself.
struct Serving {
    scheduler: Box<dyn Scheduler>,
    /// It has to be shown the classes of what waits.
    sees_classes: bool,
    /// It has operations suspended, and may be against a suspension.
    suspends: bool,
    restricts: bool,
    /// Its reads go before programs on a channel, and before all else on a die.
    reads_first: bool,
    serves_reads_first: bool,
}

impl Serving {
    fn new(scheduler: Box<dyn Scheduler>, scenario: &Scenario) -> Serving {
        Serving {
            sees_classes: scheduler.sees_classes(),
            suspends: scheduler.suspends(),
            restricts: scheduler.restricts_suspension(),
            reads_first: scheduler.reads_first(),
            // A budget of power looks at how long collection has waited.
            serves_reads_first: scheduler.serves_reads_first() && scenario.power.is_none(),
            scheduler,
        }
    }
}

/// What has to decide, and the order of what comes.
struct Agenda {
    dirty_dies: Vec<u32>,
    dirty_channels: Vec<u32>,
    /// Transactions that have come, in order of arrival.
    arrivals: u64,
    /// What was queued before this in order of arrival waits no more: a flush has come.
    flushed: u64,
    /// Dies share a limit or a budget, a timeline is drawn, or waits are blamed on something.
    decides_together: bool,
    /// The last of these alone.
    only_blames: bool,
    /// A die has something to look at when an operation has started.
    looks_at_start: bool,
}

/// Counters of a drive, with those that only some drives have.
fn counts_of(scenario: &Scenario, timing: &Timing) -> FlashCounts {
    let multi_plane = scenario.parallelism.multi_plane != MultiPlane::None;
    FlashCounts {
        suspensions_by_write: scenario.suspend_rules.host_write_suspends.erase.then_some(0),
        multi_plane: multi_plane.then_some([0; 3]),
        padded_pages: (timing.pages_together() > 1).then_some(0),
        copybacks: scenario.ftl.copyback.then_some(0),
        ..FlashCounts::default()
    }
}

impl Flash {
    /// The back end of a scenario, all blocks erased, under these policies.
    pub fn with(scenario: &Scenario, policies: Policies) -> Flash {
        let Policies { scheduler, suspension: policy } = policies;
        let facts = FlashFacts::new(scenario, &*scheduler);
        let (timing, geometry) = (facts.timing, facts.geometry);
        let dies = geometry.dies();
        let shape = Shape {
            planes: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
        };
        let (suspension, parallelism) = (scenario.suspension, scenario.parallelism);
        let part = Arc::new(Part { shape, timing, suspension, parallelism });
        let budget = Budget::of(scenario, &timing, scheduler.reads_first());
        let meter = scenario.power.as_ref().map(|power| Meter::new(power, &part, dies));
        let rules = &scenario.suspend_rules;
        let writes = rules.host_write_suspends.erase;
        let write_in_erase = writes && scenario.suspension.erase && scheduler.suspends();
        let mut flash = Flash {
            facts,
            units: (0..dies)
                .map(|die| DieUnit::new(&part, scenario.seed, die, die / geometry.dies_per_channel))
                .collect(),
            channels: vec![
                ChannelBus::new(geometry.dies_per_channel, scenario.channel.order);
                geometry.channels as usize
            ],
            txns: Slab::with_capacity(4096),
            serving: Serving::new(scheduler, scenario),
            suspension: Chain::new(policy, scenario, write_in_erase, dies),
            stage: Stage::empty(),
            write_queue: WriteQueue::new(&scenario.scheduling),
            others: Vec::with_capacity(geometry.planes_per_die as usize),
            media: Media::of(scenario),
            agenda: Agenda {
                dirty_dies: Vec::with_capacity(dies as usize),
                dirty_channels: Vec::with_capacity(geometry.channels as usize),
                arrivals: 0,
                flushed: 0,
                decides_together: false,
                only_blames: false,
                looks_at_start: write_in_erase || parallelism.cache_program,
            },
            done: Vec::with_capacity(64),
            refused: None,
            counts: counts_of(scenario, &timing),
            observers: Observers::new(budget, meter),
        };
        flash.look_for_shared();
        flash
    }

    /// Looks whether there is something on which dies decide together.
    fn look_for_shared(&mut self) {
        let is_limited = self.write_queue.of_drive || self.observers.budget.is_some();
        let (is_drawn, is_blamed) =
            (self.observers.timeline.is_some(), self.observers.blame.is_some());
        self.agenda.decides_together = is_limited || is_drawn || is_blamed;
        self.agenda.only_blames = is_blamed && !is_limited && !is_drawn;
    }

    /// Lets other rules hold from now on: when the controller asks, what it may stop, how often.
    pub fn set_rules(&mut self, scenario: &Scenario) {
        let rules = &scenario.suspend_rules;
        self.suspension.set_rules(suspend::make(rules), scenario);
        self.write_queue.set_rules(&scenario.scheduling);
        self.look_for_shared();
        let part = Arc::new(Part {
            suspension: scenario.suspension,
            ..**self.units.first().expect("a drive has a die").die.part()
        });
        self.units.iter_mut().for_each(|unit| unit.die.set_limits(&part));
        // What waited because of the old rules is looked at again.
        (0..self.facts.geometry.dies()).for_each(|die| self.wake(die));
    }

    /// Puts a transaction into the queue of its die.
    #[inline]
    fn admit(&mut self, id: u32) {
        let txn = &mut self.txns[id];
        txn.seq = self.agenda.arrivals;
        self.agenda.arrivals += 1;
        let (die, kind) = (txn.die, txn.kind);
        let unit = &mut self.units[die as usize];
        if kind.is_read() {
            unit.reads.push(&mut self.txns, id);
        } else {
            unit.pending_programs += u32::from(kind.is_program());
            self.write_queue.pending += u32::from(kind.is_program());
            if self.facts.together > 1 && kind.fills_wordline() {
                *unit.planes.waiting_with(&self.txns[id]) += 1;
            }
            unit.writes.push(&mut self.txns, id);
        }
        if self.observers.listens {
            self.blame_queued(id);
            let now = self.txns[id].mark;
            self.observe(now, |observer, scene| observer.queued(scene, id));
        }
        self.wake(die);
    }

    /// Makes a die decide at the end of this instant.
    #[inline(always)]
    pub fn wake(&mut self, die: u32) {
        let unit = &mut self.units[die as usize];
        if !unit.dirty {
            unit.dirty = true;
            self.agenda.dirty_dies.push(die);
        }
    }

    /// Whether a die has nothing to do and nothing waiting.
    pub fn is_idle(&self, die: u32) -> bool {
        let unit = &self.units[die as usize];
        unit.die.is_at_rest() && unit.reads.first().is_none() && unit.writes.first().is_none()
    }

    /// Counts the first pages of a block as programmed.
    pub fn precondition(&mut self, die: u32, plane: u32, block: u32, pages: u32) {
        self.units[die as usize].die.precondition(plane, block, pages);
    }

    /// Total time until `now` that dies and channels were in use, in nanoseconds.
    pub fn busy_ns(&self, now: Time) -> (u64, u64) {
        (
            self.die_busy_ns(now).sum(),
            self.channels.iter().map(|channel| channel.busy_until(now)).sum(),
        )
    }

    /// The same of each die.
    pub fn die_busy_ns(&self, now: Time) -> impl Iterator<Item = u64> {
        self.units.iter().map(move |unit| unit.busy_until(now))
    }

    /// Dies on which an operation is suspended.
    pub fn suspended_dies(&self) -> u64 {
        let stands = |unit: &&DieUnit| unit.die.is_suspended() || unit.die.has_suspended_plane();
        self.units.iter().filter(stands).count() as u64
    }

    /// The same of each die and of each channel.
    pub fn busy_ns_each(&self, now: Time) -> (Vec<u64>, Vec<u64>) {
        let dies = self.units.iter().map(|unit| unit.busy_until(now)).collect();
        (dies, self.channels.iter().map(|channel| channel.busy_until(now)).collect())
    }

    /// Begins to keep how far operations had come when they were suspended.
    pub fn keep_ages(&mut self) {
        let places_of_die = 1 + self.facts.geometry.planes_per_die as usize;
        self.observers.ages = Some(Box::new(Ages::new(self.units.len() * places_of_die)));
    }

    /// Suspensions of programs and of erases by what was done, if that is kept.
    pub fn ages(&self) -> Option<&[[u64; AGES]; 2]> {
        self.observers.ages.as_ref().map(|ages| ages.counts())
    }

    /// Begins to keep what dies and channels do, for [`Flash::tell`].
    pub fn keep_record(&mut self) {
        self.units.iter_mut().for_each(|unit| unit.seen.keep());
        self.channels.iter_mut().for_each(|channel| channel.seen.keep());
    }

    /// Tells a checker what dies and channels did since the last call.
    pub fn tell(&mut self, checker: &mut Checker) {
        for (die, unit) in (0..).zip(&mut self.units) {
            unit.seen.take().for_each(|seen| checker.die_did(die, seen));
        }
        for (channel, unit) in (0..).zip(&mut self.channels) {
            unit.seen.take().for_each(|seen| checker.channel_did(channel, seen));
        }
    }

    #[inline]
    fn channel_of(&self, die: u32) -> usize {
        self.units[die as usize].channel as usize
    }

    /// Handles an event.
    #[inline(always)]
    pub fn handle(&mut self, event: FlashEvent, now: Time, out: &mut impl Schedule<FlashEvent>) {
        match event {
            FlashEvent::Array { die, lane, generation } => match lane == LaneId::WHOLE {
                true => self.die_elapsed(die, generation, now, out),
                false => self.lane_elapsed((die, lane), generation, now, out),
            },
            FlashEvent::PlaneSensed { die, plane } => self.plane_elapsed(die, plane, now),
            FlashEvent::Out { die } => self.page_left(die, now, out),
            FlashEvent::Decoded { txn } => self.decoded(txn, now),
            FlashEvent::Channel { channel } => {
                self.channels[channel as usize].event_pending = false;
                self.wake_channel(channel);
            }
            FlashEvent::Poke { die } => self.wake(die),
            FlashEvent::Sensed { die } => self.budget_sensed(die),
        }
    }

    fn wake_channel(&mut self, channel: u32) {
        let unit = &mut self.channels[channel as usize];
        if !unit.dirty {
            unit.dirty = true;
            self.agenda.dirty_channels.push(channel);
        }
    }
}
