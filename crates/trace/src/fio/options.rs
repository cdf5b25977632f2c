//! The table of fio's options, in job files and results: the meaning of each here, if any.

use reprieve_base::{Dur, nearest};

use super::draft::Draft;
use super::job::JobRate;
use super::setters::{bs, bssplit, law, one_of, rate, rw};
use super::units::{count, extent, flag, number, time};

/// Options without effect in a simulation: set-up of the host, contents of logs and buffers,
/// places of files.
const WITHOUT_EFFECT: &str = "
    allow_file_create allow_mounted_write allrandrepeat block_error_percentiles
    buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered busy_poll bwavgtime
    clat_percentiles clientname clocksource clustername continue_on_error cpumask cpus_allowed
    cpus_allowed_policy create_fsync create_on_open create_serialize dedupe_global dedupe_mode
    dedupe_percentage dedupe_working_set_percentage description direct directory
    disable_bw_measurement disable_clat disable_lat disable_slat disk_util do_verify end_fsync
    error_dump exit_what exitall exitall_on_error fadvise_hint fallocate file_service_type
    filename filename_format filesize fixedbufs force_async fsync_on_close gid group_reporting
    gtod_cpu gtod_reduce hipri hugepage-size ignore_error invalidate iomem iomem_align
    iopsavgtime lat_percentiles lockfile lockmem log_alternate_epoch
    log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus log_entries
    log_hist_coarseness log_hist_msec log_max_value log_offset log_prio log_store_compressed
    log_unix_epoch mem mem_align mem_size_mb name new_group nice nonvectored numa_cpu_nodes
    numa_mem_policy opendir overwrite per_job_logs percentile_list pool prio prioclass
    random_generator randrepeat randseed rate_cycle rbdname refill_buffers registerfiles
    scramble_buffers shm_id significant_figures slat_percentiles softrandommap spdk_conf
    sqthread_poll sqthread_poll_cpu stats thinktime_spin thread uid unified_rw_reporting
    unique_filename unit_base unlink unlink_each_loop uri userspace_reap write_bw_log
    write_hist_log write_iolog write_iops_log write_lat_log zero_buffers
";

/// Options of zoned drives that are not simulated.
const OF_ZONED_DRIVES: &[&str] =
    &["ignore_zone_limits", "zone_reset_frequency", "zone_reset_threshold"];

/// Options of zoned drives that mean nothing without the size of a zone.
const OF_ZONES: &[&str] = &["job_max_open_zones", "max_open_zones"];

/// Options that may count in zones, as `400z`.
const PLACES: &[&str] = &["io_limit", "io_size", "offset", "offset_increment", "size"];

/// Returns whether an option means something only with the size of a zone, which a job that has
/// run takes from its drive.
pub(super) fn needs_zone_size(name: &str, value: &str) -> bool {
    OF_ZONES.contains(&name) || (name == "zonemode" && value == "zbd")
}

/// Returns whether an option has a meaning on a zoned drive only, and is not simulated.
pub(super) fn is_of_zoned_drives(name: &str, value: &str) -> bool {
    let digits = value.strip_suffix('z').filter(|_| PLACES.contains(&name));
    let counts_zones = digits
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    OF_ZONED_DRIVES.contains(&name) || counts_zones
}

/// Returns whether the value of an option affects the load.
pub(super) fn is_simulated(name: &str) -> bool {
    setter(name).is_some()
}

/// Engines that have one request outstanding, whatever the depth.
const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "falloc", "ftruncate"];

type Setter = fn(&mut Draft, &str) -> Result<(), String>;

const SECOND_NS: u64 = 1_000_000_000;
const MICROSECOND_NS: u64 = 1_000;

/// Defines options that set a field of the draft to the value that is read.
macro_rules! fields {
    ($([$($name:literal),+] $field:ident = $read:expr;)*) => {
        const FIELDS: &[(&[&str], Setter)] = &[$((&[$($name),+], |draft, text| {
            let read: fn(&str) -> Result<_, String> = $read;
            draft.$field = read(text)?;
            Ok(())
        })),*];
    };
}

