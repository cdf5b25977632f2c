//! What is in a trace: the numbers by which one decides how to replay it.

mod footprint;
mod sizes;

use std::collections::BTreeMap;
use std::path::Path;

use reprieve_base::{Dur, Op, UserError};
use serde::{Serialize, Serializer};

use crate::formats::RawRequest;
use crate::source::Rows;
use crate::transform::{Duplicates, Ordered, SORT_WINDOW_ROWS};
use footprint::Footprint;
use sizes::Sizes;

/// Rows that repeat an earlier one within this time count as near duplicates.
const NEAR_DUPLICATE_WINDOW: Dur = Dur::from_us(1_000);

/// A page, for alignment and footprint.
const PAGE_BYTES: u64 = 4096;

/// A trace in numbers. Rows that were dropped count in `rows` and `dropped` only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The format given or found.
    pub format: &'static str,
    /// Rows that hold a request, usable or not.
    pub rows: u64,
    /// Rows that a drive could serve.
    pub requests: u64,
    /// Rows that no drive could serve: reason and count.
    #[serde(serialize_with = "as_object")]
    pub dropped: Vec<(&'static str, u64)>,
    /// Lines that hold no row: preamble, headings, blank lines.
    pub other_lines: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that do neither.
    pub others: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// From the first request to the last.
    pub span_ns: u64,
    /// Mean time between requests; absent if there is one request only.
    pub interarrival_ns_mean: Option<f64>,
    /// Variance of the time between requests over its squared mean: 1 for a Poisson process,
    /// more for bursts; absent if the mean is 0 or absent.
    pub interarrival_scv: Option<f64>,
    /// Requests at the same time as the one before.
    pub same_time: u64,
    /// Rows that stood behind a later one; everything here is of the order of time.
    pub times_back: u64,
    /// Requests equal in device, operation, address and length to one kept at most 1 ms earlier.
    pub near_duplicates: u64,
    /// Length of requests.
    pub size_bytes: SizeProfile,
    /// Share of the requests that begin and end at a multiple of 4 KiB.
    pub aligned_share: f64,
    /// Share of the requests that begin where the last one on the same device ended.
    pub sequential_share: f64,
    /// Distinct 4 KiB pages touched, over all devices.
    pub footprint_pages: u64,
    /// First byte behind all requests, over all devices.
    pub address_bytes_max: u64,
    /// Each device, in order of number.
    pub devices: Vec<DeviceProfile>,
}

/// The lengths of requests, in bytes; percentiles are lengths that occur.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeProfile {
    /// Over all requests.
    pub mean: f64,
    /// Shortest.
    pub min: u32,
    /// Half of the requests are at most this long.
    pub p50: u32,
    /// 95 % of the requests are at most this long.
    pub p95: u32,
    /// 99 % of the requests are at most this long.
    pub p99: u32,
    /// Longest.
    pub max: u32,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceProfile {
    /// Its number.
    pub device: u32,
    /// Its requests.
    pub requests: u64,
    /// Of these, reads.
    pub reads: u64,
    /// Lowest address.
    pub address_bytes_min: u64,
    /// First byte behind its requests.
    pub extent_bytes: u64,
    /// Distinct 4 KiB pages touched.
    pub footprint_pages: u64,
}

impl Profile {
    /// The same as a JSON object, keys in the order above.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain numbers and names")
    }
}

/// Reads a whole trace and says what is in it; `format` is `"auto"` or a registered name.
pub fn profile(path: &Path, format: &str) -> Result<Profile, UserError> {
    let mut rows = Ordered::new(Rows::open(path, format)?, SORT_WINDOW_ROWS);
    let mut tally = Tally::new();
    while let Some(row) = rows.next_row()? {
        tally.add(&row.raw);
    }
    if tally.requests == 0 {
        let source = rows.rows();
        let name = source.format().entry.name;
        return Err(source.at_file(format!("holds no request of format {name}")));
    }
    Ok(tally.profile(&rows))
}

/// The first `count` requests of a trace, in the order of the file.
pub fn head(path: &Path, format: &str, count: usize) -> Result<Vec<RawRequest>, UserError> {
    let mut rows = Rows::open(path, format)?;
    let mut requests = Vec::new();
    while requests.len() < count {
        match rows.next_row()? {
            Some(row) => requests.push(row.raw),
            None => break,
        }
    }
    Ok(requests)
}

