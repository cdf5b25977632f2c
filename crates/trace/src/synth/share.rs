//! A load as some of a drive's planes see it, and which of their pages are alike.
//!
//! Pages are striped over planes, so that each plane has the same part of every region of a load.
//! A drive of fewer planes under the load that is made here has planes like those of the whole.

use reprieve_base::SECTOR_BYTES;

use super::mixed::{Fit, zipf_units};
use super::zipf::Scatter;
use crate::config::{Addresses, Footprint, MixedConfig, WorkloadConfig};

/// Some of the planes of a drive over which its logical pages are striped one by one.
#[derive(Clone, Copy, Debug)]
pub struct PlaneShare {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Planes of the drive.
    pub all_planes: u64,
    /// Those looked at.
    pub planes: u64,
    /// Bytes of the drive.
    pub capacity_bytes: u64,
    /// Bytes of a drive of the planes looked at.
    pub share_bytes: u64,
}

/// The logical pages of a drive by what a load does to them: the k-th of a plane is like the k-th
/// of any other.
#[derive(Debug)]
pub enum LikePages {
    /// Those of an address range are alike.
    ByAddress,
    /// Each page of a footprint has a rank of its own; the others are alike.
    ByRank {
        /// The first page of the footprint.
        first: u32,
        /// Where in the footprint each rank lies.
        ranks: RankedPages,
    },
}

/// The pages of a footprint by their ranks.
#[derive(Debug)]
pub struct RankedPages(Scatter);

impl LikePages {
    /// The page of a drive that is in the order at this place.
    #[inline]
    pub fn page(&self, place: u32) -> u32 {
        let (first, ranks) = match self {
            LikePages::ByAddress => return place,
            LikePages::ByRank { first, ranks: RankedPages(ranks) } => (*first, ranks),
        };
        let count = ranks.count() as u32;
        match place {
            rank if rank < count => first + ranks.place(rank.into()) as u32,
            rest if rest - count < first => rest - count,
            rest => rest,
        }
    }
}

impl WorkloadConfig {
    /// The load that a drive of so many planes needs for its planes to be like those of the whole;
    /// `None` where that cannot be had, or is not known.
    ///
    /// It cannot where pages lie together on the planes in other ways: a request that is longer
    /// than such a drive has planes, or a grid of addresses that leaves out pages.
    pub fn of_planes(&self, share: &PlaneShare) -> Option<WorkloadConfig> {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Fio(_) => None,
            WorkloadConfig::Mixed(mixed) => mixed.of_planes(share).map(WorkloadConfig::Mixed),
        }
    }

    /// The order of a drive's pages in which they are alike plane by plane; `None`: not known.
    pub fn like_pages(&self, page_bytes: u64, capacity_bytes: u64) -> Option<LikePages> {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Fio(_) => None,
            WorkloadConfig::Mixed(mixed) => mixed.like_pages(page_bytes, capacity_bytes),
        }
    }
}

impl PlaneShare {
    /// A boundary on the drive of fewer planes, on the same page of each plane.
    fn boundary(&self, bytes: u64) -> u64 {
        if bytes == self.capacity_bytes {
            return self.share_bytes;
        }
        // In a plane's pages, so that what lies between two of them does not depend on where.
        let page = bytes / self.page_bytes * self.planes / self.all_planes;
        (page * self.page_bytes + bytes % self.page_bytes).min(self.share_bytes)
    }
}

impl MixedConfig {
    fn of_planes(&self, share: &PlaneShare) -> Option<MixedConfig> {
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
        Fit::of(&own, share.share_bytes).ok()?;
        Some(own)
    }

    fn like_pages(&self, page_bytes: u64, capacity_bytes: u64) -> Option<LikePages> {
        let Addresses::Zipf { theta, .. } = self.addresses else {
            return Some(LikePages::ByAddress);
        };
        let fit = Fit::of(self, capacity_bytes).ok()?;
        let (unit_sectors, units) = zipf_units(self, fit.footprint_sectors);
        // From 1 on the first few ranks have most of the writes, and their planes are like no other;
        // as a page is that has several ranks, or one of a rank of several pages.
        let is_ranked = theta < 1.0
            && unit_sectors * SECTOR_BYTES == page_bytes
            && self.footprint_start_bytes % page_bytes == 0
            && self.changing_sizes().all(|bytes| bytes <= page_bytes);
        if !is_ranked {
            return None;
        }
        let first = (self.footprint_start_bytes / page_bytes) as u32;
        Some(LikePages::ByRank { first, ranks: RankedPages(Scatter::new(units)) })
    }

    /// Sizes in bytes of writes, and of trims if there are any.
    fn changing_sizes(&self) -> impl Iterator<Item = u64> {
        let writes = self.write_sizes.as_ref().unwrap_or(&self.sizes);
        let trims = if self.trim_fraction > 0.0 { &self.sizes[..] } else { &[] };
        writes.iter().chain(trims).map(|size| u64::from(size.0))
    }
}
