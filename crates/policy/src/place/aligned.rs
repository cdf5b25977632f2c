//! Planes filled alike: round robin over the planes of a die and then over dies.

use reprieve_base::{Archive, Entry, Geometry};

use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

pub(super) const ALIGNED: Entry = Entry {
    name: "aligned",
    doc: "by turns all planes of a die, then the next die: open blocks fill alike, as multi-plane \
          programs want it",
};

pub(super) const WORDLINE: Entry = Entry {
    name: "wordline",
    doc: "all pages of a wordline of all planes of a die, then the next die: a die has its program \
          as soon as it has its data, and dies program one after another",
};

/// Goes around planes first, then channels, chips and dies; none that is full.
pub(super) struct Aligned {
    order: StaticOrder,
    planes: u32,
    planes_per_die: u32,
    /// Pages that a plane takes before the next die has its turn.
    run: u32,
    /// The next page of a round over all dies.
    next: u32,
}

impl Aligned {
    /// A round in which each plane takes `run` pages one after another.
    pub(super) fn new(geometry: &Geometry, run: u32) -> Aligned {
        Aligned {
            order: StaticOrder::new("pcwd", geometry),
            planes: geometry.planes(),
            planes_per_die: geometry.planes_per_die,
            run,
            next: 0,
        }
    }

    /// The plane whose turn is a page of a round.
    fn plane_of(&self, turn: u32) -> u32 {
        let die = turn / (self.planes_per_die * self.run);
        self.order.home(die * self.planes_per_die + turn % self.planes_per_die)
    }
}

impl Placement for Aligned {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.next);
    }

    fn plane(&mut self, _: u32, view: &dyn PlaneView) -> Option<u32> {
        let turns = self.positions();
        let chosen = (0..turns)
            .map(|step| (self.next + step) % turns)
            .find(|turn| view.has_room(self.plane_of(*turn)))?;
        self.next = (chosen + 1) % turns;
        Some(self.plane_of(chosen))
    }

    fn home(&self, lpn: u32) -> u32 {
        self.order.home(lpn)
    }

    fn is_fixed(&self) -> bool {
        false
    }

    fn round(&self) -> Option<u32> {
        Some(self.positions())
    }

    fn position(&self) -> u32 {
        self.next
    }

    fn positions(&self) -> u32 {
        self.planes * self.run
    }

    fn go_to(&mut self, position: u32) {
        self.next = position;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_channel: 2,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 6,
        page_bytes: 4096,
    };

    struct Room(Option<u32>);

    impl PlaneView for Room {
        fn load(&self, _: u32) -> u32 {
            0
        }

        fn has_room(&self, plane: u32) -> bool {
            Some(plane) != self.0
        }
    }

    fn first(placement: &mut Aligned, full: Option<u32>, pages: usize) -> Vec<u32> {
        (0..pages).map(|_| placement.plane(0, &Room(full)).expect("there is room")).collect()
    }

    #[test]
    fn a_page_of_each_plane_and_then_the_next_die() {
        // By hand: die = 2 channel + die on it, plane = 2 die + plane; channels first.
        let mut placement = Aligned::new(&SHAPE, 1);
        assert_eq!(first(&mut placement, None, 9), [0, 1, 4, 5, 2, 3, 6, 7, 0]);
    }

    #[test]
    fn a_wordline_of_each_plane_and_then_the_next_die() {
        let mut placement = Aligned::new(&SHAPE, 3);
        let die = |plane| [plane, plane + 1].repeat(3);
        let wanted = [die(0), die(4), die(2), die(6), die(0)].concat();
        assert_eq!(first(&mut placement, None, 30), wanted);
    }

    #[test]
    fn a_full_plane_is_passed_over() {
        let mut placement = Aligned::new(&SHAPE, 3);
        assert_eq!(first(&mut placement, Some(1), 5), [0, 0, 0, 4, 5]);
    }
}
