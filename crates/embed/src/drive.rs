//! The drive as its owner has it: what is checked before the model is given it, and the time.

use reprieve_base::{Op, Request, SECTOR_BYTES, Time, UserError};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::{Completion, Options, Ssd, registries};

use crate::ask::Ask;
use crate::journal::Journal;

/// The last instant that may be asked for: 146 years.
pub(crate) const LAST: Time = Time::from_ns(1 << 62);

/// Why a call was refused; the drive is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A mistake in what was asked.
    User(UserError),
    /// The call has to do with an instant that has passed, or would leave one out.
    Time(UserError),
}

impl From<UserError> for Error {
    fn from(error: UserError) -> Error {
        Error::User(error)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Error::User(error) | Error::Time(error)) = self;
        error.fmt(f)
    }
}

fn at_wrong_time(what: String) -> Error {
    Error::Time(UserError::new(what))
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    Past,
    Late,
    FlushHasLength,
    Length,
    End,
    UnitAccess,
}

/// A drive whose time is the caller's.
pub struct Drive {
    ssd: Ssd,
    sectors: u64,
    /// The instant up to which everything has passed.
    now: Time,
    pub(crate) taken: u64,
    pub(crate) journal: Option<Journal>,
}

impl Drive {
    /// A drive of this scenario, preconditioned and at time zero; its workload is left out.
    ///
    /// `sets` are overrides, `KEY=VALUE`. `path` names the text in errors, and files that it names
    /// are looked for beside that. Errors at a mistake in the scenario, if the drive does not fit
    /// into memory, or if it cannot be preconditioned.
    pub fn open(text: &str, path: &str, sets: &[String]) -> Result<Drive, UserError> {
        let sources = Sources { text, path, sets };
        Drive::of(scenario::load_served(&sources, registries())?)
    }

    pub(crate) fn of(scenario: Scenario) -> Result<Drive, UserError> {
        let sectors = scenario.capacity_bytes() / SECTOR_BYTES;
        let options = Options { served: true, handed_over: true, ..Options::default() };
        let mut ssd = Ssd::with(scenario, &options)?;
        while !ssd.is_preconditioned() {
            ssd.step(1)?;
        }
        ssd.start_serving()?;
        Ok(Drive { ssd, sectors, now: Time::ZERO, taken: 0, journal: None })
    }

    /// The scenario of the drive, as canonical TOML.
    pub fn scenario(&self) -> String {
        scenario::print(self.ssd.scenario())
    }

