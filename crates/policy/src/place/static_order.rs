//! Static striping: consecutive logical pages go around channels, chips (ways), dies and planes.

use reprieve_base::{Entry, Geometry};

use super::{Placement, PlaneView};

/// The 24 orders; the level named first changes fastest.
pub(super) const ENTRIES: [Entry; 24] = [
    Entry { name: "cwdp", doc: "stripes over channels first, then chips, dies, planes" },
    Entry { name: "cwpd", doc: "stripes over channels first, then chips, planes, dies" },
    Entry { name: "cdwp", doc: "stripes over channels first, then dies, chips, planes" },
    Entry { name: "cdpw", doc: "stripes over channels first, then dies, planes, chips" },
    Entry { name: "cpwd", doc: "stripes over channels first, then planes, chips, dies" },
    Entry { name: "cpdw", doc: "stripes over channels first, then planes, dies, chips" },
    Entry { name: "wcdp", doc: "stripes over chips first, then channels, dies, planes" },
    Entry { name: "wcpd", doc: "stripes over chips first, then channels, planes, dies" },
    Entry { name: "wdcp", doc: "stripes over chips first, then dies, channels, planes" },
    Entry { name: "wdpc", doc: "stripes over chips first, then dies, planes, channels" },
    Entry { name: "wpcd", doc: "stripes over chips first, then planes, channels, dies" },
    Entry { name: "wpdc", doc: "stripes over chips first, then planes, dies, channels" },
    Entry { name: "dcwp", doc: "stripes over dies first, then channels, chips, planes" },
    Entry { name: "dcpw", doc: "stripes over dies first, then channels, planes, chips" },
    Entry { name: "dwcp", doc: "stripes over dies first, then chips, channels, planes" },
    Entry { name: "dwpc", doc: "stripes over dies first, then chips, planes, channels" },
    Entry { name: "dpcw", doc: "stripes over dies first, then planes, channels, chips" },
    Entry { name: "dpwc", doc: "stripes over dies first, then planes, chips, channels" },
    Entry { name: "pcwd", doc: "stripes over planes first, then channels, chips, dies" },
    Entry { name: "pcdw", doc: "stripes over planes first, then channels, dies, chips" },
    Entry { name: "pwcd", doc: "stripes over planes first, then chips, channels, dies" },
    Entry { name: "pwdc", doc: "stripes over planes first, then chips, dies, channels" },
    Entry { name: "pdcw", doc: "stripes over planes first, then dies, channels, chips" },
    Entry { name: "pdwc", doc: "stripes over planes first, then dies, chips, channels" },
];

/// A fixed plane for each logical page.
pub(super) struct StaticOrder {
    /// Planes in the order in which consecutive pages go to them.
    planes: Vec<u32>,
}

impl StaticOrder {
    /// Returns the order of that name: four letters out of `cwdp`.
    pub(super) fn new(name: &str, geometry: &Geometry) -> StaticOrder {
        let dies_per_chip = geometry.dies_per_channel / geometry.chips_per_channel;
        let size = |level| match level {
            'c' => geometry.channels,
            'w' => geometry.chips_per_channel,
            'd' => dies_per_chip,
            _ => geometry.planes_per_die,
        };
        let plane = |unit: u32| {
            let (mut rest, mut channel, mut chip, mut die, mut plane) = (unit, 0, 0, 0, 0);
            for level in name.chars() {
                let index = rest % size(level);
                rest /= size(level);
                match level {
                    'c' => channel = index,
                    'w' => chip = index,
                    'd' => die = index,
                    _ => plane = index,
                }
            }
            let die_on_channel = chip * dies_per_chip + die;
            let die = channel * geometry.dies_per_channel + die_on_channel;
            die * geometry.planes_per_die + plane
        };
        StaticOrder { planes: (0..geometry.planes()).map(plane).collect() }
    }
}

impl Placement for StaticOrder {
    #[inline]
    fn plane(&mut self, lpn: u32, _: &dyn PlaneView) -> Option<u32> {
        // Over-provisioning gives every plane space for its share of the logical pages.
        Some(self.home(lpn))
    }

    #[inline]
    fn home(&self, lpn: u32) -> u32 {
        self.planes[lpn as usize % self.planes.len()]
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn round(&self) -> Option<u32> {
        Some(self.planes.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_channel: 4,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_bytes: 4096,
    };

    #[test]
    fn cwdp_goes_around_channels_first() {
        // By hand: die = 4 channel + 2 chip + die, plane = 2 die + plane.
        let order = StaticOrder::new("cwdp", &SHAPE);
        let first: Vec<u32> = (0..9).map(|lpn| order.home(lpn)).collect();
        assert_eq!(first, [0, 8, 4, 12, 2, 10, 6, 14, 1]);
    }

    #[test]
    fn pdwc_fills_a_channel_before_the_next() {
        let order = StaticOrder::new("pdwc", &SHAPE);
        let first: Vec<u32> = (0..9).map(|lpn| order.home(lpn)).collect();
        assert_eq!(first, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn every_order_uses_every_plane_once_a_round() {
        for entry in ENTRIES {
            let mut planes = StaticOrder::new(entry.name, &SHAPE).planes;
            planes.sort_unstable();
            assert_eq!(planes, (0..SHAPE.planes()).collect::<Vec<_>>(), "{}", entry.name);
        }
    }
}
