//! The wrong bits of the worst of several codewords, from one draw.
//!
//! A page is decoded when its worst codeword is. The worst of N has at most k wrong bits with
//! probability F(k)^N, so that one uniform number gives k, at a fraction of the cost of a binomial
//! draw for each codeword.

use reprieve_base::Stream;

/// Probability of a neglected outcome: a draw falls on it once in 10^17 at most.
const NEGLIGIBLE: f64 = 1e-20;

/// Number in place of a draw of 0: half of the least other one.
const LEAST_UNIFORM: f64 = f64::EPSILON / 4.0;

/// Low bits of a rate that are not in its number: neighbours differ by a part in 512 to 1,024.
const LEFT_OUT: u32 = f64::MANTISSA_DIGITS - 10;

/// Rates whose tails are kept, by their low bits, and room for the numbers of errors of each.
const KEPT: usize = 256;
const ERRORS: usize = 160;

/// Codewords of one length, whose worst is drawn.
pub struct WorstCodeword {
    bits: usize,
    /// By errors: the logarithm of the number of ways to have them, computed on first use.
    ln_ways: Vec<f64>,
    /// By errors: by how much there are more ways for one more, `(bits - errors) / (errors + 1)`.
    ratios: Vec<f64>,
    /// Tails at rates that were drawn at least twice, and last those of any other.
    kept: Vec<Tails>,
}

/// Probabilities that a codeword has more wrong bits than a number, at one rate.
struct Tails {
    /// The rate by its number; 0: none.
    rate: u64,
    /// The least number of errors that is not negligible.
    first: usize,
    /// By errors from there on; empty until the second draw at the rate.
    exceeds: Vec<f64>,
}

impl Tails {
    /// The least number of wrong bits that a codeword exceeds with at most this probability.
    fn errors(&self, allowed: f64) -> usize {
        self.first + self.exceeds.partition_point(|exceeds| *exceeds > allowed)
    }
}

impl WorstCodeword {
    /// Codewords of `bits` bits.
    pub fn new(bits: u64) -> WorstCodeword {
        let ratio = |errors| (bits - errors) as f64 / (errors + 1) as f64;
        let empty = |_| Tails { rate: 0, first: 0, exceeds: Vec::with_capacity(ERRORS) };
        WorstCodeword {
            bits: bits as usize,
            ln_ways: vec![f64::NAN; bits as usize + 1],
            ratios: (0..=bits).map(ratio).collect(),
            kept: (0..=KEPT).map(empty).collect(),
        }
    }

    /// Wrong bits of the worst of these codewords, each bit of which is wrong with this
    /// probability, at most one half, and independent of the others.
    pub fn draw(&mut self, rate: f64, codewords: u64, stream: &mut Stream) -> u64 {
        if rate == 0.0 || codewords == 0 {
            return 0;
        }
        self.worst_at(rate, codewords, stream.unit().max(LEAST_UNIFORM)) as u64
    }

    /// The least number of wrong bits that the worst codeword exceeds with a probability of at most
    /// `1 - uniform`.
    fn worst_at(&mut self, rate: f64, codewords: u64, uniform: f64) -> usize {
        // The probability for one codeword; as a difference from 1 it would lose its digits.
        let allowed = -libm::expm1(libm::log(uniform) / codewords as f64);
        // Errors grow with the rate: if both neighbours agree, so does every rate between them.
        let number = rate.to_bits() >> LEFT_OUT;
        let [below, above] = [number, number + 1].map(|number| self.errors_at(number, allowed));
        below.filter(|_| below == above).unwrap_or_else(|| {
            self.fill(KEPT, rate);
            self.kept[KEPT].errors(allowed)
        })
    }

    /// Returns the errors at the rate of this number; `None` on its first draw.
    fn errors_at(&mut self, number: u64, allowed: f64) -> Option<usize> {
        let place = number as usize % KEPT;
        let tails = &mut self.kept[place];
        if std::mem::replace(&mut tails.rate, number) != number {
            tails.exceeds.clear();
            return None;
        }
        if tails.exceeds.is_empty() {
            self.fill(place, f64::from_bits(number << LEFT_OUT));
        }
        Some(self.kept[place].errors(allowed))
    }

    /// Sums the tails at a rate, from the least probable numbers of errors on.
    fn fill(&mut self, place: usize, rate: f64) {
        let odds = rate / (1.0 - rate);
        let most_likely = ((self.bits + 1) as f64 * rate) as usize;
        let highest = self.probability(rate, most_likely);
        let (fewer, more) = self.ratios[..self.bits].split_at(most_likely);
        // Terms fall on both sides of the highest.
        let below = fewer.iter().rev().scan(highest, |term, ratio| {
            *term /= ratio * odds;
            Some(*term).filter(|term| *term >= NEGLIGIBLE)
        });
        let above = more.iter().scan(highest, |term, ratio| {
            *term *= ratio * odds;
            Some(*term).filter(|term| *term >= NEGLIGIBLE)
        });
        let tails = &mut self.kept[place];
        tails.exceeds.clear();
        tails.exceeds.extend(below);
        tails.first = most_likely - tails.exceeds.len();
        tails.exceeds.reverse();
        tails.exceeds.push(highest);
        tails.exceeds.extend(above);
        let mut sum = 0.0;
        for term in tails.exceeds.iter_mut().rev() {
            sum += std::mem::replace(term, sum);
        }
    }

    /// Probability of exactly this many wrong bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws with stored rates equal separate draws from the binomial.
    #[test]
    fn rates_that_were_kept_change_no_draw() {
        let mut kept = WorstCodeword::new(9103);
        let mut asked = 0;
        for step in 0..20_000u32 {
            let rate = 0.004 + 0.006 * f64::from(step % 997) / 997.0;
            let uniform = (f64::from(step) + 0.5) / 20_000.0;
            let mut alone = WorstCodeword::new(9103);
            let found = kept.worst_at(rate, 16, uniform);
            if step % 40 == 0 {
                assert_eq!(found, alone.worst_at(rate, 16, uniform), "{rate} {uniform}");
                asked += 1;
            }
        }
        assert_eq!(asked, 500);
        assert!(kept.kept.iter().filter(|tails| !tails.exceeds.is_empty()).count() > 200);
    }

    /// Probability of at most this many errors, summed up from none on.
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
                let found = worst.worst_at(rate, codewords, uniform);
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
