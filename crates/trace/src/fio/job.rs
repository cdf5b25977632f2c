//! What a job of a fio file resolves to: one of its clones, fitted to a drive.

use reprieve_base::Dur;

/// One clone of a job: requests from one loop, `queue_depth` of them outstanding.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// As its section is called.
    pub name: String,
    /// Which of `numjobs` it is, from 0.
    pub clone: u32,
    /// What it asks for.
    pub ops: JobOps,
    /// In which order it goes through its region.
    pub order: JobOrder,
    /// Sizes in bytes and their weights, of reads, writes and trims.
    pub sizes: [Vec<(u32, f64)>; 3],
    /// The first byte of its region, a multiple of 512.
    pub start_bytes: u64,
    /// The length of its region.
    pub region_bytes: u64,
    /// It ends when so many bytes have been asked for; `None`: it goes on from the start.
    pub amount_bytes: Option<u64>,
    /// It ends after so many reads and writes, or trims, if not before.
    pub requests_max: Option<u64>,
    /// Requests outstanding; at least 1.
    pub queue_depth: u32,
    /// How fast reads, writes and trims are issued at most.
    pub rates: [Option<JobRate>; 3],
    /// The gaps of a rate are exponential, and not equal.
    pub poisson: bool,
    /// Every so many writes are followed by a flush.
    pub flush_every_writes: Option<u64>,
    /// Writes are acknowledged only when they are programmed.
    pub fua: bool,
    /// When it begins, pauses and ends.
    pub course: JobCourse,
}

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOps {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads, so many in a hundred, and writes.
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

/// In which order a job goes through its region.
#[derive(Clone, Debug, PartialEq)]
pub enum JobOrder {
    /// Each kind of request begins where the last of its kind ended.
    Sequential,
    /// Every place once before one comes again, if all requests are of one size.
    Random,
    /// Every place alike, whatever came before.
    RandomRepeating,
    /// Zipf's law of this exponent.
    Zipf(f64),
    /// A power law: a share `h` of the requests goes to all but a share `h` of the places.
    Pareto(f64),
    /// Around a centre, blurred by so many percent of the region.
    Normal(f64),
    /// Zones of reads, writes and trims.
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

/// How fast requests are issued at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobRate {
    /// Bytes a second, above 0.
    BytesPerS(u64),
    /// Requests a second, above 0.
    Iops(u64),
}

/// When a job begins, pauses and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCourse {
    /// It begins when all jobs of lower groups have ended.
    pub group: u32,
    /// And not before this, from the start of the run.
    pub delay: Dur,
    /// Requests of this first part of it are not counted in its figures.
    pub ramp: Dur,
    /// After the ramp, so long are requests issued; `None`: until all are.
    pub runtime: Option<Dur>,
    /// Pauses, if it makes any.
    pub think: Option<JobThink>,
}

/// Pauses of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobThink {
    /// How long it pauses once all that it has issued is complete.
    pub time: Dur,
    /// After how many requests; at least 1.
    pub every_requests: u64,
}
