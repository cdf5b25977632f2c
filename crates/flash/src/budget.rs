//! Power budget over all dies: admission of operations, and the queue of dies that wait.

use std::collections::{BTreeMap, BTreeSet};

use reprieve_base::{Dur, Time};
use reprieve_config::{BudgetCounts, Power, Scenario};
use reprieve_nand::{Activity, CommandPower, MultiPlane, Timing};
use reprieve_observe::power::{AtWork, Commands, Place};
use reprieve_policy::txn::Kind;

use super::dies::Dies;
use super::lane::LaneId;

/// Priority of a die: urgent operations first, then the longest wait, then the lowest number.
type Turn = (bool, Time, u32);

/// Share of a die in the budget.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Held {
    /// Power of sensing, and the planes that sense.
    sense_uw: u64,
    senses: u32,
    /// Power of the program or erase on all planes that act together.
    run_uw: Option<u64>,
    /// Power of operations on planes that were split off, and their number.
    apart_uw: u64,
    apart: u32,
}

impl Held {
    fn is_active(&self) -> bool {
        self.senses > 0 || self.run_uw.is_some() || self.apart > 0
    }

    fn sum_uw(&self) -> u64 {
        self.sense_uw + self.run_uw.unwrap_or(0) + self.apart_uw
    }
}

/// The budget and its use.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Budget {
    limit_uw: u64,
    /// Highest permitted power after a cut of the limit: that of running commands.
    allowed_uw: u64,
    max_active: u32,
    counted: Counted,
    /// Maximum planes of a command, and of a read.
    planes_most: u64,
    planes_of_read: u64,
    reads_first: bool,
    /// Power counted for all dies, idle ones included.
    drawn_uw: u64,
    active: u32,
    held: Vec<Held>,
    /// Operations on planes that were split off, each with its share.
    apart_uw: BTreeMap<Place, u64>,
    /// Waiting dies, and the additional power that each would draw.
    line: BTreeSet<Turn>,
    waits: Vec<Option<(Turn, u64)>>,
}

/// Power above an idle die that an activity counts for.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Counted {
    sense: CommandPower,
    program: CommandPower,
    erase: CommandPower,
    suspended_uw: u64,
}

impl Counted {
    fn new(power: &Power, timing: &Timing) -> Counted {
        let core = power.core();
        let types = 0..timing.page_types.map_or(1, |types| types.count as usize);
        let phases = |phases: [Activity; 2], page_type, lengths| {
            let powers = phases.map(|phase| core.of(phase, page_type));
            let plane_uw = powers.map(|power| power.plane_uw);
            CommandPower { plane_uw: mix(power.budget_counts, plane_uw, lengths), ..powers[0] }
        };
        let program = [Activity::ProgramPulse, Activity::ProgramVerify];
        let program = |page_type| phases(program, page_type, [timing.program_pulse, timing.verify]);
        let sense = |page_type| core.of(Activity::Sense, page_type);
        let erase = [Activity::ErasePulse, Activity::EraseVerify];
        let most = |power: &CommandPower| power.plane_uw;
        Counted {
            sense: types.clone().map(sense).max_by_key(most).expect("there is a type"),
            program: types.map(program).max_by_key(most).expect("there is a type"),
            erase: phases(erase, 0, timing.erase_phases()),
            suspended_uw: core.suspended_excess_uw(),
        }
    }

    fn of(&self, kind: Kind) -> CommandPower {
        match kind {
            Kind::Erase => self.erase,
            // Sensing comes first.
            Kind::GcCopy if self.program.plane_uw < self.sense.plane_uw => self.sense,
            _ if kind.is_program() => self.program,
            _ => self.sense,
        }
    }
}

/// Returns the power that pulses and verifies of these powers and lengths count for, rounded up.
fn mix(counts: BudgetCounts, powers_uw: [u64; 2], lengths: [Dur; 2]) -> u64 {
    let whole_ns = u128::from(lengths[0].ns() + lengths[1].ns());
    if counts == BudgetCounts::Peak || whole_ns == 0 {
        return powers_uw[0].max(powers_uw[1]);
    }
    let energy = |phase: usize| u128::from(powers_uw[phase]) * u128::from(lengths[phase].ns());
    let mean = (energy(0) + energy(1)).div_ceil(whole_ns);
    u64::try_from(mean).expect("a mean of two powers")
}

