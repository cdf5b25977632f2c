//! Power loss: metadata in the spare area of each page, the flush of the write buffer, and recovery
//! of the mapping.

mod journal;
mod power_loss_flush;
mod recovery;

use reprieve_base::{Dur, Time};
use reprieve_config::Scenario;
use reprieve_nand::{Activity, CommandPower};

pub use journal::{Journal, Stamp};
pub use power_loss_flush::{FlushBudget, PowerLossFlush, flush_on_power_loss};
pub use recovery::{DieScan, RecoveredPages, RecoveryTime, recovery_time};

/// Power above that of idle dies and the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Start.
    pub from: Time,
    /// End; `NEVER`: while power lasts.
    pub to: Time,
    /// Power in microwatts.
    pub uw: u64,
}

/// State of a die after a power failure.
#[derive(Clone, Debug)]
pub struct CutDie {
    /// When its array is free for programs of the flush.
    pub free_at: Time,
    /// End of data-in over its channel.
    pub channel_until: Time,
    /// Transactions that complete, with their ends.
    pub ends: Vec<(u32, Time)>,
    /// Whether a program was stopped.
    pub stopped_program: bool,
    /// Whether an erase was stopped.
    pub stopped_erase: bool,
    /// Power of its operations.
    pub draws: Vec<Draw>,
}

/// Power of each activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Powers {
    /// Controller and idle dies together.
    pub base_uw: u64,
    /// Sensing, above an idle die.
    pub sense: CommandPower,
    /// Program: mean over pulses and verifies of the page type with the highest power.
    pub program: CommandPower,
    /// Erase: mean over pulses and verifies.
    pub erase: CommandPower,
    /// A suspended operation, above an idle die.
    pub suspended_uw: u64,
    /// Energy per bit over the channel, in femtojoules.
    pub bit_fj: u64,
}

impl Powers {
    /// Returns the powers of a scenario with power loss; without a power model flash draws none.
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

/// Returns the time-weighted mean of two powers, rounded up.
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
