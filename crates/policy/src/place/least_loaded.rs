//! Placement on the least loaded die, a wordline of all its planes at a time.

use reprieve_base::{Archive, Entry, Geometry};

use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

pub(super) const ENTRY: Entry = Entry {
    name: "least-loaded",
    doc: "all pages of a wordline of all planes of a die, on the die for which the fewest writes \
          wait, of equals on the next in turn",
};

/// Chooses a die for as many pages as fill a wordline of its planes.
pub(super) struct LeastLoaded {
    order: StaticOrder,
    dies: u32,
    planes_per_die: u32,
    /// Pages that a die takes before another is chosen.
    run: u32,
    /// The die that is chosen, in the order of turns, and the pages that it still takes.
    current: Option<(u32, u32)>,
    /// The turn that is looked at first.
    next: u32,
}

impl LeastLoaded {
    pub(super) fn new(geometry: &Geometry, wordline_pages: u32) -> LeastLoaded {
        LeastLoaded {
            order: StaticOrder::new("pcwd", geometry),
            dies: geometry.planes() / geometry.planes_per_die,
            planes_per_die: geometry.planes_per_die,
            run: geometry.planes_per_die * wordline_pages,
            current: None,
            next: 0,
        }
    }

    /// A plane of the die at a turn.
    fn plane_of(&self, turn: u32, plane: u32) -> u32 {
        self.order.home(turn * self.planes_per_die + plane)
    }

    fn choose(&self, view: &dyn PlaneView) -> Option<u32> {
        let turns = (0..self.dies).map(|step| (self.next + step) % self.dies);
        let has_room = |turn: &u32| view.has_room(self.plane_of(*turn, 0));
        turns.filter(has_room).min_by_key(|turn| view.load(self.plane_of(*turn, 0)))
    }
}

impl Placement for LeastLoaded {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.current);
        archive.part(&mut self.next);
    }

    fn plane(&mut self, _: u32, view: &dyn PlaneView) -> Option<u32> {
        // Planes of a die take pages by turns, so that they fill alike.
        let plane = |left: u32| (self.run - left) % self.planes_per_die;
        let of_current = self.current.map(|(turn, left)| (turn, left, plane(left)));
        let open =
            of_current.filter(|(turn, _, plane)| view.has_room(self.plane_of(*turn, *plane)));
        let (turn, left, plane) = match open {
            Some(open) => open,
            None => {
                let turn = self.choose(view)?;
                self.next = (turn + 1) % self.dies;
                (turn, self.run, 0)
            }
        };
        self.current = (left > 1).then_some((turn, left - 1));
        Some(self.plane_of(turn, plane))
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
        self.dies
    }

    fn go_to(&mut self, position: u32) {
        self.current = None;
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

    /// Writes that wait for each die, and a plane without room.
    struct Loads([u32; 4], Option<u32>);

    impl PlaneView for Loads {
        fn load(&self, plane: u32) -> u32 {
            self.0[plane as usize / 2]
        }

        fn has_room(&self, plane: u32) -> bool {
            Some(plane) != self.1
        }
    }

    fn planes(placement: &mut LeastLoaded, view: &Loads, pages: usize) -> Vec<u32> {
        (0..pages).map(|_| placement.plane(0, view).expect("there is room")).collect()
    }

    #[test]
    fn dies_alike_have_their_turn_as_in_a_rotation() {
        // By hand: die = 2 channel + die on it, plane = 2 die + plane; channels first.
        let mut placement = LeastLoaded::new(&SHAPE, 1);
        let even = Loads([0; 4], None);
        assert_eq!(planes(&mut placement, &even, 9), [0, 1, 4, 5, 2, 3, 6, 7, 0]);
    }

    #[test]
    fn a_wordline_goes_to_the_die_with_the_fewest_writes() {
        let mut placement = LeastLoaded::new(&SHAPE, 2);
        assert_eq!(planes(&mut placement, &Loads([5, 3, 4, 1], None), 4), [6, 7, 6, 7]);
        // A die that is chosen takes its wordline, whatever comes to wait meanwhile.
        assert_eq!(planes(&mut placement, &Loads([5, 3, 4, 9], None), 2), [2, 3]);
        assert_eq!(planes(&mut placement, &Loads([0, 3, 4, 9], None), 3), [2, 3, 0]);
    }

    #[test]
    fn a_full_die_is_passed_over() {
        let mut placement = LeastLoaded::new(&SHAPE, 1);
        assert_eq!(planes(&mut placement, &Loads([0; 4], Some(0)), 2), [4, 5]);
        assert_eq!(placement.plane(0, &Loads([0, 1, 1, 1], Some(2))), Some(0));
    }
}
