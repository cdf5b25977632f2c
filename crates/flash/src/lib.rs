//! The flash back end: dies, channels and queues, from a waiting transaction to its completion.
//!
//! It knows no mapping and no host: its `Work` assigns pages to programs and chooses the steps of
//! garbage collection. The drive and the rig differ in nothing else.

mod budget;
mod cache;
mod channel;
mod classes;
mod controller;
mod decide;
mod decode;
mod die;
mod dies;
mod dispatch;
mod facts;
mod gathering;
mod independent;
mod lane;
mod media;
mod multi_plane;
mod observe;
mod occupancy;
mod operation;
mod plane_suspend;
mod policy_exchange;
mod power_cut;
pub mod power_loss;
mod queue;
mod read;
mod serving;
mod start;
mod suspension_request;
mod suspension_view;
mod tally;
mod thermal;
mod usage;
mod wait_attribution;
mod wordline;
mod write_queue;

use reprieve_base::event::{Event, Schedule, Words};
use reprieve_base::{Archive, Slab, Time};
use reprieve_config::Scenario;
use reprieve_nand::Refusal;
use reprieve_observe::check::Checker;
use reprieve_observe::stats::FlashCounts;
use reprieve_observe::timeline::Window;
use reprieve_policy::Policies;
use reprieve_policy::txn::Txn;
use reprieve_policy::work::PlaneQueries;

use channel::ChannelGrant;
use controller::Controller;
pub use dies::Dies;
pub use dispatch::Stage;
use lane::LaneId;
pub use media::{Aftermath, Media, WornCells};
pub use observe::{Attribution, LongestEraseWait, Observe, Observers, Scene};
use serving::Serving;

/// Events of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlashEvent {
    /// The operation of a lane has ended; stale if of an earlier generation.
    Array {
        /// The die.
        die: u32,
        /// The lane of the die.
        lane: LaneId,
        /// Its generation when the completion was scheduled.
        generation: u32,
    },
    /// An independent plane read has sensed its page.
    PlaneSensed {
        /// The die.
        die: u32,
        /// The plane in the die.
        plane: u32,
    },
    /// A page has crossed the channel.
    Out {
        /// The die.
        die: u32,
    },
    /// A channel is free and dies wait for it.
    Channel {
        /// The channel.
        channel: u32,
    },
    /// A page is decoded.
    Decoded {
        /// The transaction.
        txn: u32,
    },
    /// A die with a private channel has sensed; only a power budget uses this event.
    Sensed {
        /// The die.
        die: u32,
    },
    /// A die decides again.
    Wake {
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
            FlashEvent::Wake { die } => [3, die, 0],
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
            3 => FlashEvent::Wake { die: first },
            4 => FlashEvent::PlaneSensed { die: first, plane: second },
            5 => FlashEvent::Decoded { txn: first },
            6 => FlashEvent::Sensed { die: first },
            what => unreachable!("no event of the flash is {what}"),
        }
    }
}

/// First word from which on events are not the flash's.
pub const FLASH_EVENTS: u32 = 7;

/// Dies, channels, queues and the policies that choose between them.
///
/// It decides the next command of each woken die and channel at the end of an instant; the
/// controller carries it out.
pub struct Flash {
    controller: Controller,
    /// Choice of a free die's next operation.
    serving: Serving,
    /// Transactions that a dispatcher orders before dies decide.
    pub stage: Stage,
}

/// Decisions at an instant, of dies and channels.
struct Decisions<'a, W, S> {
    flash: &'a mut Flash,
    now: Time,
    work: &'a mut W,
    out: &'a mut S,
    /// Access of the deciding die to its channel.
    grant: ChannelGrant,
}

impl Flash {
    /// Saves or restores the state that changes.
    pub fn archive(&mut self, archive: &mut Archive) {
        self.controller.archive(archive);
        self.stage.archive(archive);
    }

    /// Creates the back end of a scenario, all blocks erased, under these policies.
    pub fn with(scenario: &Scenario, policies: Policies) -> Flash {
        let Policies { scheduler, suspension } = policies;
        let controller = Controller::new(scenario, &*scheduler, suspension);
        Flash { controller, serving: Serving::new(scheduler, scenario), stage: Stage::empty() }
    }

    /// Replaces the rules of suspension: when, for which operations, how often.
    pub fn set_rules(&mut self, scenario: &Scenario) {
        self.controller.set_rules(scenario);
    }

    /// Queues a page operation at its die, or at a dispatcher that holds back its kind.
    #[inline]
    pub fn enqueue(&mut self, id: u32) {
        let controller = &mut self.controller;
        if self.stage.holds_back(controller.dies.txns[id].kind) {
            self.stage.leave_unplaced(id);
            controller.held_back(id);
        } else {
            controller.admit(id);
        }
    }

