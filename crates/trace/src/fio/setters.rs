//! Setters of fio's options whose values are more than a number or a flag.

use super::draft::{Draft, Law};
use super::job::{JobOps, JobOrder, JobRate};
use super::units;
use super::zones::{self, part_of_100, shared};

/// Reads one of some words.
pub(super) fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("must be one of {}", words.join(", "))
    })
}

pub(super) fn rw(draft: &mut Draft, text: &str) -> Result<(), String> {
    let mixed = JobOps::Mixed { read_percent: 0 };
    let words = [
        ("read", (JobOps::Read, false)),
        ("write", (JobOps::Write, false)),
        ("trim", (JobOps::Trim, false)),
        ("randread", (JobOps::Read, true)),
        ("randwrite", (JobOps::Write, true)),
        ("randtrim", (JobOps::Trim, true)),
        ("rw", (mixed, false)),
        ("readwrite", (mixed, false)),
        ("randrw", (mixed, true)),
        ("trimwrite", (JobOps::TrimWrite, false)),
        ("randtrimwrite", (JobOps::TrimWrite, true)),
    ];
    (draft.ops, draft.is_random) = one_of(text, &words)?;
    Ok(())
}

/// Bytes of a request: whole sectors.
fn request_bytes(text: &str) -> Result<u32, String> {
    let bytes = units::number(text)?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 && bytes % 512 == 0 => Ok(bytes),
        _ => Err("must be a multiple of 512 bytes, above 0 and below 4g".to_string()),
    }
}

pub(super) fn bs(draft: &mut Draft, text: &str) -> Result<(), String> {
    let given = units::triple(text, request_bytes)?;
    for (sizes, bytes) in draft.sizes.iter_mut().zip(given) {
        if let Some(bytes) = bytes {
            *sizes = vec![(bytes, 1.0)];
        }
    }
    Ok(())
}

pub(super) fn bssplit(draft: &mut Draft, text: &str) -> Result<(), String> {
    let given = units::triple(text, split)?;
    for (sizes, split) in draft.splits.iter_mut().zip(given) {
        *sizes = split.or(sizes.take());
    }
    Ok(())
}

/// Sizes with their percentages; those without one share the rest of 100.
fn split(text: &str) -> Result<Vec<(u32, f64)>, String> {
    let pairs = text.split(':').map(|pair| {
        let (bytes, percent) = pair.split_once('/').unwrap_or((pair, ""));
        Ok((request_bytes(bytes.trim())?, part_of_100(percent)?))
    });
    let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
    let shares = shared(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
    let sizes = pairs.iter().zip(shares).map(|((bytes, _), share)| (*bytes, share));
    // Sizes that never occur are not in a table of weights.
    Ok(sizes.filter(|(_, share)| *share > 0.0).collect())
}

pub(super) fn law(draft: &mut Draft, text: &str) -> Result<(), String> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let within = |low: f64, high: f64| match units::decimal(value)? {
        number if number > low && number < high => Ok(number),
        _ => Err(format!("its number must be above {low} and below {high}")),
    };
    draft.law = match name {
        "random" => None,
        "zipf" => Some(Law::Plain(JobOrder::Zipf(within(0.0, 10.0)?))),
        "pareto" => Some(Law::Plain(JobOrder::Pareto(within(0.0, 1.0)?))),
        "normal" => match units::decimal(value)? {
            percent if (0.0..=100.0).contains(&percent) => {
                Some(Law::Plain(JobOrder::Normal(percent)))
            }
            _ => return Err("its deviation must be between 0 and 100 percent".to_string()),
        },
        "zoned" => Some(Law::Zoned(zones::relative(value)?)),
        "zoned_abs" => Some(Law::Zoned(zones::absolute(value)?)),
        _ => {
            return Err("must be one of random, zipf, pareto, normal, zoned, zoned_abs".to_string());
        }
    };
    Ok(())
}

pub(super) fn rate(draft: &mut Draft, text: &str, make: fn(u64) -> JobRate) -> Result<(), String> {
    let given = units::triple(text, units::number)?;
    for (rate, amount) in draft.rates.iter_mut().zip(given) {
        if let Some(amount) = amount {
            *rate = (amount > 0).then(|| make(amount));
        }
    }
    Ok(())
}