fields! {
    ["rwmixread"] read_percent = |text| count(text, 0, 100);
    ["rwmixwrite"] read_percent = |text| count(text, 0, 100).map(|percent: u32| 100 - percent);
    ["ioengine"] is_synchronous = |text| Ok(SYNCHRONOUS.contains(&text));
    ["iodepth"] depth = |text| count(text, 1, 65_536);
    ["numjobs"] clones = |text| count(text, 1, 65_536);
    ["size"] size = |text| extent(text).map(Some);
    ["io_size", "io_limit"] io_size = |text| extent(text).map(Some);
    ["offset"] offset = extent;
    ["offset_increment"] offset_increment = extent;
    ["number_ios"] requests_max = |text| count(text, 1, u64::MAX).map(Some);
    ["loops"] loops = |text| count(text, 1, u64::MAX);
    ["norandommap"] repeats = flag;
    ["runtime", "timeout"] runtime =
        |text| time(text, SECOND_NS).map(|time| Some(time).filter(|time| *time > Dur::ZERO));
    ["time_based"] time_based = flag;
    ["ramp_time"] ramp = |text| time(text, SECOND_NS);
    ["startdelay", "start_delay"] delay = |text| time(text, SECOND_NS);
    ["stonewall", "wait_for_previous"] stonewall = flag;
    ["thinktime"] think = |text| time(text, MICROSECOND_NS);
    ["thinktime_blocks"] think_blocks = |text| count(text, 1, u64::MAX);
    ["rate_process"] poisson = |text| one_of(text, &[("linear", false), ("poisson", true)]);
    ["zonemode"] has_zones = |text| one_of(text, &[("none", false), ("zbd", true)]);
    ["zonesize"] zone_bytes = |text| count(text, 512, u32::MAX.into()).map(Some);
    ["zonecapacity"] zone_capacity = |text| count(text, 512, u32::MAX.into()).map(Some);
    ["max_open_zones", "job_max_open_zones"] open_zones_max =
        |text| count(text, 1, 65_536).map(Some);
    ["fsync", "fdatasync"] flush_every =
        |text| number(text).map(|every| Some(every).filter(|every| *every > 0));
    ["sync"] fua = |text| {
        let words = [("0", false), ("none", false), ("1", true), ("sync", true), ("dsync", true)];
        one_of(text, &words)
    };
}

/// Options that set more than a field, or may have one value only.
const OTHERS: &[(&[&str], Setter)] = &[
    (&["rw", "readwrite"], rw),
    (&["bs", "blocksize"], bs),
    (&["bssplit"], bssplit),
    (&["random_distribution"], law),
    (&["rate"], |draft, text| rate(draft, text, JobRate::BytesPerS)),
    (&["rate_iops"], |draft, text| rate(draft, text, JobRate::Iops)),
    (&["nrfiles", "nr_files"], |_, text| one_of(text, &[("1", ())])),
    (&["ioscheduler"], |_, text| one_of(text, &[("none", ()), ("noop", ())])),
    (&["io_submit_mode"], |_, text| one_of(text, &[("inline", ())])),
    (&["kb_base"], |_, text| one_of(text, &[("1024", ())])),
    (&["percentage_random"], |_, text| one_of(text, &[("100", ())])),
];

/// Returns the options that are simulated, with their other names.
fn simulated() -> impl Iterator<Item = &'static (&'static [&'static str], Setter)> {
    FIELDS.iter().chain(OTHERS)
}

fn setter(name: &str) -> Option<Setter> {
    simulated().find(|(names, _)| names.contains(&name)).map(|(_, set)| *set)
}

impl Draft {
    /// Sets an option; errors if its value is wrong, or if it is not simulated.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if is_of_zoned_drives(name, value) {
            return Err("is of zoned drives, and not simulated; must be left out".to_string());
        }
        if let Some(set) = setter(name) {
            return set(self, value);
        }
        let without_effect = WITHOUT_EFFECT.split_ascii_whitespace();
        if without_effect.clone().any(|known| known == name) {
            return Ok(());
        }
        let known = simulated().flat_map(|(names, _)| names.iter().copied());
        Err(match nearest(name, known.chain(without_effect)) {
            Some(near) => format!("no option that is simulated; did you mean {near}?"),
            None => "no option that is simulated; must be left out".to_string(),
        })
    }
}
