//! Endless variants of loads, to bring a drive into its steady state.

use reprieve_base::{Dur, SECTOR_BYTES};

use crate::arrivals::Arrivals;
use crate::config::{Addresses, Footprint, MixedConfig, WorkloadConfig};
use crate::fio::{FioJob, JobCourse, JobOps, JobOrder};
use crate::write_extent::{WriteExtent, greatest_common_divisor};

/// Number of requests of an endless load: more than any drive needs to reach its steady state.
const REQUESTS: f64 = 1e12;
/// Longest span of its arrivals, in seconds: below that of any load.
const SPAN_S: f64 = 9e7;

impl WorkloadConfig {
    /// Returns the extent of its writes and trims, at random places where they are sequential.
    pub fn write_extent(&self) -> WriteExtent {
        let (places, tables) = match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) => {
                return WriteExtent { grain_bytes: SECTOR_BYTES, longest_bytes: u64::MAX };
            }
            WorkloadConfig::Cyclic(load) => return load.write_extent(),
            WorkloadConfig::Mixed(mixed) => {
                let trims = (mixed.trim_fraction > 0.0).then_some(&mixed.sizes);
                let writes = mixed.write_sizes.as_ref().unwrap_or(&mixed.sizes);
                let align_bytes = u64::from(mixed.align_bytes);
                let places = greatest_common_divisor(align_bytes, mixed.footprint_start_bytes);
                (places, [Some(writes), trims])
            }
            WorkloadConfig::Fio(job) => {
                let [_, writes, trims] = &job.sizes;
                let is_trimming = matches!(job.ops, JobOps::Trim | JobOps::TrimWrite);
                (job.start_bytes, [Some(writes), is_trimming.then_some(trims)])
            }
        };
        let sizes = tables.into_iter().flatten().flatten();
        WriteExtent::of(places, sizes.map(|(bytes, _)| u64::from(*bytes)))
    }

    /// The load without its end; `None` if there is none: a trace before it is measured, a cache of
    /// an LLM server, or a job that waits for others.
    pub fn endless(&self) -> Option<WorkloadConfig> {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) => None,
            WorkloadConfig::Cyclic(_) => Some(self.clone()),
            WorkloadConfig::Mixed(mixed) => {
                let requests = mixed.most_requests();
                Some(WorkloadConfig::Mixed(MixedConfig { requests, ..mixed.clone() }))
            }
            WorkloadConfig::Fio(job) if job.course.group > 0 => None,
            WorkloadConfig::Fio(job) => {
                let course =
                    JobCourse { delay: Dur::ZERO, ramp: Dur::ZERO, runtime: None, ..job.course };
                let (amount_bytes, requests_max) = (None, None);
                let job = FioJob { amount_bytes, requests_max, course, ..(**job).clone() };
                Some(WorkloadConfig::Fio(Box::new(job)))
            }
        }
    }

    /// Whether each request waits for a completion, so that the drive always has work.
    pub fn is_closed(&self) -> bool {
        match self {
            WorkloadConfig::Trace(trace) => trace.queue_depth.is_some(),
            WorkloadConfig::Cyclic(load) => load.queue_depth().is_some(),
            WorkloadConfig::Mixed(mixed) => matches!(mixed.arrivals, Arrivals::Closed { .. }),
            WorkloadConfig::Kv(_) => false,
            WorkloadConfig::Fio(_) => true,
        }
    }

    /// Whether it writes, or trims.
    pub fn changes_data(&self) -> bool {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) => true,
            WorkloadConfig::Cyclic(load) => load.changes_data(),
            WorkloadConfig::Mixed(mixed) => mixed.read_fraction < 1.0,
            WorkloadConfig::Fio(job) => {
                !matches!(job.ops, JobOps::Read | JobOps::Mixed { read_percent: 100 })
            }
        }
    }

    /// Whether every page of the drive is equally likely to be written next, and none is trimmed.
    /// Sequential writes count as writes to all places.
    pub fn writes_evenly(&self, capacity_bytes: u64) -> bool {
        match self {
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) => true,
            WorkloadConfig::Cyclic(load) => load.writes_evenly(capacity_bytes),
            WorkloadConfig::Mixed(mixed) => {
                let is_whole = match mixed.footprint {
                    Footprint::Share(share) => share == 1.0 && mixed.footprint_start_bytes == 0,
                    Footprint::Bytes(bytes) => bytes == capacity_bytes,
                };
                let is_even = matches!(mixed.addresses, Addresses::Uniform | Addresses::Sequential);
                is_whole && is_even && mixed.trim_fraction == 0.0
            }
            WorkloadConfig::Fio(job) => {
                let is_whole = job.start_bytes == 0 && job.region_bytes == capacity_bytes;
                let is_even = matches!(
                    job.order,
                    JobOrder::Sequential | JobOrder::Random | JobOrder::RandomRepeating
                );
                let trims = matches!(job.ops, JobOps::Trim | JobOps::TrimWrite);
                is_whole && is_even && !trims
            }
        }
    }

    /// As [`WorkloadConfig::endless`], with random places instead of sequential ones; `None` where
    /// that is.
    pub fn at_random(&self) -> Option<WorkloadConfig> {
        let mut load = self.endless()?;
        match &mut load {
            WorkloadConfig::Mixed(mixed) => {
                (mixed.read_sequential_fraction, mixed.write_sequential_fraction) = (0.0, 0.0);
                (mixed.arrivals, mixed.time_scale) = (Arrivals::Closed { queue_depth: 1 }, 1.0);
                mixed.requests = REQUESTS as u64;
                if mixed.addresses == Addresses::Sequential {
                    mixed.addresses = Addresses::Uniform;
                }
            }
            WorkloadConfig::Fio(job) => {
                if job.order == JobOrder::Sequential {
                    job.order = JobOrder::RandomRepeating;
                }
            }
            WorkloadConfig::Trace(_) | WorkloadConfig::Kv(_) | WorkloadConfig::Cyclic(_) => {}
        }
        Some(load)
    }
}

impl MixedConfig {
    /// The largest number of requests that arrivals allow.
    fn most_requests(&self) -> u64 {
        let Some(rate_iops) = self.arrivals.rate_iops() else { return REQUESTS as u64 };
        let most = (rate_iops * SPAN_S / self.time_scale.max(1.0)).min(REQUESTS) as u64;
        most.max(self.requests)
    }
}
