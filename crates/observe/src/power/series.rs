//! Power over time: energy by bins of one width, and the steps of a trace.

use reprieve_base::{Dur, Time};

use super::share;

/// A stretch of constant power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PowerStep {
    /// Start.
    pub from: Time,
    /// Power at the core supply of all dies.
    pub core_uw: u64,
    /// Power at the I/O supply.
    pub io_uw: u64,
}

/// The bins of a time series, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SeriesBatch {
    /// Start of each bin.
    pub start_ns: Vec<i64>,
    /// Length; the last may end with the run.
    pub length_ns: Vec<i64>,
    /// Energy at the core supply in picojoules, with the fraction carried to the next bin.
    pub core_pj: Vec<i64>,
    /// Energy at the I/O supply.
    pub io_pj: Vec<i64>,
}

impl SeriesBatch {
    /// Returns the bins since `at`, where these were all; the first may start with it.
    pub(super) fn since(mut self, before: &SeriesBatch, at: Time) -> SeriesBatch {
        if let Some(last) = before.start_ns.len().checked_sub(1) {
            let end_ns = before.start_ns[last] + before.length_ns[last];
            self.start_ns[last] = end_ns;
            self.length_ns[last] -= before.length_ns[last];
            self.core_pj[last] -= before.core_pj[last];
            self.io_pj[last] -= before.io_pj[last];
        }
        let at_ns = i64::try_from(at.ns()).expect("a run is shorter than 292 years");
        let ends = self.start_ns.iter().zip(&self.length_ns).map(|(start, length)| start + length);
        let whole = ends.take_while(|end_ns| *end_ns <= at_ns).count();
        for column in [&mut self.start_ns, &mut self.length_ns, &mut self.core_pj, &mut self.io_pj]
        {
            column.drain(..whole);
        }
        self
    }
}

/// Energy of core and I/O supply in each bin.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PowerSeries {
    width_ns: u64,
    bins: Vec<[u128; 2]>,
}

impl PowerSeries {
    pub(super) fn new(width: Dur) -> PowerSeries {
        PowerSeries { width_ns: width.ns(), bins: Vec::new() }
    }

    fn bin(&mut self, at_ns: u64) -> &mut [u128; 2] {
        let index = usize::try_from(at_ns / self.width_ns).expect("bins fit the memory");
        if index >= self.bins.len() {
            self.bins.resize(index + 1, [0; 2]);
        }
        &mut self.bins[index]
    }

    /// Adds constant power of the cores from one instant to another.
    pub(super) fn core(&mut self, from: Time, to: Time, uw: u64) {
        let mut at_ns = from.ns();
        while at_ns < to.ns() {
            let end_ns = ((at_ns / self.width_ns + 1) * self.width_ns).min(to.ns());
            self.bin(at_ns)[0] += u128::from(uw) * u128::from(end_ns - at_ns);
            at_ns = end_ns;
        }
    }

    /// Adds energy of the cores at one instant.
    pub(super) fn core_at(&mut self, at: Time, fj: u64) {
        self.bin(at.ns())[0] += u128::from(fj);
    }

    /// Adds the part until `until` of a transfer that takes `fj` from start to end.
    pub(super) fn io(&mut self, (from, to): (Time, Time), until: Time, fj: u64) {
        let (whole_ns, until_ns) = ((to - from).ns(), until.min(to).ns());
        if whole_ns == 0 {
            self.bin(from.ns())[1] += u128::from(fj);
            return;
        }
        let mut at_ns = from.ns();
        while at_ns < until_ns {
            let end_ns = ((at_ns / self.width_ns + 1) * self.width_ns).min(until_ns);
            let upto = |ns: u64| share(fj, ns - from.ns(), whole_ns);
            let part = upto(end_ns) - upto(at_ns);
            self.bin(at_ns)[1] += u128::from(part);
            at_ns = end_ns;
        }
    }

    /// Returns all bins of a run that ended at `end`.
    pub(super) fn batch(&self, end: Time) -> SeriesBatch {
        let mut batch = SeriesBatch::default();
        let mut rest_fj = [0u128; 2];
        for (index, bin) in (0u64..).zip(&self.bins) {
            let start_ns = index * self.width_ns;
            let column = |ns: u64| i64::try_from(ns).expect("a run is shorter than 292 years");
            batch.start_ns.push(column(start_ns));
            batch.length_ns.push(column((end.ns() - start_ns).min(self.width_ns)));
            let picojoules = [0, 1].map(|supply| {
                let fj = bin[supply] + rest_fj[supply];
                rest_fj[supply] = fj % 1000;
                i64::try_from(fj / 1000).expect("a bin has less than 9 megajoules")
            });
            batch.core_pj.push(picojoules[0]);
            batch.io_pj.push(picojoules[1]);
        }
        batch
    }
}
