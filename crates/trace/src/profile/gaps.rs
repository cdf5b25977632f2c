//! The times between requests: mean, variance, and autocorrelation.

/// Sums over the gaps, in order.
#[derive(Default)]
pub(super) struct Gaps {
    count: u64,
    zeros: u64,
    sum_ns: u64,
    /// Mean and sum of squared deviations (Welford 1962).
    mean: f64,
    deviation: f64,
    /// Sum of products of neighbours, both less the first gap: it keeps digits where gaps
    /// are much alike, and cancels out of the correlation.
    products: f64,
    shift: f64,
    /// The last gap less the shift.
    last: f64,
}

impl Gaps {
    pub(super) fn add(&mut self, gap_ns: u64) {
        let gap = gap_ns as f64;
        self.count += 1;
        self.zeros += u64::from(gap_ns == 0);
        self.sum_ns += gap_ns;
        let deviation = gap - self.mean;
        self.mean += deviation / self.count as f64;
        self.deviation += deviation * (gap - self.mean);
        if self.count == 1 {
            self.shift = gap;
        } else {
            self.products += self.last * (gap - self.shift);
        }
        self.last = gap - self.shift;
    }

    /// Gaps of no length.
    pub(super) fn zeros(&self) -> u64 {
        self.zeros
    }

    pub(super) fn zero_share(&self) -> Option<f64> {
        (self.count > 0).then(|| self.zeros as f64 / self.count as f64)
    }

    /// The exact mean; `None` without a gap.
    pub(super) fn ns_mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Variance over squared mean; `None` where the mean is 0 or there is none.
    pub(super) fn scv(&self) -> Option<f64> {
        let mean = self.ns_mean().filter(|mean| *mean > 0.0)?;
        Some(self.deviation / self.count as f64 / mean.powi(2))
    }

    /// Autocorrelation at lag 1; `None` with fewer than two gaps or where all are equal.
    pub(super) fn correlation(&self) -> Option<f64> {
        if self.count < 2 || self.deviation == 0.0 {
            return None;
        }
        // With y = x - shift and m = mean of y: sum of (y[i] - m)(y[i+1] - m), where the sums of
        // y[i] and of y[i+1] lack the last and the first, the latter of which is 0.
        let mean = self.mean - self.shift;
        let total = mean * self.count as f64;
        let pairs = (self.count - 1) as f64;
        let covered = self.products - mean * (2.0 * total - self.last) + pairs * mean.powi(2);
        Some(covered / self.deviation)
    }
}
