//! The resolved `[workload]` section; scenarios are checked for ranges when they are read.

use std::path::PathBuf;

use reprieve_base::Dur;

use crate::arrivals::Arrivals;
use crate::cyclic_source::CyclicTrace;
use crate::fio::FioJob;
use crate::kv::KvConfig;
use crate::reading::Reading;

/// The error about a time scale in a closed loop.
const UNSCALED: &str = "must be 1 in a closed loop, which has no arrivals to scale";

/// Tolerance for rounding, by which shares that add up to 1 may exceed it.
const SHARES_ROUNDED: f64 = 1e-9;

/// The source of requests.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadConfig {
    /// A recorded trace.
    Trace(TraceConfig),
    /// The generator `mixed`.
    Mixed(MixedConfig),
    /// The generator `kv-cache`.
    Kv(Box<KvConfig>),
    /// A clone of a job of a fio file, fitted to the drive.
    Fio(Box<FioJob>),
    /// A trace that is repeated without end, to bring a drive into its steady state.
    Cyclic(CyclicTrace),
}

/// A recorded trace and how to fit it to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceConfig {
    /// The file, plain, gzip or Zstandard, detected by its content; or a folder of such files, or a
    /// pattern, whose rows are merged by time.
    pub path: PathBuf,
    /// Its format, with options.
    pub reading: Reading,
    /// Closed loop: outstanding requests, at least 1; arrivals are ignored.
    /// `None`: every request arrives at its recorded time.
    pub queue_depth: Option<u32>,
    /// Multiplies inter-arrival times; above 0, and 1 in a closed loop.
    pub time_scale: f64,
    /// The clock of its times, if there are several loads. `None`: shared, if its first row is
    /// within a day of the earliest.
    pub clock: Option<TraceClock>,
    /// Rows earlier than this are left out; trace time from the first row, before scaling.
    pub start: Dur,
    /// Length of the part that is replayed; trace time, before scaling. `None`: to the end.
    pub duration: Option<Dur>,
    /// Number of passes over the part, in sequence; at least 1.
    pub repeat: u64,
    /// Stop after this many requests of all passes; at least 1. `None`: no limit.
    pub max_requests: Option<u64>,
    /// Which of the trace's devices, and where their addresses go.
    pub devices: DeviceSelection,
    /// Handling of a request that does not fit into the drive.
    pub address: AddressPolicy,
    /// A row equal in device, operation, address and length to one at most this much earlier is
    /// dropped; trace time, before scaling. `None`: every row counts.
    pub drop_duplicates_within: Option<Dur>,
    /// Rows that may be held back to put late ones in order of time; 0: late rows are an error.
    pub sort_window_requests: u32,
}

/// The clock of a trace's times, if there are several loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceClock {
    /// Shared with other traces: it begins with the earliest first row of all.
    Shared,
    /// Its own, which begins with its first row.
    Own,
}

/// Which devices of a trace are replayed, and how they share the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelection {
    /// Every device, each behind the one with the next lower number.
    #[default]
    Concatenate,
    /// These devices, one behind the other in this order.
    Only(Vec<u32>),
    /// Every device, all in one address space, so that equal addresses alias.
    Merge,
}

/// Handling of a request that does not fit into the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    /// The address modulo the capacity, moved down where the request would straddle the end.
    #[default]
    Modulo,
    /// The trace's extent is mapped linearly onto the capacity, in units of 4 KiB.
    Scale,
    /// The last address at which the request fits.
    Clamp,
    /// The request is left out and counted.
    Drop,
    /// The run stops with an error that names the row.
    Error,
}

