//! Quantities: numbers with a unit, such as `"16 MiB"` or `"50us"`, in place of plain numbers.

use reprieve_base::Dur;

use super::key::{Key, Kind};
use super::raw::Raw;
use super::unit::{Unit, raw_duration, scaled};

/// The kind of units that the numbers of a key may have; of a time with that of the key.
#[derive(Clone, Copy)]
pub(super) enum Dimension {
    Time(Unit),
    Bytes,
    Plain,
}

impl Dimension {
    /// That of a key; `None` if its values are no numbers.
    pub fn of(key: &Key) -> Option<Dimension> {
        let is_bytes = key.name().ends_with("bytes") || key.name().ends_with("bytes_per_s");
        match key.kind {
            Kind::Duration(unit) | Kind::Durations(unit) => Some(Dimension::Time(unit)),
            Kind::Count { .. } | Kind::Sizes if is_bytes => Some(Dimension::Bytes),
            Kind::Count { .. } | Kind::Counts { .. } | Kind::Number(_) => Some(Dimension::Plain),
            _ => None,
        }
    }

    /// The units as a list, and as a regular expression.
    pub fn units(self) -> (&'static str, &'static str) {
        match self {
            Dimension::Time(_) => ("ns, us, ms, s", "ns|[uµμ]s|ms|s"),
            Dimension::Bytes => {
                ("B, KiB or k, kB, and so on with M, G, T", "B|[kKMGT](iB)?|[kMGT]B")
            }
            Dimension::Plain => ("k, M, G, T", "[kKMGT]"),
        }
    }

    /// The nanoseconds, bytes or ones of a unit.
    fn factor(self, unit: &str) -> Option<i128> {
        if let Dimension::Time(_) = self {
            let unit = unit.replace(['µ', 'μ'], "u");
            let power = ["ns", "us", "ms", "s"].iter().position(|name| *name == unit)?;
            return Some(1000i128.pow(power as u32));
        }
        let power = "BkMGT".find(&unit.get(..1)?.replace('K', "k"))?;
        let base: i128 = match (self, &unit[1..]) {
            (Dimension::Bytes, "" | "iB") if power > 0 => 1024,
            // KB is 1000 bytes to some and 1024 to others.
            (Dimension::Bytes, "B") if power > 0 && unit != "KB" => 1000,
            (Dimension::Plain, "") if power > 0 => 1000,
            (Dimension::Bytes, "") => 1,
            _ => return None,
        };
        Some(base.pow(power as u32))
    }
}

/// The value of a key in its own unit, if it is written with another one that fits.
pub(super) fn plain(key: &Key, raw: &Raw) -> Result<Raw, String> {
    match (raw, Dimension::of(key)) {
        (Raw::List(items), Some(_)) => {
            items.iter().map(|item| plain(key, item)).collect::<Result<_, _>>().map(Raw::List)
        }
        (Raw::Text(text), Some(dimension)) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
            let (number, unit) = (&text[..end], text[end..].trim());
            if unit.is_empty() {
                return Ok(raw.clone());
            }
            let factor = dimension.factor(unit).ok_or_else(|| {
                format!("\"{unit}\" is none of its units ({}); ", dimension.units().0)
            })?;
            Ok(match (scaled(number, factor).map(u64::try_from), dimension) {
                (Some(Ok(ns)), Dimension::Time(unit)) => raw_duration(Dur::from_ns(ns), unit),
                (Some(Ok(count)), _) => Raw::Integer(count.into()),
                _ => raw.clone(),
            })
        }
        _ => Ok(raw.clone()),
    }
}
