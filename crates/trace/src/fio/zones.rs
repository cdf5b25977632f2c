//! Zones of `random_distribution`: shares of the requests, and the part of the region of each.

use reprieve_base::SECTOR_BYTES;

use super::job::JobZone;
use super::units;

/// The zones of a kind of requests as written, one behind the other.
pub(super) type Split = Vec<SplitZone>;

/// A zone as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitZone {
    requests_percent: f64,
    length: Length,
}

/// The length of a zone.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Percent(f64),
    Bytes(u64),
}

/// Reads zones whose lengths are percentages of the region, of reads, writes and trims.
pub(super) fn relative(text: &str) -> Result<[Split; 3], String> {
    by_kind(text, |text| {
        let pairs = pairs(text, part_of_100)?;
        let lengths = shared(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
        zones(&pairs, lengths.into_iter().map(Length::Percent).collect())
    })
}

/// Reads zones whose lengths are in bytes, of reads, writes and trims.
pub(super) fn absolute(text: &str) -> Result<[Split; 3], String> {
    let bytes = |text: &str| match units::number(text.trim()) {
        Ok(bytes) if bytes > 0 && bytes % SECTOR_BYTES == 0 => Ok(bytes),
        _ => Err("each zone must have a length in multiples of 512 bytes, as 60/20m".to_string()),
    };
    by_kind(text, |text| {
        let pairs = pairs(text, bytes)?;
        let lengths = pairs.iter().map(|pair| Length::Bytes(pair.1)).collect();
        zones(&pairs, lengths)
    })
}

fn by_kind(text: &str, one: impl Fn(&str) -> Result<Split, String>) -> Result<[Split; 3], String> {
    let [reads, writes, trims] = units::triple(text, one)?;
    match (reads, writes, trims) {
        (Some(reads), Some(writes), Some(trims)) => Ok([reads, writes, trims]),
        _ => Err("must have zones for each kind of request, or one list for all".to_string()),
    }
}

type Pair<T> = (Option<f64>, T);

fn pairs<T>(
    text: &str,
    length: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<Pair<T>>, String> {
    let pairs = text.split(':').map(|pair| {
        let (requests, region) = pair.split_once('/').unwrap_or((pair, ""));
        Ok((part_of_100(requests)?, length(region)?))
    });
    pairs.collect()
}

fn zones<T>(pairs: &[Pair<T>], lengths: Vec<Length>) -> Result<Split, String> {
    let requests = shared(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>())?;
    let zone = |(requests_percent, length)| SplitZone { requests_percent, length };
    Ok(requests.into_iter().zip(lengths).map(zone).collect())
}

/// Reads a percentage; `None` where there is none.
pub(super) fn part_of_100(text: &str) -> Result<Option<f64>, String> {
    match text.trim() {
        "" => Ok(None),
        percent => {
            let percent = units::decimal(percent)?;
            let fits = (0.0..=100.0).contains(&percent);
            if fits { Ok(Some(percent)) } else { Err("has a percentage beyond 100".to_string()) }
        }
    }
}

/// The percentages of a list; those that are not given share the rest of 100.
pub(super) fn shared(given: &[Option<f64>]) -> Result<Vec<f64>, String> {
    let sum: f64 = given.iter().flatten().sum();
    let missing = given.iter().filter(|percent| percent.is_none()).count();
    let left = 100.0 - sum;
    if left < -1e-9 || (missing == 0 && left > 1e-9) {
        return Err(format!("has percentages of {sum} in all; must be 100"));
    }
    Ok(given.iter().map(|percent| percent.unwrap_or(left / missing as f64)).collect())
}

/// Fits zones to a region. Zones in bytes may end behind it, which the caller checks.
pub(super) fn fitted(split: &Split, region_bytes: u64) -> Vec<JobZone> {
    let region_sectors = region_bytes / SECTOR_BYTES;
    let (mut share, mut from_sector) = (0.0, 0);
    let zones = split.iter().map(|zone| {
        let end_sector = match zone.length {
            Length::Bytes(bytes) => from_sector + bytes / SECTOR_BYTES,
            Length::Percent(percent) => {
                share += percent / 100.0;
                ((share * region_sectors as f64) as u64).min(region_sectors)
            }
        };
        let zone = JobZone { requests_percent: zone.requests_percent, from_sector, end_sector };
        from_sector = end_sector;
        zone
    });
    // An empty zone would receive the rounding error at the end.
    zones.filter(|zone| zone.requests_percent > 0.0).collect()
}