    /// Runs the dispatcher on writes, held operations, and the queues of dies that will decide.
    pub fn dispatch<P: PlaneQueries>(&mut self, now: Time, planes: &mut P) {
        self.stage.dispatch(&mut self.controller, now, planes);
    }

    /// Handles an event.
    #[inline(always)]
    pub fn handle(&mut self, event: FlashEvent, now: Time, out: &mut impl Schedule<FlashEvent>) {
        self.controller.handle(event, now, out);
    }

    /// Returns a completed transaction that the caller has not taken yet.
    #[inline(always)]
    pub fn next_done(&mut self) -> Option<u32> {
        self.controller.done.pop()
    }

    /// Returns a command that a die refused, and the reason: an error of the layer above.
    pub fn refused(&self) -> Option<(u32, Refusal)> {
        self.controller.refused
    }

    /// Returns the transactions in flight.
    #[inline(always)]
    pub fn txns(&self) -> &Slab<Txn> {
        &self.controller.dies.txns
    }

    /// Returns the transactions, to add to them and to change them.
    #[inline(always)]
    pub fn txns_mut(&mut self) -> &mut Slab<Txn> {
        &mut self.controller.dies.txns
    }

    /// Returns the dies.
    #[inline(always)]
    pub fn dies(&self) -> &Dies {
        &self.controller.dies
    }

    /// Returns the dies, to wake them and to set their contents before the run.
    #[inline(always)]
    pub fn dies_mut(&mut self) -> &mut Dies {
        &mut self.controller.dies
    }

    /// Returns the busy time of each die and each channel until `now`, in nanoseconds.
    pub fn busy_ns_each(&self, now: Time) -> (Vec<u64>, Vec<u64>) {
        let channels = self.controller.channels.busy_until(now);
        (self.dies().busy_ns(now).collect(), channels.collect())
    }

    /// Returns the sums of these over dies and over channels.
    pub fn busy_ns(&self, now: Time) -> (u64, u64) {
        (self.dies().busy_ns(now).sum(), self.controller.channels.busy_until(now).sum())
    }

    /// Returns the counters.
    #[inline(always)]
    pub fn counts(&self) -> &FlashCounts {
        &self.controller.counts
    }

    /// Resets counters; the measured part of the run starts at `at`.
    pub fn forget_counts(&mut self, at: Time) {
        self.controller.forget_counts(at);
    }

    /// Returns the cells with bit errors and wear, if modelled.
    pub fn media(&self) -> Option<&Media> {
        self.controller.media.as_deref()
    }

    /// Sets the history of the cells before the run.
    pub fn start_worn(&mut self, cells: WornCells) {
        self.controller.start_worn(cells);
    }

    /// Returns the observers of events.
    #[inline(always)]
    pub fn observers(&self) -> &Observers {
        &self.controller.observers
    }

    /// Returns the observers, which receive requests and have the results.
    #[inline(always)]
    pub fn observers_mut(&mut self) -> &mut Observers {
        &mut self.controller.observers
    }

    /// Adds an observer.
    pub fn join(&mut self, observer: Box<dyn Observe>) {
        self.controller.observers.join(observer);
    }

    /// Starts a timeline, before the first event.
    pub fn draw(&mut self, window: Window) {
        let Controller { observers, dies, .. } = &mut self.controller;
        observers.draw(window, &dies.facts);
    }

    /// Starts to record the progress of operations at their suspension.
    pub fn keep_ages(&mut self) {
        let Controller { observers, dies, .. } = &mut self.controller;
        observers.keep_ages(&dies.facts.geometry);
    }

    /// Starts the attribution of waits, before the first event.
    pub fn keep_attribution(&mut self) {
        let Controller { observers, dies, .. } = &mut self.controller;
        observers.attribute_waits(&dies.facts, self.stage.has_delays());
    }

    /// Returns the attribution of waits, if enabled, and the waiting transactions.
    #[inline]
    pub fn attribution(&mut self) -> Option<(&mut Attribution, &Slab<Txn>)> {
        let Controller { observers, dies, .. } = &mut self.controller;
        Some((observers.attribution()?, &dies.txns))
    }

    /// Starts to record commands and transfers, for [`Flash::pass_record`].
    pub fn keep_record(&mut self) {
        self.controller.keep_record();
    }

    /// Passes the commands and transfers since the last call to a checker.
    pub fn pass_record(&mut self, checker: &mut Checker) {
        self.controller.pass_record(checker);
    }
}
