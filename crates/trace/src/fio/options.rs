//! The table of fio's options, in job files and results: the meaning of each here, if any.

use reprieve_base::{Dur, nearest};

use super::draft::Draft;
use super::job::JobRate;
use super::setters::{bs, bssplit, law, one_of, rate, rw};
use super::units;

/// Options without effect in a simulation: set-up of the host, contents of logs and buffers,
/// places of files.
const WITHOUT_EFFECT: &[&str] = &[
    "allow_file_create",
    "allow_mounted_write",
    "allrandrepeat",
    "block_error_percentiles",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "buffered",
    "busy_poll",
    "bwavgtime",
    "clat_percentiles",
    "clientname",
    "clocksource",
    "clustername",
    "continue_on_error",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_percentage",
    "dedupe_working_set_percentage",
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
    "exit_what",
    "exitall",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "file_service_type",
    "filename",
    "filename_format",
    "filesize",
    "fixedbufs",
    "force_async",
    "fsync_on_close",
    "gid",
    "group_reporting",
    "gtod_cpu",
    "gtod_reduce",
    "hipri",
    "hugepage-size",
    "ignore_error",
    "invalidate",
    "iomem",
    "iomem_align",
    "iopsavgtime",
    "lat_percentiles",
    "lockfile",
    "lockmem",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_avg_msec",
    "log_compression",
    "log_compression_cpus",
    "log_entries",
    "log_hist_coarseness",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "mem",
    "mem_align",
    "mem_size_mb",
    "name",
    "new_group",
    "nice",
    "nonvectored",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "opendir",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "pool",
    "prio",
    "prioclass",
    "random_generator",
    "randrepeat",
    "randseed",
    "rate_cycle",
    "rbdname",
    "refill_buffers",
    "registerfiles",
    "scramble_buffers",
    "shm_id",
    "significant_figures",
    "slat_percentiles",
    "softrandommap",
    "spdk_conf",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "stats",
    "thinktime_spin",
    "thread",
    "uid",
    "unified_rw_reporting",
    "unique_filename",
    "unit_base",
    "unlink",
    "unlink_each_loop",
    "uri",
    "userspace_reap",
    "write_bw_log",
    "write_hist_log",
    "write_iolog",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
];

/// Options that only zoned drives have.
const OF_ZONED_DRIVES: &[&str] = &[
    "ignore_zone_limits",
    "job_max_open_zones",
    "max_open_zones",
    "zone_reset_frequency",
    "zone_reset_threshold",
];

/// Options that may count in zones, as `400z`.
const PLACES: &[&str] = &["io_limit", "io_size", "offset", "offset_increment", "size"];

/// Returns whether an option has a meaning on a zoned drive only; such drives are not simulated.
pub(super) fn is_of_zoned_drives(name: &str, value: &str) -> bool {
    let digits = value.strip_suffix('z').filter(|_| PLACES.contains(&name));
    let counts_zones = digits
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    OF_ZONED_DRIVES.contains(&name) || (name == "zonemode" && value == "zbd") || counts_zones
}

/// Returns whether the value of an option affects the load.
pub(super) fn is_simulated(name: &str) -> bool {
    SIMULATED.iter().any(|(names, _)| names.contains(&name))
}

/// Engines that have one request outstanding, whatever the depth.
const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "falloc", "ftruncate"];

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
    (&["zonemode"], |_, text| one_of(text, &[("none", ())])),
    (&["nrfiles", "nr_files"], |_, text| one_of(text, &[("1", ())])),
    (&["ioscheduler"], |_, text| one_of(text, &[("none", ()), ("noop", ())])),
    (&["io_submit_mode"], |_, text| one_of(text, &[("inline", ())])),
    (&["kb_base"], |_, text| one_of(text, &[("1024", ())])),
    (&["percentage_random"], |_, text| one_of(text, &[("100", ())])),
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
    /// Sets an option; errors if its value is wrong, or if it is not simulated.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if is_of_zoned_drives(name, value) {
            return Err("is of zoned drives, which are not simulated; must be left out".to_string());
        }
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
}
