//! The options of one job in a result of fio: read by the table of job files, without a drive.

use reprieve_base::{Dur, UserError};
use serde_json::{Value, json};

use super::draft::Draft;
use super::job::{JobOps, JobRate};
use super::options::{is_of_zoned_drives, needs_zone_size};
use super::units::Extent;
use super::variables;

/// Reads the options of a job that has run, names and values in order, into a JSON object.
///
/// Sizes and rates are by direction, of those that the job has; bytes are `null` where they are a
/// percentage or absent; `of_zones` lists options of zoned drives, such as `size=400z`, which are
/// left out. Errors at the first option that is not simulated or whose value is wrong.
pub fn fio_options(settings: &[(String, String)]) -> Result<Value, UserError> {
    let mut draft = Draft::default();
    let mut of_zones = Vec::new();
    let has_size = settings.iter().any(|(name, _)| name == "zonesize");
    for (name, value) in settings {
        if is_of_zoned_drives(name, value) || !has_size && needs_zone_size(name, value) {
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
    let (ops, sizes) = (draft.ops(), draft.all_sizes());
    let by_direction = |value: &dyn Fn(usize) -> Option<Value>| -> Value {
        let names = ["read", "write", "trim"];
        ops.kinds().iter().filter_map(|kind| Some((names[*kind], value(*kind)?))).collect()
    };
    let read_share = match ops {
        JobOps::Mixed { read_percent } => Some(f64::from(read_percent) / 100.0),
        JobOps::Read | JobOps::Write | JobOps::Trim | JobOps::TrimWrite => None,
    };
    let seconds = |time: Dur| time.ns() as f64 / 1e9;
    let bytes = |extent| match extent {
        Extent::Bytes(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    Ok(json!({
        "sizes": by_direction(&|kind| Some(json!(sizes[kind]))),
        "bytes_per_s": by_direction(&|kind| match draft.rates[kind]? {
            JobRate::BytesPerS(rate) => Some(rate.into()),
            JobRate::Iops(_) => None,
        }),
        "iops": by_direction(&|kind| match draft.rates[kind]? {
            JobRate::Iops(rate) => Some(rate.into()),
            JobRate::BytesPerS(_) => None,
        }),
        "read_share": read_share,
        // Places have no law but order or chance: the size of the region does not shape the load.
        "is_plain": !draft.is_random || draft.law.is_none(),
        "queue_depth": draft.depth,
        "is_synchronous": draft.is_synchronous,
        "clones": draft.clones,
        "think_s": seconds(draft.think),
        "delay_s": seconds(draft.delay),
        "ramp_s": seconds(draft.ramp),
        "runtime_s": draft.runtime.map(seconds),
        "is_time_based": draft.time_based,
        "waits": draft.stonewall,
        "offset_bytes": bytes(draft.offset),
        "step_bytes": bytes(draft.offset_increment),
        "size_bytes": draft.size.and_then(bytes),
        "of_zones": of_zones,
    }))
}
