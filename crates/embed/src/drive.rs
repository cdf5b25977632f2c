//! The owner's view of a drive: validation of calls, and simulated time.

use std::path::{Path, PathBuf};

use reprieve_base::{Op, Request, SECTOR_BYTES, Time, UserError};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::{Completion, Details, Options, Route, Ssd, in_array, registries};

use crate::route;

/// The last supported instant: 146 years.
pub const LAST: Time = Time::from_ns(1 << 62);

/// A request to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The caller's tag; the completion repeats it.
    pub tag: u64,
    /// The operation.
    pub op: Op,
    /// First sector, in units of 512 bytes.
    pub lba: u64,
    /// Length in bytes, a multiple of 512; 0 of a flush.
    pub bytes: u32,
    /// Forced unit access: a write is complete only when it is in flash.
    pub fua: bool,
}

/// The reason why a call was refused; the drive is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A wrong argument.
    User(UserError),
    /// A time that has passed, or a step that would skip an event.
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

/// A fault of a request.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    Past,
    Late,
    FlushHasLength,
    Length,
    End,
    UnitAccess,
}

/// A drive whose time the caller advances.
pub struct Drive {
    pub(crate) ssd: Ssd,
    sectors: u64,
    /// The instant up to which everything is simulated.
    pub(crate) now: Time,
    pub(crate) taken: u64,
}

impl Drive {
    /// Opens a drive of this scenario, preconditioned and at time zero; its workload is left out.
    ///
    /// `sets` are overrides, `KEY=VALUE`. `path` names the text in errors, and relative files are
    /// looked for beside it. Errors at a mistake in the scenario, if the drive does not fit into
    /// memory, or if it cannot be preconditioned.
    pub fn open(text: &str, path: &str, sets: &[String]) -> Result<Drive, UserError> {
        let sources = Sources { text, path, sets };
        Drive::of(scenario::load_served(&sources, registries())?, None)
    }

    /// Opens drives of this scenario with separate seeds: the first is that of [`Drive::open`], and
    /// the seeds of the others follow from the scenario's.
    ///
    /// `sets_of`: the overrides of each. Errors as [`Drive::open`].
    pub fn open_many(
        text: &str,
        path: &str,
        sets_of: impl Fn(usize) -> Vec<String>,
        count: usize,
    ) -> Result<Vec<Drive>, UserError> {
        let of = |number| {
            let sources = Sources { text, path, sets: &sets_of(number) };
            let scenario = scenario::load_served(&sources, registries())?;
            match number {
                0 => Drive::of(scenario, None),
                _ => Drive::of(scenario.drawing_apart(&format!("array.drive.{number}")), None),
            }
        };
        let mut drives: Vec<Drive> = (0..count).map(of).collect::<Result<_, _>>()?;
        if count > 1 {
            drives.iter_mut().for_each(|drive| in_array::expect_many(&mut drive.ssd));
        }
        Ok(drives)
    }

    /// Opens a drive as [`Drive::open`] does, in a state that `reprieve run --save-state` wrote
    /// instead of preconditioned.
    ///
    /// Errors besides if the state cannot be read or is another drive's.
    pub fn open_state(
        text: &str,
        path: &str,
        sets: &[String],
        state: &Path,
    ) -> Result<Drive, UserError> {
        let sources = Sources { text, path, sets };
        Drive::of(scenario::load_served(&sources, registries())?, Some(state.to_owned()))
    }

    fn of(scenario: Scenario, from_state: Option<PathBuf>) -> Result<Drive, UserError> {
        let options = Options { served: true, handed_over: true, from_state, ..Options::default() };
        let mut ssd = Ssd::with(scenario, &options)?;
        while !ssd.is_preconditioned() {
            ssd.step(1)?;
        }
        ssd.start_serving()?;
        Ok(Drive::with(ssd))
    }

    pub(crate) fn with(ssd: Ssd) -> Drive {
        let sectors = ssd.scenario().capacity_bytes() / SECTOR_BYTES;
        Drive { ssd, sectors, now: Time::ZERO, taken: 0 }
    }

    /// The scenario of the drive, as canonical TOML.
    pub fn scenario(&self) -> String {
        scenario::print(self.ssd.scenario())
    }

    /// Capacity of the drive in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    /// The instant up to which everything is simulated.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of submitted requests.
    pub fn submitted(&self) -> u64 {
        self.ssd.handed_over()
    }

    /// Submitted requests that are not complete, including those that have not arrived.
    pub fn open_requests(&self) -> u64 {
        self.submitted() - self.taken - self.ssd.done_count() as u64
    }

    /// Submits a request that arrives at `at`, now or later.
    ///
    /// Requests of one arrival arrive in the order of these calls. Errors at a request that is
    /// invalid, that reaches past the end of the drive, or whose arrival has passed.
    #[inline]
    pub fn submit(&mut self, at: Time, ask: Ask) -> Result<(), Error> {
        self.hand_over(at, ask, Route::default())
    }

