//! What a scenario's `[workload]` section resolves to, and the ranges its values must keep.

use std::path::PathBuf;

use reprieve_base::{Dur, SECTOR_BYTES, UserError};

/// Where requests come from.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadConfig {
    /// A recorded trace.
    Trace(TraceConfig),
    /// The generator `mixed`.
    Mixed(MixedConfig),
}

/// A recorded trace and how to fit it to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceConfig {
    /// The file: plain, gzip or Zstandard, told apart by its content.
    pub path: PathBuf,
    /// `"auto"`, or a name of [`formats`](crate::formats()).
    pub format: String,
    /// Multiplies inter-arrival times; above 0.
    pub time_scale: f64,
    /// Rows earlier than this are left out; trace time from the first row, before scaling.
    pub start: Dur,
    /// Length of the part that is replayed; trace time, before scaling. `None`: to the end.
    pub duration: Option<Dur>,
    /// Stop after this many requests; at least 1. `None`: no limit.
    pub max_requests: Option<u64>,
    /// Which of the trace's devices, and where their addresses go.
    pub devices: DeviceSelection,
    /// What becomes of a request that does not fit into the drive.
    pub address: AddressPolicy,
    /// A row equal in device, operation, address and length to one at most this much earlier is
    /// dropped; trace time, before scaling. `None`: every row counts.
    pub drop_duplicates_within: Option<Dur>,
    /// Rows that may be held back to put late ones in order of time; 0: late rows are an error.
    pub sort_window_requests: u32,
}

/// Which devices of a trace are replayed, and how they share the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSelection {
    /// Every device, each behind the one with the next lower number.
    Concatenate,
    /// These devices, one behind the other in this order.
    Only(Vec<u32>),
    /// Every device, all in one address space, so that equal addresses alias.
    Merge,
}

/// What becomes of a request that does not fit into the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPolicy {
    /// The address modulo the capacity, moved down where the request would straddle the end.
    Modulo,
    /// The trace's extent is mapped linearly onto the capacity, in units of 4 KiB.
    Scale,
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
    /// Share of trims, in [0, 1]; what is neither read nor trim is a write.
    pub trim_fraction: f64,
    /// Every so many requests one is a flush, at least 2; `None`: none is.
    pub flush_every_requests: Option<u64>,
    /// Sizes in bytes, multiples of 512, and their weights, above 0.
    pub sizes: Vec<(u32, f64)>,
    /// Every address is a multiple of this; a multiple of 512.
    pub align_bytes: u32,
    /// How addresses are chosen.
    pub addresses: Addresses,
    /// Share of the capacity, from its start, that is used; in (0, 1].
    pub footprint_share: f64,
    /// When requests arrive.
    pub arrivals: Arrivals,
}

/// How a generator chooses addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Addresses {
    /// Every aligned address at which the request fits, equally likely.
    Uniform,
    /// Each request begins where the last one ended, and again at 0 after the last that fits.
    Sequential,
    /// Units of the footprint by Zipf's law: the k-th most popular in proportion to `k^-theta`.
    Zipf {
        /// Exponent, above 0.
        theta: f64,
    },
    /// Two uniform regions, the first of them hot.
    HotCold {
        /// Share of the footprint that is hot, in (0, 1).
        hot_share: f64,
        /// Share of the requests that go there, in [0, 1].
        hot_fraction: f64,
    },
}

/// When generated requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Closed loop: the drive pulls the next request when one completes.
    Closed {
        /// Requests outstanding; at least 1.
        queue_depth: u32,
    },
    /// Independent exponential inter-arrival times.
    Poisson {
        /// Mean rate in requests a second; above 0.
        rate_iops: f64,
    },
    /// Request k arrives at `k / rate_iops`, from k = 0.
    Fixed {
        /// Rate in requests a second; above 0.
        rate_iops: f64,
    },
}

