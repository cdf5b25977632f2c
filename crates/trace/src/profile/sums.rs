//! The sums from which a profile is made, over requests in order of time.

use std::collections::BTreeMap;

use reprieve_base::{Dur, Op};

use super::footprint::PageSet;
use super::gaps::Gaps;
use super::sizes::Sizes;
use super::{DeviceProfile, Profile, SizeProfile};
use crate::counts::Counts;
use crate::formats::RawRequest;
use crate::transform::Duplicates;

/// Rows that repeat an earlier one within this time count as near duplicates.
const NEAR_DUPLICATE_WINDOW: Dur = Dur::from_us(1_000);

/// A page, for alignment and footprint.
const PAGE_BYTES: u64 = 4096;

/// Sums over the requests of a trace, in order of time.
pub(super) struct Sums {
    first_ns: u64,
    last_ns: u64,
    gaps: Gaps,
    near_duplicates: u64,
    duplicates: Duplicates,
    all: Stream,
    reads: Stream,
    writes: Stream,
    aligned: u64,
    devices: BTreeMap<u32, DeviceSums>,
}

/// Sums over all requests, over the reads, or over the writes.
#[derive(Default)]
struct Stream {
    requests: u64,
    bytes: u64,
    sequential: u64,
    sizes: Sizes,
}

/// Sums over the requests of a device.
#[derive(Default)]
struct DeviceSums {
    requests: u64,
    reads: u64,
    address_bytes_min: Option<u64>,
    extent_bytes: u64,
    /// End of the last request, of the last read, and of the last write.
    ends_bytes: [Option<u64>; 3],
    footprint: PageSet,
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums {
            first_ns: 0,
            last_ns: 0,
            gaps: Gaps::default(),
            near_duplicates: 0,
            duplicates: Duplicates::new(NEAR_DUPLICATE_WINDOW),
            all: Stream::default(),
            reads: Stream::default(),
            writes: Stream::default(),
            aligned: 0,
            devices: BTreeMap::new(),
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.all.requests
    }

    pub(super) fn add(&mut self, raw: &RawRequest) {
        if self.all.requests == 0 {
            self.first_ns = raw.time_ns;
        } else {
            self.gaps.add(raw.time_ns - self.last_ns);
        }
        self.last_ns = raw.time_ns;
        let device = self.devices.entry(raw.device).or_default();
        device.add(raw);
        let [end_bytes, read_end_bytes, write_end_bytes] = &mut device.ends_bytes;
        self.all.add(raw, end_bytes);
        match raw.op {
            Op::Read => self.reads.add(raw, read_end_bytes),
            Op::Write | Op::Append => self.writes.add(raw, write_end_bytes),
            _ => (),
        }
        self.near_duplicates += u64::from(self.duplicates.is_duplicate(raw));
        self.aligned += u64::from((raw.offset_bytes | raw.end_bytes()) % PAGE_BYTES == 0);
    }

    /// Panics if nothing was added.
    pub(super) fn profile(
        self,
        format: &'static str,
        notes: Vec<&'static str>,
        counts: Counts,
    ) -> Profile {
        let devices: Vec<DeviceProfile> =
            self.devices.iter().map(|(number, sums)| sums.profile(*number)).collect();
        let requests = self.all.requests;
        Profile {
            format,
            notes,
            rows: counts.rows,
            requests,
            dropped: counts.dropped,
            other_lines: counts.other_lines,
            reads: self.reads.requests,
            writes: self.writes.requests,
            others: requests - self.reads.requests - self.writes.requests,
            read_bytes: self.reads.bytes,
            written_bytes: self.writes.bytes,
            span_ns: self.last_ns - self.first_ns,
            interarrival_ns_mean: self.gaps.ns_mean(),
            interarrival_scv: self.gaps.scv(),
            interarrival_correlation: self.gaps.correlation(),
            same_time: self.gaps.zeros(),
            same_time_share: self.gaps.zero_share(),
            times_back: counts.resorted,
            near_duplicates: self.near_duplicates,
            size_bytes: self.all.size_profile().expect("a request was added"),
            read_size_bytes: self.reads.size_profile(),
            write_size_bytes: self.writes.size_profile(),
            aligned_share: self.aligned as f64 / requests as f64,
            sequential_share: self.all.sequential_share().expect("a request was added"),
            read_sequential_share: self.reads.sequential_share(),
            write_sequential_share: self.writes.sequential_share(),
            footprint_pages: devices.iter().map(|device| device.footprint_pages).sum(),
            address_bytes_max: devices.iter().map(|d| d.extent_bytes).max().unwrap_or(0),
            devices,
        }
    }
}

impl Stream {
    fn add(&mut self, raw: &RawRequest, end_bytes: &mut Option<u64>) {
        self.requests += 1;
        self.bytes += u64::from(raw.bytes);
        self.sizes.add(raw.bytes);
        let last = end_bytes.replace(raw.end_bytes());
        self.sequential += u64::from(last == Some(raw.offset_bytes));
    }

    fn size_profile(&self) -> Option<SizeProfile> {
        (self.requests > 0).then(|| self.sizes.profile())
    }

    fn sequential_share(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sequential as f64 / self.requests as f64)
    }
}

impl DeviceSums {
    fn add(&mut self, raw: &RawRequest) {
        self.requests += 1;
        self.reads += u64::from(raw.op == Op::Read);
        let lowest = self.address_bytes_min.unwrap_or(raw.offset_bytes);
        self.address_bytes_min = Some(lowest.min(raw.offset_bytes));
        self.extent_bytes = self.extent_bytes.max(raw.end_bytes());
        self.footprint.add(raw.offset_bytes / PAGE_BYTES, raw.end_bytes().div_ceil(PAGE_BYTES));
    }

    fn profile(&self, device: u32) -> DeviceProfile {
        DeviceProfile {
            device,
            requests: self.requests,
            reads: self.reads,
            address_bytes_min: self.address_bytes_min.expect("a device has a request"),
            extent_bytes: self.extent_bytes,
            footprint_pages: self.footprint.pages(),
        }
    }
}
