//! Units of times, and ranges of numbers.

use std::fmt;

use reprieve_base::Dur;

use super::raw::Raw;

/// The unit in which a duration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Keys that end in `_us`.
    Microseconds,
    /// Keys that end in `_s`.
    Seconds,
}

/// A range of numbers; an open end is not part of it.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
    /// Whether `min` itself is left out.
    pub min_open: bool,
    /// Whether `max` itself is left out.
    pub max_open: bool,
}

impl Unit {
    /// How many decimal digits a nanosecond lies below the unit.
    pub fn digits_to_ns(self) -> u32 {
        if self == Unit::Microseconds { 3 } else { 9 }
    }

    /// The largest duration, in the unit: 10^10 µs is nearly three hours, 10^9 s are 31 years.
    pub fn max(self) -> u64 {
        if self == Unit::Microseconds { 10_000_000_000 } else { 1_000_000_000 }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = if *self == Unit::Microseconds { "microseconds" } else { "seconds" };
        write!(f, "in {units}, whole in nanoseconds, from 0 to {}", self.max())
    }
}

impl Interval {
    /// Whether `number` lies within; never true for NaN.
    pub fn contains(&self, number: f64) -> bool {
        (number > self.min || number == self.min && !self.min_open)
            && (number < self.max || number == self.max && !self.max_open)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.min_open { "above" } else { "at least" };
        let high = if self.max_open { "below" } else { "at most" };
        write!(f, "{low} {} and {high} {}", self.min, self.max)
    }
}

/// The time that is written in a unit; `None` if it is none within the range.
pub(super) fn duration(raw: &Raw, unit: Unit) -> Option<Dur> {
    let factor = 10i128.pow(unit.digits_to_ns());
    let ns = match raw {
        Raw::Integer(integer) => integer.checked_mul(factor)?,
        Raw::Decimal(digits) => scaled(digits, factor)?,
        _ => return None,
    };
    let max_ns = i128::from(unit.max()) * factor;
    let ns = u64::try_from(ns).ok()?;
    (i128::from(ns) <= max_ns).then_some(Dur::from_ns(ns))
}

/// The decimal `digits` × `factor`, exactly; `None` if that is not whole, or beyond 128 bits.
pub(super) fn scaled(digits: &str, factor: i128) -> Option<i128> {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let integer = format!("{whole}{fraction}").parse::<i128>().ok()?.checked_mul(factor)?;
    let shift = i64::from(exponent) - fraction.len() as i64;
    let power = 10i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?);
    match (integer, power) {
        (0, _) => Some(0),
        (_, None) => None,
        (integer, Some(power)) if shift >= 0 => integer.checked_mul(power),
        (integer, Some(power)) => (integer % power == 0).then_some(integer / power),
    }
}

/// A time as it is written in a unit.
pub(super) fn raw_duration(dur: Dur, unit: Unit) -> Raw {
    let digits = unit.digits_to_ns() as usize;
    let factor = 10u64.pow(unit.digits_to_ns());
    let (whole, rest) = (dur.ns() / factor, dur.ns() % factor);
    if rest == 0 {
        return Raw::Integer(i128::from(whole));
    }
    let fraction = format!("{rest:0digits$}");
    Raw::Decimal(format!("{whole}.{}", fraction.trim_end_matches('0')))
}
