//! The profile of a trace: its statistics, for deciding how to replay it.

mod footprint;
mod gaps;
mod sizes;
mod sums;

use std::path::Path;

use reprieve_base::{SECTOR_BYTES, UserError};
use serde::{Serialize, Serializer};

use crate::config::WorkloadConfig;
use crate::counts::Counts;
use crate::formats::RawRequest;
use crate::merged::Merged;
use crate::reading::Reading;
use crate::source::Rows;
use crate::transform::{Ordered, SORT_WINDOW_ROWS};
use crate::workload::{Load, Workload};
use sums::Sums;

/// A trace or a load in numbers. Rows that were dropped count in `rows` and `dropped` only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The format given or found; for a load without a file, its source.
    pub format: &'static str,
    /// Guesses about the format that the user should check.
    pub notes: Vec<&'static str>,
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
    /// Mean time between requests; absent if there is only one request.
    pub interarrival_ns_mean: Option<f64>,
    /// Variance of the time between requests over its squared mean: 1 for a Poisson process,
    /// more for bursts; absent if the mean is 0 or absent.
    pub interarrival_scv: Option<f64>,
    /// Correlation of each time between requests with the next: about 0 where they are
    /// independent, more where bursts come in trains; absent if there are fewer than three requests
    /// or all gaps are equal.
    pub interarrival_correlation: Option<f64>,
    /// Requests at the same time as the one before.
    pub same_time: u64,
    /// As a share of the requests after the first; absent if there is only one.
    pub same_time_share: Option<f64>,
    /// Rows behind a later one; this profile is in order of time.
    pub times_back: u64,
    /// Requests equal in device, operation, address and length to one kept at most 1 ms earlier.
    pub near_duplicates: u64,
    /// Length of requests.
    pub size_bytes: SizeProfile,
    /// Length of those that read; absent if none does.
    pub read_size_bytes: Option<SizeProfile>,
    /// Length of those that write; absent if none does.
    pub write_size_bytes: Option<SizeProfile>,
    /// Share of the requests that begin and end at a multiple of 4 KiB.
    pub aligned_share: f64,
    /// Share of the requests that begin where the last one on the same device ended.
    pub sequential_share: f64,
    /// Share of the reads that begin where the last read on the same device ended; absent if
    /// nothing reads.
    pub read_sequential_share: Option<f64>,
    /// Share of the writes that begin where the last write on the same device ended; absent if
    /// nothing writes.
    pub write_sequential_share: Option<f64>,
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
    /// Returns a JSON object with keys in the order above.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain numbers and names")
    }
}

/// Reads a whole trace and returns its profile.
pub fn profile(path: &Path, reading: impl Into<Reading>) -> Result<Profile, UserError> {
    let mut rows = Ordered::new(Rows::open(path, &reading.into())?, SORT_WINDOW_ROWS);
    let mut sums = Sums::new();
    while let Some(row) = rows.next_row()? {
        sums.add(&row.raw);
    }
    let format = rows.rows().format().entry.name;
    if sums.requests() == 0 {
        return Err(rows.rows().at_file(format!("holds no request of format {format}")));
    }
    Ok(sums.profile(format, rows.rows().notes(), rows.counts()))
}

/// Profiles loads as their drive sees them, together, up to `requests_max` requests in order of
/// arrival.
///
/// In a closed loop every request arrives at 0.
pub fn profile_loads(loads: &[Load], requests_max: u64) -> Result<Profile, UserError> {
    let mut merged = Merged::open(loads)?;
    let mut sums = Sums::new();
    while sums.requests() < requests_max
        && let Some(request) = merged.next_request()?
    {
        sums.add(&RawRequest {
            time_ns: request.arrival.ns(),
            device: 0,
            op: request.op,
            offset_bytes: request.lba * SECTOR_BYTES,
            bytes: request.bytes,
            fua: request.fua,
        });
    }
    let of_first = || merged.first().map(Workload::counts).unwrap_or_default();
    let generated = |requests| Counts { rows: requests, ..Counts::default() };
    let (format, counts) = match loads {
        [Load { config: WorkloadConfig::Trace(_), .. }] => ("replay", of_first()),
        [Load { config: WorkloadConfig::Fio(_), .. }] => ("fio", generated(of_first().requests)),
        [Load { config: WorkloadConfig::Mixed(_), .. }] => {
            ("mixed", generated(of_first().requests))
        }
        [Load { config: WorkloadConfig::Kv(_), .. }] => {
            ("kv-cache", generated(of_first().requests))
        }
        _ => ("flows", generated(sums.requests())),
    };
    Ok(sums.profile(format, Vec::new(), counts))
}

/// Returns the first `count` requests of a trace, in the order of the file.
pub fn head(
    path: &Path,
    reading: impl Into<Reading>,
    count: usize,
) -> Result<Vec<RawRequest>, UserError> {
    let mut rows = Rows::open(path, &reading.into())?;
    let mut requests = Vec::new();
    while requests.len() < count {
        match rows.next_row()? {
            Some(row) => requests.push(row.raw),
            None => break,
        }
    }
    Ok(requests)
}

/// Writes pairs of name and count as a JSON object.
fn as_object<S: Serializer>(
    pairs: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}
