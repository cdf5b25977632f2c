//! Aligned: round robin over the planes of a die and then over dies, so that planes fill alike.

use reprieve_base::{Entry, Geometry};

use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

pub(super) const ENTRY: Entry = Entry {
    name: "aligned",
    doc: "by turns all planes of a die, then the next die: open blocks fill alike, as multi-plane \
          programs want it",
};

/// Goes around planes first, then channels, chips and dies; none that is full.
pub(super) struct Aligned {
    order: StaticOrder,
    planes: u32,
    next: u32,
}

impl Aligned {
    pub(super) fn new(geometry: &Geometry) -> Aligned {
        Aligned { order: StaticOrder::new("pcwd", geometry), planes: geometry.planes(), next: 0 }
    }
}

impl Placement for Aligned {
    fn plane(&mut self, _: u32, view: &dyn PlaneView) -> Option<u32> {
        let turns = (0..self.planes).map(|step| (self.next + step) % self.planes);
        let chosen = turns.into_iter().find(|turn| view.has_room(self.order.home(*turn)))?;
        self.next = (chosen + 1) % self.planes;
        Some(self.order.home(chosen))
    }

    fn home(&self, lpn: u32) -> u32 {
        self.order.home(lpn)
    }

    fn is_fixed(&self) -> bool {
        false
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
