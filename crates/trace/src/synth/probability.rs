//! Probabilities in fixed point, as bounds for draws.

/// 1.0 in fixed point: the resolution of an `f64` in [0.5, 1).
pub(super) const ONE: u64 = 1 << 53;

/// A probability in [0, 1] as a bound for draws of 53 bits: 1 takes every draw, 0 none.
pub(super) fn fixed_point(probability: f64) -> u64 {
    (probability * ONE as f64) as u64
}