    /// Bytes that the drive has for its users.
    pub fn capacity_bytes(&self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    /// The instant up to which everything has passed.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Requests that were submitted and are not complete, those included that have not arrived.
    pub fn open_requests(&self) -> u64 {
        self.ssd.handed_over() - self.taken - self.ssd.done_count() as u64
    }

    /// Keeps what is asked from now on, so that the drive can be saved.
    ///
    /// Errors if a request has been submitted or time has passed.
    pub fn keep_journal(&mut self) -> Result<(), Error> {
        if self.journal.is_some() {
            return Ok(());
        }
        if self.ssd.handed_over() > 0 || self.now > Time::ZERO {
            let what = "the journal begins with the drive: ask for it before the first request";
            return Err(Error::User(UserError::new(what)));
        }
        self.journal = Some(Journal::default());
        Ok(())
    }

    /// Hands over a request that arrives at `at`, now or later.
    ///
    /// Requests of one arrival arrive in the order of these calls. Errors at one that no drive
    /// takes, that reaches past its end, or whose arrival has passed.
    #[inline]
    pub fn submit(&mut self, at: Time, ask: Ask) -> Result<(), Error> {
        if let Err(what) = self.check(at, &ask) {
            return Err(self.refused(what, at, &ask));
        }
        if let Some(journal) = &mut self.journal {
            journal.submitted(self.now, at, &ask);
        }
        let Ask { tag, op, lba, bytes, fua } = ask;
        self.ssd.hand_over(Request { arrival: at, op, lba, bytes, fua }, tag);
        Ok(())
    }

    #[inline(always)]
    fn check(&self, at: Time, ask: &Ask) -> Result<(), Wrong> {
        let Ask { op, lba, bytes, fua, .. } = *ask;
        if at < self.now {
            return Err(Wrong::Past);
        }
        if at > LAST {
            return Err(Wrong::Late);
        }
        let is_flush = op == Op::Flush;
        if is_flush && (lba, bytes) != (0, 0) {
            return Err(Wrong::FlushHasLength);
        }
        if !is_flush && (bytes == 0 || u64::from(bytes) % SECTOR_BYTES > 0) {
            return Err(Wrong::Length);
        }
        if lba > self.sectors || u64::from(bytes) / SECTOR_BYTES > self.sectors - lba {
            return Err(Wrong::End);
        }
        if fua && op != Op::Write { Err(Wrong::UnitAccess) } else { Ok(()) }
    }

    #[cold]
    fn refused(&self, what: Wrong, at: Time, ask: &Ask) -> Error {
        let Ask { op, lba, bytes, .. } = *ask;
        let (name, length) = (op.name(), u64::from(bytes) / SECTOR_BYTES);
        let (at, now, sectors) = (at.ns(), self.now.ns(), self.sectors);
        match what {
            Wrong::Past => at_wrong_time(format!(
                "a {name} arrives at {at} ns, and the drive is at {now} ns: it must not be earlier"
            )),
            Wrong::Late => Error::User(UserError::new(format!(
                "a {name} arrives at {at} ns: it must be at most 2^62"
            ))),
            Wrong::FlushHasLength => Error::User(UserError::new(format!(
                "a flush of {bytes} bytes at sector {lba}: it has neither"
            ))),
            Wrong::Length => Error::User(UserError::new(format!(
                "a {name} of {bytes} bytes: must be a positive multiple of 512"
            ))),
            Wrong::End => Error::User(UserError::new(format!(
                "a {name} of {length} sectors at sector {lba}: the drive has {sectors} sectors"
            ))),
            Wrong::UnitAccess => Error::User(UserError::new(format!(
                "a {name} with forced unit access: only a write has that"
            ))),
        }
    }

    /// The next instant at which something will happen; `NEVER` if nothing does without a request.
    #[inline]
    pub fn next(&self) -> Time {
        self.ssd.next_instant()
    }

    /// Lets time pass up to `to`, with what happens then.
    ///
    /// Errors if `to` lies before now, or behind what [`Drive::next`] says: something would have
    /// happened before, and the caller would learn of it late.
    #[inline]
    pub fn advance(&mut self, to: Time) -> Result<(), Error> {
        let next = self.next();
        if to < self.now || to > next || to > LAST {
            return Err(self.no_such_step(to, next));
        }
        if let Some(journal) = &mut self.journal {
            journal.advanced();
        }
        if to == next {
            return self.pass(to, usize::MAX);
        }
        self.now = to;
        Ok(())
    }

    #[cold]
    fn no_such_step(&self, to: Time, next: Time) -> Error {
        if to < self.now {
            let (to, now) = (to.ns(), self.now.ns());
            return at_wrong_time(format!("advance to {to} ns: the drive is at {now} ns already"));
        }
        if to > next {
            let (to, next) = (to.ns(), next.ns());
            return at_wrong_time(format!(
                "advance to {to} ns: something happens at {next} ns; advance to that first"
            ));
        }
        let what = format!("advance to {} ns: it must be at most 2^62", to.ns());
        Error::User(UserError::new(what))
    }

    /// Lets time pass until `wanted` completions wait to be taken, but not beyond `until`; returns
    /// where it is.
    ///
    /// The same instants pass as by steps. Nothing passes while so many wait already. Errors if
    /// `until` lies before now, or if no completion is wanted.
    pub fn run(&mut self, until: Time, wanted: usize) -> Result<Time, Error> {
        if until < self.now || until > LAST {
            return Err(self.no_such_step(until, Time::NEVER));
        }
        if wanted == 0 {
            let what = "run until 0 completions wait: it must be at least 1";
            return Err(Error::User(UserError::new(what)));
        }
        if self.ssd.done_count() >= wanted {
            return Ok(self.now);
        }
        if let Some(journal) = &mut self.journal {
            journal.advanced();
        }
        self.pass(until, wanted)?;
        Ok(self.now)
    }

    /// Lets instants pass up to `until`, or to one at which so many completions wait.
    #[inline(always)]
    fn pass(&mut self, until: Time, wanted: usize) -> Result<(), Error> {
        let known = self.ssd.done_count();
        let passed = self.ssd.advance_to_done(until, wanted);
        self.now = if matches!(passed, Ok(false)) { until } else { self.ssd.now() };
        if self.journal.is_some() {
            self.keep_in_journal(known);
        }
        passed?;
        Ok(())
    }

    /// Keeps the completions behind the first so many that wait.
    #[cold]
    fn keep_in_journal(&mut self, known: usize) {
        let Some(journal) = &mut self.journal else { return };
        self.ssd.done().skip(known).for_each(|completion| journal.completed(completion));
    }

    /// Takes the completion that has waited longest; none is later than now.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion> {
        let completion = self.ssd.take_done()?;
        self.taken += 1;
        Some(completion)
    }

    /// Lets everything pass up to `to`, as a saved drive has it, and forgets the completions that
    /// had been taken.
    pub(crate) fn repeat(&mut self, to: Time, taken: u64) -> Result<(), Error> {
        while self.next() <= to {
            self.pass(self.next(), usize::MAX)?;
            while self.taken < taken && self.poll().is_some() {}
        }
        self.now = to;
        Ok(())
    }

    /// The summary so far, as JSON: the fields of `summary.json`.
    pub fn summary(&self) -> String {
        self.ssd.summary().to_string()
    }
}