/// The generator `mixed`: independent draws of operation, size, address and inter-arrival time.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedConfig {
    /// Requests to generate; at least 1.
    pub requests: u64,
    /// Share of reads, in [0, 1].
    pub read_fraction: f64,
    /// Share of trims, in [0, 1]; all other requests are writes.
    pub trim_fraction: f64,
    /// One in this many requests is a flush, at least 2; `None`: none is.
    pub flush_every_requests: Option<u64>,
    /// Share of the writes with forced unit access, in [0, 1].
    pub fua_fraction: f64,
    /// Sizes in bytes, multiples of 512, and their weights, above 0.
    pub sizes: Vec<(u32, f64)>,
    /// As `sizes`, for reads; `None`: `sizes`.
    pub read_sizes: Option<Vec<(u32, f64)>>,
    /// As `sizes`, for writes; `None`: `sizes`.
    pub write_sizes: Option<Vec<(u32, f64)>>,
    /// Every address is a multiple of this; a multiple of 512.
    pub align_bytes: u32,
    /// Choice of addresses.
    pub addresses: Addresses,
    /// Share of the reads that begin where the last read ended, whatever `addresses`; in [0, 1].
    pub read_sequential_fraction: f64,
    /// Share of the writes that begin where the last write ended, whatever `addresses`; in [0, 1].
    pub write_sequential_fraction: f64,
    /// Sequential streams of the reads, and of the writes; at least 1.
    pub sequential_streams: u32,
    /// Share of the requests that repeat the address and the size of an earlier one; in [0, 1].
    pub repeat_fraction: f64,
    /// Number of earlier requests to choose it from; at least 1.
    pub repeat_window: u32,
    /// Chance that a request keeps the size of the one before of its operation, one for each size
    /// of the table or one for all; each in [0, 1). Empty: every size is drawn. Otherwise
    /// continuations and repeats refer to requests of the same size.
    pub size_run_fraction: Vec<f64>,
    /// Share of the requests of each size that begin at the end of one of that size, or one for
    /// all; each in [0, 1]. Empty: that of the operation.
    pub sequential_by_size: Vec<f64>,
    /// Share of the requests of each size that repeat the address of one of that size, or one for
    /// all; each in [0, 1]. Empty: `repeat_fraction`.
    pub repeat_by_size: Vec<f64>,
    /// First byte of the footprint; a multiple of `align_bytes`.
    pub footprint_start_bytes: u64,
    /// Size of the footprint.
    pub footprint: Footprint,
    /// The arrival process.
    pub arrivals: Arrivals,
    /// Multiplies every arrival; above 0, and 1 in a closed loop.
    pub time_scale: f64,
}

/// Size of a footprint, out of the drive behind its first address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Footprint {
    /// This share of the capacity, in (0, 1].
    Share(f64),
    /// A number of bytes, at most the capacity.
    Bytes(u64),
}

/// The choice of addresses by a generator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Addresses {
    /// Every aligned address at which the request fits, equally likely.
    #[default]
    Uniform,
    /// Each request begins where the last one ended, and again at 0 after the last that fits.
    Sequential,
    /// Units of the footprint by Zipf's law: the k-th most popular in proportion to `k^-theta`.
    Zipf {
        /// Exponent, above 0.
        theta: f64,
        /// Length of a unit, a multiple of `align_bytes`; `None`: the alignment, at least 4 KiB.
        unit_bytes: Option<u32>,
    },
    /// Two uniform regions, the first of them hot.
    HotCold {
        /// Share of the footprint that is hot, in (0, 1).
        hot_share: f64,
        /// Share of the requests that go there, in [0, 1].
        hot_fraction: f64,
    },
}

impl TraceConfig {
    /// Returns the whole of a trace, replayed as recorded.
    pub fn new(path: impl Into<PathBuf>, reading: impl Into<Reading>) -> TraceConfig {
        TraceConfig {
            path: path.into(),
            reading: reading.into(),
            queue_depth: None,
            time_scale: 1.0,
            clock: None,
            start: Dur::ZERO,
            duration: None,
            repeat: 1,
            max_requests: None,
            devices: DeviceSelection::default(),
            address: AddressPolicy::default(),
            drop_duplicates_within: None,
            sort_window_requests: 0,
        }
    }

    /// Returns two values that contradict each other: a key, its value and the requirement.
    pub fn contradiction(&self) -> Option<(&'static str, String, String)> {
        let scales = self.queue_depth.is_some() && self.time_scale != 1.0;
        scales.then(|| ("time_scale", self.time_scale.to_string(), UNSCALED.to_string()))
    }
}

/// An empty load on the whole drive, in a closed loop.
impl Default for MixedConfig {
    fn default() -> MixedConfig {
        MixedConfig {
            requests: 0,
            read_fraction: 0.0,
            trim_fraction: 0.0,
            flush_every_requests: None,
            fua_fraction: 0.0,
            sizes: Vec::new(),
            read_sizes: None,
            write_sizes: None,
            align_bytes: 512,
            addresses: Addresses::Uniform,
            read_sequential_fraction: 0.0,
            write_sequential_fraction: 0.0,
            sequential_streams: 1,
            repeat_fraction: 0.0,
            repeat_window: 1024,
            size_run_fraction: Vec::new(),
            sequential_by_size: Vec::new(),
            repeat_by_size: Vec::new(),
            footprint_start_bytes: 0,
            footprint: Footprint::Share(1.0),
            arrivals: Arrivals::Closed { queue_depth: 1 },
            time_scale: 1.0,
        }
    }
}

