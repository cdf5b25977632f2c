//! The step before decisions in which a dispatcher sees and orders the queues.

use std::ops::Range;

use reprieve_base::{Archive, Dur, Geometry, Order, Time, parts};
use reprieve_nand::MultiPlane;
use reprieve_policy::dispatch::{ChannelWork, Dispatcher, DriveView, IdleUnits, Queued, Service};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::PlaneQueries;

use super::controller::Controller;
use super::dies::Dies;
use super::occupancy::{DieWork, Occupancy};

/// A dispatcher's view of the drive.
struct View<'a, P> {
    dies: &'a Dies,
    stage: &'a Stage,
    planes: &'a P,
    now: Time,
}

impl<P: PlaneQueries> DriveView for View<'_, P> {
    fn now(&self) -> Time {
        self.now
    }

    fn geometry(&self) -> &Geometry {
        &self.dies.facts.geometry
    }

    fn multi_plane(&self) -> MultiPlane {
        self.dies.facts.parallelism.multi_plane
    }

    fn pages_together(&self) -> u32 {
        self.dies.facts.pages_together
    }

    fn service(&self) -> Service {
        let timing = &self.dies.facts.timing;
        let array = timing.program_array(timing.program_iterations);
        Service {
            read: timing.command + timing.read + timing.bus,
            program: timing.command + timing.bus + array,
        }
    }

    fn for_each_at(&self, die: u32, each: &mut dyn FnMut(&Queued)) {
        let unit = &self.dies[die];
        for id in unit.reads.iter(&self.dies.txns).chain(unit.writes.iter(&self.dies.txns)) {
            each(&self.queued(id));
        }
    }

    fn for_each_unplaced_of(&self, places: Range<usize>, each: &mut dyn FnMut(&Queued)) {
        let all = &self.stage.unplaced;
        match places.start {
            0 => all.iter().take(places.end).for_each(|id| each(&self.queued(id))),
            first => all
                .last(self.unplaced().saturating_sub(first))
                .take(places.len())
                .for_each(|id| each(&self.queued(id))),
        }
    }

    fn unplaced(&self) -> usize {
        self.stage.unplaced.count() as usize
    }

    fn queued(&self, id: u32) -> Queued {
        let txn = &self.dies.txns[id];
        let is_read = txn.kind.is_read();
        let is_placed = txn.die != NONE;
        let at = match is_read {
            true => Some(txn.at),
            // A page that is not queued at a die may have no plane.
            false if is_placed => self.planes.page_to_come(txn),
            false => None,
        };
        Queued {
            id,
            order: txn.seq,
            is_read,
            for_write: txn.kind == Kind::RmwRead,
            plane: is_placed
                .then(|| txn.die * self.dies.facts.geometry.planes_per_die + txn.at.plane),
            block: at.map(|at| at.block),
            page: at.map(|at| at.page),
            lpn: txn.lpn,
            request: (txn.request != NONE).then_some(txn.request),
            since: txn.mark,
        }
    }

    fn is_idle(&self, die: u32) -> bool {
        self.work_of(die).is_idle
    }

    fn serves_host(&self, die: u32) -> bool {
        self.work_of(die).serves_host
    }

    fn channel(&self, channel: u32) -> ChannelWork {
        if cfg!(debug_assertions) {
            let dies = self.dies.facts.geometry.dies_per_channel;
            (channel * dies..(channel + 1) * dies).for_each(|die| _ = self.work_of(die));
        }
        self.stage.occupancy.of_channel(channel)
    }

    fn idle(&self) -> IdleUnits {
        self.stage.occupancy.idle()
    }

    fn collects(&self, die: u32) -> bool {
        self.planes.collects(die)
    }

    fn takes_read(&self, die: u32) -> bool {
        let unit = &self.dies[die];
        let (facts, suspends) = (&self.dies.facts, self.dies.facts.suspends);
        // Planes that read independently have a page buffer each.
        let by_plane = facts.parallelism.independent_plane_reads;
        let has_buffer = !by_plane || unit.die.plane_reads().has_free();
        let takes = match facts.splits {
            true => unit.takes_read_on_a_plane(suspends),
            false => unit.die.takes_reads() && has_buffer || unit.die.is_running() && suspends,
        };
        unit.reads.first().is_none() && (takes || !self.serves_host(die))
    }

    fn busy_until(&self, die: u32) -> Time {
        let unit = &self.dies[die];
        if unit.die.is_at_rest() {
            return self.now;
        }
        let leaves = if unit.reading != NONE { self.dies.facts.timing.bus } else { Dur::ZERO };
        let scheduled = match self.dies.facts.splits {
            true => unit.lanes_scheduled().unwrap_or(self.now),
            false => unit.whole.scheduled + leaves,
        };
        let on_planes =
            unit.die.plane_reads().until().map(|sensed| sensed + self.dies.facts.timing.bus);
        scheduled.max(self.now).max(on_planes.unwrap_or(self.now))
    }

    fn has_room(&self, plane: u32) -> bool {
        self.planes.can_take(plane)
    }

    fn next_page(&self, plane: u32) -> u32 {
        self.planes.next_page(plane)
    }

    fn next_block(&self, plane: u32) -> Option<u32> {
        self.planes.next_block(plane)
    }
}

impl<P> View<'_, P> {
    #[inline]
    fn work_of(&self, die: u32) -> DieWork {
        let work = self.stage.occupancy.of_die(die);
        debug_assert_eq!(work, DieWork::of(self.dies, die), "die {die} changed and was not woken");
        work
    }
}

