//! The options of a fio file: those that are simulated, and those that change nothing here.

use reprieve_base::{Dur, nearest};

use super::job::{JobOps, JobOrder, JobRate};
use super::units::{self, Extent};

/// Options that change nothing in a simulation: how a host is set up, what its logs and its
/// buffers hold, where its files lie.
const WITHOUT_EFFECT: &[&str] = &[
    "allow_file_create",
    "allow_mounted_write",
    "allrandrepeat",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "buffered",
    "bwavgtime",
    "clat_percentiles",
    "clocksource",
    "continue_on_error",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_percentage",
    "description",
    "direct",
    "directory",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "do_verify",
    "end_fsync",
    "error_dump",
    "exitall",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "filename",
    "filename_format",
    "filesize",
    "fixedbufs",
    "fsync_on_close",
    "gid",
    "group_reporting",
    "gtod_cpu",
    "gtod_reduce",
    "hipri",
    "invalidate",
    "iomem",
    "iopsavgtime",
    "lat_percentiles",
    "log_avg_msec",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_unix_epoch",
    "mem",
    "name",
    "new_group",
    "nice",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "opendir",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "prio",
    "prioclass",
    "randrepeat",
    "randseed",
    "random_generator",
    "refill_buffers",
    "registerfiles",
    "scramble_buffers",
    "significant_figures",
    "slat_percentiles",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "thinktime_spin",
    "thread",
    "uid",
    "unique_filename",
    "unit_base",
    "unlink",
    "userspace_reap",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
];

/// Engines that have one request outstanding, whatever the depth.
const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "falloc", "ftruncate"];

/// What a job says so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) is_random: bool,
    pub(super) read_percent: u32,
    pub(super) sizes: [Vec<(u32, f64)>; 3],
    /// The sizes of `bssplit`, which outrank those of `bs`.
    pub(super) splits: [Option<Vec<(u32, f64)>>; 3],
    pub(super) depth: u32,
    pub(super) is_synchronous: bool,
    pub(super) clones: u32,
    pub(super) size: Option<Extent>,
    pub(super) io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    pub(super) requests_max: Option<u64>,
    pub(super) loops: u64,
    pub(super) law: Option<JobOrder>,
    pub(super) repeats: bool,
    pub(super) runtime: Option<Dur>,
    pub(super) time_based: bool,
    pub(super) ramp: Dur,
    pub(super) delay: Dur,
    pub(super) stonewall: bool,
    pub(super) think: Dur,
    pub(super) think_blocks: u64,
    pub(super) rates: [Option<JobRate>; 3],
    pub(super) poisson: bool,
    pub(super) flush_every: Option<u64>,
    pub(super) fua: bool,
}

/// What the option `rw` asks for, but for its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Trim,
    Mixed,
    TrimWrite,
}

impl Default for Draft {
    fn default() -> Draft {
        let page = || vec![(4096, 1.0)];
        Draft {
            kind: Kind::Read,
            is_random: false,
            read_percent: 50,
            sizes: [page(), page(), page()],
            splits: [None, None, None],
            depth: 1,
            is_synchronous: false,
            clones: 1,
            size: None,
            io_size: None,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            requests_max: None,
            loops: 1,
            law: None,
            repeats: false,
            runtime: None,
            time_based: false,
            ramp: Dur::ZERO,
            delay: Dur::ZERO,
            stonewall: false,
            think: Dur::ZERO,
            think_blocks: 1,
            rates: [None; 3],
            poisson: false,
            flush_every: None,
            fua: false,
        }
    }
}

type Setter = fn(&mut Draft, &str) -> Result<(), String>;

const SECOND_NS: u64 = 1_000_000_000;
const MICROSECOND_NS: u64 = 1_000;

