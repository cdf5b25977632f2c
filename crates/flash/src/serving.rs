//! The scheduler: its views of a die, and its choices.

use reprieve_base::Time;
use reprieve_config::Scenario;
use reprieve_policy::sched::{Choice, Class, DieView, Scheduler};
use reprieve_policy::txn::{NONE, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::controller::Controller;
use super::die::DieUnit;
use super::dies::Dies;
use super::lane::LaneId;

/// The scheduler and its properties.
///
/// It sees the controller and changes nothing there, except that garbage collection in its view
/// counts as waiting from then on.
pub(super) struct Serving {
    pub(super) scheduler: Box<dyn Scheduler>,
    /// It needs the classes of waiting transactions.
    pub(super) sees_classes: bool,
    /// It may refuse a suspension.
    pub(super) restricts: bool,
    /// Its reads go before all other operations of a die.
    pub(super) serves_reads_first: bool,
}

impl Serving {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, scenario: &Scenario) -> Serving {
        Serving {
            sees_classes: scheduler.sees_classes(),
            restricts: scheduler.restricts_suspension(),
            // The power budget needs the waiting time of collection.
            serves_reads_first: scheduler.serves_reads_first() && scenario.power.is_none(),
            scheduler,
        }
    }

    /// Returns the scheduler's choice for a die; `read` is that of the view, unless it is of
    /// garbage collection.
    #[inline(always)]
    pub(super) fn choose<W: Work>(
        &self,
        dies: &mut Dies,
        (die, read): (u32, Option<u32>),
        view: &DieView,
        work: &mut W,
    ) -> Choice {
        match self.sees_classes {
            true => self.choose_by_class(dies, (die, read), view, work),
            false => self.scheduler.choose(view),
        }
    }

    #[cold]
    fn choose_by_class<W: Work>(
        &self,
        dies: &mut Dies,
        (die, read): (u32, Option<u32>),
        view: &DieView,
        work: &mut W,
    ) -> Choice {
        let reads_gc = view.suspended.is_some() && read.is_none() && view.read.is_some();
        let waits = view.urgent_gc.is_some() || reads_gc;
        if waits {
            dies.gc_waits(die, view.now);
        }
        let mut classes = dies.classes(die, view.now, work, waits);
        if reads_gc {
            classes.read = Class::GcRead;
        }
        self.scheduler.choose_by_class(view, &classes)
    }

    /// Returns the scheduler's view of a die that is free, or has a suspended operation.
    #[inline(always)]
    pub(super) fn view<W: Work>(
        &self,
        controller: &mut Controller,
        (die, read): (u32, Option<u32>),
        now: Time,
        work: &mut W,
    ) -> DieView {
        let dies = &controller.dies;
        let unit = &dies[die];
        let suspended = unit.die.is_suspended().then_some(unit.whole.operation());
        let mut view = view_of(dies, (die, unit), (read, suspended), now);
        let eligibility = &controller.suspension.eligibility;
        if view.suspended.is_some() {
            view.must_resume = self.suspended_must_resume(controller, (die, unit), now, work);
            view.write_fits_inside = dies.admissible_write(eligibility, die, now, work).is_some();
            if read.is_none() && dies.admits_gc_read(eligibility, die, work) {
                // Served as a read; there is no host read that it could be confused with.
                view.read = Some(dies.newest(now));
            }
            return view;
        }
        // Programs that wait for the rest of their wordline, or on other dies, do not go first.
        let of_others = dies.facts.together > 1 || dies.limit.of_drive;
        view.writes_first &= !of_others || view.write.is_some();
        match if unit.gc_decoding > 0 { GcNeed::None } else { work.gc_need(die) } {
            GcNeed::None => controller.dies.units[die as usize].gc_waits = None,
            GcNeed::Idle => view.idle_gc = true,
            GcNeed::Exclusive => view.gc_runs_through = true,
            GcNeed::Due | GcNeed::Urgent => {
                view.gc_gives_way = eligibility.write_in_erase
                    && self.erase_would_be_suspended(controller, die, now, work);
                view.urgent_gc = Some(controller.dies.gc_waits(die, now));
            }
        }
        view
    }

    /// Whether the die serves an admissible read next, where reads go first.
    #[inline(always)]
    pub(super) fn goes_first<W: Work>(
        &self,
        controller: &Controller,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        let dies = &controller.dies;
        let unit = &dies[die];
        if dies.limit.is_reached(unit) {
            return false;
        }
        if unit.whole.operation() != NONE {
            return !controller.suspension.limits_suspension()
                || !self.suspended_must_resume(controller, (die, unit), now, work);
        }
        unit.gc_decoding > 0 || work.gc_need(die) != GcNeed::Exclusive
    }

    /// Returns the scheduler's choice for a suspended plane with a waiting read.
    pub(super) fn choose_on_lane<W: Work>(
        &self,
        controller: &Controller,
        read: u32,
        now: Time,
        work: &mut W,
    ) -> Choice {
        let dies = &controller.dies;
        let Txn { die, at, .. } = dies.txns[read];
        let lane = LaneId::of_plane(at.plane);
        let unit = &dies[die];
        let top = unit.lane(lane).top;
        let (operation, suspended) = (top.operation, top.suspended_for(&dies.txns, now));
        let lane = (die, lane, operation);
        let view = DieView {
            must_resume: self.must_resume(controller, lane, suspended, now, work),
            ..view_of(dies, (die, unit), (Some(read), Some(operation)), now)
        };
        if !self.sees_classes {
            return self.scheduler.choose(&view);
        }
        let classes = dies.classes_of_plane(die, now, operation, suspended);
        self.scheduler.choose_by_class(&view, &classes)
    }

    /// Whether a die that may start a step of garbage collection does.
    pub(super) fn collects<W: Work>(
        &self,
        dies: &mut Dies,
        (die, read): (u32, Option<u32>),
        view: &DieView,
        work: &mut W,
    ) -> bool {
        view.gc_runs_through
            || match self.choose(dies, (die, read), view, work) {
                Choice::Gc => true,
                Choice::Read => view.read.is_none(),
                _ => false,
            }
    }
}

/// Returns the view of a die's queues and suspended operation, without garbage collection and the
/// longest suspension.
#[inline(always)]
fn view_of(
    dies: &Dies,
    (die, unit): (u32, &DieUnit),
    (read, suspended): (Option<u32>, Option<u32>),
    now: Time,
) -> DieView {
    DieView {
        now,
        die,
        suspended: suspended.map(|operation| dies.operation_of(operation)),
        must_resume: false,
        read: read.map(|id| dies.waiter(id)),
        write: dies.next_write(die, now).map(|id| dies.waiter(id)),
        write_fits_inside: false,
        writes_first: dies.limit.is_reached(unit),
        urgent_gc: None,
        gc_gives_way: false,
        gc_runs_through: false,
        idle_gc: false,
    }
}
