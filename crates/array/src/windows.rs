//! Busy windows of drives, which take turns so that all others of a stripe answer at once.

use reprieve_base::Time;

use crate::options::{Options, dur};

/// Returns the overrides that give a drive its windows.
pub(crate) fn sets(options: &Options, drive: usize) -> Vec<String> {
    let Some(length_us) = options.busy_window_us else { return Vec::new() };
    let turns = options.turns();
    let (start_us, period_us) = ((drive % turns) as f64 * length_us, turns as f64 * length_us);
    vec![
        format!("ftl.busy_window_us={length_us}"),
        format!("ftl.busy_window_start_us={start_us}"),
        format!("ftl.busy_window_period_us={period_us}"),
    ]
}

/// Whether a drive is in its window.
pub(crate) fn is_busy(options: &Options, drive: usize, at: Time) -> bool {
    let length_ns = options.busy_window_us.map_or(1, |us| dur(us).ns());
    let turns = options.turns() as u64;
    at.ns() / length_ns % turns == drive as u64 % turns
}