/// The options that are simulated, with their other names.
const SIMULATED: &[(&[&str], Setter)] = &[
    (&["rw", "readwrite"], rw),
    (&["rwmixread"], |draft, text| {
        units::count(text, 0, 100).map(|percent| draft.read_percent = percent as u32)
    }),
    (&["rwmixwrite"], |draft, text| {
        units::count(text, 0, 100).map(|percent| draft.read_percent = 100 - percent as u32)
    }),
    (&["bs", "blocksize"], bs),
    (&["bssplit"], bssplit),
    (&["ioengine"], |draft, text| {
        draft.is_synchronous = SYNCHRONOUS.contains(&text);
        Ok(())
    }),
    (&["iodepth"], |draft, text| {
        units::count(text, 1, 65_536).map(|depth| draft.depth = depth as u32)
    }),
    (&["numjobs"], |draft, text| {
        units::count(text, 1, 65_536).map(|clones| draft.clones = clones as u32)
    }),
    (&["size"], |draft, text| units::extent(text).map(|size| draft.size = Some(size))),
    (&["io_size", "io_limit"], |draft, text| {
        units::extent(text).map(|size| draft.io_size = Some(size))
    }),
    (&["offset"], |draft, text| units::extent(text).map(|offset| draft.offset = offset)),
    (&["offset_increment"], |draft, text| {
        units::extent(text).map(|step| draft.offset_increment = step)
    }),
    (&["number_ios"], |draft, text| {
        units::count(text, 1, u64::MAX).map(|count| draft.requests_max = Some(count))
    }),
    (&["loops"], |draft, text| units::count(text, 1, u64::MAX).map(|loops| draft.loops = loops)),
    (&["random_distribution"], law),
    (&["norandommap"], |draft, text| units::flag(text).map(|flag| draft.repeats = flag)),
    (&["runtime", "timeout"], |draft, text| {
        let runtime = units::time(text, SECOND_NS)?;
        draft.runtime = (runtime > Dur::ZERO).then_some(runtime);
        Ok(())
    }),
    (&["time_based"], |draft, text| units::flag(text).map(|flag| draft.time_based = flag)),
    (&["ramp_time"], |draft, text| units::time(text, SECOND_NS).map(|ramp| draft.ramp = ramp)),
    (&["startdelay", "start_delay"], |draft, text| {
        units::time(text, SECOND_NS).map(|delay| draft.delay = delay)
    }),
    (&["stonewall", "wait_for_previous"], |draft, text| {
        units::flag(text).map(|flag| draft.stonewall = flag)
    }),
    (&["thinktime"], |draft, text| {
        units::time(text, MICROSECOND_NS).map(|think| draft.think = think)
    }),
    (&["thinktime_blocks"], |draft, text| {
        units::count(text, 1, u64::MAX).map(|blocks| draft.think_blocks = blocks)
    }),
    (&["rate"], |draft, text| rate(draft, text, JobRate::BytesPerS)),
    (&["rate_iops"], |draft, text| rate(draft, text, JobRate::Iops)),
    (&["rate_process"], |draft, text| {
        draft.poisson = one_of(text, &[("linear", false), ("poisson", true)])?;
        Ok(())
    }),
    (&["fsync", "fdatasync"], |draft, text| {
        let every = units::number(text)?;
        draft.flush_every = (every > 0).then_some(every);
        Ok(())
    }),
    (&["sync"], |draft, text| {
        let words = [("0", false), ("none", false), ("1", true), ("sync", true), ("dsync", true)];
        draft.fua = one_of(text, &words)?;
        Ok(())
    }),
];

impl Draft {
    /// Takes an option; the error says what is wrong with its value, or that it is not simulated.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if let Some((_, set)) = SIMULATED.iter().find(|(names, _)| names.contains(&name)) {
            return set(self, value);
        }
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        let known = SIMULATED.iter().flat_map(|(names, _)| names.iter()).chain(WITHOUT_EFFECT);
        Err(match nearest(name, known.copied()) {
            Some(near) => format!("no option that is simulated; did you mean {near}?"),
            None => "no option that is simulated; must be left out".to_string(),
        })
    }

    pub(super) fn ops(&self) -> JobOps {
        match self.kind {
            Kind::Read => JobOps::Read,
            Kind::Write => JobOps::Write,
            Kind::Trim => JobOps::Trim,
            Kind::Mixed => JobOps::Mixed { read_percent: self.read_percent },
            Kind::TrimWrite => JobOps::TrimWrite,
        }
    }

    pub(super) fn order(&self) -> JobOrder {
        match (&self.law, self.is_random) {
            (_, false) => JobOrder::Sequential,
            (Some(law), true) => law.clone(),
            (None, true) if self.repeats => JobOrder::RandomRepeating,
            (None, true) => JobOrder::Random,
        }
    }

    /// The sizes of reads, writes and trims.
    pub(super) fn all_sizes(&self) -> [Vec<(u32, f64)>; 3] {
        [0, 1, 2].map(|of| self.splits[of].clone().unwrap_or_else(|| self.sizes[of].clone()))
    }
}

fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("must be one of {}", words.join(", "))
    })
}

fn rw(draft: &mut Draft, text: &str) -> Result<(), String> {
    let words = [
        ("read", (Kind::Read, false)),
        ("write", (Kind::Write, false)),
        ("trim", (Kind::Trim, false)),
        ("randread", (Kind::Read, true)),
        ("randwrite", (Kind::Write, true)),
        ("randtrim", (Kind::Trim, true)),
        ("rw", (Kind::Mixed, false)),
        ("readwrite", (Kind::Mixed, false)),
        ("randrw", (Kind::Mixed, true)),
        ("trimwrite", (Kind::TrimWrite, false)),
        ("randtrimwrite", (Kind::TrimWrite, true)),
    ];
    (draft.kind, draft.is_random) = one_of(text, &words)?;
    Ok(())
}

