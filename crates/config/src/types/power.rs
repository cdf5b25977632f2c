//! Settings of power draw, and of power loss.

use reprieve_base::Dur;
use reprieve_nand::{CorePower, PAGE_TYPES_MAX, ProgramSuspension};

use crate::value::words;

use super::Scenario;

/// Section `[power]`, where power is accounted for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Power {
    /// A die at its core supply: idle, sensing, in pulse and verify of a program and of an erase,
    /// suspended; the order is that of [`POWERS`].
    pub core_uw: [u64; 7],
    /// Power that a command draws once, for any number of planes.
    pub base_uw: u64,
    /// Sensing, program pulse and program verify, for each page type.
    pub by_type_mw: [Option<Vec<u64>>; 3],
    pub resume_pj: u64,
    pub io_fj_per_bit: Option<u64>,
    pub io_capacitance_pf: Option<f64>,
    pub io_activity: f64,
    pub vdd_core_v: Option<f64>,
    pub vdd_q_v: Option<f64>,
    pub series: Option<Dur>,
    pub max_active_dies: Option<u32>,
    pub budget_uw: Option<u64>,
    pub budget_counts: BudgetCounts,
    /// `None`: the drive has no temperature.
    pub thermal: Option<Thermal>,
}

/// Section `[thermal]`: how a drive warms up, and what the firmware does about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thermal {
    pub ambient_c: f64,
    pub start_c: f64,
    pub c_per_w: f64,
    pub time_constant: Dur,
    pub controller_uw: u64,
    pub poll: Dur,
    /// Light and heavy throttling.
    pub levels: [ThermalLevel; 2],
    pub hysteresis_c: f64,
}

/// A limit on the power of all dies together while a drive is hot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThermalLevel {
    pub from_c: f64,
    pub budget_uw: u64,
}

impl Power {
    /// Whether operations may wait for power, or for another die to finish.
    pub fn limits_something(&self) -> bool {
        self.budget_uw.is_some() || self.max_active_dies.is_some() || self.thermal.is_some()
    }

    /// Power of a die at its core supply.
    pub fn core(&self) -> CorePower {
        let [idle_uw, sense, pulse, verify, erase, erase_verify, suspended_uw] = self.core_uw;
        let mut by_type = [[sense, pulse, verify]; PAGE_TYPES_MAX];
        for (phase, list) in self.by_type_mw.iter().enumerate() {
            for (of_type, given) in by_type.iter_mut().zip(list.iter().flatten()) {
                of_type[phase] = given * 1000;
            }
        }
        CorePower {
            idle_uw,
            base_uw: self.base_uw,
            suspended_uw,
            by_type,
            erase_uw: [erase, erase_verify],
        }
    }

    /// Energy of a bit over the channel in femtojoules, to the nearest.
    pub fn bit_fj(&self) -> u64 {
        match (self.io_fj_per_bit, self.io_capacitance_pf, self.vdd_q_v) {
            (Some(given), ..) => given,
            // A picofarad times the square of a volt is a picojoule.
            (_, Some(pf), Some(volt)) => {
                (0.5 * self.io_activity * pf * volt * volt * 1e3).round() as u64
            }
            _ => panic!("the scenario was checked for one of the two"),
        }
    }
}

/// Section `[power_loss]`, where the drive is prepared for one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerLoss {
    pub at: Option<Dur>,
    pub policy: LossPolicy,
    pub controller_uw: u64,
    pub hold_up: Option<Dur>,
    /// Its capacitor, if it has one.
    pub capacitor: Option<Capacitor>,
    pub efficiency: f64,
    pub program: Option<Dur>,
    pub planes: u32,
    pub resets: [Dur; 3],
    pub oob_bytes: u32,
}

impl PowerLoss {
    /// Energy that the drive has to live on in femtojoules, if a capacitor limits it.
    pub fn budget_fj(&self) -> Option<u128> {
        let Capacitor { capacitance_uf, volts: [start, min] } = self.capacitor?;
        // Half a microfarad times the square of a volt is half a microjoule.
        let uj = 0.5 * capacitance_uf? * (start * start - min * min) * self.efficiency;
        Some((uj * 1e9).floor() as u128)
    }

    /// The capacitance in microfarad that holds `fj`, if the voltages are known.
    pub fn capacitance_uf(&self, fj: u128) -> Option<f64> {
        let [start, min] = self.capacitor?.volts;
        Some(fj as f64 / 1e9 / (0.5 * (start * start - min * min) * self.efficiency))
    }

    /// Whether the drive lives on at all.
    pub fn is_protected(&self) -> bool {
        self.hold_up.is_some() || self.budget_fj().is_some()
    }
}

impl LossPolicy {
    /// Whether the part of a scenario supports the policy.
    pub fn is_possible(self, scenario: &Scenario) -> bool {
        let suspension = &scenario.suspension;
        match self {
            LossPolicy::Wait | LossPolicy::Reset => true,
            LossPolicy::SuspendErase => suspension.erase,
            LossPolicy::Suspend => {
                suspension.erase && suspension.program != ProgramSuspension::None
            }
        }
    }
}

/// A capacitor that supplies the drive after a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacitor {
    pub capacitance_uf: Option<f64>,
    pub volts: [f64; 2],
}

words! {
    /// The power that a program or an erase counts with under a budget.
    BudgetCounts {
        "mean" = Mean, "Its mean over pulses and verifies.";
        "peak" = Peak, "The phase that draws most.";
    }

    /// The fate of the operation in progress on a die when the power fails.
    LossPolicy {
        "wait" = Wait, "It is waited for.";
        "suspend_erase" = SuspendErase, "An erase is suspended; a program is waited for.";
        "suspend" = Suspend, "It is suspended.";
        "reset" = Reset, "It is broken off by a reset of the die, and of no use.";
    }
}
