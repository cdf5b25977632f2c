//! Clocks of what stands in the way, on a die and of the buffer, and accounts of waits by them.

use reprieve_base::Time;
use reprieve_observe::blame::{Blamed, CAUSES, Cause};

/// Time by cause: one cause at a time, which the owner of the clock names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Until when `ns` is counted.
    since: Time,
    /// Since when the cause is the same.
    turned: Time,
    cause: Cause,
    ns: Blamed,
}

impl Clock {
    pub(super) const NEW: Clock = Clock {
        since: Time::ZERO,
        turned: Time::ZERO,
        cause: Cause::Other,
        ns: Blamed([0; CAUSES]),
    };

    /// What stands in the way now.
    #[inline]
    pub(super) fn cause(&self) -> Cause {
        self.cause
    }

    /// Names the cause from `now` on.
    #[inline]
    pub(super) fn turn(&mut self, cause: Cause, now: Time) {
        if cause != self.cause {
            self.read(now);
            (self.cause, self.turned) = (cause, now);
        }
    }

    /// What it shows now.
    #[inline]
    pub(super) fn read(&mut self, now: Time) -> &Blamed {
        if now > self.since {
            self.ns.add(self.cause, (now - self.since).ns());
            self.since = now;
        }
        &self.ns
    }

    /// What it showed at `at`; if that is before the cause was named, what it showed at that, and
    /// by how much later that was. Whoever has read it in between changes nothing.
    #[inline]
    pub(super) fn shown(&mut self, at: Time) -> (Blamed, u64) {
        if at >= self.since {
            return (*self.read(at), 0);
        }
        let from = at.max(self.turned);
        let mut shown = self.ns;
        shown.0[self.cause as usize] -= (self.since - from).ns();
        (shown, (from - at).ns())
    }
}

/// Whom a clock is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A read that nothing on the die holds the page of.
    Read,
    /// A read of what an operation on the die holds.
    Barred,
    /// A program.
    Write,
}

/// The wait of a transaction that is under way, and what it was blamed on before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub(super) side: Side,
    pub(super) waits: bool,
    /// Nothing is blamed on anything yet: `ns` is of an earlier transaction.
    pub(super) is_blank: bool,
    /// Where it waits: a dispatcher may move it before it goes on.
    pub(super) die: u32,
    pub(super) place: u32,
    pub(super) since: Time,
    /// By how much later than that the clock was read; then a dispatcher held it back.
    pub(super) late_ns: u64,
    pub(super) from: Blamed,
    pub(super) ns: Blamed,
    /// Of a program whose data came in while another one ran: its time in the queue before that.
    pub(super) loaded_ns: u64,
}

impl Account {
    pub(super) const NEW: Account = Account {
        side: Side::Read,
        waits: false,
        is_blank: true,
        die: 0,
        place: 0,
        since: Time::ZERO,
        late_ns: 0,
        from: Blamed([0; CAUSES]),
        ns: Blamed([0; CAUSES]),
        loaded_ns: 0,
    };

    /// What it was blamed on; of this transaction.
    #[inline]
    pub(super) fn own(&mut self) -> &mut Blamed {
        if std::mem::take(&mut self.is_blank) {
            self.ns = Blamed::default();
        }
        &mut self.ns
    }
}

/// What the dies do that those wait for who want room in the buffer: of all of them together.
///
/// At each nanosecond the dies that count share it equally; of each stretch between two changes
/// whole nanoseconds are shared out, in the order of the causes. While nobody waits it stops,
/// and does not know what the dies do.
#[derive(Clone, Debug)]
pub(super) struct BufferClock {
    since: Time,
    dies: [u32; CAUSES],
    all: u32,
    ns: Blamed,
    /// Requests that wait.
    waiting: u32,
    /// The first of them came at this instant.
    awakes: bool,
}

impl BufferClock {
    pub(super) const NEW: BufferClock = BufferClock {
        since: Time::ZERO,
        dies: [0; CAUSES],
        all: 0,
        ns: Blamed([0; CAUSES]),
        waiting: 0,
        awakes: false,
    };

    /// Somebody waits: the dies have to say what they do.
    #[inline]
    pub(super) fn runs(&self) -> bool {
        self.waiting > 0
    }

    /// Whether it runs since this instant; all dies then have to say what they do.
    pub(super) fn take_awakes(&mut self) -> bool {
        std::mem::take(&mut self.awakes)
    }

    /// One more waits from `now` on; what is shown then.
    pub(super) fn join(&mut self, now: Time) -> Blamed {
        self.advance(now);
        if self.waiting == 0 {
            (self.dies, self.all, self.awakes) = ([0; CAUSES], 0, true);
        }
        self.waiting += 1;
        self.ns
    }

    /// One waits no longer.
    pub(super) fn leave(&mut self) {
        self.waiting -= 1;
        self.awakes &= self.waiting > 0;
    }

    /// What it shows now.
    pub(super) fn read(&mut self, now: Time) -> &Blamed {
        self.advance(now);
        &self.ns
    }

    fn advance(&mut self, now: Time) {
        let passed_ns = (now - self.since).ns();
        self.since = now;
        if passed_ns == 0 || self.waiting == 0 {
            return;
        }
        if self.all == 0 {
            self.ns.add(Cause::Other, passed_ns);
            return;
        }
        let (mut dies, mut before_ns) = (0, 0);
        for (sum, count) in self.ns.0.iter_mut().zip(self.dies).filter(|(_, count)| *count > 0) {
            dies += count;
            let share = u128::from(passed_ns) * u128::from(dies) / u128::from(self.all);
            let until_ns = u64::try_from(share).expect("no more than has passed");
            *sum += until_ns - before_ns;
            before_ns = until_ns;
        }
    }

    /// A die does something else from `now` on.
    pub(super) fn move_die(&mut self, before: Option<Cause>, after: Option<Cause>, now: Time) {
        if before == after {
            return;
        }
        self.advance(now);
        if let Some(cause) = before {
            self.dies[cause as usize] -= 1;
            self.all -= 1;
        }
        if let Some(cause) = after {
            self.dies[cause as usize] += 1;
            self.all += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_an_earlier_instant_whoever_has_read_it_since() {
        let at = Time::from_ns;
        let mut clock = Clock::NEW;
        clock.turn(Cause::HostProgram, at(100));
        clock.turn(Cause::Erase, at(140));
        // 100 ns of nothing, 40 of a program, and an erase from 140 on, which is read at 200.
        assert_eq!(clock.read(at(200)).0[Cause::Erase as usize], 60);
        let seen = |(shown, late_ns): (Blamed, u64)| {
            (shown.0[Cause::HostProgram as usize], shown.0[Cause::Erase as usize], late_ns)
        };
        assert_eq!(seen(clock.shown(at(150))), (40, 10, 0));
        // Before the erase it shows what it did as that began, 20 ns later.
        assert_eq!(seen(clock.shown(at(120))), (40, 0, 20));
        assert_eq!(seen(clock.shown(at(230))), (40, 90, 0));
    }
}
