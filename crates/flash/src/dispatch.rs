//! The step before decisions in which a dispatcher, if there is one, sees and orders the queues.

use std::ops::Range;

use reprieve_base::{Dur, Geometry, Order, Time};
use reprieve_nand::MultiPlane;
use reprieve_policy::dispatch::{ChannelWork, Dispatcher, DriveView, IdleUnits, Queued, Service};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::PlaneQueries;

use super::Flash;
use super::die::DieUnit;
use super::lane::Lane;
use super::occupancy::{DieWork, Occupancy};

/// The drive as a dispatcher sees it.
struct View<'a, P> {
    flash: &'a Flash,
    planes: &'a P,
    now: Time,
}

impl<P: PlaneQueries> DriveView for View<'_, P> {
    fn now(&self) -> Time {
        self.now
    }

    fn geometry(&self) -> &Geometry {
        &self.flash.facts.geometry
    }

    fn multi_plane(&self) -> MultiPlane {
        self.flash.facts.parallelism.multi_plane
    }

    fn pages_together(&self) -> u32 {
        self.flash.facts.together
    }

    fn service(&self) -> Service {
        let timing = &self.flash.facts.timing;
        let array = timing.program_array(timing.program_iterations);
        Service {
            read: timing.command + timing.read + timing.bus,
            program: timing.command + timing.bus + array,
        }
    }

    fn for_each_at(&self, die: u32, each: &mut dyn FnMut(&Queued)) {
        let unit = &self.flash.units[die as usize];
        for id in unit.reads.iter(&self.flash.txns).chain(unit.writes.iter(&self.flash.txns)) {
            each(&self.queued(id));
        }
    }

    fn for_each_unplaced_of(&self, places: Range<usize>, each: &mut dyn FnMut(&Queued)) {
        let all = &self.flash.stage.unplaced;
        match places.start {
            0 => all.iter().take(places.end).for_each(|id| each(&self.queued(id))),
            first => all
                .last(self.unplaced().saturating_sub(first))
                .take(places.len())
                .for_each(|id| each(&self.queued(id))),
        }
    }

    fn unplaced(&self) -> usize {
        self.flash.stage.unplaced.count() as usize
    }

    fn queued(&self, id: u32) -> Queued {
        let txn = &self.flash.txns[id];
        let is_read = txn.kind.is_read();
        let is_placed = txn.die != NONE;
        let at = match is_read {
            true => Some(txn.at),
            // A page that is in no queue of a die may have no plane.
            false if is_placed => self.planes.page_to_come(txn),
            false => None,
        };
        Queued {
            id,
            order: txn.seq,
            is_read,
            for_write: txn.kind == Kind::RmwRead,
            plane: is_placed
                .then(|| txn.die * self.flash.facts.geometry.planes_per_die + txn.at.plane),
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
            let dies = self.flash.facts.geometry.dies_per_channel;
            (channel * dies..(channel + 1) * dies).for_each(|die| _ = self.work_of(die));
        }
        self.flash.stage.occupancy.of_channel(channel)
    }

    fn idle(&self) -> IdleUnits {
        self.flash.stage.occupancy.idle()
    }

    fn collects(&self, die: u32) -> bool {
        self.planes.collects(die)
    }

    fn takes_read(&self, die: u32) -> bool {
        let unit = &self.flash.units[die as usize];
        let suspends = unit.die.is_running() && self.flash.serving.suspends;
        let takes = match self.flash.facts.splits {
            true => self.flash.takes_read_on_a_plane(die),
            false => unit.die.takes_reads() && self.flash.has_free_buffer(die) || suspends,
        };
        unit.reads.first().is_none() && (takes || !self.serves_host(die))
    }

    fn busy_until(&self, die: u32) -> Time {
        let unit = &self.flash.units[die as usize];
        if unit.die.is_at_rest() {
            return self.now;
        }
        let leaves = if unit.reading != NONE { self.flash.facts.timing.bus } else { Dur::ZERO };
        let scheduled = match self.flash.facts.splits {
            true => self.flash.lanes_scheduled(die).unwrap_or(self.now),
            false => unit.whole.scheduled + leaves,
        };
        let on_planes = unit.die.senses_until().map(|sensed| sensed + self.flash.facts.timing.bus);
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
        let work = self.flash.stage.occupancy.of_die(die);
        debug_assert_eq!(work, self.flash.die_work(die), "die {die} changed and was not woken");
        work
    }
}

/// A dispatcher, and what waits at no die.
pub(super) struct Stage {
    pub(super) dispatcher: Option<Box<dyn Dispatcher>>,
    /// Writes to which the dispatcher has given no plane, and all that it holds back.
    pub(super) unplaced: Order,
    /// What dies have to do, as the dispatcher sees it.
    occupancy: Occupancy,
    /// What the dispatcher says of itself, all as it would be without one.
    pub(super) places_late: bool,
    pub(super) holds_back: bool,
    pub(super) joins_requests: bool,
    chooses_heads: bool,
}

impl Stage {
    /// Without a dispatcher.
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
}

impl Flash {
    /// Puts a dispatcher over the queues.
    pub fn set_dispatcher(&mut self, dispatcher: Box<dyn Dispatcher>) {
        self.stage.places_late = dispatcher.places();
        self.stage.holds_back = dispatcher.holds();
        self.stage.joins_requests = dispatcher.joins_requests();
        self.stage.chooses_heads = dispatcher.chooses_heads();
        self.stage.dispatcher = Some(dispatcher);
    }

    /// Whether there is a dispatcher.
    #[inline]
    pub fn is_dispatched(&self) -> bool {
        self.stage.dispatcher.is_some()
    }

