//! Limits on writes into the buffer: a pace while few blocks are free, a quota for each window.

use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_config::Scenario;

/// The limits on writes into the buffer, like the firmware of some drives.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteThrottle {
    /// Interval between two pages while fewer blocks of the drive than this are free.
    pace: Option<(Dur, u64)>,
    /// Pages that enter in each window of this length.
    quota: Option<(Dur, u64)>,
    /// When the pace admits the next page.
    next_at: Time,
    /// The end of the window, and the pages that it still admits.
    window_ends: Time,
    left: u64,
    /// When the buffer has to be checked again, and the scheduled check.
    wakes_at: Time,
    asked: Time,
}

impl WriteThrottle {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.next_at, self.window_ends, self.left, self.wakes_at, self.asked);
    }

    /// Creates the limits of a scenario; `None` without any.
    pub(super) fn of(scenario: &Scenario) -> Option<WriteThrottle> {
        let throttle = &scenario.buffer.throttle;
        let unit = u64::from(scenario.mapping_bytes());
        let blocks = scenario.geometry.blocks() as f64;
        let below = (throttle.below_free_share * blocks).ceil() as u64;
        let pace = throttle.bytes_per_s.map(|rate| (Dur::of_transfer(unit, rate), below));
        let quota = throttle.quota_bytes.map(|bytes| (throttle.window, (bytes / unit).max(1)));
        (pace.is_some() || quota.is_some()).then_some(WriteThrottle {
            pace,
            quota,
            next_at: Time::ZERO,
            window_ends: Time::ZERO,
            left: 0,
            wakes_at: Time::ZERO,
            asked: Time::ZERO,
        })
    }

    /// Returns whether a page may enter now; `free_blocks` are those of the drive.
    pub(super) fn lets_in(&mut self, now: Time, free_blocks: impl Fn() -> u64) -> bool {
        if let Some((window, pages)) = self.quota {
            if now >= self.window_ends {
                // Windows are consecutive from the start of the run.
                let whole = now.ns() / window.ns();
                self.window_ends = Time::from_ns((whole + 1) * window.ns());
                self.left = pages;
            }
            if self.left == 0 {
                return self.wait(self.window_ends);
            }
        }
        match self.pace {
            Some((_, below)) if now < self.next_at && free_blocks() < below => {
                self.wait(self.next_at)
            }
            _ => true,
        }
    }

    /// Counts a page that has entered.
    pub(super) fn entered(&mut self, now: Time) {
        self.left = self.left.saturating_sub(1);
        if let Some((gap, _)) = self.pace {
            self.next_at = now + gap;
        }
    }

    fn wait(&mut self, until: Time) -> bool {
        self.wakes_at = until;
        false
    }

    /// Returns when the buffer has to be checked again, once.
    pub(super) fn take_wake(&mut self) -> Option<Time> {
        let is_new = self.wakes_at != std::mem::replace(&mut self.asked, self.wakes_at);
        is_new.then_some(self.wakes_at)
    }
}