impl Budget {
    /// Creates the budget of a scenario that has one.
    pub(super) fn of(scenario: &Scenario, timing: &Timing, reads_first: bool) -> Option<Budget> {
        let power = scenario.power.as_ref()?;
        if !power.limits_something() {
            return None;
        }
        let dies = scenario.geometry.dies();
        let by_plane = scenario.parallelism.multi_plane == MultiPlane::None;
        let planes_most = if by_plane { 1 } else { scenario.geometry.planes_per_die.into() };
        let reads_by_plane = scenario.parallelism.independent_plane_reads;
        Some(Budget {
            limit_uw: power.budget_uw.unwrap_or(u64::MAX),
            allowed_uw: 0,
            max_active: power.max_active_dies.unwrap_or(u32::MAX),
            counted: Counted::new(power, timing),
            planes_most,
            planes_of_read: if reads_by_plane { 1 } else { planes_most },
            reads_first,
            drawn_uw: power.core().idle_uw * u64::from(dies),
            active: 0,
            held: vec![Held::default(); dies as usize],
            apart_uw: BTreeMap::new(),
            line: BTreeSet::new(),
            waits: vec![None; dies as usize],
        })
    }

    /// Whether a die may draw this much more; a die that is active alone always may.
    fn has_room(&self, die: u32, more_uw: u64) -> bool {
        let joins = u32::from(!self.held[die as usize].is_active());
        self.active == 0
            || self.active + joins <= self.max_active
                && self.drawn_uw.checked_add(more_uw).is_some_and(|uw| uw <= self.limit_uw)
    }

    /// Admits an operation that draws this much more, or queues its die and returns false.
    fn may_begin(&mut self, turn: Turn, more_uw: u64) -> bool {
        let (_, _, die) = turn;
        self.forget(die);
        if self.line.first().is_none_or(|first| turn < *first) && self.has_room(die, more_uw) {
            return true;
        }
        self.waits[die as usize] = Some((turn, more_uw));
        self.line.insert(turn);
        false
    }

    /// Returns the turn of a die that has waited `since` to begin an operation of a kind.
    fn turn(&self, die: u32, kind: Kind, since: Time) -> Turn {
        let is_host_read = matches!(kind, Kind::HostRead | Kind::RmwRead);
        (self.reads_first && !is_host_read, since, die)
    }

    /// Admits an operation that has waited `since`, or queues its die and returns false.
    #[cold]
    pub(super) fn admits_start(&mut self, (die, kind, since): (u32, Kind, Time)) -> bool {
        let turn = self.turn(die, kind, since);
        let planes = if kind.is_read() { self.planes_of_read } else { self.planes_most };
        self.may_begin(turn, self.counted.of(kind).on(planes))
    }

    /// Admits the resumption of a suspended operation, or queues its die and returns false.
    #[cold]
    pub(super) fn admits_resume(&mut self, dies: &Dies, (die, lane): (u32, LaneId)) -> bool {
        let unit = &dies[die];
        let planes = if lane == LaneId::WHOLE { unit.die.operations().planes() } else { 1 };
        let txn = &dies.txns[unit.lane(lane).operation()];
        let turn = self.turn(die, txn.kind, txn.start);
        let whole_uw = self.counted.of(txn.kind).on(planes);
        self.may_begin(turn, whole_uw.saturating_sub(self.counted.suspended_uw))
    }

    /// Whether a die is queued for power.
    pub(super) fn waits_for_power(&self, die: u32) -> bool {
        self.waits[die as usize].is_some()
    }

    fn forget(&mut self, die: u32) {
        if let Some((turn, _)) = self.waits[die as usize].take() {
            self.line.remove(&turn);
        }
    }

