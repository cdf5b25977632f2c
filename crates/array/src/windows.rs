//! Busy windows of drives, which take turns so that all others of a stripe answer at once.

use reprieve_base::{Dur, Time};

/// Windows of one length without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    pub length: Dur,
    /// Drives of which one has its window at a time.
    pub turns: usize,
}

impl Windows {
    /// Returns the overrides that give a drive its windows.
    pub fn sets(&self, drive: usize) -> [String; 3] {
        let us = |windows: usize| windows as f64 * self.length.ns() as f64 / 1e3;
        [
            format!("ftl.busy_window_us={}", us(1)),
            format!("ftl.busy_window_start_us={}", us(drive % self.turns)),
            format!("ftl.busy_window_period_us={}", us(self.turns)),
        ]
    }

    /// Whether a drive is in its window.
    pub fn is_busy(&self, drive: usize, at: Time) -> bool {
        let turn = at.ns() / self.length.ns() % self.turns as u64;
        turn == (drive % self.turns) as u64
    }
}
