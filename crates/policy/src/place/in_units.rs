//! Placement of mapping units: the units of a page go to one plane in a row.

use super::{Placement, PlaneView};
use reprieve_base::Archive;

/// Assigns to the units of a page the plane that another scheme chooses for a page.
pub(super) struct InUnits {
    of_pages: Box<dyn Placement>,
    units: u32,
    /// The plane of the current page, and its remaining units.
    current: Option<(u32, u32)>,
}

impl InUnits {
    pub(super) fn new(of_pages: Box<dyn Placement>, units: u32) -> InUnits {
        InUnits { of_pages, units, current: None }
    }
}

impl Placement for InUnits {
    fn archive(&mut self, archive: &mut Archive) {
        self.of_pages.archive(archive);
        archive.part(&mut self.current);
    }

    fn plane(&mut self, lpn: u32, view: &dyn PlaneView) -> Option<u32> {
        if self.of_pages.is_fixed() {
            return self.of_pages.plane(lpn / self.units, view);
        }
        let current = self.current.filter(|(plane, _)| view.has_room(*plane));
        let (plane, left) = match current {
            Some(current) => current,
            None => (self.of_pages.plane(lpn / self.units, view)?, self.units),
        };
        self.current = (left > 1).then_some((plane, left - 1));
        Some(plane)
    }

    fn home(&self, lpn: u32) -> u32 {
        self.of_pages.home(lpn / self.units)
    }

    fn image_row(&self, lpn: u32) -> Option<u32> {
        self.of_pages.image_row(lpn / self.units)
    }

    fn is_fixed(&self) -> bool {
        self.of_pages.is_fixed()
    }

    fn round(&self) -> Option<u32> {
        self.of_pages.round().map(|pages| pages * self.units)
    }

    fn position(&self) -> u32 {
        self.of_pages.position()
    }

    fn positions(&self) -> u32 {
        self.of_pages.positions()
    }

    /// Starts a new page.
    fn go_to(&mut self, position: u32) {
        self.current = None;
        self.of_pages.go_to(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four planes in turn, or each page alone.
    struct Turns {
        next: u32,
        is_fixed: bool,
    }

    impl Placement for Turns {
        fn plane(&mut self, lpn: u32, _: &dyn PlaneView) -> Option<u32> {
            let turn = if self.is_fixed { lpn } else { self.next };
            self.next += 1;
            Some(turn % 4)
        }

        fn home(&self, lpn: u32) -> u32 {
            lpn % 4
        }

        fn is_fixed(&self) -> bool {
            self.is_fixed
        }
    }

    /// All planes but one can hold more.
    struct Full(Option<u32>);

    impl PlaneView for Full {
        fn load(&self, _: u32) -> u32 {
            0
        }

        fn has_room(&self, plane: u32) -> bool {
            Some(plane) != self.0
        }
    }

    fn next(placement: &mut InUnits, full: Option<u32>, lpns: std::ops::Range<u32>) -> Vec<u32> {
        lpns.map(|lpn| placement.plane(lpn, &Full(full)).expect("one can hold more")).collect()
    }

    #[test]
    fn a_page_is_filled_before_the_next_has_its_turn() {
        let mut placement = InUnits::new(Box::new(Turns { next: 0, is_fixed: false }), 4);
        assert_eq!(next(&mut placement, None, 0..9), [0, 0, 0, 0, 1, 1, 1, 1, 2]);
        assert_eq!(next(&mut placement, Some(2), 9..11), [3, 3], "its plane has become full");
        placement.go_to(placement.position());
        assert_eq!(next(&mut placement, None, 11..13), [0, 0], "the rest of that page is left");
    }

    #[test]
    fn units_of_a_page_have_its_home() {
        let mut placement = InUnits::new(Box::new(Turns { next: 0, is_fixed: true }), 2);
        let homes: Vec<u32> = (0..10).map(|lpn| placement.home(lpn)).collect();
        assert_eq!(homes, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]);
        assert_eq!(next(&mut placement, None, 0..10), homes);
    }
}