/// Bytes of a request: whole sectors.
fn request_bytes(text: &str) -> Result<u32, String> {
    let bytes = units::number(text)?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 && bytes % 512 == 0 => Ok(bytes),
        _ => Err("must be a multiple of 512 bytes, above 0 and below 4g".to_string()),
    }
}

fn bs(draft: &mut Draft, text: &str) -> Result<(), String> {
    let given = units::triple(text, request_bytes)?;
    for (sizes, bytes) in draft.sizes.iter_mut().zip(given) {
        if let Some(bytes) = bytes {
            *sizes = vec![(bytes, 1.0)];
        }
    }
    Ok(())
}

fn bssplit(draft: &mut Draft, text: &str) -> Result<(), String> {
    let given = units::triple(text, split)?;
    for (sizes, split) in draft.splits.iter_mut().zip(given) {
        *sizes = split.or(sizes.take());
    }
    Ok(())
}

/// Sizes with their percentages; those without one share what is left of 100.
fn split(text: &str) -> Result<Vec<(u32, f64)>, String> {
    let pairs = text.split(':').map(|pair| {
        let (bytes, percent) = pair.split_once('/').unwrap_or((pair, ""));
        Ok((request_bytes(bytes.trim())?, part_of_100(percent)?))
    });
    let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
    let shares = shared(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
    let sizes = pairs.iter().zip(shares).map(|((bytes, _), share)| (*bytes, share));
    // What never occurs has no place in a table of weights.
    Ok(sizes.filter(|(_, share)| *share > 0.0).collect())
}

fn part_of_100(text: &str) -> Result<Option<f64>, String> {
    match text.trim() {
        "" => Ok(None),
        percent => {
            let percent = units::decimal(percent)?;
            let fits = (0.0..=100.0).contains(&percent);
            if fits { Ok(Some(percent)) } else { Err("has a percentage beyond 100".to_string()) }
        }
    }
}

/// The percentages of a list; those that are not given share what is left of 100.
fn shared(given: &[Option<f64>]) -> Result<Vec<f64>, String> {
    let sum: f64 = given.iter().flatten().sum();
    let missing = given.iter().filter(|percent| percent.is_none()).count();
    let left = 100.0 - sum;
    if left < -1e-9 || (missing == 0 && left > 1e-9) {
        return Err(format!("has percentages of {sum} in all; must be 100"));
    }
    Ok(given.iter().map(|percent| percent.unwrap_or(left / missing as f64)).collect())
}

fn law(draft: &mut Draft, text: &str) -> Result<(), String> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let within = |low: f64, high: f64| match units::decimal(value)? {
        number if number > low && number < high => Ok(number),
        _ => Err(format!("its number must be above {low} and below {high}")),
    };
    draft.law = match name {
        "random" => None,
        "zipf" => Some(JobOrder::Zipf(within(0.0, 10.0)?)),
        "pareto" => Some(JobOrder::Pareto(within(0.0, 1.0)?)),
        "normal" => match units::decimal(value)? {
            percent if (0.0..=100.0).contains(&percent) => Some(JobOrder::Normal(percent)),
            _ => return Err("its deviation must be between 0 and 100 percent".to_string()),
        },
        "zoned" => Some(JobOrder::Zoned(zones(value)?)),
        _ => return Err("must be one of random, zipf, pareto, normal, zoned".to_string()),
    };
    Ok(())
}

fn zones(text: &str) -> Result<Vec<(f64, f64)>, String> {
    if text.contains(',') {
        return Err("must be one list of zones for all kinds of requests".to_string());
    }
    let pairs = text.split(':').map(|pair| {
        let (requests, region) = pair.split_once('/').unwrap_or((pair, ""));
        Ok((part_of_100(requests)?, part_of_100(region)?))
    });
    let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
    let requests = shared(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>())?;
    let region = shared(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
    Ok(requests.into_iter().zip(region).collect())
}

fn rate(draft: &mut Draft, text: &str, make: fn(u64) -> JobRate) -> Result<(), String> {
    let given = units::triple(text, units::number)?;
    for (rate, amount) in draft.rates.iter_mut().zip(given) {
        if let Some(amount) = amount {
            *rate = (amount > 0).then(|| make(amount));
        }
    }
    Ok(())
}
