//! The share of a load that some of a drive's planes receive.
//!
//! Pages are striped over planes, so that each plane has the same part of every region of a load.
//! A drive of fewer planes under this load has planes like those of the whole.

use super::mixed::MixedFit;
use crate::config::{Addresses, Footprint, MixedConfig, WorkloadConfig};

/// Some of the planes of a drive over which its logical pages are striped one by one.
#[derive(Clone, Copy, Debug)]
pub struct PlaneShare {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Planes of the drive.
    pub all_planes: u64,
    /// The selected planes.
    pub planes: u64,
    /// Bytes of the drive.
    pub capacity_bytes: u64,
    /// Bytes of a drive of the selected planes.
    pub share_bytes: u64,
}

impl WorkloadConfig {
    /// The load for a drive of fewer planes that makes these like those of the whole; `None` if it
    /// does not exist, or is not known.
    ///
    /// It does not exist if a request is longer than such a drive has planes, if a grid of
    /// addresses leaves out pages, if each page has its popularity, and if trims make the number of
    /// pages with data a matter of many passes.
    pub fn of_planes(&self, share: &PlaneShare) -> Option<WorkloadConfig> {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) | WorkloadConfig::Fio(_) => None,
            WorkloadConfig::Cyclic(load) => {
                let PlaneShare { page_bytes, planes, all_planes, share_bytes, .. } = *share;
                let of_planes = load.of_planes(page_bytes, planes, all_planes, share_bytes);
                Some(WorkloadConfig::Cyclic(of_planes))
            }
            WorkloadConfig::Mixed(mixed) => mixed.of_planes(share).map(WorkloadConfig::Mixed),
        }
    }
}

impl PlaneShare {
    /// A boundary on the drive of fewer planes, on the same page of each plane.
    fn boundary(&self, bytes: u64) -> u64 {
        if bytes == self.capacity_bytes {
            return self.share_bytes;
        }
        // In a plane's pages, so that the distance of boundaries does not depend on their place.
        let page = bytes / self.page_bytes * self.planes / self.all_planes;
        (page * self.page_bytes + bytes % self.page_bytes).min(self.share_bytes)
    }
}

impl MixedConfig {
    fn of_planes(&self, share: &PlaneShare) -> Option<MixedConfig> {
        if matches!(self.addresses, Addresses::Zipf { .. }) || self.trim_fraction > 0.0 {
            return None;
        }
        let align_bytes = u64::from(self.align_bytes);
        // Every page is in as many places as any other.
        let is_grid_of_pages = share.page_bytes % align_bytes == 0
            || align_bytes % share.page_bytes == 0
                && self.changing_sizes().all(|bytes| bytes % align_bytes == 0);
        let longest_bytes = self.changing_sizes().max().expect("checked: a size");
        let reach_bytes = if align_bytes < share.page_bytes { share.page_bytes } else { 0 };
        let longest_pages = (longest_bytes + reach_bytes).div_ceil(share.page_bytes);
        if !is_grid_of_pages || longest_pages > share.planes {
            return None;
        }
        let start_bytes = self.footprint_start_bytes;
        let own_start_bytes = share.boundary(start_bytes) / align_bytes * align_bytes;
        let footprint = match self.footprint {
            Footprint::Share(part) => Footprint::Share(part),
            Footprint::Bytes(bytes) => {
                let end_bytes = share.boundary(start_bytes + bytes);
                Footprint::Bytes(end_bytes.checked_sub(own_start_bytes)?)
            }
        };
        let own = MixedConfig { footprint, footprint_start_bytes: own_start_bytes, ..self.clone() };
        MixedFit::of(&own, share.share_bytes).ok()?;
        Some(own)
    }

    /// Sizes of writes in bytes.
    fn changing_sizes(&self) -> impl Iterator<Item = u64> {
        let writes = self.write_sizes.as_ref().unwrap_or(&self.sizes);
        writes.iter().map(|size| u64::from(size.0))
    }
}
