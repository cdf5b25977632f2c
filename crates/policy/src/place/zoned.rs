//! Zones over planes: each page of a zone has a fixed plane, with as many pages on each plane.

use reprieve_base::Geometry;
use reprieve_config::Scenario;

use super::aligned::{ALIGNED, WORDLINE};
use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

/// Striping over the planes of a page's zone.
pub(super) struct Zoned {
    /// In the order of the scheme; planes of a zone are consecutive.
    planes: Vec<u32>,
    planes_of_zone: u32,
    zone_pages: u32,
    /// Pages that a plane takes before the next group of planes.
    run: u32,
    /// Planes that take a page each in turn.
    group: u32,
}

impl Zoned {
    /// Returns the scheme of a scenario with zones, which has checked its name.
    pub(super) fn new(scenario: &Scenario, geometry: &Geometry) -> Zoned {
        let name = scenario.ftl.placement.as_str();
        let fills_dies = [ALIGNED.name, WORDLINE.name].contains(&name);
        let order = StaticOrder::new(if fills_dies { "pcwd" } else { name }, geometry);
        let by_wordline = name == WORDLINE.name;
        let planes_of_zone = scenario.zone_planes();
        let divides = planes_of_zone % geometry.planes_per_die == 0;
        Zoned {
            planes: (0..geometry.planes()).map(|at| order.home(at)).collect(),
            planes_of_zone,
            zone_pages: planes_of_zone * geometry.pages_per_block,
            run: if by_wordline { scenario.timing.pages_together() } else { 1 },
            group: if divides && by_wordline { geometry.planes_per_die } else { 1 },
        }
    }
}

impl Placement for Zoned {
    fn plane(&mut self, lpn: u32, _: &dyn PlaneView) -> Option<u32> {
        Some(self.home(lpn))
    }

    fn home(&self, lpn: u32) -> u32 {
        let sets = self.planes.len() as u32 / self.planes_of_zone;
        let set = lpn / self.zone_pages % sets;
        let turn = lpn % self.zone_pages % (self.planes_of_zone * self.run);
        let group = turn / (self.group * self.run);
        let place = group * self.group + turn % self.group;
        self.planes[(set * self.planes_of_zone + place) as usize]
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn round(&self) -> Option<u32> {
        let is_whole = self.planes_of_zone as usize == self.planes.len();
        is_whole.then_some(self.planes_of_zone * self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of two dies of two planes, blocks of six pages.
    fn homes(planes_of_zone: u32, run: u32, group: u32, lpns: std::ops::Range<u32>) -> Vec<u32> {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_channel: 2,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 6,
            page_bytes: 4096,
        };
        let order = StaticOrder::new("pcwd", &geometry);
        let planes = (0..8).map(|at| order.home(at)).collect();
        let zone_pages = planes_of_zone * geometry.pages_per_block;
        let zoned = Zoned { planes, planes_of_zone, zone_pages, run, group };
        lpns.map(|lpn| zoned.home(lpn)).collect()
    }

    #[test]
    fn a_zone_goes_around_its_planes_and_the_next_begins_anew() {
        // By hand: the order is planes 0, 1, 4, 5, 2, 3, 6, 7; a zone of all has 48 pages.
        assert_eq!(homes(8, 1, 1, 0..9), [0, 1, 4, 5, 2, 3, 6, 7, 0]);
        assert_eq!(homes(8, 1, 1, 46..50), [6, 7, 0, 1]);
        // Zones of four planes have 24 pages, and lie on the first or last four of the order.
        assert_eq!(homes(4, 1, 1, 20..30), [0, 1, 4, 5, 2, 3, 6, 7, 2, 3]);
        assert_eq!(homes(4, 1, 1, 48..50), [0, 1]);
    }

    #[test]
    fn a_die_gets_a_wordline_of_each_plane_before_the_next() {
        let die = |plane| [plane, plane + 1].repeat(3);
        assert_eq!(homes(4, 3, 2, 0..18), [die(0), die(4), die(0)].concat());
    }

    #[test]
    fn each_plane_of_a_zone_has_a_block_of_its_pages() {
        for (planes, run, group) in [(8, 1, 1), (8, 3, 2), (4, 3, 2), (2, 3, 1), (1, 3, 1)] {
            for zone in 0..8 {
                let first = zone * planes * 6;
                let homes = homes(planes, run, group, first..first + planes * 6);
                let count = |plane| homes.iter().filter(|home| **home == plane).count();
                let counts: Vec<usize> = (0..8).map(count).filter(|count| *count > 0).collect();
                assert_eq!(counts, vec![6; planes as usize], "{planes} {run} {group} {zone}");
            }
        }
    }
}
