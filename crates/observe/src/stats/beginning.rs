//! Test for a transient at the beginning of a run, on the means of its batches.
//!
//! Compares the mean of the first batch with those of the others, in logarithms, which makes means
//! of skewed latencies more like normal ones: Student's t with n − 2 degrees of freedom, widened
//! for the correlation of neighbours as in a first-order autoregression. All tests of a run
//! together have a false alarm in one of a hundred runs whose batches are alike, about normal in
//! logarithms, and longer than the run's memory. Two conditions only remove alarms: the first
//! quarter of the batch deviates in the same direction, at least half as far, as a transient does
//! and an outlier hardly; and the batch moves the mean of the run by a hundredth or more.

use super::pieces::{PIECES, PieceEnd};

/// Share of the runs without a transient that are reported to have one.
const LEVEL: f64 = 0.01;
/// Relative change of the run's mean that is required.
const MATTERS: f64 = 0.01;
/// Fewest batches of a test, and fewest requests of each batch.
const FEWEST_BATCHES: usize = 10;
const FEWEST_REQUESTS: u64 = 10;

/// Quantities that differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Differs {
    /// Name and unit.
    pub name: &'static str,
    pub unit: &'static str,
    /// Of the first batch, and of the others together.
    pub first: f64,
    pub rest: f64,
}

/// Sums over a stretch of the run whose ratio is compared.
type Stretch = (f64, f64);

/// Returns the quantities in which the beginning differs from the rest.
pub(super) fn beginning(marks: &[PieceEnd]) -> Vec<Differs> {
    let latency = |kind: usize| {
        let enough = batches(marks, |mark| mark.count[kind])
            .is_some_and(|counts| counts.iter().all(|count| *count >= FEWEST_REQUESTS));
        enough.then(|| {
            let sums =
                |mark: &PieceEnd| (mark.latency_ns[kind] as f64 / 1e3, mark.count[kind] as f64);
            marks.iter().map(sums).collect::<Vec<Stretch>>()
        })
    };
    let bytes = |mark: &PieceEnd| (mark.written_bytes[1] as f64, mark.written_bytes[0] as f64);
    let has_waf = [0, 1].iter().all(|at| batches(marks, |mark| mark.written_bytes[*at]).is_some());
    let waf = has_waf.then(|| marks.iter().map(bytes).collect::<Vec<Stretch>>());
    let series = [
        ("the mean read latency", " us", latency(0)),
        ("the mean write latency", " us", latency(1)),
        ("the WAF", "", waf),
    ];
    let series: Vec<_> =
        series.into_iter().filter_map(|(name, unit, it)| Some((name, unit, it?))).collect();
    let level = LEVEL / series.len().max(1) as f64;
    let differs = series.iter().filter_map(|(name, unit, sums)| {
        let (first, rest) = differs(sums, level)?;
        Some(Differs { name, unit, first, rest })
    });
    differs.collect()
}

/// Returns the amount of each batch; `None` with too few batches, or too small ones.
fn batches(marks: &[PieceEnd], of: impl Fn(&PieceEnd) -> u64) -> Option<Vec<u64>> {
    let ends: Vec<u64> =
        marks.iter().skip(PIECES as usize - 1).step_by(PIECES as usize).map(of).collect();
    let begins = std::iter::once(&0).chain(&ends);
    let all: Vec<u64> = ends.iter().zip(begins).map(|(end, begin)| end - begin).collect();
    (all.len() >= FEWEST_BATCHES && all.iter().all(|amount| *amount > 0)).then_some(all)
}

/// Returns the ratio of the first batch and that of the others, if they differ; `sums` at the end
/// of each piece.
fn differs(sums: &[Stretch], level: f64) -> Option<(f64, f64)> {
    let pieces = PIECES as usize;
    let ratio = |from: usize, to: usize| {
        let before = if from == 0 { (0.0, 0.0) } else { sums[from - 1] };
        let (over, under) = (sums[to - 1].0 - before.0, sums[to - 1].1 - before.1);
        (under > 0.0).then(|| over / under).filter(|ratio| *ratio > 0.0)
    };
    let count = sums.len() / pieces;
    let batch = |number: usize| ratio(number * pieces, (number + 1) * pieces).map(libm::log);
    let first = batch(0)?;
    let rest = (1..count).map(batch).collect::<Option<Vec<f64>>>()?;
    let number = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / number;
    let strays: Vec<f64> = rest.iter().map(|value| value - mean).collect();
    let squares: f64 = strays.iter().map(|stray| stray * stray).sum();
    let away = first - mean;
    let quarter = libm::log(ratio(0, 1)?) - mean;
    if away.abs() / (number + 1.0) < MATTERS || quarter * away.signum() < away.abs() / 2.0 {
        return None;
    }
    let products: f64 = strays.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // With so few an estimate is too low by about 1 / n.
    let shared = if squares > 0.0 { (products / squares + 1.0 / number).max(0.0) } else { 0.0 };
    if shared >= 1.0 {
        return None;
    }
    let variance = squares / (number - 1.0) * (1.0 + shared) / (1.0 - shared);
    let error = (variance * (1.0 + 1.0 / number)).sqrt();
    let t = if error > 0.0 { away.abs() / error } else { f64::INFINITY };
    let is_rare = beyond(t, rest.len() as u32 - 1) < level;
    is_rare.then(|| Some((ratio(0, pieces)?, ratio(pieces, count * pieces)?))).flatten()
}

/// Returns the probability that Student's t with `freedom` degrees of freedom exceeds `t` in size.
///
/// Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn beyond(t: f64, freedom: u32) -> f64 {
    let angle = libm::atan(t / f64::from(freedom).sqrt());
    let (sin, cos) = libm::sincos(angle);
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cos } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut step = if is_odd { 3 } else { 2 };
    while step + 1 < freedom {
        term *= f64::from(step - 1) / f64::from(step) * cos * cos;
        sum += term;
        step += 2;
    }
    let within = if is_odd { (angle + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum };
    1.0 - within
}

#[cfg(test)]
mod tests;
