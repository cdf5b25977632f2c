//! Power of all dies and channels: current, maximum, and its integral.

use reprieve_base::Time;

use super::series::{PowerSeries, PowerStep};

/// Current power, piecewise constant, and its integral.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Drawn {
    pub(super) now: Time,
    /// Energy of the cores of dies, and of channels.
    pub(super) core_uw: u64,
    pub(super) io_uw: u64,
    /// Highest power of core, I/O and both over at least a nanosecond.
    pub(super) peak_uw: [u64; 3],
    pub(super) core_fj: u128,
    pub(super) io_fj: u128,
    pub(super) series: Option<PowerSeries>,
    pub(super) trace: Option<Vec<PowerStep>>,
}

impl Drawn {
    /// Creates the power of dies that draw this from the start on.
    pub(super) fn new(core_uw: u64, series: Option<PowerSeries>) -> Drawn {
        Drawn { core_uw, series, ..Drawn::default() }
    }

    /// Adds the energy until `at` at the current power.
    pub(super) fn pass(&mut self, at: Time) {
        let passed = at - self.now;
        if passed.ns() == 0 {
            return;
        }
        let powers = [self.core_uw, self.io_uw, self.core_uw + self.io_uw];
        for (peak, now) in self.peak_uw.iter_mut().zip(powers) {
            *peak = (*peak).max(now);
        }
        self.core_fj += u128::from(self.core_uw) * u128::from(passed.ns());
        if let Some(series) = &mut self.series {
            series.core(self.now, at, self.core_uw);
        }
        if let Some(trace) = &mut self.trace {
            let step = PowerStep { from: self.now, core_uw: self.core_uw, io_uw: self.io_uw };
            let powers = |step: &PowerStep| (step.core_uw, step.io_uw);
            if trace.last().is_none_or(|last| powers(last) != powers(&step)) {
                trace.push(step);
            }
        }
        self.now = at;
    }

    /// Adds an instantaneous energy of dies.
    pub(super) fn take_at_once(&mut self, fj: u64) {
        self.core_fj += u128::from(fj);
        if let Some(series) = &mut self.series {
            series.core_at(self.now, fj);
        }
    }

    /// Adds a transfer over `span` up to `until`, with the energy spent by then.
    pub(super) fn carry(&mut self, span: (Time, Time), until: Time, (spent, fj): (u64, u64)) {
        self.io_fj += u128::from(spent);
        if let Some(series) = &mut self.series {
            series.io(span, until, fj);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A microwatt is a femtojoule a nanosecond.
    #[test]
    fn power_adds_up_to_energy_and_its_peaks_last() {
        let at = Time::from_ns;
        let mut drawn = Drawn::new(10, None);
        drawn.trace = Some(Vec::new());
        drawn.pass(at(100));
        drawn.core_uw = 50;
        // A power that lasts for no time is no peak.
        drawn.pass(at(100));
        drawn.core_uw = 30;
        drawn.io_uw = 5;
        drawn.pass(at(120));
        drawn.take_at_once(7);
        drawn.carry((at(100), at(140)), at(120), (100, 200));
        assert_eq!((drawn.core_fj, drawn.io_fj), (10 * 100 + 30 * 20 + 7, 100));
        assert_eq!(drawn.peak_uw, [30, 5, 35]);
        // Two stretches of different power, and equal neighbours joined.
        drawn.pass(at(130));
        let steps = drawn.trace.expect("it is kept");
        let steps: Vec<_> = steps.iter().map(|step| (step.from.ns(), step.core_uw)).collect();
        assert_eq!(steps, [(0, 10), (100, 30)]);
    }
}
