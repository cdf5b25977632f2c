//! A random permutation of many numbers without memory.

use reprieve_base::Stream;

/// Half rounds; each changes one half of the bits by the other, and is invertible.
const HALF_ROUNDS: usize = 6;

/// A random permutation of the numbers below a bound: a Feistel network over their bits, repeated
/// while it leaves the range.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Permutation {
    bound: u32,
    low_bits: u32,
    /// Masks of the low half of the bits, and of the high half.
    masks: [u32; 2],
    keys: [u32; HALF_ROUNDS],
}

impl Permutation {
    /// Creates a permutation of the numbers below `bound`, which is not 0.
    pub(super) fn new(bound: u32, stream: &mut Stream) -> Permutation {
        let bits = (u32::BITS - (bound - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mask = |bits: u32| (1 << bits) - 1;
        Permutation {
            bound,
            low_bits,
            masks: [mask(low_bits), mask(bits - low_bits)],
            keys: std::array::from_fn(|_| stream.next_u64() as u32),
        }
    }

    /// Permutes a number.
    #[inline]
    pub(super) fn of(&self, number: u32) -> u32 {
        self.gone_through(number, 0..HALF_ROUNDS)
    }

    /// Inverts the permutation.
    #[inline]
    pub(super) fn back(&self, number: u32) -> u32 {
        self.gone_through(number, (0..HALF_ROUNDS).rev())
    }

    #[inline]
    fn gone_through(&self, number: u32, rounds: impl Iterator<Item = usize> + Clone) -> u32 {
        let mut halves = [number & self.masks[0], number >> self.low_bits];
        loop {
            for round in rounds.clone() {
                let (changed, by) = (round % 2, 1 - round % 2);
                halves[changed] ^= mixed(halves[by], self.keys[round]) & self.masks[changed];
            }
            let number = halves[1] << self.low_bits | halves[0];
            if number < self.bound {
                return number;
            }
        }
    }
}

/// Mixes all bits of both.
#[inline]
fn mixed(half: u32, key: u32) -> u32 {
    let product = (u64::from(half) + (u64::from(key) | 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ product >> 29) as u32 ^ (product >> 40) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_met_once() {
        let mut stream = Stream::new(1, "test.permutation", 0);
        for bound in [1, 2, 3, 5, 64, 1000, 4097] {
            let permutation = Permutation::new(bound, &mut stream);
            let mut all: Vec<u32> = (0..bound).map(|number| permutation.of(number)).collect();
            assert!(all.iter().map(|number| permutation.back(*number)).eq(0..bound), "{bound}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..bound), "{bound}");
        }
    }

    #[test]
    fn a_number_goes_anywhere_and_its_neighbour_with_it_nowhere() {
        const BINS: u32 = 10;
        let mut stream = Stream::new(2, "test.permutation", 0);
        let mut counts = vec![0f64; (BINS * BINS) as usize];
        for _ in 0..20_000 {
            let permutation = Permutation::new(1000, &mut stream);
            let bin = |number| permutation.of(number) / (1000 / BINS);
            counts[(bin(500) * BINS + bin(501)) as usize] += 1.0;
        }
        // Chi-square with 99 degrees of freedom, 99.99 % quantile.
        let chi2: f64 = counts.iter().map(|count| (count - 200.0).powi(2) / 200.0).sum();
        assert!(chi2 < 161.0, "chi-square {chi2}");
    }
}
