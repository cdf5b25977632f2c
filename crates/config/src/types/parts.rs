//! Parts of a drive: dies dedicated to flows, with their logical pages.

use std::ops::Range;

use reprieve_base::Geometry;

use super::{Flow, Scenario};

/// Dies of a drive with the user's pages that are placed on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Counted over the drive, in order.
    pub dies: Vec<u32>,
    pub pages: u32,
}

/// The dies of these channels, or these dies, in order; none: all of the drive.
pub(crate) fn dies_of(geometry: &Geometry, channels: &[u32], dies: &[u32]) -> Vec<u32> {
    let per_channel = geometry.dies_per_channel;
    let of_channel = |channel: &u32| channel * per_channel..(channel + 1) * per_channel;
    let mut all: Vec<u32> = channels.iter().flat_map(of_channel).chain(dies.to_vec()).collect();
    all.sort_unstable();
    all
}

impl Scenario {
    /// Returns the user's pages of a part with `dies` dies, rounded down for each plane.
    pub(crate) fn part_pages(&self, dies: usize) -> u32 {
        let planes = dies as u32 * self.geometry.planes_per_die;
        planes * (self.user_pages() / self.geometry.planes())
    }

    /// The parts in the order of their logical pages, the dies without a flow as the last one;
    /// empty if the flows have all dies in common.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for flow in self.flows.iter().filter(|flow| flow.has_part()) {
            let dies = dies_of(&self.geometry, &flow.channels, &flow.dies);
            if parts.iter().all(|part| part.dies != dies) {
                parts.push(Part { pages: self.part_pages(dies.len()), dies });
            }
        }
        if parts.is_empty() {
            return parts;
        }
        let is_free = |die: &u32| parts.iter().all(|part| !part.dies.contains(die));
        let dies: Vec<u32> = (0..self.geometry.dies()).filter(is_free).collect();
        if !dies.is_empty() {
            parts.push(Part { pages: self.part_pages(dies.len()), dies });
        }
        parts
    }

    /// The bytes of the drive that a flow has.
    pub fn bytes_of(&self, flow: &Flow) -> Range<u64> {
        if !flow.has_part() {
            return 0..self.capacity_bytes();
        }
        let own = dies_of(&self.geometry, &flow.channels, &flow.dies);
        let mut first = 0;
        for part in self.parts() {
            let bytes = u64::from(part.pages) * u64::from(self.geometry.page_bytes);
            if part.dies == own {
                return first..first + bytes;
            }
            first += bytes;
        }
        unreachable!("each flow's dies are a part")
    }
}
