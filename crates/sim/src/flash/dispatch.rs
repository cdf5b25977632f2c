//! The step before decisions in which a dispatcher, if there is one, sees and orders the queues.

use reprieve_base::{Geometry, Time};

use super::{Flash, Queue};
use crate::dispatch::{Dispatcher, DriveView, Queued};
use crate::txn::NONE;
use crate::work::Planes;

/// The drive as a dispatcher sees it.
struct View<'a, P> {
    flash: &'a Flash,
    planes: &'a P,
    now: Time,
}

impl<P: Planes> View<'_, P> {
    fn for_each_in(&self, queue: &Queue, each: &mut dyn FnMut(&Queued)) {
        let mut next = queue.first();
        while let Some(id) = next {
            let txn = &self.flash.txns[id];
            let is_read = txn.kind.is_read();
            let is_placed = txn.die != NONE;
            each(&Queued {
                id,
                is_read,
                plane: is_placed
                    .then(|| txn.die * self.flash.geometry.planes_per_die + txn.at.plane),
                page: is_read.then_some(txn.at.page),
                lpn: txn.lpn,
                request: (txn.request != NONE).then_some(txn.request),
                since: txn.mark,
            });
            next = (txn.next != NONE).then_some(txn.next);
        }
    }
}

impl<P: Planes> DriveView for View<'_, P> {
    fn now(&self) -> Time {
        self.now
    }

    fn geometry(&self) -> &Geometry {
        &self.flash.geometry
    }

    fn for_each_at(&self, die: u32, each: &mut dyn FnMut(&Queued)) {
        let unit = &self.flash.units[die as usize];
        self.for_each_in(&unit.reads, each);
        self.for_each_in(&unit.writes, each);
    }

    fn for_each_unplaced(&self, each: &mut dyn FnMut(&Queued)) {
        self.for_each_in(&self.flash.unplaced, each);
    }

    fn is_idle(&self, die: u32) -> bool {
        self.flash.is_idle(die)
    }

    fn has_room(&self, plane: u32) -> bool {
        self.planes.can_take(plane)
    }

    fn next_page(&self, plane: u32) -> u32 {
        self.planes.next_page(plane)
    }
}

impl Flash {
    /// Puts a dispatcher over the queues.
    pub fn set_dispatcher(&mut self, dispatcher: Box<dyn Dispatcher>) {
        self.dispatcher = Some(dispatcher);
    }

    /// Whether writes get their planes from a dispatcher.
    #[inline]
    pub fn is_dispatched(&self) -> bool {
        self.dispatcher.is_some()
    }

    /// A write waits to be given a plane.
    pub fn leave_unplaced(&mut self, id: u32) {
        self.unplaced.push(&mut self.txns, id);
    }

    /// Lets the dispatcher place writes and order the queues of the dies that will decide.
    pub fn dispatch<P: Planes>(&mut self, now: Time, planes: &mut P) {
        let Some(mut dispatcher) = self.dispatcher.take() else { return };
        loop {
            let view = View { flash: self, planes: &*planes, now };
            let Some((id, plane)) = dispatcher.place(&view) else { break };
            assert!(planes.can_take(plane), "a dispatcher chose plane {plane}, which has no room");
            self.unplaced.remove(&mut self.txns, id);
            planes.assign(&mut self.txns[id], plane);
            self.enqueue(id);
        }
        for next in 0..self.dirty_dies.len() {
            let die = self.dirty_dies[next];
            for reads in [true, false] {
                let view = View { flash: self, planes: &*planes, now };
                let Some(id) = dispatcher.head(die, reads, &view) else { continue };
                let unit = &mut self.units[die as usize];
                let queue = if reads { &mut unit.reads } else { &mut unit.writes };
                queue.remove(&mut self.txns, id);
                queue.push_front(&mut self.txns, id);
            }
        }
        self.dispatcher = Some(dispatcher);
    }
}
