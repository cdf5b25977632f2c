//! Overwrites of a drive's loads, on which its steady state depends.

use reprieve_trace::{WorkloadConfig, WriteExtent};

use super::Scenario;

/// The loads of a scenario that change data.
#[derive(Clone, Copy)]
pub struct Overwrites<'a>(pub(super) &'a Scenario);

impl<'a> Overwrites<'a> {
    /// Returns the generated loads that change data, made random and endless.
    pub fn loads(self) -> impl Iterator<Item = WorkloadConfig> + use<'a> {
        let changing = self.0.loads().filter(|load| load.changes_data());
        changing.filter_map(WorkloadConfig::at_random)
    }

    /// Returns whether generated loads write all pages of the drive alike and trim none.
    pub fn are_everywhere(self) -> bool {
        let capacity_bytes = self.0.capacity_bytes();
        self.loads().all(|load| load.writes_evenly(capacity_bytes))
    }

    /// Returns whether, besides, no write has several mapping units of a page, which would be
    /// overwritten together.
    pub fn are_even(self) -> bool {
        let are_apart = || self.extent().longest_bytes <= u64::from(self.0.mapping_bytes());
        self.are_everywhere() && (self.0.units_per_page() == 1 || are_apart())
    }

    /// Returns the drive with larger mapping units, if its loads always write several of them
    /// together.
    pub fn in_larger_units(self) -> Option<Scenario> {
        let (page_bytes, unit_bytes) = (self.0.geometry.page_bytes, self.0.mapping_bytes());
        let grain_bytes = self.extent().grain_bytes;
        let sizes = std::iter::successors(Some(page_bytes), |bytes| Some(bytes / 2));
        let mut larger = sizes.take_while(|bytes| *bytes > unit_bytes);
        let divides = |bytes: &u32| grain_bytes > 0 && grain_bytes % u64::from(*bytes) == 0;
        let mut scenario = self.0.clone();
        (scenario.ftl.mapping_bytes, scenario.ftl.fills_programs) = (larger.find(divides)?, true);
        Some(scenario)
    }

    fn extent(self) -> WriteExtent {
        let extents = self.loads().map(|load| load.write_extent());
        extents.fold(WriteExtent::NONE, WriteExtent::and)
    }
}
