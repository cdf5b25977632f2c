//! A static order within parts of a drive: each part has separate dies and logical pages.

use reprieve_base::Geometry;
use reprieve_config::Part;

use super::static_order::StaticOrder;
use super::{Placement, PlaneView};

/// Logical pages striped over some planes.
struct Region {
    first_lpn: u32,
    /// In the order of the scheme.
    planes: Vec<u32>,
    /// Pages of each of its planes before its own.
    first_row: u32,
}

/// Striping over the planes of the part of a logical page.
pub(super) struct Partitioned {
    /// In order of their pages; the last has the pages of no part.
    regions: Vec<Region>,
}

impl Partitioned {
    pub(super) fn new(order: &StaticOrder, parts: &[Part], geometry: &Geometry) -> Partitioned {
        let mut regions = Vec::with_capacity(parts.len() + 1);
        let (mut next_lpn, mut rows) = (0, 0);
        for part in parts {
            let is_of_it = |plane: &u32| part.dies.contains(&(plane / geometry.planes_per_die));
            let planes: Vec<u32> =
                (0..geometry.planes()).map(|at| order.home(at)).filter(is_of_it).collect();
            rows = rows.max(part.pages.div_ceil(planes.len() as u32));
            regions.push(Region { first_lpn: next_lpn, planes, first_row: 0 });
            next_lpn += part.pages;
        }
        // Pages left over by rounding go around all planes, after those of the parts.
        let planes = (0..geometry.planes()).map(|at| order.home(at)).collect();
        regions.push(Region { first_lpn: next_lpn, planes, first_row: rows });
        Partitioned { regions }
    }

    fn region(&self, lpn: u32) -> &Region {
        let at = self.regions.partition_point(|region| region.first_lpn <= lpn);
        &self.regions[at - 1]
    }
}

impl Placement for Partitioned {
    fn plane(&mut self, lpn: u32, _: &dyn PlaneView) -> Option<u32> {
        // Over-provisioning gives every plane space for its share of the logical pages.
        Some(self.home(lpn))
    }

    fn home(&self, lpn: u32) -> u32 {
        let region = self.region(lpn);
        region.planes[(lpn - region.first_lpn) as usize % region.planes.len()]
    }

    fn image_row(&self, lpn: u32) -> Option<u32> {
        let region = self.region(lpn);
        Some(region.first_row + (lpn - region.first_lpn) / region.planes.len() as u32)
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_part_go_around_its_dies() {
        let shape = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_channel: 2,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        // In the order cwdp dies are 0, 2, 1, 3: channels first.
        let order = StaticOrder::new("cwdp", &shape);
        let parts = [
            Part { dies: vec![2, 3], pages: 10 },
            Part { dies: vec![0], pages: 5 },
            Part { dies: vec![1], pages: 5 },
        ];
        let placement = Partitioned::new(&order, &parts, &shape);
        let homes = |lpns: std::ops::Range<u32>| lpns.map(|lpn| placement.home(lpn));
        assert_eq!(homes(0..4).collect::<Vec<_>>(), [2, 3, 2, 3]);
        assert_eq!(homes(10..13).collect::<Vec<_>>(), [0, 0, 0]);
        assert_eq!(homes(15..22).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 0, 2]);
        let row = |lpn| placement.image_row(lpn).expect("rows are its own");
        assert_eq!(
            [row(0), row(1), row(9), row(10), row(14), row(20), row(23)],
            [0, 0, 4, 0, 4, 5, 5]
        );
    }
}
