//! Dies at a power failure: the fate of their operations.

use std::collections::BTreeSet;

use reprieve_base::{Dur, Time};
use reprieve_config::{LossPolicy, PowerLoss};
use reprieve_nand::{Die, PlaneWork, Refusal, Suspend};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::dies::Dies;
use crate::power_loss::{CutDie, Draw, Powers};

/// A power failure: its time, and its rules in the scenario.
struct PowerCut<'a> {
    dies: &'a Dies,
    at: Time,
    policy: LossPolicy,
    loss: &'a PowerLoss,
    powers: &'a Powers,
}

impl Dies {
    /// Returns the state of each die after a power failure at `at`, not before the last instant.
    pub fn cut(
        &self,
        at: Time,
        policy: LossPolicy,
        loss: &PowerLoss,
        powers: &Powers,
    ) -> Vec<CutDie> {
        let cut = PowerCut { dies: self, at, policy, loss, powers };
        (0..self.facts.geometry.dies()).map(|die| cut.die(die)).collect()
    }
}

/// Treatment of a lane.
struct CutLane {
    /// When its array is free.
    free_at: Time,
    /// The operation stays suspended from then on.
    stays: bool,
    /// The lane draws the power of its running operation until then.
    runs: bool,
}

impl PowerCut<'_> {
    fn die(&self, die: u32) -> CutDie {
        let PowerCut { at, policy, loss, powers, .. } = *self;
        let unit = &self.dies[die];
        let suspended =
            u64::from(unit.die.is_suspended()) + u64::from(unit.whole.below.operation != NONE);
        let mut cut = CutDie {
            free_at: at,
            channel_until: at,
            ends: Vec::new(),
            stopped_program: false,
            stopped_erase: false,
            draws: Vec::new(),
        };
        if self.dies.facts.splits {
            self.lanes(die, &mut cut);
            return cut;
        }
        let resets = policy == LossPolicy::Reset;
        let mut stays = if resets { 0 } else { suspended };
        let scheduled = unit.whole.scheduled.max(at);
        if unit.die.is_running() {
            stays += u64::from(self.operation(die, &mut cut));
        } else if !unit.die.is_free() {
            let suspends = !unit.die.is_suspended() && unit.whole.operation() != NONE;
            let kind =
                if suspends { self.dies.txns[unit.whole.operation()].kind } else { Kind::HostRead };
            // Pages in the page buffer are dropped.
            let senses = unit.die.plane_reads().until().map_or(scheduled, |until| until.max(at));
            cut.free_at = if resets { at + reset_of(kind, loss) } else { senses };
            let uw = match suspends {
                true => self.draws(unit.whole.operation()),
                false => powers.sense.on(unit.die.plane_reads().sensing().max(1)),
            };
            cut.draws.push(Draw { from: at, to: cut.free_at, uw });
            stays += u64::from(suspends && !resets);
        }
        let uw = powers.suspended_uw * stays;
        cut.draws.push(Draw { from: cut.free_at, to: Time::NEVER, uw });
        cut
    }

    /// Handles the running operation; returns whether it stays suspended.
    fn operation(&self, die: u32, cut: &mut CutDie) -> bool {
        let PowerCut { at, policy, loss, .. } = *self;
        let unit = &self.dies[die];
        let kind = self.dies.txns[unit.whole.operation()].kind;
        let is_erase = kind == Kind::Erase;
        let free_at = match policy {
            LossPolicy::Reset => Some(at + reset_of(kind, loss)),
            LossPolicy::Suspend => suspend(unit.die.clone(), at, unit.whole.scheduled),
            LossPolicy::SuspendErase if is_erase => {
                suspend(unit.die.clone(), at, unit.whole.scheduled)
            }
            LossPolicy::SuspendErase | LossPolicy::Wait => None,
        };
        if policy != LossPolicy::Reset {
            cut.channel_until = self.dies.txns[unit.whole.operation()].mark.max(at);
        }
        cut.free_at = free_at.unwrap_or(unit.whole.scheduled);
        let uw = self.draws(unit.whole.operation());
        cut.draws.push(Draw { from: at, to: cut.free_at, uw });
        if free_at.is_some() {
            (cut.stopped_program, cut.stopped_erase) = (!is_erase, is_erase);
        } else {
            self.ends(unit.whole.operation(), cut);
            if unit.loaded != NONE {
                self.loaded(die, cut);
            }
        }
        free_at.is_some() && policy != LossPolicy::Reset
    }

    /// Handles each lane of a die with plane suspension.
    fn lanes(&self, die: u32, cut: &mut CutDie) {
        let PowerCut { at, policy, loss, powers, .. } = *self;
        let unit = &self.dies[die];
        if let Some(senses_until) = unit.die.plane_reads().until() {
            // Pages in page buffers are dropped.
            let resets = policy == LossPolicy::Reset;
            let until = if resets { at + reset_of(Kind::HostRead, loss) } else { senses_until };
            let uw = powers.sense.on(1u32) * u64::from(unit.die.plane_reads().sensing());
            cut.free_at = until.max(at);
            cut.draws.push(Draw { from: at, to: cut.free_at, uw });
        }
        let mut stay = Vec::new();
        for operation in self.dies[die].operations() {
            let lane = self.lane(operation, cut);
            cut.free_at = cut.free_at.max(lane.free_at);
            if lane.runs {
                let uw = self.draws(operation);
                cut.draws.push(Draw { from: at, to: lane.free_at, uw });
            }
            if lane.stays {
                stay.push(lane.free_at);
            }
        }
        let uw = powers.suspended_uw;
        cut.draws.extend(stay.iter().map(|from| Draw { from: *from, to: Time::NEVER, uw }));
    }

    /// Handles one operation, on all its planes alike.
    fn lane(&self, operation: u32, cut: &mut CutDie) -> CutLane {
        let PowerCut { at, policy, loss, .. } = *self;
        let Txn { die, kind, at: place, mark, .. } = self.dies.txns[operation];
        let resets = policy == LossPolicy::Reset;
        let is_erase = kind == Kind::Erase;
        let mut nand = self.dies[die].die.clone();
        let work = nand.plane_work(place.plane);
        let end = match work {
            PlaneWork::None => panic!("at {at} nothing is under way on plane {}", place.plane),
            PlaneWork::Suspended => {
                return CutLane { free_at: at, stays: !resets, runs: false };
            }
            _ if resets => {
                cut.stopped_program |= !is_erase;
                cut.stopped_erase |= is_erase;
                let free_at = at + reset_of(kind, loss);
                return CutLane { free_at, stays: false, runs: true };
            }
            PlaneWork::Suspending(free_at) => {
                return CutLane { free_at, stays: true, runs: true };
            }
            PlaneWork::Running(end) => end,
        };
        cut.channel_until = cut.channel_until.max(mark);
        let suspends =
            policy == LossPolicy::Suspend || policy == LossPolicy::SuspendErase && is_erase;
        let mut suspend = |at| nand.suspend_plane(at, place.plane);
        let free_at = if suspends { stopped_at(at, end, &mut suspend) } else { None };
        match free_at {
            Some(free_at) => {
                cut.stopped_program |= !is_erase;
                cut.stopped_erase |= is_erase;
                CutLane { free_at, stays: true, runs: true }
            }
            None => {
                cut.ends.extend(self.pages(operation).map(|id| (id, end)));
                CutLane { free_at: end, stays: false, runs: true }
            }
        }
    }

    /// Completes the pages of a command when its die is free.
    fn ends(&self, operation: u32, cut: &mut CutDie) {
        let end = cut.free_at;
        cut.ends.extend(self.pages(operation).map(|id| (id, end)));
    }

    /// Runs the loaded program after the current one, to its end.
    fn loaded(&self, die: u32, cut: &mut CutDie) {
        let unit = &self.dies[die];
        let from = cut.free_at;
        let mut nand = unit.die.clone();
        nand.elapse(from);
        cut.free_at = nand.running_until().expect("the program that was loaded runs");
        cut.channel_until = self.dies.txns[unit.loaded].mark.max(cut.channel_until);
        cut.draws.push(Draw { from, to: cut.free_at, uw: self.draws(unit.loaded) });
        self.ends(unit.loaded, cut);
    }

    /// Returns the transactions of a command, a page or block each.
    fn pages(&self, id: u32) -> impl Iterator<Item = u32> {
        let next = |id: &u32| Some(self.dies.txns[*id].next).filter(|next| *next != NONE);
        std::iter::successors(Some(id), next)
    }

    /// Returns the power of a program or erase, on all its planes.
    fn draws(&self, id: u32) -> u64 {
        let powers = self.powers;
        let planes: BTreeSet<u32> = self.pages(id).map(|id| self.dies.txns[id].at.plane).collect();
        let planes = planes.len() as u32;
        let is_erase = self.dies.txns[id].kind == Kind::Erase;
        let power = if is_erase { powers.erase } else { powers.program };
        power.on(planes)
    }
}

/// Returns when a running array is free after a suspension requested at `at`, or as soon as allowed
/// after that; `None`: the operation runs to its end.
fn suspend(mut die: Die, at: Time, scheduled: Time) -> Option<Time> {
    stopped_at(at, scheduled, &mut |at| die.suspend(at))
}

/// As `suspend`, with a function that requests the suspension of an operation that ends at `end`.
fn stopped_at(
    at: Time,
    end: Time,
    ask: &mut impl FnMut(Time) -> Result<Suspend, Refusal>,
) -> Option<Time> {
    let answer = match ask(at) {
        Err(Refusal::TooSoon { until }) if until < end => ask(until),
        answer => answer,
    };
    match answer {
        Ok(Suspend::FreeAt(free_at)) => Some(free_at),
        Ok(Suspend::RunsToEnd)
        | Err(Refusal::TooSoon { .. } | Refusal::LimitReached | Refusal::NotSuspendable) => None,
        Err(refusal) => panic!("at {at} a running die refused a suspension: {refusal}"),
    }
}

fn reset_of(kind: Kind, loss: &PowerLoss) -> Dur {
    let [read, program, erase] = loss.resets;
    match kind {
        Kind::Erase => erase,
        kind if kind.is_program() => program,
        _ => read,
    }
}
