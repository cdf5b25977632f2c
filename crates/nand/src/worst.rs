//! The wrong bits of the worst of several codewords, from one draw.
//!
//! A page is decoded when its worst codeword is, and nothing asks for the others. The worst of N
//! has at most k wrong bits with probability F(k)^N, so that one uniform number says which it is;
//! to draw each codeword by itself from the binomial is several times as much work.

use reprieve_base::Stream;

/// Where the sum of a tail ends, as a share of it: what is left out moves a draw once in 10^12.
const NEGLIGIBLE: f64 = 1e-13;

/// Number in place of a draw of 0: half of the least other one.
const LEAST_UNIFORM: f64 = f64::EPSILON / 4.0;

/// Codewords of one length, whose worst is drawn.
///
/// Tables of the distribution that depend on the length alone, made once.
pub struct WorstCodeword {
    bits: u64,
    /// By errors: the logarithm of the number of ways in which so many bits are wrong, once it has
    /// been asked for.
    ln_ways: Vec<f64>,
    /// By errors: by how much there are more ways for one more, `(bits - errors) / (errors + 1)`.
    ratios: Vec<f64>,
}

impl WorstCodeword {
    /// Codewords of so many bits.
    pub fn new(bits: u64) -> WorstCodeword {
        let ratio = |errors| (bits - errors) as f64 / (errors + 1) as f64;
        WorstCodeword {
            bits,
            ln_ways: vec![f64::NAN; bits as usize + 1],
            ratios: (0..=bits).map(ratio).collect(),
        }
    }

    /// Wrong bits of the worst of so many codewords, each bit of which is wrong with this
    /// probability, at most one half, and independent of the others.
    pub fn draw(&mut self, rate: f64, codewords: u64, stream: &mut Stream) -> u64 {
        if rate == 0.0 || codewords == 0 {
            return 0;
        }
        self.worst_at(rate, codewords, stream.unit().max(LEAST_UNIFORM))
    }

    /// The least number of wrong bits that the worst codeword exceeds with a probability of at most
    /// `1 - uniform`.
    fn worst_at(&mut self, rate: f64, codewords: u64, uniform: f64) -> u64 {
        let bits = self.bits;
        // What one codeword may exceed it with; as a difference from 1 it would lose its digits.
        let allowed = -libm::expm1(libm::log(uniform) / codewords as f64);
        let mut errors = guess(bits as f64, rate, allowed).clamp(0.0, (bits - 1) as f64) as u64;
        let odds = rate / (1.0 - rate);
        let (mut exceeds, mut next) = self.tail(rate, odds, errors);
        if exceeds > allowed {
            while exceeds > allowed && errors < bits {
                errors += 1;
                exceeds -= next;
                next *= self.ratios[errors as usize] * odds;
            }
            return errors;
        }
        while errors > 0 {
            next *= (errors + 1) as f64 / ((bits - errors) as f64 * odds);
            exceeds += next;
            if exceeds > allowed {
                break;
            }
            errors -= 1;
        }
        errors
    }

    /// Probability of more wrong bits than `errors`, and that of one more.
    fn tail(&mut self, rate: f64, odds: f64, errors: u64) -> (f64, f64) {
        let first = errors as usize + 1;
        let next = self.probability(rate, first);
        let (mean, bits) = (self.bits as f64 * rate, self.bits as usize);
        let over_mean = mean as usize + usize::from(mean.fract() > 0.0);
        let (rising, falling) = self.ratios.split_at(over_mean.clamp(first, bits));
        // Terms grow up to the mean, and fall behind it.
        let (mut sum, mut term) = (next, next);
        for ratio in &rising[first..] {
            term *= ratio * odds;
            sum += term;
        }
        for ratio in &falling[..falling.len() - 1] {
            if term <= sum * NEGLIGIBLE {
                break;
            }
            term *= ratio * odds;
            sum += term;
        }
        (sum, next)
    }

