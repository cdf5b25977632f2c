//! Settings of zones.

use super::Scenario;

/// Section `[zones]`: zones of a drive whose host collects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zones {
    /// 0: the capacity.
    pub size_bytes: u64,
    /// 0: all planes of the drive.
    pub planes: u32,
    pub max_open: u32,
    pub max_active: u32,
    pub reset_waits: bool,
}

impl Scenario {
    /// Planes that a zone has a block on; all without zones.
    pub fn zone_planes(&self) -> u32 {
        let planes = self.zones.map_or(0, |zones| zones.planes);
        if planes == 0 { self.geometry.planes() } else { planes }
    }

    /// Mapping units of a zone: a block of each of its planes.
    pub fn zone_units(&self) -> u32 {
        self.zone_planes() * self.mapping_geometry().pages_per_block
    }

    /// Bytes that a zone holds.
    pub fn zone_bytes(&self) -> u64 {
        u64::from(self.zone_units()) * u64::from(self.mapping_bytes())
    }

    /// Pages of one block of every plane.
    pub(super) fn row_pages(&self) -> u64 {
        u64::from(self.geometry.planes()) * u64::from(self.geometry.pages_per_block)
    }
}
