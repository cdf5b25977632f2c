//! A load as it is while it lasts: for a drive that is brought into the state in which it runs.

use reprieve_base::Dur;

use crate::arrivals::Arrivals;
use crate::config::{Addresses, Footprint, MixedConfig, WorkloadConfig};
use crate::fio::{FioJob, JobCourse, JobOps, JobOrder};

/// Requests of a load that goes on: more than any drive needs to come to rest.
const REQUESTS: f64 = 1e12;
/// Longest span of its arrivals, in seconds: below that of any load.
const SPAN_S: f64 = 9e7;

impl WorkloadConfig {
    /// The same load without its end; `None` if it has no such: a trace before it is measured, or a
    /// job that others go before.
    pub fn endless(&self) -> Option<WorkloadConfig> {
        match self {
            WorkloadConfig::Trace(_) => None,
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

    /// Whether a request comes when another is complete, so that the drive is never without work.
    pub fn is_closed(&self) -> bool {
        match self {
            WorkloadConfig::Trace(trace) => trace.queue_depth.is_some(),
            WorkloadConfig::Cyclic(load) => load.queue_depth().is_some(),
            WorkloadConfig::Mixed(mixed) => matches!(mixed.arrivals, Arrivals::Closed { .. }),
            WorkloadConfig::Fio(_) => true,
        }
    }

    /// Whether it writes, or trims.
    pub fn changes_data(&self) -> bool {
        match self {
            WorkloadConfig::Trace(_) => true,
            WorkloadConfig::Cyclic(load) => load.changes_data(),
            WorkloadConfig::Mixed(mixed) => mixed.read_fraction < 1.0,
            WorkloadConfig::Fio(job) => {
                !matches!(job.ops, JobOps::Read | JobOps::Mixed { read_percent: 100 })
            }
        }
    }

    /// Whether every page of the drive is as likely to be written next as any other, and none is
    /// trimmed. What is written in order counts as written all over.
    pub fn writes_evenly(&self, capacity_bytes: u64) -> bool {
        match self {
            WorkloadConfig::Trace(_) => true,
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

    /// The same load written at random where it goes through its places in order, as often as it
    /// is asked for; `None` where [`WorkloadConfig::endless`] is.
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
            WorkloadConfig::Trace(_) | WorkloadConfig::Cyclic(_) => {}
        }
        Some(load)
    }
}

impl MixedConfig {
    /// As many requests as arrivals allow.
    fn most_requests(&self) -> u64 {
        let Some(rate_iops) = self.arrivals.rate_iops() else { return REQUESTS as u64 };
        let most = (rate_iops * SPAN_S / self.time_scale.max(1.0)).min(REQUESTS) as u64;
        most.max(self.requests)
    }
}
