//! Rules of power, of errors in cells, and of a power loss.

use reprieve_base::{Dur, UserError};

use super::one_for_each;
use crate::resolve::Resolved;
use crate::types::{Power, PowerLoss};

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

/// Refuses powers and codes that do not fit each other or the part.
pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    if let Some(power) = &resolved.scenario.power {
        powers(power, resolved)?;
        budgets(power, resolved)?;
        thermal(power, resolved)?;
    }
    let factors = resolved.reliability.factor_by_type.len();
    let factors = [("reliability.rber_factor_by_type", Some(factors).filter(|n| *n > 0))];
    one_for_each(resolved, &factors, "timing.page_types", page_types(resolved).unwrap_or(0))?;
    ecc(resolved)
}

fn page_types(resolved: &Resolved) -> Option<usize> {
    resolved.timing.page_types.map(|types| types.count as usize)
}

fn powers(power: &Power, resolved: &Resolved) -> Result<(), UserError> {
    let has_pair = power.io_capacitance_pf.is_some() && power.vdd_q_v.is_some();
    resolved.refuse("power.account", power.io_fj_per_bit.is_none() && !has_pair, || {
        "needs the energy of a bit over the channel: give power.e_io_pj_per_bit, or \
         power.io_capacitance_pf and power.vdd_q_v"
    })?;
    let what = || "a bin must have a width above 0";
    resolved.refuse("power.series_us", power.series == Some(Dur::ZERO), what)?;
    let (lists, types) = (|| LISTS.into_iter().zip(&power.by_type_mw), page_types(resolved));
    for (name, list) in lists() {
        let what = || "is by page type, and all pages are alike: give timing.page_types";
        resolved.refuse(name, list.is_some() && types.is_none(), what)?;
    }
    let lengths: Vec<_> = lists().map(|(name, list)| (name, list.as_ref().map(Vec::len))).collect();
    one_for_each(resolved, &lengths, "timing.page_types", types.unwrap_or(0))?;
    let by_type =
        lists().filter_map(|(name, list)| Some((name, list.as_ref()?.iter().min()? * 1000)));
    let [idle, work @ .., suspended] = POWERS;
    let [idle_uw, work_uw @ .., suspended_uw] = power.core_uw;
    let work: Vec<_> = work.into_iter().zip(work_uw).chain(by_type).collect();
    let others = [("power.p_base_mw", power.base_uw), (suspended, suspended_uw)];
    least(resolved, idle, idle_uw, work.iter().copied().chain(others))?;
    least(resolved, "power.p_base_mw", power.base_uw, work.iter().copied())
}