    /// Submits a request as [`Drive::submit`] does, by a submission queue and with a placement
    /// handle.
    ///
    /// Errors besides at a queue, class or handle that the drive does not have.
    pub fn submit_by(&mut self, at: Time, ask: Ask, route: Route) -> Result<(), Error> {
        route::check(self.ssd.scenario(), ask.op, route)?;
        self.hand_over(at, ask, route)
    }

    #[inline(always)]
    fn hand_over(&mut self, at: Time, ask: Ask, route: Route) -> Result<(), Error> {
        if let Err(what) = self.check(at, &ask) {
            return Err(self.refused(what, at, &ask));
        }
        let Ask { tag, op, lba, bytes, fua } = ask;
        self.ssd.hand_over(Request { arrival: at, op, lba, bytes, fua }, tag, route);
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
        if !is_flush && (bytes == 0 && !op.is_of_zone() || u64::from(bytes) % SECTOR_BYTES > 0) {
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

    /// Returns the time of the next event; `NEVER` if only a new request can cause one.
    #[inline]
    pub fn next(&self) -> Time {
        self.ssd.next_instant()
    }

    /// Simulates up to `to`, including the events at that instant.
    ///
    /// Errors if `to` lies before now, or after [`Drive::next`]: the caller would learn of an event
    /// late.
    #[inline]
    pub fn advance(&mut self, to: Time) -> Result<(), Error> {
        let next = self.next();
        if to < self.now || to > next || to > LAST {
            return Err(self.no_such_step(to, next));
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

    /// Simulates until `wanted` completions are pending, but not beyond `until`; returns the time
    /// reached.
    ///
    /// Simulates the instants that single steps would. Returns at once if enough completions are
    /// pending. Errors if `until` lies before now, or if `wanted` is zero.
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
        self.pass(until, wanted)?;
        Ok(self.now)
    }

    /// Simulates up to `until`, or to the instant at which `wanted` completions are pending.
    #[inline(always)]
    fn pass(&mut self, until: Time, wanted: usize) -> Result<(), Error> {
        let passed = self.ssd.advance_to_done(until, wanted);
        self.now = if matches!(passed, Ok(false)) { until } else { self.ssd.now() };
        passed?;
        Ok(())
    }

    /// Starts or stops optional garbage collection on the drive at `at`, now or later.
    ///
    /// Errors if `at` lies before now, or after 2^62.
    pub fn let_collect(&mut self, at: Time, lets: bool) -> Result<(), Error> {
        if at < self.now || at > LAST {
            return Err(self.no_such_step(at, Time::NEVER));
        }
        in_array::let_collect(&mut self.ssd, at, lets);
        Ok(())
    }

    /// Returns the free blocks that planes lack which have something to collect, and blocks that
    /// are being collected.
    pub fn blocks_to_collect(&self) -> u32 {
        in_array::blocks_to_collect(&self.ssd)
    }

    /// Whether a die that a read of these bytes needs is collecting.
    ///
    /// Panics if they reach past the end of the drive.
    pub fn collects(&self, lba: u64, bytes: u32) -> bool {
        let read = Request { arrival: self.now, op: Op::Read, lba, bytes, fua: false };
        in_array::collects(&self.ssd, &read)
    }

    /// Takes the oldest pending completion; none is later than now.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion> {
        let completion = self.ssd.take_done()?;
        self.taken += 1;
        Some(completion)
    }

    /// Begins to keep the details of completions.
    ///
    /// Errors if a request has been submitted.
    pub fn keep_details(&mut self) -> Result<(), Error> {
        if self.submitted() > 0 && !self.keeps_details() {
            let what = "details of completions are kept from the first request on, and the drive \
                        has had requests";
            return Err(Error::User(UserError::new(what)));
        }
        if !self.keeps_details() {
            self.ssd.keep_details();
        }
        Ok(())
    }

    /// Whether the details of completions are kept.
    pub fn keeps_details(&self) -> bool {
        self.ssd.keeps_details()
    }

    /// Returns the details of the completion that [`Drive::poll`] takes next, if they are kept.
    #[inline]
    pub fn details(&self) -> Option<&Details> {
        self.ssd.next_details()
    }

    /// Has the summary count from `at` on, now or later, and only requests that arrive after that.
    ///
    /// Replaces `[measure]` of the scenario. Errors if `at` lies before now.
    pub fn measure_from(&mut self, at: Time) -> Result<(), Error> {
        if at < self.now {
            let (at, now) = (at.ns(), self.now.ns());
            return Err(at_wrong_time(format!(
                "measure from {at} ns: the drive is at {now} ns already"
            )));
        }
        if at > LAST {
            let what = format!("measure from {} ns: it must be at most 2^62", at.ns());
            return Err(Error::User(UserError::new(what)));
        }
        self.ssd.measure_from(at, self.now);
        Ok(())
    }

    /// Returns the summary as JSON: the fields of `summary.json`.
    pub fn summary(&self) -> String {
        self.ssd.summary().to_string()
    }
}
