//! The one stream of requests that a drive sees, whether recorded or generated.

use std::ops::Range;

use reprieve_base::{Op, Request, SECTOR_BYTES, UserError};

use crate::config::WorkloadConfig;
use crate::counts::Counts;
use crate::cyclic::CyclicSource;
use crate::replay::Replay;
use crate::shared_clock;
use crate::synth::{JobSource, Mixed};

/// A stream of requests whose arrivals never run back.
#[derive(Debug)]
pub struct Workload {
    source: Source,
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

#[derive(Debug)]
enum Source {
    Trace(Box<Replay>),
    Mixed(Box<Mixed>),
    Job(Box<JobSource>),
    Cyclic(Box<CyclicSource>, Option<u32>),
    /// Requests come from clients.
    Nothing,
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
        let mut opened = Vec::with_capacity(loads.len());
        for load in loads {
            let zero_ns = zero_ns.filter(|_| shared_clock::takes_part(load.config));
            let load = Workload::open_one(load, zero_ns)?;
            opened.push((load, zero_ns.is_some()));
        }
        let sharing = opened.iter_mut().filter(|(_, shares)| *shares);
        let mut replays: Vec<&mut Replay> = sharing
            .filter_map(|(load, _)| match &mut load.source {
                Source::Trace(replay) => Some(&mut **replay),
                _ => None,
            })
            .collect();
        shared_clock::begin(&mut replays)?;
        Ok(opened.into_iter().map(|(load, _)| load).collect())
    }

    fn open_one(load: &Load, zero_ns: Option<u64>) -> Result<Workload, UserError> {
        let Load { config, seed, ref bytes } = *load;
        let capacity_bytes = bytes.end - bytes.start;
        let source = match config {
            WorkloadConfig::Trace(trace) => {
                Source::Trace(Box::new(Replay::open(trace, capacity_bytes, zero_ns)?))
            }
            WorkloadConfig::Mixed(mixed) => {
                Source::Mixed(Box::new(Mixed::new(mixed, capacity_bytes, seed)?))
            }
            WorkloadConfig::Fio(job) => {
                let end_bytes = job.start_bytes + job.region_bytes;
                assert!(end_bytes <= capacity_bytes, "a job was fitted to another drive");
                Source::Job(Box::new(JobSource::new(job, seed)))
            }
            WorkloadConfig::Cyclic(load) => {
                Source::Cyclic(Box::new(CyclicSource::new(load, seed)), load.queue_depth())
            }
        };
        Ok(Workload { source, first_sector: bytes.start / SECTOR_BYTES })
    }

    /// A stream without requests, for a drive whose requests come from clients.
    pub fn nothing() -> Workload {
        Workload { source: Source::Nothing, first_sector: 0 }
    }

    /// The next request, or `None` after the last; after an error the stream is at its end.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        let request = match &mut self.source {
            Source::Mixed(mixed) => mixed.next_request(),
            Source::Trace(replay) => replay.next_request()?,
            Source::Job(job) => job.next_request(),
            Source::Cyclic(load, _) => load.next_request(),
            Source::Nothing => None,
        };
        Ok(request.map(|request| placed(request, self.first_sector)))
    }

    /// Appends up to `most` requests to a list: all remaining ones, or those before an error.
    ///
    /// Errors as [`Workload::next_request`] does, once the requests before it are in the list.
    pub fn fill(&mut self, into: &mut Vec<Request>, most: usize) -> Result<(), UserError> {
        match &mut self.source {
            // In the source, because returning each request would copy it again.
            Source::Mixed(mixed) => {
                let first_sector = self.first_sector;
                let next = || mixed.next_request().map(|request| placed(request, first_sector));
                into.extend(std::iter::from_fn(next).take(most));
            }
            _ => {
                for _ in 0..most {
                    let Some(request) = self.next_request()? else { break };
                    into.push(request);
                }
            }
        }
        Ok(())
    }

    /// Requests outstanding in a closed loop, where every arrival is `Time::ZERO`, or of a fio job,
    /// where it is the earliest time from its start; else `None`.
    pub fn queue_depth(&self) -> Option<u32> {
        match &self.source {
            Source::Mixed(mixed) => mixed.queue_depth(),
            Source::Trace(replay) => replay.queue_depth(),
            Source::Job(job) => Some(job.queue_depth()),
            Source::Cyclic(_, queue_depth) => *queue_depth,
            Source::Nothing => None,
        }
    }

    /// Share of the work issued, in [0, 1]: of requests, or of the trace file's bytes.
    pub fn progress(&self) -> Option<f64> {
        match &self.source {
            Source::Mixed(mixed) => Some(mixed.progress()),
            Source::Trace(replay) => replay.progress(),
            Source::Job(job) => job.progress(),
            Source::Cyclic(..) | Source::Nothing => None,
        }
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        match &self.source {
            Source::Mixed(mixed) => Counts { requests: mixed.handed_out(), ..Counts::default() },
            Source::Trace(replay) => replay.counts(),
            Source::Job(job) => Counts { requests: job.handed_out(), ..Counts::default() },
            Source::Cyclic(load, _) => Counts { requests: load.handed_out(), ..Counts::default() },
            Source::Nothing => Counts::default(),
        }
    }
}

/// The request moved into a part of a drive; a flush has no address.
#[inline]
fn placed(request: Request, first_sector: u64) -> Request {
    match request.op {
        Op::Flush => request,
        Op::Read | Op::Write | Op::Trim => Request { lba: request.lba + first_sector, ..request },
    }
}