    /// Whether a page can be sensed as far as page buffers go: planes that read by themselves
    /// have one each.
    fn has_free_buffer(&self, die: u32) -> bool {
        !self.facts.parallelism.independent_plane_reads
            || self.units[die as usize].die.has_free_plane()
    }

    /// The next page that the dispatcher wants to be written anew.
    #[inline]
    pub fn next_rewrite(&mut self) -> Option<u32> {
        self.stage.dispatcher.as_mut()?.rewrite()
    }

    /// Whether writes get their planes from a dispatcher.
    #[inline]
    pub fn places_late(&self) -> bool {
        self.stage.places_late
    }

    /// A write waits to be given a plane.
    pub fn leave_unplaced(&mut self, id: u32) {
        self.stage.unplaced.push(id);
    }

    /// Queues a page operation at its die, unless a dispatcher holds those of its kind back.
    #[inline]
    pub fn enqueue(&mut self, id: u32) {
        if self.stage.holds_back && self.is_held_back(id) {
            self.stage.unplaced.push(id);
            self.blame_wait(id);
        } else {
            self.admit(id);
        }
    }

    /// Operations of the host are held back; those on the mapping, which others wait for, are not.
    #[cold]
    fn is_held_back(&self, id: u32) -> bool {
        matches!(self.txns[id].kind, Kind::HostRead | Kind::RmwRead | Kind::Program)
    }

    /// Lets the dispatcher place writes, let go what it holds back, and order the queues of the
    /// dies that will decide.
    pub fn dispatch<P: PlaneQueries>(&mut self, now: Time, planes: &mut P) {
        let Some(mut dispatcher) = self.stage.dispatcher.take() else { return };
        self.look_at_dies();
        loop {
            let view = View { flash: self, planes: &*planes, now };
            let Some((id, plane)) = dispatcher.place(&view) else { break };
            self.stage.unplaced.remove(id);
            let txn = &mut self.txns[id];
            if txn.die == NONE {
                assert!(planes.can_take(plane), "a dispatcher chose plane {plane}, which is full");
                planes.assign(txn, plane);
            } else {
                let own = txn.die * self.facts.geometry.planes_per_die + txn.at.plane;
                assert_eq!(plane, own, "a dispatcher sent an operation to another plane");
            }
            let die = self.txns[id].die;
            self.admit(id);
            self.stage.occupancy.set(die, self.die_work(die));
        }
        let mut dies = std::mem::take(&mut self.agenda.dirty_dies);
        dispatcher.visit(&mut dies, &View { flash: self, planes: &*planes, now });
        let asked = if self.stage.chooses_heads { &dies[..] } else { &[] };
        for (die, reads) in asked.iter().flat_map(|die| [(*die, true), (*die, false)]) {
            let view = View { flash: self, planes: &*planes, now };
            let Some(id) = dispatcher.head(die, reads, &view) else { continue };
            let unit = &mut self.units[die as usize];
            let queue = if reads { &mut unit.reads } else { &mut unit.writes };
            queue.remove(&mut self.txns, id);
            queue.push_front(&mut self.txns, id);
        }
        self.stage.occupancy.decided.clone_from(&dies);
        self.agenda.dirty_dies = dies;
        self.stage.dispatcher = Some(dispatcher);
    }

    /// A die decides that was not woken: it has got its channel, or power.
    #[inline]
    pub(super) fn note_decision(&mut self, die: u32) {
        if self.is_dispatched() {
            self.stage.occupancy.decided.push(die);
        }
    }

    /// Looks again at the dies that may have changed: those that decided at the last
    /// instant, and those to which something has happened since.
    fn look_at_dies(&mut self) {
        if self.stage.occupancy.is_new() {
            let geometry = &self.facts.geometry;
            let dies = (0..geometry.dies()).map(|die| self.die_work(die)).collect();
            self.stage.occupancy = Occupancy::new(dies, geometry);
            return;
        }
        let decided = std::mem::take(&mut self.stage.occupancy.decided);
        for die in decided.iter().chain(&self.agenda.dirty_dies) {
            self.stage.occupancy.set(*die, self.die_work(*die));
        }
        self.stage.occupancy.decided = decided;
    }

    /// What a die has to do.
    fn die_work(&self, die: u32) -> DieWork {
        let unit = &self.units[die as usize];
        let by_host = |id: u32| {
            let of_collection =
                |kind| matches!(kind, Kind::GcRead | Kind::GcProgram | Kind::GcCopy | Kind::Erase);
            id != NONE && !of_collection(self.txns[id].kind)
        };
        // Nearly always the first of these says it; planes are looked at where they differ.
        let serves_host = unit.reads.first().is_some()
            || unit.writes.first().is_some()
            || by_host(unit.whole.operation())
            || by_host(unit.reading)
            || by_host(unit.leaving)
            || by_host(unit.loaded)
            || by_host(unit.whole.below.operation)
            || unit.planes.get().is_some_and(|planes| {
                let lanes = planes.lanes.iter().map(Lane::operation);
                planes.reads.iter().copied().chain(lanes).any(by_host)
            });
        DieWork {
            is_idle: self.is_idle(die),
            serves_host,
            reads: unit.reads.count(),
            programs: unit.writes.count() + self.programming(unit),
        }
    }

    /// Host pages that a die programs, or has suspended.
    fn programming(&self, unit: &DieUnit) -> u32 {
        let pages = |first: u32| {
            let (mut pages, mut each) = (0, first);
            while each != NONE {
                let txn = &self.txns[each];
                pages += u32::from(txn.kind == Kind::Program);
                each = txn.next;
            }
            pages
        };
        let split = unit.planes.get().map_or(&[][..], |planes| &planes.lanes);
        pages(unit.whole.operation())
            + split.iter().map(|lane| pages(lane.operation())).sum::<u32>()
    }
}
