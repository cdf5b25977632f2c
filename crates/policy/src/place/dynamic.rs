//! Dynamic placement: the next plane, going around, whose die is idle.

use reprieve_base::{Archive, Entry, Geometry};

use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

pub(super) const ENTRY: Entry = Entry {
    name: "dynamic",
    doc: "the next plane in the order cwdp whose die is idle, else the next; none that is full",
};

/// Planes examined before the search for an idle die ends.
const WINDOW: u32 = 64;

/// Goes around the planes and prefers idle dies.
pub(super) struct Dynamic {
    order: StaticOrder,
    planes: u32,
    next: u32,
}

impl Dynamic {
    pub(super) fn new(geometry: &Geometry) -> Dynamic {
        Dynamic { order: StaticOrder::new("cwdp", geometry), planes: geometry.planes(), next: 0 }
    }
}

impl Placement for Dynamic {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.next);
    }

    fn plane(&mut self, _: u32, view: &dyn PlaneView) -> Option<u32> {
        let window = WINDOW.min(self.planes);
        let candidate = |step: u32| (self.next + step) % self.planes;
        let has_room = |unit: &u32| view.has_room(self.order.home(*unit));
        let idle = (0..window)
            .map(candidate)
            .find(|unit| view.load(self.order.home(*unit)) == 0 && has_room(unit));
        let chosen = idle.or_else(|| (0..self.planes).map(candidate).find(has_room))?;
        self.next = (chosen + 1) % self.planes;
        Some(self.order.home(chosen))
    }

    fn home(&self, lpn: u32) -> u32 {
        self.order.home(lpn)
    }

    fn is_fixed(&self) -> bool {
        false
    }

    fn round(&self) -> Option<u32> {
        Some(self.planes)
    }

    fn position(&self) -> u32 {
        self.next
    }

    fn positions(&self) -> u32 {
        self.planes
    }

    fn go_to(&mut self, position: u32) {
        self.next = position;
    }
}