    /// Removes and returns the first die in the queue, if the budget has room for it.
    pub(super) fn next(&mut self) -> Option<u32> {
        let &(_, _, die) = self.line.first()?;
        let (_, more_uw) = self.waits[die as usize].expect("what stands in line waits");
        if !self.has_room(die, more_uw) {
            return None;
        }
        self.forget(die);
        Some(die)
    }

    /// Sets the limit; commands that run may exceed it to their ends.
    pub(super) fn set_limit(&mut self, limit_uw: u64) {
        if limit_uw < self.limit_uw {
            self.allowed_uw = self.drawn_uw;
        }
        self.limit_uw = limit_uw;
    }

    /// Whether a die is queued.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.line.is_empty()
    }

    /// Returns the unused power of the budget.
    pub(super) fn left_uw(&self) -> u64 {
        self.limit_uw.saturating_sub(self.drawn_uw)
    }

    fn change(&mut self, die: u32, change: impl FnOnce(&mut Held)) {
        let held = &mut self.held[die as usize];
        let before = *held;
        change(held);
        self.drawn_uw = self.drawn_uw + held.sum_uw() - before.sum_uw();
        match (before.is_active(), held.is_active()) {
            (false, true) => self.active += 1,
            (true, false) => self.active -= 1,
            _ => {}
        }
    }

    /// Adds sensing on `planes` planes of a die.
    pub(super) fn sense(&mut self, die: u32, planes: u32) {
        let uw = self.counted.sense.on(planes);
        self.change(die, |held| {
            held.sense_uw += uw;
            held.senses += planes;
        });
    }

    /// Ends the sensing of one plane of a die, or of all.
    pub(super) fn sensed(&mut self, die: u32, is_one: bool) {
        let one_uw = self.counted.sense.on(1u32);
        self.change(die, |held| {
            let (planes, uw) = if is_one { (1, one_uw) } else { (held.senses, held.sense_uw) };
            held.senses -= planes;
            held.sense_uw -= uw;
        });
    }

    /// Adds a program or erase on a lane.
    pub(super) fn run(&mut self, place: Place, kind: Kind, planes: u32) {
        self.hold(place, self.counted.of(kind).on(planes));
    }

    fn hold(&mut self, (die, lane): Place, uw: u64) {
        if lane == 0 {
            self.change(die, |held| held.run_uw = Some(uw));
            return;
        }
        self.apart_uw.insert((die, lane), uw);
        self.change(die, |held| (held.apart, held.apart_uw) = (held.apart + 1, held.apart_uw + uw));
    }

    /// Splits a plane off its operation; with other planes left, the base power stays with them
    /// until the plane is suspended.
    pub(super) fn split(&mut self, (die, lane): Place, kind: Kind, has_others: bool) {
        let plane_uw = self.counted.of(kind).plane_uw;
        let held = &mut self.held[die as usize];
        let whole_uw = held.run_uw.take().expect("something runs");
        let own_uw = if has_others { plane_uw } else { whole_uw };
        held.run_uw = has_others.then(|| whole_uw - plane_uw);
        (held.apart, held.apart_uw) = (held.apart + 1, held.apart_uw + own_uw);
        self.apart_uw.insert((die, lane), own_uw);
    }

    /// Frees the share of an operation that is complete.
    pub(super) fn ended(&mut self, (die, lane): Place) {
        if lane == 0 {
            self.change(die, |held| held.run_uw = None);
            return;
        }
        let uw = self.apart_uw.remove(&(die, lane)).expect("something ran there");
        self.change(die, |held| (held.apart, held.apart_uw) = (held.apart - 1, held.apart_uw - uw));
    }

    /// Suspends an operation.
    pub(super) fn suspended(&mut self, place: Place) {
        self.ended(place);
        self.drawn_uw += self.counted.suspended_uw;
    }

    /// Replaces the power of a suspended operation by that of a running one.
    pub(super) fn resumed(&mut self, place: Place, kind: Kind, planes: u32) {
        self.drawn_uw -= self.counted.suspended_uw;
        self.run(place, kind, planes);
    }

    /// Checks the budget against the meter's account of each die.
    pub(super) fn verify(
        &mut self,
        idle_uw: u64,
        dies: impl Iterator<Item = AtWork>,
    ) -> Result<(), String> {
        let (mut active, mut uw) = (0, idle_uw);
        let counts = |power: CommandPower, commands: Commands| {
            let Commands { bases, planes } = commands;
            power.base_uw * u64::from(bases) + power.plane_uw * u64::from(planes)
        };
        for AtWork { senses, copies, programs, erases, suspended } in dies {
            active += u32::from(senses.planes + programs.planes + erases.planes > 0);
            uw += self.counted.suspended_uw * u64::from(suspended);
            // A copyback senses before it programs.
            let of_copies = counts(self.counted.sense, copies);
            let of_senses = counts(self.counted.sense, senses) - of_copies;
            let of_programs = counts(self.counted.program, programs).max(of_copies);
            uw += of_senses + of_programs + counts(self.counted.erase, erases);
        }
        let most_uw = self.limit_uw.max(self.allowed_uw);
        if active > 1 && (active > self.max_active || uw > most_uw) {
            return Err(format!(
                "{active} dies are at work and count as {uw} uW, of {} and {most_uw} uW allowed",
                self.max_active
            ));
        }
        self.allowed_uw = self.allowed_uw.min(uw);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dies_over_the_budget_are_found_and_one_alone_is_let_be() {
        let of = |base_uw, plane_uw| CommandPower { base_uw, plane_uw };
        let (sense, program, erase) = (of(4, 6), of(10, 20), of(0, 50));
        let counted = Counted { sense, program, erase, suspended_uw: 5 };
        let mut budget = Budget {
            limit_uw: 67,
            allowed_uw: 0,
            max_active: 2,
            counted,
            planes_most: 1,
            planes_of_read: 1,
            reads_first: true,
            drawn_uw: 2,
            active: 0,
            held: vec![Held::default(); 3],
            apart_uw: BTreeMap::new(),
            line: BTreeSet::new(),
            waits: vec![None; 3],
        };
        let mut verify = |dies: &[AtWork]| budget.verify(2, dies.iter().copied()).is_ok();
        let of = |bases, planes| Commands { bases, planes };
        let idle = AtWork::default();
        let reads = AtWork { senses: of(1, 1), ..idle };
        let erases = AtWork { erases: of(1, 1), ..idle };
        // 2 + 50 + 10 + 5 are 67; another 5 are too many, and so is a third die.
        assert!(verify(&[erases, AtWork { suspended: 1, ..reads }]));
        assert!(!verify(&[erases, AtWork { suspended: 2, ..reads }]));
        assert!(!verify(&[reads, reads, reads]));
        // The base is counted once a command: 2 + 4 + 3 * 6 of a command on three planes and
        // 10 + 20 of a program leave 13; three commands on a plane each take 8 more, the fourth 10.
        let program = AtWork { programs: of(1, 1), ..idle };
        let joint = |bases, planes| AtWork { senses: of(bases, planes), ..idle };
        assert!(verify(&[program, joint(1, 5)]) && !verify(&[program, joint(1, 6)]));
        assert!(verify(&[program, joint(3, 3)]) && !verify(&[program, joint(4, 4)]));
        // Two planes erase at 100, which is more than there is, but nothing else does anything.
        assert!(verify(&[AtWork { erases: of(1, 2), ..idle }, idle]));
        // A copyback counts as its program of 30; a read during a program of the same die counts
        // too: 2 + 30 + 10 and 10 + 10 are 62, and 10 more are too many.
        let copy = AtWork { senses: of(1, 1), copies: of(1, 1), programs: of(1, 1), ..idle };
        let both = AtWork { senses: of(1, 1), programs: of(1, 1), ..idle };
        assert!(verify(&[copy, joint(2, 2)]) && verify(&[both, joint(2, 2)]));
        assert!(verify(&[copy, joint(3, 3)]) && !verify(&[both, joint(3, 3)]));
    }
}