/// Sums over the requests of a trace, in order of time.
struct Tally {
    requests: u64,
    reads: u64,
    writes: u64,
    read_bytes: u64,
    written_bytes: u64,
    first_ns: u64,
    last_ns: u64,
    /// Mean and sum of squared deviations of the gaps (Welford 1962).
    gap_ns_mean: f64,
    gap_deviation: f64,
    same_time: u64,
    near_duplicates: u64,
    duplicates: Duplicates,
    sizes: Sizes,
    aligned: u64,
    sequential: u64,
    devices: BTreeMap<u32, DeviceTally>,
}

/// Sums over the requests of a device.
#[derive(Default)]
struct DeviceTally {
    requests: u64,
    reads: u64,
    address_bytes_min: Option<u64>,
    extent_bytes: u64,
    last_end_bytes: Option<u64>,
    footprint: Footprint,
}

impl Tally {
    fn new() -> Tally {
        Tally {
            requests: 0,
            reads: 0,
            writes: 0,
            read_bytes: 0,
            written_bytes: 0,
            first_ns: 0,
            last_ns: 0,
            gap_ns_mean: 0.0,
            gap_deviation: 0.0,
            same_time: 0,
            near_duplicates: 0,
            duplicates: Duplicates::new(NEAR_DUPLICATE_WINDOW),
            sizes: Sizes::default(),
            aligned: 0,
            sequential: 0,
            devices: BTreeMap::new(),
        }
    }

    fn add(&mut self, raw: &RawRequest) {
        self.add_time(raw.time_ns);
        self.requests += 1;
        match raw.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes += u64::from(raw.bytes);
            }
            Op::Write => {
                self.writes += 1;
                self.written_bytes += u64::from(raw.bytes);
            }
            Op::Trim | Op::Flush => (),
        }
        self.near_duplicates += u64::from(self.duplicates.is_duplicate(raw));
        self.sizes.add(raw.bytes);
        self.aligned += u64::from((raw.offset_bytes | raw.end_bytes()) % PAGE_BYTES == 0);
        let device = self.devices.entry(raw.device).or_default();
        self.sequential += u64::from(device.last_end_bytes == Some(raw.offset_bytes));
        device.add(raw);
    }

    /// Called before `requests` is advanced.
    fn add_time(&mut self, time_ns: u64) {
        if self.requests == 0 {
            self.first_ns = time_ns;
        } else {
            let gap_ns = (time_ns - self.last_ns) as f64;
            let deviation = gap_ns - self.gap_ns_mean;
            self.gap_ns_mean += deviation / self.requests as f64;
            self.gap_deviation += deviation * (gap_ns - self.gap_ns_mean);
            self.same_time += u64::from(time_ns == self.last_ns);
        }
        self.last_ns = time_ns;
    }

    fn profile(self, rows: &Ordered) -> Profile {
        let source = rows.rows();
        let share = |count: u64| count as f64 / self.requests as f64;
        let gaps = self.requests - 1;
        let span_ns = self.last_ns - self.first_ns;
        let mean = (gaps > 0).then(|| span_ns as f64 / gaps as f64);
        let variance = self.gap_deviation / gaps as f64;
        let devices: Vec<DeviceProfile> =
            self.devices.iter().map(|(number, tally)| tally.profile(*number)).collect();
        Profile {
            format: source.format().entry.name,
            rows: source.count(),
            requests: self.requests,
            dropped: source.drops().listed(),
            other_lines: source.other_lines(),
            reads: self.reads,
            writes: self.writes,
            others: self.requests - self.reads - self.writes,
            read_bytes: self.read_bytes,
            written_bytes: self.written_bytes,
            span_ns,
            interarrival_ns_mean: mean,
            interarrival_scv: mean.filter(|mean| *mean > 0.0).map(|mean| variance / mean.powi(2)),
            same_time: self.same_time,
            times_back: rows.resorted(),
            near_duplicates: self.near_duplicates,
            size_bytes: self.sizes.profile(),
            aligned_share: share(self.aligned),
            sequential_share: share(self.sequential),
            footprint_pages: devices.iter().map(|device| device.footprint_pages).sum(),
            address_bytes_max: devices.iter().map(|d| d.extent_bytes).max().unwrap_or(0),
            devices,
        }
    }
}

impl DeviceTally {
    fn add(&mut self, raw: &RawRequest) {
        self.requests += 1;
        self.reads += u64::from(raw.op == Op::Read);
        let lowest = self.address_bytes_min.unwrap_or(raw.offset_bytes);
        self.address_bytes_min = Some(lowest.min(raw.offset_bytes));
        self.extent_bytes = self.extent_bytes.max(raw.end_bytes());
        self.last_end_bytes = Some(raw.end_bytes());
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

/// Pairs of name and count as a JSON object.
fn as_object<S: Serializer>(
    pairs: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}
