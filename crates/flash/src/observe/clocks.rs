//! Clocks of what stands in the way, on a die and of the buffer, and accounts of waits by them.

use reprieve_base::Time;
use reprieve_observe::blame::{Blamed, CAUSES, Cause, Tally};
use reprieve_policy::txn::{Kind, Txn};

/// Time by cause: one cause at a time, which the owner of the clock names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Since when the cause is the same; `ns` is counted until then.
    turned: Time,
    cause: Cause,
    ns: Blamed,
}

impl Clock {
    pub(super) const NEW: Clock =
        Clock { turned: Time::ZERO, cause: Cause::Other, ns: Blamed([0; CAUSES]) };

    /// What is named now.
    #[inline(always)]
    pub(super) fn cause(&self) -> Cause {
        self.cause
    }

    /// Names the cause from `now` on.
    #[inline(always)]
    pub(super) fn turn(&mut self, cause: Cause, now: Time) {
        if cause != self.cause {
            self.ns.add(self.cause, (now - self.turned).ns());
            (self.cause, self.turned) = (cause, now);
        }
    }
}

/// Whom a clock is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A program.
    Write,
    /// A read that nothing on the die holds the page of.
    Read,
    /// A read of what an operation on the die holds.
    Barred,
}

/// The wait of a transaction that is under way, and what it was blamed on before.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Account {
    /// Where it waits, a die or a plane: a dispatcher may move it before it goes on.
    pub(super) at: u32,
    pub(super) side: Side,
    pub(super) waits: bool,
    /// It began before what the clock showed then was named: a dispatcher held it back.
    is_early: bool,
    pub(super) since: Time,
    /// What the clock showed then; if its cause was named later, what it showed at that.
    from: Blamed,
    pub(super) tally: Tally,
    /// Of a program whose data came in while another one ran: its time in the queue before that.
    pub(super) loaded_ns: u64,
}

impl Account {
    pub(super) const NEW: Account = Account {
        at: 0,
        side: Side::Read,
        waits: false,
        is_early: false,
        since: Time::ZERO,
        from: Blamed([0; CAUSES]),
        tally: Tally::NOTHING,
        loaded_ns: 0,
    };

    /// It waits from `since` on, by the clock of that place and side.
    #[inline(always)]
    pub(super) fn begin(&mut self, (at, side): (u32, Side), clock: &Clock, since: Time) {
        (self.at, self.side, self.waits, self.is_early) = (at, side, true, false);
        (self.since, self.from) = (since, clock.ns);
        if since > clock.turned {
            self.from.add(clock.cause, (since - clock.turned).ns());
        } else {
            self.is_early = since < clock.turned;
        }
    }

    /// It has come to the queue of its die, and waits from its mark on, unless a dispatcher held it
    /// back: then it waits already.
    #[inline(always)]
    pub(super) fn queued(&mut self, txn: &Txn, side: Side, clock: &Clock) {
        if !self.waits {
            if txn.kind == Kind::HostRead && txn.further_senses == 0 {
                self.tally.clear();
            }
            self.begin((txn.die, side), clock, txn.mark);
        }
    }

    /// It waits no longer; `clock` is the one by which it began.
    #[inline(always)]
    pub(super) fn end(&mut self, clock: &Clock, now: Time) {
        // Mostly what stood in the way at its beginning still does.
        if clock.turned > self.since {
            self.end_after_turns(clock, now);
            return;
        }
        self.waits = false;
        if now > self.since {
            self.tally.add(clock.cause, (now - self.since).ns());
        }
    }

    /// The same if something else stood in the way meanwhile.
    #[inline(never)]
    fn end_after_turns(&mut self, clock: &Clock, now: Time) {
        self.waits = false;
        let waited = self.tally.add_since(&clock.ns, &self.from);
        waited.add(clock.cause, (now - clock.turned).ns());
        if self.is_early {
            self.add_unnamed(clock, now);
        }
    }

    /// What it had waited before a cause was named.
    #[cold]
    fn add_unnamed(&mut self, clock: &Clock, now: Time) {
        let named_ns = Blamed::since(&clock.ns, &self.from).sum_ns() + (now - clock.turned).ns();
        self.tally.add(Cause::Other, (now - self.since).ns() - named_ns);
    }
}

/// What keeps room in the buffer from becoming free: what all dies together do for that.
///
/// The dies that count share each nanosecond equally: of each stretch between two changes whole
/// nanoseconds are shared out, in the order of the causes. While nobody waits the clock stops, and
/// does not know what the dies do.
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
    #[inline]
    pub(super) fn awakes(&self) -> bool {
        self.awakes
    }

    /// The same, once.
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
    fn a_wait_is_blamed_on_what_the_clock_named_in_it() {
        let at = Time::from_ns;
        let mut clock = Clock::NEW;
        clock.turn(Cause::HostProgram, at(100));
        let [mut early, mut late, mut held] = [Account::NEW; 3];
        early.begin((0, Side::Read), &clock, at(110));
        clock.turn(Cause::Erase, at(140));
        late.begin((0, Side::Read), &clock, at(150));
        // Before the erase was named, to somebody who comes after it was.
        held.begin((0, Side::Read), &clock, at(120));
        clock.turn(Cause::GcRead, at(200));
        clock.turn(Cause::Erase, at(200));
        let blamed = |mut account: Account| {
            account.end(&clock, at(230));
            let mut blamed = Blamed::default();
            account.tally.put_into(&mut blamed);
            let Blamed(ns) = blamed;
            let of = |cause: Cause| ns[cause as usize];
            (of(Cause::HostProgram), of(Cause::Erase), of(Cause::GcRead), of(Cause::Other))
        };
        assert_eq!(blamed(early), (30, 90, 0, 0));
        assert_eq!(blamed(late), (0, 80, 0, 0));
        assert_eq!(blamed(held), (0, 90, 0, 20));
        let mut now = Account::NEW;
        now.begin((0, Side::Read), &clock, at(210));
        assert_eq!(blamed(now), (0, 20, 0, 0));
    }
}
