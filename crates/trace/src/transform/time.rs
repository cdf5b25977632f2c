//! Arrivals scaled in time.

use reprieve_base::Time;

/// A time scaled, rounded half up to the nanosecond; `None` if no `Time` can hold it.
///
/// Each product is rounded on its own, so that no error accumulates.
#[inline]
pub(crate) fn scaled(time_ns: u64, time_scale: f64) -> Option<Time> {
    if time_scale == 1.0 {
        return Some(Time::from_ns(time_ns));
    }
    let scaled_ns = (time_ns as f64 * time_scale).round();
    (scaled_ns < u64::MAX as f64).then_some(Time::from_ns(scaled_ns as u64))
}
