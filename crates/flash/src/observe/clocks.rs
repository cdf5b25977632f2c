//! Clocks that add up time by cause, on a die or plane and for the write buffer.

use reprieve_base::Time;
use reprieve_observe::causes::{CAUSES, Cause, CauseTimes};

/// Time by cause, one cause at a time.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Clock {
    /// Start of the current cause; `ns` counts up to then.
    turned: Time,
    cause: Cause,
    ns: CauseTimes,
    /// First known reading, and the cause until `turned` where that is later.
    known_from: Time,
    before: Cause,
}

impl Clock {
    pub(super) const NEW: Clock = Clock {
        turned: Time::ZERO,
        cause: Cause::Other,
        ns: CauseTimes([0; CAUSES]),
        known_from: Time::ZERO,
        before: Cause::Other,
    };

    /// Returns the current cause.
    pub(super) fn cause(&self) -> Cause {
        self.cause
    }

    /// Returns the reading at a time that it knows of.
    fn read(&self, at: Time) -> CauseTimes {
        let mut ns = self.ns;
        match at >= self.turned {
            true => ns.add(self.cause, (at - self.turned).ns()),
            false => ns.0[self.before as usize] -= (self.turned - at).ns(),
        }
        ns
    }

    /// Sets the cause from `now` on.
    pub(super) fn turn(&mut self, cause: Cause, now: Time) {
        if cause != self.cause {
            self.turn_as_planned(cause, now);
            self.known_from = now;
        }
    }

    /// Sets another cause from a time on, perhaps a past one, with earlier readings unchanged.
    pub(super) fn turn_as_planned(&mut self, cause: Cause, at: Time) {
        self.ns.add(self.cause, (at - self.turned).ns());
        (self.known_from, self.before) = (self.turned, self.cause);
        (self.cause, self.turned) = (cause, at);
    }
}

/// The operations of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Side {
    /// Programs.
    Write,
    /// Reads of pages that no operation on the die holds.
    Read,
    /// Reads of a page that an operation on the die holds.
    Barred,
}

/// The current wait of a transaction, and the causes of its earlier waits.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Account {
    /// The place where it waits, and its side there.
    pub(super) at: usize,
    pub(super) side: Side,
    pub(super) waits: bool,
    /// It began before the clock's cause was set: a dispatcher held it back.
    is_early: bool,
    since: Time,
    /// The clock's reading then; where its cause was set later, its reading at that.
    from: CauseTimes,
    pub(super) times: CauseTimes,
    /// For a program that was loaded during another one: its time in the queue before that.
    pub(super) loaded_ns: u64,
}

impl Account {
    pub(super) const NEW: Account = Account {
        at: 0,
        side: Side::Read,
        waits: false,
        is_early: false,
        since: Time::ZERO,
        from: CauseTimes([0; CAUSES]),
        times: CauseTimes([0; CAUSES]),
        loaded_ns: 0,
    };

    /// Starts a wait at `since`, by the clock of that place and side.
    pub(super) fn begin(&mut self, (at, side): (usize, Side), clock: &Clock, since: Time) {
        (self.at, self.side, self.waits, self.since) = (at, side, true, since);
        self.is_early = since < clock.known_from;
        self.from = clock.read(since.max(clock.known_from));
    }

    /// Ends the wait; `clock` is that of its start.
    pub(super) fn end(&mut self, clock: &Clock, now: Time) {
        self.waits = false;
        let before_ns = self.times.sum_ns();
        self.times.add_between(&self.from, &clock.read(now));
        if self.is_early {
            let known_ns = self.times.sum_ns() - before_ns;
            self.times.add(Cause::Other, (now - self.since).ns() - known_ns);
        }
    }
}

/// Causes for which the write buffer stays full, over all dies.
///
/// The dies that count share each nanosecond equally: whole nanoseconds of each stretch between two
/// changes are assigned in the order of the causes. The clock stops while no request waits.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct BufferClock {
    since: Time,
    dies: [u32; CAUSES],
    all: u32,
    ns: CauseTimes,
    /// Requests that wait.
    waiting: u32,
}

impl BufferClock {
    pub(super) const NEW: BufferClock = BufferClock {
        since: Time::ZERO,
        dies: [0; CAUSES],
        all: 0,
        ns: CauseTimes([0; CAUSES]),
        waiting: 0,
    };

    /// Whether a request waits.
    pub(super) fn runs(&self) -> bool {
        self.waiting > 0
    }

    /// Adds a request that waits from `now` on; returns the reading then.
    pub(super) fn join(&mut self, now: Time) -> CauseTimes {
        self.advance(now);
        if self.waiting == 0 {
            (self.dies, self.all) = ([0; CAUSES], 0);
        }
        self.waiting += 1;
        self.ns
    }

    /// Removes a request.
    pub(super) fn leave(&mut self) {
        self.waiting -= 1;
    }

    /// Returns the reading at `now`.
    pub(super) fn read(&mut self, now: Time) -> &CauseTimes {
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

    /// Moves a die from one cause to another at `now`; `None`: it does not count.
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

/// Returns the value of a slot of a list that grows on demand.
pub(super) fn slot<T: Copy>(values: &mut Vec<T>, slot: u32, new: T) -> &mut T {
    let index = slot as usize;
    if index >= values.len() {
        values.resize(index + 1, new);
    }
    &mut values[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_the_causes_that_the_clock_showed_meanwhile() {
        let at = Time::from_ns;
        let mut clock = Clock::NEW;
        clock.turn(Cause::HostProgram, at(100));
        let [mut early, mut late, mut held] = [Account::NEW; 3];
        early.begin((0, Side::Read), &clock, at(110));
        clock.turn(Cause::Erase, at(140));
        late.begin((0, Side::Read), &clock, at(150));
        // Before the erase cause was set, of a wait that starts after it.
        held.begin((0, Side::Read), &clock, at(120));
        clock.turn(Cause::GcRead, at(200));
        clock.turn(Cause::Erase, at(200));
        let causes = |mut account: Account| {
            account.end(&clock, at(230));
            let of = |cause: Cause| account.times.0[cause as usize];
            (of(Cause::HostProgram), of(Cause::Erase), of(Cause::GcRead), of(Cause::Other))
        };
        assert_eq!(causes(early), (30, 90, 0, 0));
        assert_eq!(causes(late), (0, 80, 0, 0));
        assert_eq!(causes(held), (0, 90, 0, 20));
        let mut now = Account::NEW;
        now.begin((0, Side::Read), &clock, at(210));
        assert_eq!(causes(now), (0, 20, 0, 0));
    }
}
