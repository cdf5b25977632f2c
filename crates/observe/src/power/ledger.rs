//! Energy of operations, in closed form: by class, supply and activity.

use std::sync::Arc;

use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_nand::{ACTIVITIES, Activity, CorePower, Part, PhaseTimes, Run};

use super::{CLASS_NAMES, Class, Sensing};

const CLASSES: usize = CLASS_NAMES.len();

/// A program or erase that is not complete.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct OpenOperation {
    class: Class,
    page_type: usize,
    /// The current run, or the last one.
    run: Run,
    /// Start of the current suspension.
    suspended: Option<Time>,
    /// Times of its earlier runs.
    before: PhaseTimes,
    /// The part of it in which other planes drew the base.
    shared: Shared,
}

/// How long an operation shares the base of others.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
enum Shared {
    /// Until its suspension.
    Still,
    /// For these times.
    For(PhaseTimes),
}

impl OpenOperation {
    /// The current run, or the last one.
    pub(super) fn run(&self) -> Run {
        self.run
    }

    /// Whether other planes draw the base for it.
    pub(super) fn shares_base(&self) -> bool {
        matches!(self.shared, Shared::Still)
    }

    /// Splits one plane off, to be suspended alone; the others continue, and draw the base.
    pub(super) fn split(&mut self) -> OpenOperation {
        let apart = OpenOperation { run: self.run.on_planes(1), shared: Shared::Still, ..*self };
        self.run = self.run.on_planes(self.run.planes() - 1);
        apart
    }
}

/// Time of a command on a number of planes.
#[derive(Clone, Copy, Debug)]
struct Spent {
    ns: u128,
    planes: u32,
}

/// Energy above that of idle dies, and the time of each activity on each plane.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    power: CorePower,
    part: Arc<Part>,
    pub(super) core_fj: [u128; CLASSES],
    pub(super) io_fj: [u128; CLASSES],
    pub(super) active_ns: [u128; ACTIVITIES],
    pub(super) suspended_ns: u128,
}

impl Ledger {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.core_fj, self.io_fj, self.active_ns, self.suspended_ns);
    }

    pub(super) fn new(power: CorePower, part: Arc<Part>) -> Ledger {
        Ledger {
            power,
            part,
            core_fj: [0; CLASSES],
            io_fj: [0; CLASSES],
            active_ns: [0; ACTIVITIES],
            suspended_ns: 0,
        }
    }

    fn spend(&mut self, class: Class, page_type: usize, activity: Activity, spent: Spent) {
        let Spent { ns, planes } = spent;
        self.active_ns[activity as usize] += ns * u128::from(planes);
        let uw = self.power.of(activity, page_type).on(planes);
        self.core_fj[class as usize] += u128::from(uw) * ns;
    }

    /// Adds a sense.
    pub(super) fn sense(&mut self, class: Class, sensing: Sensing) {
        let ns = u128::from((sensing.to - sensing.from).ns());
        let spent = Spent { ns, planes: sensing.planes };
        self.spend(class, sensing.page_type, Activity::Sense, spent);
    }

    /// Subtracts the rest of a sense that ends at `now`.
    pub(super) fn cut_sense(&mut self, class: Class, sensing: Sensing, now: Time) {
        let ns = u128::from((sensing.to - now.max(sensing.from)).ns());
        self.active_ns[Activity::Sense as usize] -= ns * u128::from(sensing.planes);
        let uw = self.power.of(Activity::Sense, sensing.page_type).on(sensing.planes);
        self.core_fj[class as usize] -= u128::from(uw) * ns;
    }

    /// Starts a program or erase with this run.
    pub(super) fn begin(&self, class: Class, page_type: usize, run: Run) -> OpenOperation {
        let none = [Dur::ZERO; 2];
        let shared = Shared::For(none);
        OpenOperation { class, page_type, run, suspended: None, before: none, shared }
    }

    /// Suspends an operation from `now` on.
    pub(super) fn suspend(&self, open: &mut OpenOperation, now: Time) {
        open.shared = Shared::For(self.shared(open, now));
        open.before = self.spent(open, now);
        open.suspended = Some(now);
    }

    /// Resumes with this run.
    pub(super) fn resume(&mut self, open: &mut OpenOperation, now: Time, run: Run) {
        self.close_suspension(open, now);
        open.suspended = None;
        open.run = run;
    }

    fn close_suspension(&mut self, open: &OpenOperation, now: Time) {
        let Some(since) = open.suspended else { return };
        let ns = u128::from((now - since).ns());
        self.suspended_ns += ns;
        self.core_fj[Class::Suspension as usize] +=
            u128::from(self.power.suspended_excess_uw()) * ns;
    }

    fn spent(&self, open: &OpenOperation, now: Time) -> PhaseTimes {
        if open.suspended.is_some() {
            return open.before;
        }
        let [pulse, verify] = open.run.spent(now, &self.part.timing);
        [open.before[0] + pulse, open.before[1] + verify]
    }

    fn shared(&self, open: &OpenOperation, now: Time) -> PhaseTimes {
        match open.shared {
            Shared::Still => self.spent(open, now),
            Shared::For(times) => times,
        }
    }

    /// Completes an operation, or ends the run of the drive: its energy is split among the classes.
    pub(super) fn end(&mut self, open: &OpenOperation, now: Time) {
        self.close_suspension(open, now);
        let planes = open.run.planes();
        let (spent, shared) = (self.spent(open, now), self.shared(open, now));
        let undisturbed = open.run.undisturbed(&self.part.timing);
        for (index, activity) in open.run.activities().into_iter().enumerate() {
            let own = spent[index].min(undisturbed[index]);
            for (class, time) in [(open.class, own), (Class::Suspension, spent[index] - own)] {
                let spent = Spent { ns: u128::from(time.ns()), planes };
                self.spend(class, open.page_type, activity, spent);
            }
            // Time on a shared base is before the first suspension, and counts as own time first.
            let base_uw = u128::from(self.power.of(activity, open.page_type).base_uw);
            let of_own = shared[index].min(own);
            for (class, time) in [(open.class, of_own), (Class::Suspension, shared[index] - of_own)]
            {
                self.core_fj[class as usize] -= base_uw * u128::from(time.ns());
            }
        }
    }

    /// Stops the run of an operation that enters suspension.
    pub(super) fn stop(&self, open: &mut OpenOperation, asked: Time, free_at: Time) {
        open.run = open.run.stopped(asked, free_at, &self.part);
    }
}
