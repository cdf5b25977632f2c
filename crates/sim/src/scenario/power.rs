//! Section `[power]`: from its values to the typed form and back, and what does not fit.

use reprieve_base::{Dur, UserError};
use reprieve_nand::{CorePower, PAGE_TYPES_MAX};

use super::Scenario;
use super::flatten::{Pair, count, dur, number, text};
use super::resolve::{Resolved, Values};
use super::value::Value;
use super::words::Word;

/// As what a program or an erase counts under a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetCounts {
    /// Its mean over pulses and verifies.
    Mean,
    /// The phase that draws most.
    Peak,
}

impl Word for BudgetCounts {
    const WORDS: &'static [(&'static str, Self)] =
        &[("mean", BudgetCounts::Mean), ("peak", BudgetCounts::Peak)];
}

/// Section `[power]`, where power is accounted for.
#[derive(Clone, Debug, PartialEq)]
pub struct Power {
    /// A die at its core supply: idle, sensing, in pulse and verify of a program and of an erase,
    /// suspended; the order is that of [`POWERS`].
    pub core_uw: [u64; 7],
    /// Sensing, program pulse and program verify, for each page type.
    pub by_type_mw: [Option<Vec<u64>>; 3],
    /// Energy of a resume in picojoules.
    pub resume_pj: u64,
    /// Energy of a bit over the channel in femtojoules, as given.
    pub io_fj_per_bit: Option<u64>,
    /// Capacitance of a line of the channel.
    pub io_capacitance_pf: Option<f64>,
    /// Share of bits at which a line changes.
    pub io_activity: f64,
    /// Voltage of the core supply.
    pub vdd_core_v: Option<f64>,
    /// Voltage of the I/O supply.
    pub vdd_q_v: Option<f64>,
    /// Width of the bins of the time series.
    pub series: Option<Dur>,
    /// Dies that may be at work at once.
    pub max_active_dies: Option<u32>,
    /// What all dies together may draw.
    pub budget_uw: Option<u64>,
    /// As what a program or an erase counts then.
    pub budget_counts: BudgetCounts,
}

/// The keys of `Power::core_uw`.
const POWERS: [&str; 7] = [
    "power.p_idle_mw",
    "power.p_sense_mw",
    "power.p_program_pulse_mw",
    "power.p_program_verify_mw",
    "power.p_erase_pulse_mw",
    "power.p_erase_verify_mw",
    "power.p_suspended_mw",
];

/// The keys of `Power::by_type_mw`.
const LISTS: [&str; 3] = [
    "power.p_sense_mw_by_type",
    "power.p_program_pulse_mw_by_type",
    "power.p_program_verify_mw_by_type",
];

impl Power {
    /// What a die draws at its core supply.
    pub fn core(&self) -> CorePower {
        let [idle_uw, sense, pulse, verify, erase, erase_verify, suspended_uw] = self.core_uw;
        let mut by_type = [[sense, pulse, verify]; PAGE_TYPES_MAX];
        for (phase, list) in self.by_type_mw.iter().enumerate() {
            for (of_type, given) in by_type.iter_mut().zip(list.iter().flatten()) {
                of_type[phase] = given * 1000;
            }
        }
        CorePower { idle_uw, suspended_uw, by_type, erase_uw: [erase, erase_verify] }
    }

    /// Energy of a bit over the channel in femtojoules, to the nearest.
    pub fn bit_fj(&self) -> u64 {
        if let Some(given) = self.io_fj_per_bit {
            return given;
        }
        match (self.io_capacitance_pf, self.vdd_q_v) {
            // A picofarad times the square of a volt is a picojoule.
            (Some(pf), Some(volt)) => {
                (0.5 * self.io_activity * pf * volt * volt * 1e3).round() as u64
            }
            _ => panic!("the scenario was checked for one of the two"),
        }
    }
}

/// A number of a key in its thousandths, to the nearest.
fn thousandths(number: f64) -> u64 {
    (number * 1e3).round() as u64
}

fn of_thousandths(count: u64) -> Option<Value> {
    number(count as f64 / 1e3)
}

/// The section, if power is accounted for.
pub(super) fn power(values: &Values) -> Option<Power> {
    if values.text("power.account") == "off" {
        return None;
    }
    Some(Power {
        core_uw: POWERS.map(|name| thousandths(values.number(name))),
        by_type_mw: LISTS.map(|name| values.counts_if_on(name).map(<[u64]>::to_vec)),
        resume_pj: thousandths(values.number("power.e_resume_nj")),
        io_fj_per_bit: values.number_if_on("power.e_io_pj_per_bit").map(thousandths),
        io_capacitance_pf: values.number_if_on("power.io_capacitance_pf"),
        io_activity: values.number("power.io_activity"),
        vdd_core_v: values.number_if_on("power.vdd_core_v"),
        vdd_q_v: values.number_if_on("power.vdd_q_v"),
        series: values.dur_if_on("power.series_us"),
        max_active_dies: values.u32_if_on("power.max_active_dies"),
        budget_uw: values.number_if_on("power.budget_mw").map(thousandths),
        budget_counts: Word::of_word(values.text("power.budget_counts")),
    })
}

