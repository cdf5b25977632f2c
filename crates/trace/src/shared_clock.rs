//! The common clock of several traces replayed at once, which preserves their offsets.

use reprieve_base::{Dur, UserError};

use crate::config::{TraceClock, TraceConfig, WorkloadConfig};
use crate::trace_source;

/// Limit on the time between the first rows of two traces that share a clock only by default.
const APART_NS_MAX: u64 = 24 * 3600 * 1_000_000_000;

/// Returns the trace if it shares its clock with others; a closed loop ignores times.
pub(crate) fn shares(config: &WorkloadConfig) -> Option<&TraceConfig> {
    match config {
        WorkloadConfig::Trace(trace)
            if trace.queue_depth.is_none() && trace.clock != Some(TraceClock::Own) =>
        {
            Some(trace)
        }
        _ => None,
    }
}

/// The zero of these loads' clock: the earliest first row of all traces that share it.
/// `None`: fewer than two do.
///
/// Errors if two are far apart and not stated to share a clock.
pub(crate) fn zero_ns<'a>(
    loads: impl Iterator<Item = &'a WorkloadConfig>,
) -> Result<Option<u64>, UserError> {
    let traces: Vec<&TraceConfig> = loads.filter_map(shares).collect();
    if traces.len() < 2 {
        return Ok(None);
    }
    let mut firsts = Vec::with_capacity(traces.len());
    for trace in traces {
        firsts.push((trace_source::first_ns(trace)?, trace));
    }
    let (zero_ns, earliest) = *firsts.iter().min_by_key(|(ns, _)| *ns).expect("there are two");
    let is_far =
        |(ns, trace): &&(u64, &TraceConfig)| ns - zero_ns > APART_NS_MAX && trace.clock.is_none();
    match firsts.iter().find(is_far) {
        None => Ok(Some(zero_ns)),
        Some((ns, trace)) => {
            let apart = Dur::from_ns(ns - zero_ns);
            let sentence = format!(
                "begins {apart} after {}, with which it shares the clock of all flows; with clock \
                 = \"own\" its first request arrives at 0, and with clock = \"shared\" as recorded",
                earliest.path.display()
            );
            Err(UserError::new(sentence).at(trace.path.display()))
        }
    }
}
