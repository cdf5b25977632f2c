//! Placement that balances planes: round robin over the planes of a die and then over dies, or to
//! the die with the fewest waiting writes.

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

pub(super) const LEAST_LOADED: Entry = Entry {
    name: "least-loaded",
    doc: "all pages of a wordline of all planes of a die, on the die for which the fewest writes \
          wait, of equals on the next in turn",
};

/// Goes around planes first, then channels, chips and dies; skips full ones.
pub(super) struct Aligned {
    order: StaticOrder,
    planes: u32,
    planes_per_die: u32,
    /// Pages that a plane takes before the next die has its turn.
    run: u32,
    /// The next page of a round over all dies.
    next: u32,
    /// The next die is the least loaded one.
    looks_at_load: bool,
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
            looks_at_load: false,
        }
    }

    /// Returns a scheme in which the least loaded die has the next turn.
    pub(super) fn by_load(geometry: &Geometry, run: u32) -> Aligned {
        Aligned { looks_at_load: true, ..Aligned::new(geometry, run) }
    }

    /// Returns the consecutive turns of a die.
    fn turns_of_die(&self) -> u32 {
        self.planes_per_die * self.run
    }

    /// Returns the first turn of the least loaded die with room; ties go to the next one.
    fn least_loaded(&self, view: &dyn PlaneView) -> Option<u32> {
        let firsts = (0..self.positions()).step_by(self.turns_of_die() as usize);
        let turns = firsts.map(|step| (self.next + step) % self.positions());
        let has_room = |turn: &u32| view.has_room(self.plane_of(*turn));
        turns.filter(has_room).min_by_key(|turn| view.load(self.plane_of(*turn)))
    }

    /// Returns the plane of a page of a round.
    fn plane_of(&self, turn: u32) -> u32 {
        let die = turn / self.turns_of_die();
        self.order.home(die * self.planes_per_die + turn % self.planes_per_die)
    }
}

impl Placement for Aligned {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.next);
    }

    fn plane(&mut self, _: u32, view: &dyn PlaneView) -> Option<u32> {
        if self.looks_at_load && self.next % self.turns_of_die() == 0 {
            self.next = self.least_loaded(view).unwrap_or(self.next);
        }
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
        match self.looks_at_load {
            false => self.next,
            // The next page chooses a die first.
            true => self.next.next_multiple_of(self.turns_of_die()) % self.positions(),
        }
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

    /// A plane without room, and the writes that wait for each die.
    struct Room(Option<u32>, [u32; 4]);

    impl PlaneView for Room {
        fn load(&self, plane: u32) -> u32 {
            self.1[plane as usize / 2]
        }

        fn has_room(&self, plane: u32) -> bool {
            Some(plane) != self.0
        }
    }

    fn planes(placement: &mut Aligned, room: &Room, pages: usize) -> Vec<u32> {
        (0..pages).map(|_| placement.plane(0, room).expect("there is room")).collect()
    }

    fn first(placement: &mut Aligned, full: Option<u32>, pages: usize) -> Vec<u32> {
        planes(placement, &Room(full, [0; 4]), pages)
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

    #[test]
    fn dies_alike_have_their_turn_as_in_a_rotation() {
        let mut placement = Aligned::by_load(&SHAPE, 1);
        assert_eq!(first(&mut placement, None, 9), [0, 1, 4, 5, 2, 3, 6, 7, 0]);
    }

    #[test]
    fn a_wordline_goes_to_the_die_with_the_fewest_writes() {
        let mut placement = Aligned::by_load(&SHAPE, 2);
        assert_eq!(planes(&mut placement, &Room(None, [5, 3, 4, 1]), 4), [6, 7, 6, 7]);
        // A chosen die takes its wordline, whatever arrives meanwhile.
        assert_eq!(planes(&mut placement, &Room(None, [5, 3, 4, 9]), 2), [2, 3]);
        assert_eq!(planes(&mut placement, &Room(None, [0, 3, 4, 9]), 3), [2, 3, 0]);
    }

    #[test]
    fn a_full_die_is_passed_over_whatever_its_load() {
        let mut placement = Aligned::by_load(&SHAPE, 1);
        assert_eq!(planes(&mut placement, &Room(Some(0), [0; 4]), 2), [4, 5]);
        assert_eq!(placement.plane(0, &Room(Some(2), [0, 1, 1, 1])), Some(0));
    }
}
