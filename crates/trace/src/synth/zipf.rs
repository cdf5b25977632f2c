//! Zipf's law over the units of a footprint: drawing a rank, and scattering ranks over the space.

use reprieve_base::Stream;

/// Draws ranks `1..=count` with probability proportional to `rank^-theta`.
///
/// Rejection-inversion of Hörmann and Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", ACM TOMACS 6(3), 1996: constant memory, about one trial a
/// draw. With `h(x) = x^-theta` and `H` an integral of it, `u` is drawn uniformly under the hat
/// `h` around each rank, and accepted where it also lies under the rank's own bar.
#[derive(Debug)]
pub(super) struct Zipf {
    count: f64,
    theta: f64,
    /// `H(1.5) - h(1)`: the start of the first rank's bar.
    integral_low: f64,
    /// `H(count + 0.5)`.
    integral_high: f64,
    /// `rank - x` at most this is accepted without evaluating `H`.
    squeeze: f64,
}

impl Zipf {
    /// `count` at least 1, `theta` above 0.
    pub(super) fn new(count: u64, theta: f64) -> Zipf {
        assert!(count > 0 && theta > 0.0, "Zipf's law over {count} ranks with theta {theta}");
        let count = count as f64;
        let mut zipf = Zipf { count, theta, integral_low: 0.0, integral_high: 0.0, squeeze: 0.0 };
        zipf.integral_low = zipf.integral(1.5) - 1.0;
        zipf.integral_high = zipf.integral(count + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.height(2.0));
        zipf
    }

    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let span = self.integral_low - self.integral_high;
            let u = self.integral_high + stream.unit() * span;
            let x = self.inverse(u);
            // Rounding of `inverse` may leave the range by less than one.
            let rank = (x + 0.5).floor().clamp(1.0, self.count);
            if rank - x <= self.squeeze || u >= self.integral(rank + 0.5) - self.height(rank) {
                return rank as u64;
            }
        }
    }

    /// `h(x) = x^-theta`. All three through `libm`: the same bits on every machine.
    fn height(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// `H(x) = (x^(1 - theta) - 1) / (1 - theta)`, which is `ln x` at `theta = 1`.
    fn integral(&self, x: f64) -> f64 {
        let log_x = libm::log(x);
        let power = (1.0 - self.theta) * log_x;
        if power.abs() < 1e-8 {
            // expm1(p) / p to second order: exact to the last bit for so small a power.
            return log_x * (1.0 + 0.5 * power);
        }
        libm::expm1(power) / (1.0 - self.theta)
    }

    /// The `x` with `H(x) = area`.
    #[inline]
    fn inverse(&self, area: f64) -> f64 {
        let scaled = area * (1.0 - self.theta);
        if scaled.abs() < 1e-8 {
            return libm::exp(area * (1.0 - 0.5 * scaled));
        }
        // Rounding may put `scaled` just below -1, where the true value is the end of the range.
        libm::exp(libm::log1p(scaled.max(-1.0)) / (1.0 - self.theta))
    }
}

/// A fixed bijection on `0..count`: the place of each rank in the space.
///
/// Two rounds of odd multiplication and shift-xor, each a bijection on `bits` bits; values that
/// fall outside `0..count` go round again, which makes the whole a bijection on `0..count`.
#[derive(Debug)]
pub(super) struct Scatter {
    count: u64,
    mask: u64,
    shift: u32,
}

impl Scatter {
    pub(super) fn new(count: u64) -> Scatter {
        assert!(count > 0, "a scatter of nothing");
        let bits = (u64::BITS - (count - 1).leading_zeros()).max(1);
        Scatter { count, mask: u64::MAX >> (u64::BITS - bits), shift: bits.div_ceil(2) }
    }

    /// Places in all.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    #[inline]
    pub(super) fn place(&self, rank: u64) -> u64 {
        debug_assert!(rank < self.count, "rank {rank} of {}", self.count);
        let mut x = rank;
        loop {
            // The multipliers of SplitMix64's finaliser (Steele, Lea and Flood, 2014); the added
            // constant keeps rank 0 from being a fixed point.
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15) & self.mask;
            x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(0x94d0_49bb_1331_11eb) & self.mask;
            x ^= x >> self.shift;
            if x < self.count {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square of `draws` against the exact law over `count` ranks, ranks of small
    /// expectation pooled; with the degrees of freedom.
    fn chi_square(count: u64, theta: f64, draws: u64) -> (f64, f64) {
        let zipf = Zipf::new(count, theta);
        let mut stream = Stream::new(11, "test.zipf", 0);
        let mut seen = vec![0f64; count as usize];
        for _ in 0..draws {
            seen[zipf.draw(&mut stream) as usize - 1] += 1.0;
        }
        let weights: Vec<f64> = (1..=count).map(|k| (k as f64).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        let (mut chi2, mut cells) = (0.0, 0.0);
        let (mut pooled_seen, mut pooled_want) = (0.0, 0.0);
        for (seen, weight) in seen.iter().zip(&weights) {
            pooled_seen += seen;
            pooled_want += weight / total * draws as f64;
            if pooled_want >= 20.0 {
                chi2 += (pooled_seen - pooled_want).powi(2) / pooled_want;
                cells += 1.0;
                (pooled_seen, pooled_want) = (0.0, 0.0);
            }
        }
        if pooled_want > 0.0 {
            chi2 += (pooled_seen - pooled_want).powi(2) / pooled_want.max(1.0);
            cells += 1.0;
        }
        (chi2, cells - 1.0)
    }

    #[test]
    fn ranks_follow_the_exact_law() {
        for (count, theta) in
            [(1, 0.9), (2, 1.0), (10, 0.2), (1_000, 0.99), (1_000, 1.0), (1_000, 1.3), (5, 4.0)]
        {
            let (chi2, freedom) = chi_square(count, theta, 400_000);
            // Mean `freedom`, standard deviation sqrt(2 freedom): five of them and a little.
            let limit = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
            assert!(chi2 < limit, "n {count} theta {theta}: chi-square {chi2}, limit {limit}");
        }
    }

    #[test]
    fn a_wrong_exponent_would_be_seen() {
        // The test above can fail: the statistic distinguishes 0.99 from 1.02.
        let zipf = Zipf::new(1_000, 1.02);
        let mut stream = Stream::new(11, "test.zipf", 0);
        let first = (0..400_000).filter(|_| zipf.draw(&mut stream) == 1).count() as f64;
        let total: f64 = (1..=1_000).map(|k| f64::from(k).powf(-0.99)).sum();
        let want = 400_000.0 / total;
        assert!((first - want).powi(2) / want > 100.0, "{first} draws of rank 1, {want} at 0.99");
    }

    #[test]
    fn scattering_is_a_bijection_and_separates_neighbours() {
        for count in [1u64, 2, 3, 7, 8, 1_000, 4_097] {
            let scatter = Scatter::new(count);
            let mut hit = vec![false; count as usize];
            for rank in 0..count {
                let place = scatter.place(rank) as usize;
                assert!(!hit[place], "{count}: place {place} twice");
                hit[place] = true;
            }
        }
        let scatter = Scatter::new(1 << 20);
        let near = (0..1_000u64)
            .filter(|&rank| scatter.place(rank).abs_diff(scatter.place(rank + 1)) < 1_024)
            .count();
        // Random places are within 1,024 of 2^20 with probability 0.2 %: about 2 of 1,000.
        assert!(near < 12, "{near} of 1,000 neighbouring ranks lie within 1,024 units");
    }
}