    /// Probability of exactly so many wrong bits.
    fn probability(&mut self, rate: f64, errors: usize) -> f64 {
        let bits = self.bits as f64;
        if self.ln_ways[errors].is_nan() {
            let [all, wrong, right] = [bits, errors as f64, bits - errors as f64];
            self.ln_ways[errors] =
                libm::lgamma(all + 1.0) - libm::lgamma(wrong + 1.0) - libm::lgamma(right + 1.0);
        }
        let errors_or_not = errors as f64 * libm::log(rate);
        let right = (bits - errors as f64) * libm::log1p(-rate);
        libm::exp(self.ln_ways[errors] + errors_or_not + right)
    }
}

/// About the number of wrong bits that is exceeded with this probability: the normal quantile of
/// Abramowitz and Stegun (26.2.23), with the first term for skewness of Cornish and Fisher. What it
/// is off by costs time alone.
fn guess(bits: f64, rate: f64, exceeds: f64) -> f64 {
    let root = libm::sqrt(-2.0 * libm::log(exceeds.min(1.0 - exceeds)));
    let above = 2.515_517 + root * (0.802_853 + root * 0.010_328);
    let below = 1.0 + root * (1.432_788 + root * (0.189_269 + root * 0.001_308));
    let quantile = (root - above / below) * if exceeds <= 0.5 { 1.0 } else { -1.0 };
    let deviation = libm::sqrt(bits * rate * (1.0 - rate));
    let skew = (1.0 - 2.0 * rate) / 6.0 * (quantile * quantile - 1.0);
    bits * rate + deviation * quantile + skew
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probability of at most so many errors, summed up from none on.
    fn at_most(bits: u64, rate: f64) -> Vec<f64> {
        let mut one = libm::pow(1.0 - rate, bits as f64);
        let mut sums = vec![one];
        for errors in 0..bits {
            one *= (bits - errors) as f64 / (errors + 1) as f64 * rate / (1.0 - rate);
            sums.push(sums[errors as usize] + one);
        }
        sums
    }

    #[test]
    fn it_inverts_the_distribution_of_the_greatest() {
        for (bits, rate, codewords) in [
            (1000, 0.003, 1u64),
            (1000, 0.003, 4),
            (9103, 0.007, 16),
            (200, 0.5, 3),
            (64, 0.01, 1),
            (1, 0.25, 2),
            (1200, 1e-6, 8),
        ] {
            let sums = at_most(bits, rate);
            let mut worst = WorstCodeword::new(bits);
            for step in 1..2000 {
                let uniform = f64::from(step) / 2000.0;
                let found = worst.worst_at(rate, codewords, uniform) as usize;
                let of_all = |at: usize| sums[at].powi(codewords as i32);
                // Off by rounding alone, where a draw falls on a step of the distribution.
                assert!(of_all(found) > uniform - 1e-9, "{bits} {rate} {uniform}: {found}");
                assert!(found == 0 || of_all(found - 1) < uniform + 1e-9, "{found} for {uniform}");
            }
        }
    }

    #[test]
    fn one_bit_is_a_coin() {
        // The worst of three coins with a quarter: none is wrong with (3/4)^3 = 0.421875.
        let mut worst = WorstCodeword::new(1);
        assert_eq!([0.421, 0.422].map(|uniform| worst.worst_at(0.25, 3, uniform)), [0, 1]);
    }

    #[test]
    fn the_ends_of_the_uniform_are_taken() {
        let ends = [LEAST_UNIFORM, 1.0 - f64::EPSILON / 2.0];
        let [least, most] =
            ends.map(|uniform| WorstCodeword::new(9103).worst_at(0.007, 16, uniform));
        // The mean is 63.7 and the deviation 8; 2^-54 of one in 16 is some 8.6 deviations off.
        assert!((20..64).contains(&least), "{least}");
        assert!((120..160).contains(&most), "{most}");
    }
}
