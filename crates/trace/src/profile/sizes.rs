//! The distribution of request lengths, exactly: traces hold few distinct ones.

use std::collections::BTreeMap;

use super::SizeProfile;

/// Number of requests by length.
#[derive(Default)]
pub(super) struct Sizes(BTreeMap<u32, u64>);

impl Sizes {
    pub(super) fn add(&mut self, bytes: u32) {
        *self.0.entry(bytes).or_insert(0) += 1;
    }

    /// Panics if nothing was added.
    pub(super) fn profile(&self) -> SizeProfile {
        let requests: u64 = self.0.values().sum();
        let bytes: u128 = self.0.iter().map(|(b, n)| u128::from(*b) * u128::from(*n)).sum();
        SizeProfile {
            mean: bytes as f64 / requests as f64,
            min: self.percentile(requests, 0),
            p50: self.percentile(requests, 50),
            p95: self.percentile(requests, 95),
            p99: self.percentile(requests, 99),
            max: self.percentile(requests, 100),
        }
    }

    /// The shortest length that at least `percent` % of the requests do not exceed.
    fn percentile(&self, requests: u64, percent: u64) -> u32 {
        let mut within = 0u64;
        for (bytes, count) in &self.0 {
            within += count;
            if u128::from(within) * 100 >= u128::from(requests) * u128::from(percent) {
                return *bytes;
            }
        }
        panic!("the percentile {percent} of no request");
    }
}