impl MixedConfig {
    fn lists_by_size(&self) -> [(&'static str, &[f64]); 3] {
        [
            ("size_run_fraction", &self.size_run_fraction),
            ("sequential_by_size", &self.sequential_by_size),
            ("repeat_by_size", &self.repeat_by_size),
        ]
    }

    /// Returns the tables of sizes that are given, with their keys.
    pub(crate) fn size_tables(&self) -> impl Iterator<Item = (&'static str, &[(u32, f64)])> {
        let own =
            [("read_request_bytes", &self.read_sizes), ("write_request_bytes", &self.write_sizes)];
        let own = own.into_iter().filter_map(|(key, sizes)| Some((key, sizes.as_deref()?)));
        std::iter::once(("request_bytes", self.sizes.as_slice())).chain(own)
    }

    /// Returns values that contradict each other, each within its range: the key of one, its
    /// value, and the requirement.
    pub fn contradiction(&self) -> Option<(&'static str, String, String)> {
        if let Addresses::Zipf { unit_bytes: Some(unit), .. } = self.addresses {
            if unit == 0 || unit % self.align_bytes != 0 {
                let what = format!("must be a multiple of align_bytes = {}", self.align_bytes);
                return Some(("zipf_unit_bytes", unit.to_string(), what));
            }
        }
        if self.footprint_start_bytes % u64::from(self.align_bytes) != 0 {
            let what = format!("must be a multiple of align_bytes = {}", self.align_bytes);
            return Some(("footprint_start_bytes", self.footprint_start_bytes.to_string(), what));
        }
        if let Some(found) = self.contradiction_by_size() {
            return Some(found);
        }
        let sequential = self.read_sequential_fraction.max(self.write_sequential_fraction);
        if sequential + self.repeat_fraction > 1.0 {
            let what = format!(
                "must be at most {}, so that it and the sequential fraction are at most 1",
                1.0 - sequential
            );
            return Some(("repeat_fraction", self.repeat_fraction.to_string(), what));
        }
        match &self.arrivals {
            Arrivals::Hyperexponential(phases) => phases.contradiction(),
            Arrivals::Closed { .. } if self.time_scale != 1.0 => {
                Some(("time_scale", self.time_scale.to_string(), UNSCALED.to_string()))
            }
            _ => None,
        }
    }

    /// Returns lists by size that contradict the sizes, or each other.
    fn contradiction_by_size(&self) -> Option<(&'static str, String, String)> {
        for (key, list) in self.lists_by_size() {
            let other = self.size_tables().find(|(_, sizes)| sizes.len() != list.len());
            if let Some((table, sizes)) = other.filter(|_| list.len() > 1) {
                let what = format!("must be one value, or one for each size of {table}");
                return Some((key, format!("{list:?}"), format!("{what}, {}", sizes.len())));
            }
        }
        let (sequential, repeat) = (&self.sequential_by_size, &self.repeat_by_size);
        let of = |list: &[f64], index: usize| list.get(index).or(list.last()).copied();
        let most = sequential.len().max(repeat.len());
        let all = self.read_sequential_fraction.max(self.write_sequential_fraction);
        let index = (0..most).find(|index| {
            let goes_on = of(sequential, *index).unwrap_or(all);
            goes_on + of(repeat, *index).unwrap_or(self.repeat_fraction) > 1.0 + SHARES_ROUNDED
        })?;
        let goes_on = of(sequential, index).unwrap_or(all);
        let key = if repeat.is_empty() { "sequential_by_size" } else { "repeat_by_size" };
        let list = if repeat.is_empty() { sequential } else { repeat };
        let what = format!(
            "must leave a share of at most 1 for each size: of size {} a share of {goes_on} goes \
             on, and {} repeats",
            index + 1,
            of(repeat, index).unwrap_or(self.repeat_fraction)
        );
        Some((key, format!("{list:?}"), what))
    }
}
