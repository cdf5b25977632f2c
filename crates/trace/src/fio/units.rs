//! Numbers of a fio file: bytes, counts, percentages and times with their suffixes.

use reprieve_base::Dur;

/// Bytes, or a share of the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    Bytes(u64),
    Percent(u32),
}

impl Extent {
    /// Its bytes on a drive of `capacity_bytes`.
    pub(super) fn of(self, capacity_bytes: u64) -> u64 {
        match self {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => {
                let bytes = u128::from(capacity_bytes) * u128::from(percent) / 100;
                u64::try_from(bytes).expect("a share of a drive is no larger than it")
            }
        }
    }
}

/// Suffixes by their power: fio's default `kb_base=1024` has "k" for 1024 and "kib" for 1000.
const POWERS: &[(&str, u32)] = &[("k", 1), ("m", 2), ("g", 3), ("t", 4), ("p", 5)];

/// A count or bytes, such as `4k`, `1GiB` or `0x1000`.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| wrong_number());
    }
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    let digits: u64 = digits.parse().map_err(|_| wrong_number())?;
    let suffix = suffix.trim();
    if suffix.ends_with('i') {
        return Err(format!(
            "\"{suffix}\" is 1000 to fio's manual and 1024 to fio; must be \"{}\", for 1024, or \
             \"{suffix}b\", for 1000",
            suffix.trim_end_matches('i')
        ));
    }
    let factor = factor(suffix).ok_or_else(wrong_number)?;
    digits.checked_mul(factor).ok_or_else(|| "is more than 64 bits hold".to_string())
}

fn factor(suffix: &str) -> Option<u64> {
    let suffix = suffix.strip_suffix('b').unwrap_or(suffix);
    if suffix.is_empty() {
        return Some(1);
    }
    let (unit, base) = match suffix.strip_suffix('i') {
        Some(unit) => (unit, 1000u64),
        None => (suffix, 1024),
    };
    let (_, power) = POWERS.iter().find(|(name, _)| *name == unit)?;
    Some(base.pow(*power))
}

fn wrong_number() -> String {
    "must be a whole number, with a suffix such as k, m or g if need be".to_string()
}

/// Reads a number in a range.
pub(super) fn count<T: TryFrom<u64>>(text: &str, least: u64, most: u64) -> Result<T, String> {
    let count = number(text)?;
    let fitting = T::try_from(count).ok().filter(|_| (least..=most).contains(&count));
    fitting.ok_or_else(|| format!("must be between {least} and {most}"))
}

/// A flag; an option without a value sets it.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text {
        "" | "1" => Ok(true),
        "0" => Ok(false),
        _ => Err("must be 0 or 1".to_string()),
    }
}

/// Bytes or a percentage.
pub(super) fn extent(text: &str) -> Result<Extent, String> {
    match text.strip_suffix('%') {
        None => number(text).map(Extent::Bytes),
        Some(percent) => match percent.trim().parse() {
            Ok(percent) if percent <= 100 => Ok(Extent::Percent(percent)),
            _ => Err("must be a whole percentage, at most 100%".to_string()),
        },
    }
}

/// A decimal number.
pub(super) fn decimal(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|n| n.is_finite()).ok_or_else(|| "must be a decimal number".to_string())
}

/// Suffixes of a time, in nanoseconds.
const TIMES: &[(&str, u64)] = &[
    ("us", 1_000),
    ("usec", 1_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 86_400 * 1_000_000_000),
];

/// A time; without a suffix it is in units of `unit_ns`.
pub(super) fn time(text: &str, unit_ns: u64) -> Result<Dur, String> {
    let wrong = || "must be a whole number with us, ms, s, m, h or d behind it".to_string();
    let lower = text.to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    let digits: u64 = digits.parse().map_err(|_| wrong())?;
    let suffix = suffix.trim();
    let factor = match suffix {
        "" => unit_ns,
        _ => TIMES.iter().find(|(name, _)| *name == suffix).ok_or_else(wrong)?.1,
    };
    digits
        .checked_mul(factor)
        .filter(|ns| *ns <= TIME_NS_MAX)
        .map(Dur::from_ns)
        .ok_or_else(|| "must be at most three years".to_string())
}

/// Three years: sums of a few of them are far from the end of a `Time`.
const TIME_NS_MAX: u64 = 3 * 365 * 86_400 * 1_000_000_000;

/// Values for reads, writes and trims: one for all, or two, or three; an empty one is `None`.
pub(super) fn triple<T: Clone>(
    text: &str,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let value = |part: &str| if part.is_empty() { Ok(None) } else { one(part).map(Some) };
    match parts[..] {
        [""] => Err("must have a value".to_string()),
        [all] => value(all).map(|all| [all.clone(), all.clone(), all]),
        // A lone comma behind the first leaves writes and trims as they are.
        [read, other] => Ok([value(read)?, value(other)?, value(other)?]),
        [read, write, trim] => Ok([value(read)?, value(write)?, value(trim)?]),
        _ => Err("must have at most three values: of reads, writes and trims".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_those_of_kb_base_1024() {
        // As fio 3.33 has them: 10k and 10kb are 10,240 bytes, 10kib is 10,000.
        for (text, bytes) in [
            ("512", 512),
            ("10k", 10_240),
            ("10KB", 10_240),
            ("10kib", 10_000),
            ("2m", 2 << 20),
            ("1G", 1 << 30),
            ("3t", 3 << 40),
            ("0x200", 512),
        ] {
            assert_eq!(number(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "k", "4x", "4Ki", "1.5g", "-4k", "99999999999g"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_a_unit_of_their_option() {
        assert_eq!(time("60", 1_000_000_000), Ok(Dur::from_ns(60_000_000_000)));
        assert_eq!(time("60", 1_000), Ok(Dur::from_ns(60_000)));
        assert_eq!(time("2m", 1), Ok(Dur::from_ns(120_000_000_000)));
        assert_eq!(time("15ms", 1), Ok(Dur::from_ns(15_000_000)));
        assert!(time("2y", 1).is_err() && time("4000d", 1).is_err() && time("", 1).is_err());
    }

    #[test]
    fn lists_are_of_reads_writes_and_trims() {
        let list = |text| triple(text, number);
        assert_eq!(list("1"), Ok([Some(1), Some(1), Some(1)]));
        assert_eq!(list("1,2"), Ok([Some(1), Some(2), Some(2)]));
        assert_eq!(list("1,2,3"), Ok([Some(1), Some(2), Some(3)]));
        assert_eq!(list(",2"), Ok([None, Some(2), Some(2)]));
        assert_eq!(list("1,"), Ok([Some(1), None, None]));
        assert!(list("1,2,3,4").is_err() && list("").is_err() && list("a").is_err());
    }

    #[test]
    fn percentages_are_of_the_drive() {
        assert_eq!(extent("25%").expect("a percentage").of(1000), 250);
        assert_eq!(extent("4k").expect("bytes").of(1000), 4096);
        assert!(extent("101%").is_err() && extent("1.5%").is_err());
    }
}
