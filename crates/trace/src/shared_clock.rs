//! The one clock of several traces that are replayed at once: an offset between them stays.

use reprieve_base::{Dur, UserError};

use crate::config::{TraceClock, TraceConfig, WorkloadConfig};
use crate::replay::{self, Replay};

/// Most time between the first rows of two traces that nobody has said to be of one clock.
const APART_NS_MAX: u64 = 24 * 3600 * 1_000_000_000;

/// Whether the trace shares its clock with others; a closed loop does not look at times.
fn shares(config: &WorkloadConfig) -> Option<&TraceConfig> {
    match config {
        WorkloadConfig::Trace(trace)
            if trace.queue_depth.is_none() && trace.clock != Some(TraceClock::Own) =>
        {
            Some(trace)
        }
        _ => None,
    }
}

/// When the clock of these loads begins: the earliest first row of all traces that share it.
/// `None`: fewer than two do.
///
/// Errors if two are far from each other and nobody has said that they are of one clock.
pub(crate) fn zero_ns<'a>(
    loads: impl Iterator<Item = &'a WorkloadConfig>,
) -> Result<Option<u64>, UserError> {
    let traces: Vec<&TraceConfig> = loads.filter_map(shares).collect();
    if traces.len() < 2 {
        return Ok(None);
    }
    let mut firsts = Vec::with_capacity(traces.len());
    for trace in traces {
        firsts.push((replay::first_ns(trace)?, trace));
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

/// Lets the first request of all replays that share a clock arrive at 0, and none of the others
/// earlier than it was recorded after that one.
pub(crate) fn begin(replays: &mut [&mut Replay]) -> Result<(), UserError> {
    match replays.iter().map(|replay| replay.run_zero_ns()).min() {
        Some(zero_ns) => replays.iter_mut().try_for_each(|replay| replay.begin_at(zero_ns)),
        None => Ok(()),
    }
}

/// Whether this load takes part.
pub(crate) fn takes_part(config: &WorkloadConfig) -> bool {
    shares(config).is_some()
}