/// A dispatcher, the transactions that it holds, and its view of the dies.
///
/// Transactions held here are in no queue of a die, and may have no die yet. Without a dispatcher
/// there are none.
pub struct Stage {
    dispatcher: Option<Box<dyn Dispatcher>>,
    /// Writes without a plane, and all that the dispatcher holds back.
    unplaced: Order,
    /// Work of dies, for the dispatcher.
    occupancy: Occupancy,
    /// Properties of the dispatcher, or defaults without one.
    places_late: bool,
    holds_back: bool,
    joins_requests: bool,
    chooses_heads: bool,
}

impl Stage {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        if let Some(dispatcher) = &mut self.dispatcher {
            dispatcher.archive(archive);
        }
        parts!(archive; self.unplaced, self.occupancy);
    }

    /// Creates a stage without a dispatcher.
    pub(super) fn empty() -> Stage {
        Stage {
            dispatcher: None,
            unplaced: Order::with_capacity(0),
            occupancy: Occupancy::default(),
            places_late: false,
            holds_back: false,
            joins_requests: true,
            chooses_heads: false,
        }
    }

    /// Sets a dispatcher.
    pub fn set_dispatcher(&mut self, dispatcher: Box<dyn Dispatcher>) {
        self.places_late = dispatcher.places();
        self.holds_back = dispatcher.holds();
        self.joins_requests = dispatcher.joins_requests();
        self.chooses_heads = dispatcher.chooses_heads();
        self.dispatcher = Some(dispatcher);
    }

    /// Whether there is a dispatcher.
    #[inline]
    pub fn is_dispatched(&self) -> bool {
        self.dispatcher.is_some()
    }

    /// Returns the next page that the dispatcher wants to rewrite.
    #[inline]
    pub fn next_rewrite(&mut self) -> Option<u32> {
        self.dispatcher.as_mut()?.rewrite()
    }

    /// Whether a dispatcher assigns planes to writes.
    #[inline]
    pub fn places_late(&self) -> bool {
        self.places_late
    }

    /// Whether transactions may wait here before the queue of their die.
    pub(super) fn has_delays(&self) -> bool {
        self.holds_back || self.places_late
    }

    /// Whether reads of several requests may share a command.
    #[inline]
    pub(super) fn joins_requests(&self) -> bool {
        self.joins_requests
    }

    /// Adds a write that waits for a plane.
    pub fn leave_unplaced(&mut self, id: u32) {
        self.unplaced.push(id);
    }

    /// Returns the transactions that wait at no die, in order.
    pub fn at_no_die(&self) -> impl Iterator<Item = u32> {
        self.unplaced.iter()
    }

    /// Drops transactions that wait at no die.
    pub(super) fn forget_waiting(&mut self) {
        self.unplaced = Order::with_capacity(0);
    }

    /// Whether a dispatcher holds back a kind: operations of the host, but not on the mapping.
    #[inline]
    pub(super) fn holds_back(&self, kind: Kind) -> bool {
        self.holds_back && matches!(kind, Kind::HostRead | Kind::RmwRead | Kind::Program)
    }

    /// Notes a decision of a die that was not woken: it has received its channel, or power.
    #[inline]
    pub(super) fn note_decision(&mut self, die: u32) {
        if self.is_dispatched() {
            self.occupancy.decided.push(die);
        }
    }

    /// As `note_decision`, for several dies.
    pub(super) fn note_decisions(&mut self, dies: &[u32]) {
        if self.is_dispatched() {
            self.occupancy.decided.extend(dies);
        }
    }

    /// Runs the dispatcher on writes, held operations, and the queues of dies that will decide.
    pub(super) fn dispatch<P: PlaneQueries>(
        &mut self,
        controller: &mut Controller,
        now: Time,
        planes: &mut P,
    ) {
        let Some(mut dispatcher) = self.dispatcher.take() else { return };
        self.look_at(&controller.dies);
        loop {
            let view = View { dies: &controller.dies, stage: self, planes: &*planes, now };
            let Some((id, plane)) = dispatcher.place(&view) else { break };
            self.unplaced.remove(id);
            let txn = &mut controller.dies.txns[id];
            if txn.die == NONE {
                assert!(planes.can_take(plane), "a dispatcher chose plane {plane}, which is full");
                planes.assign(txn, plane);
            } else {
                let own = txn.die * controller.dies.facts.geometry.planes_per_die + txn.at.plane;
                assert_eq!(plane, own, "a dispatcher sent an operation to another plane");
            }
            let die = txn.die;
            controller.admit(id);
            self.occupancy.set(die, DieWork::of(&controller.dies, die));
        }
        let mut touched = std::mem::take(&mut controller.dies.touched);
        let view = View { dies: &controller.dies, stage: self, planes: &*planes, now };
        dispatcher.visit(&mut touched, &view);
        let asked = if self.chooses_heads { &touched[..] } else { &[] };
        for (die, reads) in asked.iter().flat_map(|die| [(*die, true), (*die, false)]) {
            let view = View { dies: &controller.dies, stage: self, planes: &*planes, now };
            if let Some(id) = dispatcher.head(die, reads, &view) {
                controller.dies.put_first((die, reads), id);
            }
        }
        self.occupancy.decided.clone_from(&touched);
        controller.dies.touched = touched;
        self.dispatcher = Some(dispatcher);
    }

    /// Updates the dies that may have changed: those that decided at the last instant, and those
    /// with events since.
    fn look_at(&mut self, dies: &Dies) {
        if self.occupancy.is_new() {
            let geometry = &dies.facts.geometry;
            let work = (0..geometry.dies()).map(|die| DieWork::of(dies, die)).collect();
            self.occupancy = Occupancy::new(work, geometry);
            return;
        }
        let decided = std::mem::take(&mut self.occupancy.decided);
        for die in decided.iter().chain(&dies.touched) {
            self.occupancy.set(*die, DieWork::of(dies, *die));
        }
        self.occupancy.decided = decided;
    }
}
