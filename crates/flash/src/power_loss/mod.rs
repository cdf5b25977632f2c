//! A loss of power: what is stored beside each page, how the write buffer is saved in the time that
//! is left, and how the mapping is found again.

mod journal;
mod recovery;
mod rescue;

use reprieve_base::{Dur, Time};
use reprieve_config::Scenario;
use reprieve_nand::{Activity, CommandPower};

pub use journal::{Journal, Stamp};
pub use recovery::{DieScan, RecoveredPages, RecoveryTime, recovery_time};
pub use rescue::{Rescue, RescueBudget, rescue};

/// Power that is drawn above that of idle dies and the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// From when.
    pub from: Time,
    /// Until when; `NEVER`: as long as there is power.
    pub to: Time,
    /// How much.
    pub uw: u64,
}

/// A die whose operation has been dealt with after the power has failed.
#[derive(Clone, Debug)]
pub struct CutDie {
    /// When its array is free for programs that save pages.
    pub free_at: Time,
    /// Until when data comes in over its channel.
    pub channel_until: Time,
    /// Transactions that end by themselves, and when.
    pub ends: Vec<(u32, Time)>,
    /// Whether it was at work on a program, or an erase, that does not end.
    pub stopped_program: bool,
    /// Whether an erase was stopped.
    pub stopped_erase: bool,
    /// Power of the work under way.
    pub draws: Vec<Draw>,
}

/// Powers of all activities, by the parameters of the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Powers {
    /// Controller and idle dies together.
    pub base_uw: u64,
    /// A command above an idle die: sensing.
    pub sense: CommandPower,
    /// The mean over pulses and verifies of the type of page that takes most.
    pub program: CommandPower,
    /// The mean over pulse and verify.
    pub erase: CommandPower,
    /// A suspended operation.
    pub suspended_uw: u64,
    /// A bit over the channel.
    pub bit_fj: u64,
}

impl Powers {
    /// Returns those of a scenario prepared for a loss of power; the flash draws nothing where
    /// power is not accounted for.
    pub fn of(scenario: &Scenario) -> Powers {
        let loss = scenario.power_loss.as_ref().expect("the drive is prepared for it");
        let Some(power) = &scenario.power else {
            return Powers {
                base_uw: loss.controller_uw,
                sense: CommandPower::default(),
                program: CommandPower::default(),
                erase: CommandPower::default(),
                suspended_uw: 0,
                bit_fj: 0,
            };
        };
        let (core, timing) = (power.core(), &scenario.timing);
        let types = 0..timing.page_types.map_or(1, |types| types.count as usize);
        let phases = |phases: [Activity; 2], page_type, lengths_ns| {
            let powers = phases.map(|phase| core.of(phase, page_type));
            let plane_uw = mean(powers.map(|power| power.plane_uw), lengths_ns);
            CommandPower { plane_uw, ..powers[0] }
        };
        let program = [Activity::ProgramPulse, Activity::ProgramVerify];
        let lengths_ns = [timing.program_pulse.ns(), timing.verify.ns()];
        let program = |page_type| phases(program, page_type, lengths_ns);
        let sense = |page_type| core.of(Activity::Sense, page_type);
        let erase = [Activity::ErasePulse, Activity::EraseVerify];
        let most = |power: &CommandPower| power.plane_uw;
        Powers {
            base_uw: loss.controller_uw + core.idle_uw * u64::from(scenario.geometry.dies()),
            sense: types.clone().map(sense).max_by_key(most).expect("there is a type"),
            program: types.map(program).max_by_key(most).expect("there is a type"),
            erase: phases(erase, 0, timing.erase_phases().map(Dur::ns)),
            suspended_uw: core.suspended_excess_uw(),
            bit_fj: power.bit_fj(),
        }
    }
}

/// The mean of two powers over such lengths, rounded up.
fn mean(uw: [u64; 2], lengths_ns: [u64; 2]) -> u64 {
    let whole = u128::from(lengths_ns[0]) + u128::from(lengths_ns[1]);
    if whole == 0 {
        return uw[0].max(uw[1]);
    }
    let energy: u128 =
        uw.iter().zip(lengths_ns).map(|(uw, ns)| u128::from(*uw) * u128::from(ns)).sum();
    u64::try_from(energy.div_ceil(whole)).expect("a mean of two powers")
}

#[cfg(test)]
mod tests;
