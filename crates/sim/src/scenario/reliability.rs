//! Sections `[reliability]` and `[ecc]`: types, from values and back, and checks.

use reprieve_base::UserError;
use reprieve_nand::reliability::{Rber, SuspendWear};
use reprieve_nand::{Ecc, Soft};

use super::Scenario;
use super::flatten::{Pair, count, dur, number, text};
use super::resolve::{Resolved, Values};
use super::value::Value;

/// Section `[reliability]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    /// Raw bit errors of the part.
    pub rber: Rber,
    /// Factor of the rate of each type of page; empty: all are alike.
    pub factor_by_type: Vec<f64>,
    /// Cycles that a block of the part is rated for.
    pub rated_cycles: Option<u32>,
    /// How the drive ages; `None`: its cells neither err nor wear out.
    pub ageing: Option<Ageing>,
}

/// What a drive has been through, and what wears it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ageing {
    /// Days that the data of before the first request has lain there.
    pub age_days: f64,
    /// Mean cycles of the blocks before the first request.
    pub cycles_at_start: u32,
    /// A block's cycles are within this share of the mean.
    pub cycles_spread: f64,
    /// Shares of a cycle that suspensions cost.
    pub suspend_wear: SuspendWear,
    /// Days over which the rated cycles are to last.
    pub warranty_days: u32,
}

pub(super) fn reliability(values: &Values) -> Reliability {
    let rate = |name| values.number(name);
    Reliability {
        rber: Rber {
            epsilon: rate("reliability.epsilon"),
            alpha: rate("reliability.alpha"),
            k: rate("reliability.k"),
            beta: rate("reliability.beta"),
            m: rate("reliability.m"),
            n: rate("reliability.n"),
            gamma: rate("reliability.gamma"),
            p: rate("reliability.p"),
            q: rate("reliability.q"),
            delta: rate("reliability.delta"),
        },
        factor_by_type: values
            .numbers_if_on("reliability.rber_factor_by_type")
            .map_or(Vec::new(), <[f64]>::to_vec),
        rated_cycles: values.u32_if_on("reliability.rated_cycles"),
        ageing: (values.text("reliability.model") == "power").then(|| Ageing {
            age_days: values.number("reliability.age_days"),
            cycles_at_start: values.u32("reliability.cycles_at_start"),
            cycles_spread: values.number("reliability.cycles_spread"),
            suspend_wear: SuspendWear {
                per_program: values.number("reliability.wear_per_program_suspend"),
                per_erase: values.number("reliability.wear_per_erase_suspend"),
            },
            warranty_days: values.u32("reliability.warranty_days"),
        }),
    }
}

pub(super) fn ecc(values: &Values) -> Option<Ecc> {
    if values.text_if_on("ecc.code") != Some("ldpc") {
        return None;
    }
    let senses = values.u32("ecc.soft_senses");
    Some(Ecc {
        codeword_data_bytes: values.u32("ecc.codeword_bytes"),
        code_rate: values.number("ecc.code_rate"),
        correctable_bits: values.u32("ecc.correctable_bits"),
        decode_min: values.dur("ecc.t_decode_min_us"),
        decode_typ: values.dur("ecc.t_decode_typ_us"),
        decode_max: values.dur("ecc.t_decode_max_us"),
        retries_max: values.u32("ecc.retries_max"),
        retry_rber_factor: values.number("ecc.retry_rber_factor"),
        soft: Soft {
            senses,
            correctable_bits: values.u32("ecc.soft_correctable_bits"),
            decode: values.dur("ecc.t_soft_decode_us"),
        },
    })
}

/// The keys of both sections with their values.
pub(super) fn pairs(scenario: &Scenario) -> Vec<Pair> {
    let Reliability { rber, factor_by_type, rated_cycles, ageing } = &scenario.reliability;
    let factors = Some(Value::Numbers(factor_by_type.clone()));
    let word = |is_on: bool, on| text(if is_on { on } else { "none" });
    let mut pairs = vec![
        ("reliability.model", word(ageing.is_some(), "power")),
        ("reliability.epsilon", number(rber.epsilon)),
        ("reliability.alpha", number(rber.alpha)),
        ("reliability.k", number(rber.k)),
        ("reliability.beta", number(rber.beta)),
        ("reliability.m", number(rber.m)),
        ("reliability.n", number(rber.n)),
        ("reliability.gamma", number(rber.gamma)),
        ("reliability.p", number(rber.p)),
        ("reliability.q", number(rber.q)),
        ("reliability.delta", number(rber.delta)),
        ("reliability.rber_factor_by_type", factors.filter(|_| !factor_by_type.is_empty())),
        ("reliability.rated_cycles", rated_cycles.and_then(count)),
    ];
    if let Some(ageing) = ageing {
        pairs.extend([
            ("reliability.age_days", number(ageing.age_days)),
            ("reliability.cycles_at_start", count(ageing.cycles_at_start)),
            ("reliability.cycles_spread", number(ageing.cycles_spread)),
            ("reliability.wear_per_program_suspend", number(ageing.suspend_wear.per_program)),
            ("reliability.wear_per_erase_suspend", number(ageing.suspend_wear.per_erase)),
            ("reliability.warranty_days", count(ageing.warranty_days)),
            ("ecc.code", word(scenario.ecc.is_some(), "ldpc")),
        ]);
    }
    if let Some(ecc) = &scenario.ecc {
        pairs.extend([
            ("ecc.codeword_bytes", count(ecc.codeword_data_bytes)),
            ("ecc.code_rate", number(ecc.code_rate)),
            ("ecc.correctable_bits", count(ecc.correctable_bits)),
            ("ecc.t_decode_min_us", dur(ecc.decode_min)),
            ("ecc.t_decode_typ_us", dur(ecc.decode_typ)),
            ("ecc.t_decode_max_us", dur(ecc.decode_max)),
            ("ecc.retries_max", count(ecc.retries_max)),
            ("ecc.retry_rber_factor", number(ecc.retry_rber_factor)),
            ("ecc.soft_senses", count(ecc.soft.senses)),
            ("ecc.soft_correctable_bits", count(ecc.soft.correctable_bits)),
            ("ecc.t_soft_decode_us", dur(ecc.soft.decode)),
        ]);
    }
    pairs
}

/// Refuses values that do not fit each other.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let factors = scenario.reliability.factor_by_type.len();
    let types = scenario.timing.page_types.map_or(0, |types| types.count);
    if factors > 0 && factors != types as usize {
        let what = format!("must have one entry for each of timing.page_types = {types}");
        return Err(resolved.fault("reliability.rber_factor_by_type", what));
    }
    let Some(ecc) = &scenario.ecc else { return Ok(()) };
    if ecc.decode_typ < ecc.decode_min {
        let what = format!("must be at least ecc.t_decode_min_us ({})", ecc.decode_min);
        return Err(resolved.fault("ecc.t_decode_typ_us", what));
    }
    if ecc.decode_max < ecc.decode_typ {
        let what = format!("must be at least ecc.t_decode_typ_us ({})", ecc.decode_typ);
        return Err(resolved.fault("ecc.t_decode_max_us", what));
    }
    if u64::from(ecc.correctable_bits) > ecc.codeword_bits() {
        let what = format!("must be at most the {} bits of a codeword", ecc.codeword_bits());
        return Err(resolved.fault("ecc.correctable_bits", what));
    }
    if ecc.soft.senses > 0 && ecc.soft.correctable_bits < ecc.correctable_bits {
        let what = format!("must be at least ecc.correctable_bits ({})", ecc.correctable_bits);
        return Err(resolved.fault("ecc.soft_correctable_bits", what));
    }
    Ok(())
}
