//! The options of one job in a result of fio: read by the table of job files, without a drive.

use reprieve_base::{Dur, UserError};

use super::draft::Draft;
use super::job::{JobOps, JobRate};
use super::options::is_of_zoned_drives;
use super::units::Extent;
use super::variables;

/// The options of one job that has run, without a drive to fit them to.
#[derive(Clone, Debug, PartialEq)]
pub struct FioOptions {
    /// Kinds of requests.
    pub ops: JobOps,
    /// Places have no law but order or chance: the size of the region does not shape the load.
    pub is_plain: bool,
    /// Sizes in bytes and their percentages, of reads, writes and trims.
    pub sizes: [Vec<(u32, f64)>; 3],
    /// Requests outstanding, at least 1.
    pub queue_depth: u32,
    /// The engine has one request outstanding, whatever the depth.
    pub is_synchronous: bool,
    /// `numjobs`, at least 1.
    pub clones: u32,
    /// Limits of reads, writes and trims.
    pub rates: [Option<JobRate>; 3],
    /// `thinktime`; zero without.
    pub think: Dur,
    /// `startdelay`; zero without.
    pub delay: Dur,
    /// `ramp_time`; zero without.
    pub ramp: Dur,
    /// `runtime`; `None` without.
    pub runtime: Option<Dur>,
    /// `time_based`.
    pub is_time_based: bool,
    /// `stonewall`: it waited for the jobs before it.
    pub waits: bool,
    /// `offset` in bytes; `None` if it is a percentage.
    pub offset_bytes: Option<u64>,
    /// `offset_increment` in bytes; `None` if it is a percentage.
    pub step_bytes: Option<u64>,
    /// `size` in bytes; `None` if it is a percentage or absent.
    pub size_bytes: Option<u64>,
    /// Options of zoned drives, as `size=400z`, which are left out.
    pub of_zones: Vec<String>,
}

/// Reads the options of a job that has run, names and values in order.
///
/// Errors with the option at the first that is not simulated or whose value is wrong.
pub fn fio_options(settings: &[(String, String)]) -> Result<FioOptions, UserError> {
    let mut draft = Draft::default();
    let mut of_zones = Vec::new();
    for (name, value) in settings {
        if is_of_zoned_drives(name, value) {
            of_zones.push(format!("{name}={value}"));
            continue;
        }
        let known = |_: &str| None;
        // Results have values in place of variables; a file that was edited may not.
        let expanded = match variables::expanded(name, value, &known) {
            Ok(_) => draft.set(name, value),
            Err(_) => Err("must be the value that the job ran with, and no variable".to_string()),
        };
        expanded.map_err(|what| UserError::new(format!("{name}={value}: {what}")))?;
    }
    let bytes = |extent| match extent {
        Extent::Bytes(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    Ok(FioOptions {
        ops: draft.ops(),
        is_plain: !draft.is_random || draft.law.is_none(),
        sizes: draft.all_sizes(),
        queue_depth: draft.depth,
        is_synchronous: draft.is_synchronous,
        clones: draft.clones,
        rates: draft.rates,
        think: draft.think,
        delay: draft.delay,
        ramp: draft.ramp,
        runtime: draft.runtime,
        is_time_based: draft.time_based,
        waits: draft.stonewall,
        offset_bytes: bytes(draft.offset),
        step_bytes: bytes(draft.offset_increment),
        size_bytes: draft.size.and_then(bytes),
        of_zones,
    })
}
