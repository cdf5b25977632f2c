//! The resolved job of a fio file: one of its clones, fitted to a drive.

use reprieve_base::Dur;

/// One clone of a job: requests from one loop, `queue_depth` of them outstanding.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// The name of its section.
    pub name: String,
    /// Its number among `numjobs`, from 0.
    pub clone: u32,
    /// Its operations.
    pub ops: JobOps,
    /// The order of its requests in its region.
    pub order: JobOrder,
    /// Sizes in bytes and their weights, of reads, writes and trims.
    pub sizes: [Vec<(u32, f64)>; 3],
    /// The first byte of its region, a multiple of 512.
    pub start_bytes: u64,
    /// The length of its region.
    pub region_bytes: u64,
    /// It ends after this many bytes; `None`: it wraps around to the start.
    pub amount_bytes: Option<u64>,
    /// It ends after this many reads and writes, or trims, if not before.
    pub requests_max: Option<u64>,
    /// Requests outstanding; at least 1.
    pub queue_depth: u32,
    /// Limits on the rates of reads, writes and trims.
    pub rates: [Option<JobRate>; 3],
    /// The gaps of a rate are exponential, and not equal.
    pub poisson: bool,
    /// Number of writes between flushes.
    pub flush_every_writes: Option<u64>,
    /// Writes are acknowledged only when they are programmed.
    pub fua: bool,
    /// Zones of a drive that has them, which the job writes in order and resets.
    pub zones: Option<DriveZones>,
    /// Start, pauses and end.
    pub course: JobCourse,
}

/// Zones of the drive of a job, whose region has their capacities one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveZones {
    /// Distance of their first bytes.
    pub size_bytes: u32,
    /// Bytes of a zone that are written.
    pub capacity_bytes: u32,
    /// Zones that random writes go to at a time.
    pub open_max: u32,
    /// Bytes that a reset counts as, by the rates of trims.
    pub reset_bytes: u32,
}

/// The operations of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOps {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads and writes.
    Mixed {
        /// Reads in a hundred requests, at most 100.
        read_percent: u32,
    },
    /// Each place is trimmed and then written.
    TrimWrite,
}

impl JobOps {
    /// The places of its kinds of requests in lists of reads, writes and trims.
    pub(crate) fn kinds(self) -> &'static [usize] {
        match self {
            JobOps::Read => &[0],
            JobOps::Write => &[1],
            JobOps::Trim => &[2],
            JobOps::Mixed { .. } => &[0, 1],
            JobOps::TrimWrite => &[1, 2],
        }
    }
}

/// The order of a job's requests in its region.
#[derive(Clone, Debug, PartialEq)]
pub enum JobOrder {
    /// Each kind of request begins where the last of its kind ended.
    Sequential,
    /// Every place once before any repeats, if all requests are of one size.
    Random,
    /// Every place equally likely, independent of earlier ones.
    RandomRepeating,
    /// Zipf's law of this exponent.
    Zipf(f64),
    /// A power law: a share `h` of the requests goes to all but a share `h` of the places.
    Pareto(f64),
    /// Around a centre, blurred by a percentage of the region.
    Normal(f64),
    /// Parts of the region for reads, writes and trims.
    Zoned([Vec<JobZone>; 3]),
}

/// A part of a region, and its share of the requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobZone {
    /// Its share of the requests of a kind, above 0; those of all zones are 100.
    pub requests_percent: f64,
    /// Its first sector, from the start of the region.
    pub from_sector: u64,
    /// The first sector behind it.
    pub end_sector: u64,
}

/// A limit on the rate of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobRate {
    /// Bytes a second, above 0.
    BytesPerS(u64),
    /// Requests a second, above 0.
    Iops(u64),
}

/// Start, pauses and end of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCourse {
    /// It begins when all jobs of lower groups have ended.
    pub group: u32,
    /// It also waits for this, from the start of the run.
    pub delay: Dur,
    /// Requests of this first part are not counted.
    pub ramp: Dur,
    /// Time to issue requests after the ramp; `None`: until all are.
    pub runtime: Option<Dur>,
    /// Pauses, if it makes any.
    pub think: Option<JobThink>,
}

/// Pauses of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobThink {
    /// Length of a pause, from the completion of all its requests on.
    pub time: Dur,
    /// Number of requests between pauses; at least 1.
    pub every_requests: u64,
}