/// Each power is at least that of a key.
fn least(
    resolved: &Resolved,
    of: &str,
    least_uw: u64,
    mut powers: impl Iterator<Item = (&'static str, u64)>,
) -> Result<(), UserError> {
    let what = || format!("must be at least {of} = {}", least_uw as f64 / 1e3);
    powers.try_for_each(|(name, uw)| resolved.refuse(name, uw < least_uw, what))
}

/// Budgets are feasible: all dies can be idle, and suspended ones draw no more than running ones.
fn budgets(power: &Power, resolved: &Resolved) -> Result<(), UserError> {
    let of_level = |level: usize| power.thermal.map(|thermal| thermal.levels[level].budget_uw);
    let budgets = [
        ("power.budget_mw", power.budget_uw),
        ("thermal.light_budget_mw", of_level(0)),
        ("thermal.heavy_budget_mw", of_level(1)),
    ];
    let core = power.core();
    let idle_uw = core.idle_uw * u64::from(resolved.geometry.dies());
    let idle_mw = idle_uw as f64 / 1e3;
    for (name, budget_uw) in budgets {
        let what = || format!("is less than all dies draw idle; must be at least {idle_mw}");
        resolved.refuse(name, budget_uw.is_some_and(|uw| uw < idle_uw), what)?;
    }
    let Some((name, _)) = budgets.into_iter().find(|(_, budget_uw)| budget_uw.is_some()) else {
        return Ok(());
    };
    let programs = core.by_type.iter().flat_map(|[_, pulse, verify]| [*pulse, *verify]);
    let least = programs.chain(core.erase_uw).min().expect("there are some");
    let most_mw = least as f64 / 1e3;
    resolved.refuse("power.p_suspended_mw", core.suspended_uw > least, || {
        format!("is more than a program or erase draws; must be at most {most_mw} with {name}")
    })
}

/// A drive warms up in some time, is looked at in steps, and is limited the more the hotter it is.
fn thermal(power: &Power, resolved: &Resolved) -> Result<(), UserError> {
    let Some(thermal) = power.thermal else { return Ok(()) };
    let what = || "must be above 0";
    resolved.refuse("thermal.time_constant_s", thermal.time_constant == Dur::ZERO, what)?;
    resolved.refuse("thermal.poll_us", thermal.poll == Dur::ZERO, what)?;
    let [light, heavy] = thermal.levels;
    let what = || format!("must be above thermal.light_c = {}", light.from_c);
    resolved.refuse("thermal.heavy_c", heavy.from_c <= light.from_c, what)?;
    let light_mw = light.budget_uw as f64 / 1e3;
    let what = || format!("must be at most thermal.light_budget_mw = {light_mw}");
    resolved.refuse("thermal.heavy_budget_mw", heavy.budget_uw > light.budget_uw, what)
}

/// Decoding takes longer with more errors, and a codeword has the bits that are corrected.
fn ecc(resolved: &Resolved) -> Result<(), UserError> {
    let Some(ecc) = &resolved.scenario.ecc else { return Ok(()) };
    let (least, typical, bits) = (ecc.decode_min, ecc.decode_typ, ecc.correctable_bits);
    let what = || format!("must be at least ecc.t_decode_min_us ({least})");
    resolved.refuse("ecc.t_decode_typ_us", typical < least, what)?;
    let what = || format!("must be at least ecc.t_decode_typ_us ({typical})");
    resolved.refuse("ecc.t_decode_max_us", ecc.decode_max < typical, what)?;
    let what = || format!("must be at most the {} bits of a codeword", ecc.codeword_bits());
    resolved.refuse("ecc.correctable_bits", u64::from(bits) > ecc.codeword_bits(), what)?;
    let corrects_less = ecc.soft.senses > 0 && ecc.soft.correctable_bits < bits;
    let what = || format!("must be at least ecc.correctable_bits ({bits})");
    resolved.refuse("ecc.soft_correctable_bits", corrects_less, what)
}

/// Refuses a power loss that does not fit the part, or that has no limit on the time that the
/// drive lives on.
pub(super) fn check_loss(resolved: &Resolved) -> Result<(), UserError> {
    let Some(loss) = &resolved.scenario.power_loss else { return Ok(()) };
    capacitor(loss, resolved)?;
    resolved.refuse("power_loss.policy", !loss.policy.is_possible(resolved), || {
        "the part does not suspend that; must be \"wait\" or \"reset\" with suspension.program = \
         \"none\" or suspension.erase = false, or with the first alone \"suspend_erase\""
    })?;
    let geometry = &resolved.geometry;
    for (name, value, most_name, most) in [
        ("power_loss.planes", loss.planes, "planes_per_die", geometry.planes_per_die),
        ("power_loss.oob_bytes", loss.oob_bytes, "page_bytes", geometry.page_bytes),
    ] {
        let what = || format!("must be at most geometry.{most_name} = {most}");
        resolved.refuse(name, value > most, what)?;
    }
    Ok(())
}

/// A capacitor has two voltages, and its energy has a consumer.
fn capacitor(loss: &PowerLoss, resolved: &Resolved) -> Result<(), UserError> {
    let is_given = |name: &&str| resolved.values.contains_key(name);
    let [capacitance, start, min] =
        ["power_loss.capacitance_uf", "power_loss.capacitor_start_v", "power_loss.capacitor_min_v"];
    let Some(capacitor) = loss.capacitor else { return Ok(()) };
    if !is_given(&start) || !is_given(&min) {
        let name = [capacitance, start, min].into_iter().find(is_given);
        let what = "needs both power_loss.capacitor_start_v and power_loss.capacitor_min_v";
        return Err(resolved.fault(name.expect("one of them is given"), what));
    }
    let [start_v, min_v] = capacitor.volts;
    let what = || format!("must be more than power_loss.capacitor_min_v = {min_v}");
    resolved.refuse(start, start_v <= min_v, what)?;
    let is_needless = capacitor.capacitance_uf.is_some() && resolved.scenario.power.is_none();
    resolved.refuse(capacitance, is_needless, || {
        "lasts as long as flash and controller draw from it; must be absent with power.account = \
         \"off\""
    })
}