/// The values that make this section.
pub(super) fn pairs(power: &Option<Power>) -> Vec<Pair> {
    let Some(power) = power else { return vec![("power.account", text("off"))] };
    let mut pairs = vec![
        ("power.account", text("on")),
        ("power.e_resume_nj", of_thousandths(power.resume_pj)),
        ("power.e_io_pj_per_bit", power.io_fj_per_bit.and_then(of_thousandths)),
        ("power.io_capacitance_pf", power.io_capacitance_pf.and_then(number)),
        ("power.io_activity", number(power.io_activity)),
        ("power.vdd_core_v", power.vdd_core_v.and_then(number)),
        ("power.vdd_q_v", power.vdd_q_v.and_then(number)),
        ("power.series_us", power.series.and_then(dur)),
        ("power.max_active_dies", power.max_active_dies.and_then(count)),
        ("power.budget_mw", power.budget_uw.and_then(of_thousandths)),
        ("power.budget_counts", text(power.budget_counts.word())),
    ];
    pairs.extend(POWERS.into_iter().zip(power.core_uw.map(of_thousandths)));
    let lists = power.by_type_mw.iter().map(|list| list.clone().map(Value::Counts));
    pairs.extend(LISTS.into_iter().zip(lists));
    pairs
}

/// Refuses powers that do not fit each other or the part.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let Some(power) = &scenario.power else { return Ok(()) };
    if power.io_fj_per_bit.is_none()
        && (power.io_capacitance_pf.is_none() || power.vdd_q_v.is_none())
    {
        let what = "needs the energy of a bit over the channel: give power.e_io_pj_per_bit, or \
                    power.io_capacitance_pf and power.vdd_q_v";
        return Err(resolved.fault("power.account", what));
    }
    if power.series == Some(Dur::ZERO) {
        return Err(resolved.fault("power.series_us", "a bin must have a width above 0"));
    }
    lists(scenario, power, resolved)?;
    let idle_uw = power.core_uw[0];
    let low = |uw: u64| uw < idle_uw;
    let what = || format!("must be at least power.p_idle_mw = {}", idle_uw as f64 / 1e3);
    for (name, uw) in POWERS.into_iter().zip(power.core_uw) {
        if low(uw) {
            return Err(resolved.fault(name, what()));
        }
    }
    for (name, list) in LISTS.into_iter().zip(&power.by_type_mw) {
        if list.iter().flatten().any(|mw| low(mw * 1000)) {
            return Err(resolved.fault(name, what()));
        }
    }
    budget(scenario, power, resolved)
}

/// A list has an entry for each type of pages.
fn lists(scenario: &Scenario, power: &Power, resolved: &Resolved) -> Result<(), UserError> {
    let types = scenario.timing.page_types.map(|types| types.count as usize);
    for (name, list) in LISTS.into_iter().zip(&power.by_type_mw) {
        let Some(list) = list else { continue };
        let what = match types {
            None => "is by page type, and all pages are alike: give timing.page_types".to_string(),
            Some(count) if list.len() != count => {
                format!("must have one entry for each of timing.page_types = {count}")
            }
            Some(_) => continue,
        };
        return Err(resolved.fault(name, what));
    }
    Ok(())
}

/// A budget can be kept: all can be idle, and what is suspended draws no more than what runs.
fn budget(scenario: &Scenario, power: &Power, resolved: &Resolved) -> Result<(), UserError> {
    let Some(budget_uw) = power.budget_uw else { return Ok(()) };
    let core = power.core();
    let idle_uw = core.idle_uw * u64::from(scenario.geometry.dies());
    if budget_uw < idle_uw {
        let what =
            format!("is less than all dies draw idle; must be at least {}", idle_uw as f64 / 1e3);
        return Err(resolved.fault("power.budget_mw", what));
    }
    if scenario.parallelism.cache_program {
        let what = "cannot be kept with parallelism.cache_program: a program that is loaded begins \
                    by itself; leave one of them out, or limit power.max_active_dies";
        return Err(resolved.fault("power.budget_mw", what));
    }
    let programs = core.by_type.iter().flat_map(|[_, pulse, verify]| [*pulse, *verify]);
    let least = programs.chain(core.erase_uw).min().expect("there are some");
    if core.suspended_uw > least {
        let what = format!(
            "is more than a program or erase draws; must be at most {} with power.budget_mw",
            least as f64 / 1e3
        );
        return Err(resolved.fault("power.p_suspended_mw", what));
    }
    Ok(())
}
