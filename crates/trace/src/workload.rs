//! The stream of requests that a drive sees, whether recorded or generated.

use std::iter;
use std::ops::Range;

use reprieve_base::{Request, SECTOR_BYTES, UserError};

use crate::config::WorkloadConfig;
use crate::counts::Counts;
use crate::cyclic_source::CyclicSource;
use crate::request_source::{RequestSource, placed};
use crate::shared_clock;
use crate::synth::{JobSource, KvPlan, Mixed};
use crate::trace_source::TraceSource;

/// A stream of requests whose arrivals never run back.
#[derive(Debug)]
pub struct Workload {
    source: Box<dyn RequestSource>,
    /// The first sector of its part of the drive.
    first_sector: u64,
}

/// One of the loads of a drive, and its part of the drive.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// Its configuration.
    pub config: &'a WorkloadConfig,
    /// Used by generators only.
    pub seed: u64,
    /// Bytes of the drive.
    pub bytes: Range<u64>,
}

/// The source of a drive whose requests come from clients.
impl RequestSource for iter::Empty<Request> {
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        Ok(None)
    }
}

impl Workload {
    /// Opens a trace or sets up a generator for a drive of `capacity_bytes`.
    ///
    /// A trace whose addresses depend on its devices' extents (several devices one behind the
    /// other, or [`AddressPolicy::Scale`](crate::AddressPolicy::Scale)) is read twice. The seed
    /// is used by generators only.
    pub fn open(
        config: &WorkloadConfig,
        capacity_bytes: u64,
        seed: u64,
    ) -> Result<Workload, UserError> {
        Workload::open_one(&Load { config, seed, bytes: 0..capacity_bytes }, None)
    }

    /// Opens several parallel loads: traces have one clock, see [`TraceClock`](crate::TraceClock).
    pub fn open_all(loads: &[Load]) -> Result<Vec<Workload>, UserError> {
        let zero_ns = shared_clock::zero_ns(loads.iter().map(|load| load.config))?;
        let zero_of = |load: &Load| zero_ns.filter(|_| shared_clock::shares(load.config).is_some());
        let opened = loads.iter().map(|load| Workload::open_one(load, zero_of(load)));
        let mut opened: Vec<Workload> = opened.collect::<Result<_, _>>()?;
        let sharing = opened.iter_mut().zip(loads).filter(|(_, load)| zero_of(load).is_some());
        let mut sharing: Vec<&mut Workload> = sharing.map(|(workload, _)| workload).collect();
        // The earliest first request arrives at 0, the others at their recorded distance.
        let first_ns = sharing.iter().filter_map(|load| load.source.run_zero_ns()).min();
        if let Some(first_ns) = first_ns {
            sharing.iter_mut().try_for_each(|load| load.source.begin_at(first_ns))?;
        }
        Ok(opened)
    }

    fn open_one(load: &Load, zero_ns: Option<u64>) -> Result<Workload, UserError> {
        let Load { config, seed, ref bytes } = *load;
        let capacity_bytes = bytes.end - bytes.start;
        let source: Box<dyn RequestSource> = match config {
            WorkloadConfig::Trace(trace) => {
                Box::new(TraceSource::open(trace, capacity_bytes, zero_ns)?)
            }
            WorkloadConfig::Mixed(mixed) => Box::new(Mixed::new(mixed, capacity_bytes, seed)?),
            WorkloadConfig::Kv(kv) => Box::new(KvPlan::open(kv, capacity_bytes, seed)?),
            WorkloadConfig::Fio(job) => {
                let end_bytes = job.start_bytes + job.region_bytes;
                assert!(end_bytes <= capacity_bytes, "a job was fitted to another drive");
                Box::new(JobSource::new(job, seed))
            }
            WorkloadConfig::Cyclic(load) => Box::new(CyclicSource::new(load, seed)),
        };
        Ok(Workload { source, first_sector: bytes.start / SECTOR_BYTES })
    }

    /// Returns a stream without requests, for a drive whose requests come from clients.
    pub fn nothing() -> Workload {
        Workload { source: Box::new(iter::empty()), first_sector: 0 }
    }

    /// Returns the next request, or `None` after the last; after an error the stream is at its end.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        let request = self.source.next_request()?;
        Ok(request.map(|request| placed(request, self.first_sector)))
    }

    /// Appends up to `most` requests to a list: all remaining ones, or those before an error.
    ///
    /// Errors as [`Workload::next_request`] does, once the requests before it are in the list.
    pub fn fill(&mut self, into: &mut Vec<Request>, most: usize) -> Result<(), UserError> {
        self.source.fill(into, most, self.first_sector)
    }

    /// Returns the requests outstanding in a closed loop, where every arrival is `Time::ZERO`, or
    /// of a fio job, where it is the earliest time from its start; else `None`.
    pub fn queue_depth(&self) -> Option<u32> {
        self.source.queue_depth()
    }

    /// Returns the share of the work issued, in [0, 1]: of requests, or of the file's bytes.
    pub fn progress(&self) -> Option<f64> {
        self.source.progress()
    }

    /// Returns the counts.
    pub fn counts(&self) -> Counts {
        self.source.counts()
    }
}
