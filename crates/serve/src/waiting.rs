//! Waits for sockets until an instant, with a precise wake-up.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};
use rustix::io::Errno;

use crate::clock::{Clock, Wall};

/// Shortest and longest time before an instant at which the thread is awake.
const MARGIN_NS: (u64, u64) = (2_000, 50_000);

/// Socket events taken at once.
pub const EVENTS: usize = 64;

/// Sleeps until shortly before an instant and then polls the clock.
///
/// The margin follows the wake-up latency of this machine: a little more than usual.
pub struct Waiting {
    margin_ns: u64,
}

impl Waiting {
    pub fn new() -> Waiting {
        Waiting { margin_ns: 10_000 }
    }

    /// Waits until a socket has something, or until `until`; never longer than `at_most_ns`.
    ///
    /// Returns how many events there are.
    pub fn wait(
        &mut self,
        poll: &OwnedFd,
        clock: &Clock,
        until: Option<Wall>,
        at_most_ns: Option<u64>,
        events: &mut [Event; EVENTS],
    ) -> io::Result<usize> {
        let Some(until) = until else { return look(poll, at_most_ns, events) };
        let now = clock.now();
        let asleep_ns = until.0.saturating_sub(now.0).saturating_sub(self.margin_ns);
        if asleep_ns > 0 {
            let limit_ns = at_most_ns.map_or(asleep_ns, |most| most.min(asleep_ns));
            let count = look(poll, Some(limit_ns), events)?;
            if count > 0 || limit_ns < asleep_ns {
                return Ok(count);
            }
            self.learn(clock.now().0.saturating_sub(now.0 + asleep_ns));
        }
        loop {
            let count = look(poll, Some(0), events)?;
            if count > 0 || clock.now() >= until {
                return Ok(count);
            }
        }
    }

    /// Adapts the margin to a measured wake-up latency.
    fn learn(&mut self, late_ns: u64) {
        let (least, most) = MARGIN_NS;
        // Up quickly and down slowly: about one in nine wakes later than this.
        let next = match late_ns > self.margin_ns {
            true => self.margin_ns + (late_ns - self.margin_ns).min(most) / 4,
            false => self.margin_ns - (self.margin_ns - late_ns) / 32,
        };
        self.margin_ns = next.clamp(least, most);
    }
}

fn look(poll: &OwnedFd, ns: Option<u64>, events: &mut [Event; EVENTS]) -> io::Result<usize> {
    let limit = ns.map(|ns| Timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).expect("less than 584 years"),
        tv_nsec: (ns % 1_000_000_000) as _,
    });
    match epoll::wait(poll, &mut events[..], limit.as_ref()) {
        Err(Errno::INTR) => Ok(0),
        result => Ok(result?),
    }
}
