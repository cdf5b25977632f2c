//! Requests: readers of block traces, transforms between trace and drive, and generators.
//!
//! [`Workload::open`] turns a checked [`WorkloadConfig`] into a stream of requests in the drive's
//! own address space. [`profile`], [`convert`] and [`head`] read traces without a drive.

mod arrivals;
mod config;
mod convert;
mod counts;
mod cyclic_source;
mod devices;
mod fio;
mod formats;
mod kv;
mod merged;
mod profile;
mod reading;
mod request_source;
mod shared_clock;
mod source;
mod steady_load;
mod synth;
mod trace_source;
mod transform;
mod workload;
mod write_extent;

use reprieve_base::UserError;

pub use arrivals::{Arrivals, Hyperexponential, Trains};
pub use config::{
    AddressPolicy, Addresses, DeviceSelection, Footprint, MixedConfig, TraceClock, TraceConfig,
    WorkloadConfig,
};
pub use convert::convert;
pub use counts::Counts;
pub use cyclic_source::CyclicTrace;
pub use devices::{DeviceList, DeviceSummary, devices};
pub use fio::{
    DriveZones, FioJob, JobCourse, JobOps, JobOrder, JobRate, JobThink, JobZone, fio_jobs,
    fio_options,
};
pub use formats::{RawRequest, formats};
pub use kv::{KvChats, KvConfig, KvLookup, KvPrompts, KvStore, KvTier, KvTierConfig, Prompt};
pub use merged::Merged;
pub use profile::{DeviceProfile, Profile, SizeProfile, head, profile, profile_loads};
pub use reading::{
    BlktraceAction, EtwTime, IologWait, ReadOptions, Reading, SameSecond, ZeroLength,
};
pub use source::{absolute, hold, is_file, is_trace};
pub use synth::{KvPlan, PlaneShare, Served, generators, misfit};
pub use trace_source::cyclic;
pub use workload::{Load, Workload};
pub use write_extent::WriteExtent;

/// Returns the error of a value of section `[workload]`.
pub(crate) fn wrong(key: &str, value: impl std::fmt::Display, what: &str) -> UserError {
    UserError::new(format!("workload.{key} = {value}: {what}"))
}