impl TraceConfig {
    /// Refuses values outside their ranges; the file itself is not looked at.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        if !(self.time_scale.is_finite() && self.time_scale > 0.0) {
            return Err(wrong("time_scale", self.time_scale, "must be a finite number above 0"));
        }
        if self.max_requests == Some(0) {
            return Err(wrong("max_requests", 0, "must be at least 1, or absent for no limit"));
        }
        if self.duration == Some(Dur::ZERO) {
            return Err(wrong("duration_s", "0 ns", "must be above 0, or absent for no limit"));
        }
        if let DeviceSelection::Only(list) = &self.devices {
            if list.is_empty() {
                return Err(wrong("devices", "[]", "must name at least one device"));
            }
            for (index, device) in list.iter().enumerate() {
                if list[..index].contains(device) {
                    let what = format!("names device {device} twice; each may stand once");
                    return Err(wrong("devices", format!("{list:?}"), &what));
                }
            }
        }
        Ok(())
    }
}

impl MixedConfig {
    /// Refuses values outside their ranges, whatever the drive.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        if self.requests == 0 {
            return Err(wrong("requests", 0, "must be at least 1"));
        }
        for (key, value) in
            [("read_fraction", self.read_fraction), ("trim_fraction", self.trim_fraction)]
        {
            if !(0.0..=1.0).contains(&value) {
                return Err(wrong(key, value, "must be between 0 and 1"));
            }
        }
        let both = self.read_fraction + self.trim_fraction;
        if both > 1.0 {
            let what = format!("with read_fraction = {} makes {both}", self.read_fraction);
            let what = format!("{what}; together they may be at most 1");
            return Err(wrong("trim_fraction", self.trim_fraction, &what));
        }
        if let Some(every) = self.flush_every_requests.filter(|every| *every < 2) {
            return Err(wrong("flush_every_requests", every, "must be at least 2"));
        }
        if !(self.footprint_share > 0.0 && self.footprint_share <= 1.0) {
            let what = "must be above 0 and at most 1";
            return Err(wrong("footprint_share", self.footprint_share, what));
        }
        if !is_sectors(self.align_bytes) {
            let what = "must be a multiple of 512 and not 0";
            return Err(wrong("align_bytes", self.align_bytes, what));
        }
        self.check_sizes()?;
        self.addresses.check()?;
        self.arrivals.check()
    }

    fn check_sizes(&self) -> Result<(), UserError> {
        if self.sizes.is_empty() {
            return Err(wrong("request_bytes", "[]", "must list at least one size"));
        }
        for &(bytes, weight) in &self.sizes {
            if !is_sectors(bytes) {
                return Err(wrong("request_bytes", bytes, "must be a multiple of 512 and not 0"));
            }
            if !(weight.is_finite() && weight > 0.0) {
                let what = format!("is the weight of {bytes} bytes; must be above 0 and finite");
                return Err(wrong("request_bytes", weight, &what));
            }
        }
        Ok(())
    }
}

impl Addresses {
    fn check(&self) -> Result<(), UserError> {
        match *self {
            Addresses::Uniform | Addresses::Sequential => Ok(()),
            Addresses::Zipf { theta } if theta.is_finite() && theta > 0.0 => Ok(()),
            Addresses::Zipf { theta } => {
                Err(wrong("zipf_theta", theta, "must be a finite number above 0"))
            }
            Addresses::HotCold { hot_share, .. } if !(hot_share > 0.0 && hot_share < 1.0) => {
                Err(wrong("hot_share", hot_share, "must be above 0 and below 1"))
            }
            Addresses::HotCold { hot_fraction, .. } if !(0.0..=1.0).contains(&hot_fraction) => {
                Err(wrong("hot_fraction", hot_fraction, "must be between 0 and 1"))
            }
            Addresses::HotCold { .. } => Ok(()),
        }
    }
}

impl Arrivals {
    fn check(&self) -> Result<(), UserError> {
        match *self {
            Arrivals::Closed { queue_depth: 0 } => {
                Err(wrong("queue_depth", 0, "must be at least 1"))
            }
            Arrivals::Closed { .. } => Ok(()),
            Arrivals::Poisson { rate_iops } | Arrivals::Fixed { rate_iops } => {
                if rate_iops.is_finite() && rate_iops > 0.0 {
                    return Ok(());
                }
                Err(wrong("rate_iops", rate_iops, "must be a finite number above 0"))
            }
        }
    }
}

/// The error of a value of section `[workload]`.
pub(crate) fn wrong(key: &str, value: impl std::fmt::Display, what: &str) -> UserError {
    UserError::new(format!("workload.{key} = {value}: {what}"))
}

fn is_sectors(bytes: u32) -> bool {
    bytes > 0 && u64::from(bytes) % SECTOR_BYTES == 0
}
