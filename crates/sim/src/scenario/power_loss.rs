//! Section `[power_loss]`: from its values to the typed form and back, and what does not fit.

use reprieve_base::{Dur, UserError};
use reprieve_nand::ProgramSuspension;

use super::flatten::{Pair, count, dur, number, text};
use super::resolve::{Resolved, Values};
use super::words::Word;
use super::{PartialWrite, Scenario};

/// What becomes of the operation that a die is at work on when the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPolicy {
    /// It is waited for.
    Wait,
    /// An erase is suspended; a program is waited for.
    SuspendErase,
    /// It is suspended.
    Suspend,
    /// It is broken off.
    Reset,
}

impl LossPolicy {
    /// Every policy.
    pub const ALL: [LossPolicy; 4] =
        [LossPolicy::Wait, LossPolicy::SuspendErase, LossPolicy::Suspend, LossPolicy::Reset];

    /// Its name in scenarios and results.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// Whether the part of a scenario can do what the policy asks for.
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

impl Word for LossPolicy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("wait", LossPolicy::Wait),
        ("suspend_erase", LossPolicy::SuspendErase),
        ("suspend", LossPolicy::Suspend),
        ("reset", LossPolicy::Reset),
    ];
}

/// A capacitor from which the drive lives on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacitor {
    /// Capacitance in microfarad; `None`: only asked how much it would take.
    pub capacitance_uf: Option<f64>,
    /// Voltage when it is charged, and when the drive stops.
    pub volts: [f64; 2],
}

/// Section `[power_loss]`, where the drive is prepared for one.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLoss {
    /// When the power fails; `None`: not in this run.
    pub at: Option<Dur>,
    /// What becomes of operations.
    pub policy: LossPolicy,
    /// What the controller draws.
    pub controller_uw: u64,
    /// How long the drive lives on at most.
    pub hold_up: Option<Dur>,
    /// From what it lives on.
    pub capacitor: Option<Capacitor>,
    /// Share of the capacitor's energy that is of use, in (0, 1].
    pub efficiency: f64,
    /// Program of pages that are saved; `None`: the part's own.
    pub program: Option<Dur>,
    /// Pages that one such program takes.
    pub planes: u32,
    /// Resets of a die that senses, programs and erases.
    pub resets: [Dur; 3],
    /// Bytes read of each page when the mapping is rebuilt.
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

    /// The capacitance in microfarad that holds so much energy, if the voltages are known.
    pub fn capacitance_uf(&self, fj: u128) -> Option<f64> {
        let [start, min] = self.capacitor?.volts;
        Some(fj as f64 / 1e9 / (0.5 * (start * start - min * min) * self.efficiency))
    }

    /// Whether the drive lives on at all.
    pub fn is_protected(&self) -> bool {
        self.hold_up.is_some() || self.budget_fj().is_some()
    }
}

const RESETS: [&str; 3] =
    ["power_loss.t_reset_read_us", "power_loss.t_reset_program_us", "power_loss.t_reset_erase_us"];

/// The section, if the drive is prepared.
pub(super) fn power_loss(values: &Values) -> Option<PowerLoss> {
    if values.text("power_loss.mode") == "off" {
        return None;
    }
    let start = values.number_if_on("power_loss.capacitor_start_v");
    let min = values.number_if_on("power_loss.capacitor_min_v");
    Some(PowerLoss {
        at: values.dur_if_on("power_loss.at_us"),
        policy: Word::of_word(values.text("power_loss.policy")),
        controller_uw: (values.number("power_loss.p_controller_mw") * 1e3).round() as u64,
        hold_up: values.dur_if_on("power_loss.hold_up_us"),
        capacitor: start.zip(min).map(|(start, min)| Capacitor {
            capacitance_uf: values.number_if_on("power_loss.capacitance_uf"),
            volts: [start, min],
        }),
        efficiency: values.number("power_loss.conversion_efficiency"),
        program: values.dur_if_on("power_loss.t_program_us"),
        planes: values.u32("power_loss.planes"),
        resets: RESETS.map(|name| values.dur(name)),
        oob_bytes: values.u32("power_loss.oob_bytes"),
    })
}

/// The values that make this section.
pub(super) fn pairs(loss: &Option<PowerLoss>) -> Vec<Pair> {
    let Some(loss) = loss else { return vec![("power_loss.mode", text("off"))] };
    let volts = |index: usize| loss.capacitor.and_then(|capacitor| number(capacitor.volts[index]));
    let capacitance_uf = loss.capacitor.and_then(|capacitor| capacitor.capacitance_uf);
    let mut pairs = vec![
        ("power_loss.mode", text("on")),
        ("power_loss.at_us", loss.at.and_then(dur)),
        ("power_loss.policy", text(loss.policy.word())),
        ("power_loss.p_controller_mw", number(loss.controller_uw as f64 / 1e3)),
        ("power_loss.hold_up_us", loss.hold_up.and_then(dur)),
        ("power_loss.capacitance_uf", capacitance_uf.and_then(number)),
        ("power_loss.capacitor_start_v", volts(0)),
        ("power_loss.capacitor_min_v", volts(1)),
        ("power_loss.conversion_efficiency", number(loss.efficiency)),
        ("power_loss.t_program_us", loss.program.and_then(dur)),
        ("power_loss.planes", count(loss.planes)),
        ("power_loss.oob_bytes", count(loss.oob_bytes)),
    ];
    pairs.extend(RESETS.into_iter().zip(loss.resets.map(dur)));
    pairs
}

/// Refuses what does not fit each other, and what a recovery does not know of.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let Some(loss) = &scenario.power_loss else { return Ok(()) };
    capacitor(scenario, loss, resolved)?;
    if !loss.policy.is_possible(scenario) {
        let what = "the part does not suspend that; must be \"wait\" or \"reset\" with \
                    suspension.program = \"none\" or suspension.erase = false, or with the first \
                    alone \"suspend_erase\"";
        return Err(resolved.fault("power_loss.policy", what));
    }
    if loss.planes > scenario.geometry.planes_per_die {
        let what = format!(
            "must be at most geometry.planes_per_die = {}",
            scenario.geometry.planes_per_die
        );
        return Err(resolved.fault("power_loss.planes", what));
    }
    if loss.oob_bytes > scenario.geometry.page_bytes {
        let what =
            format!("must be at most geometry.page_bytes = {}", scenario.geometry.page_bytes);
        return Err(resolved.fault("power_loss.oob_bytes", what));
    }
    if scenario.ftl.partial_write == PartialWrite::TrackSectors {
        let what = "what is stored beside a page does not say which of its sectors hold data, so \
                    that a recovery cannot know; must be \"read_modify_write\" or \"pad\" with \
                    power_loss.mode = \"on\"";
        return Err(resolved.fault("ftl.partial_write", what));
    }
    match unknown(scenario).into_iter().find(|(is_used, ..)| *is_used) {
        None => Ok(()),
        Some((_, key, wanted)) => {
            let what = format!(
                "power_loss.mode = \"on\" knows no recovery with it; must be {wanted} with it, or \
                 power_loss.mode \"off\""
            );
            Err(resolved.fault(key, what))
        }
    }
}

/// What a recovery does not know of: whether it is in use, its key, and what the key must be.
fn unknown(scenario: &Scenario) -> [(bool, &'static str, &'static str); 12] {
    let (ftl, parallelism) = (&scenario.ftl, &scenario.parallelism);
    let faults = &ftl.faults;
    [
        (ftl.demand.is_some(), "ftl.mapping", "\"flat\""),
        (ftl.streams.policy != "single", "ftl.stream", "\"single\""),
        (ftl.streams.gc_separate, "ftl.gc_stream", "\"shared\""),
        (faults.factory_bad_share > 0.0, "ftl.factory_bad_share", "0"),
        (faults.program_failure > 0.0, "nand.program_failure", "0"),
        (faults.erase_failure > 0.0, "nand.erase_failure", "0"),
        (scenario.reliability.ageing.is_some(), "reliability.model", "\"none\""),
        (scenario.timing.pages_together() > 1, "timing.wordline_pages", "1"),
        (parallelism.cache_program, "parallelism.cache_program", "false"),
        (parallelism.independent_plane_reads, "parallelism.independent_plane_reads", "false"),
        (parallelism.plane_suspension, "suspension.multi_plane", "\"whole\""),
        // Pages that were in its buffer would have no plane to come back to.
        (scenario.scheduling.dispatch.policy != "none", "scheduling.dispatch", "\"none\""),
    ]
}

/// A capacitor has two voltages, and its energy is drawn by someone.
fn capacitor(scenario: &Scenario, loss: &PowerLoss, resolved: &Resolved) -> Result<(), UserError> {
    let is_given = |name| resolved.values.number_if_on(name).is_some();
    let [capacitance, start, min] =
        ["power_loss.capacitance_uf", "power_loss.capacitor_start_v", "power_loss.capacitor_min_v"];
    if is_given(start) != is_given(min) || is_given(capacitance) && !is_given(start) {
        let name = [capacitance, start, min].into_iter().find(|name| is_given(name));
        let what = "needs both power_loss.capacitor_start_v and power_loss.capacitor_min_v";
        return Err(resolved.fault(name.expect("one of them is given"), what));
    }
    let Some(capacitor) = loss.capacitor else { return Ok(()) };
    if capacitor.volts[0] <= capacitor.volts[1] {
        let what = format!("must be more than power_loss.capacitor_min_v = {}", capacitor.volts[1]);
        return Err(resolved.fault(start, what));
    }
    if capacitor.capacitance_uf.is_some() && scenario.power.is_none() {
        let what = "lasts as long as flash and controller draw from it; must be absent with \
                    power.account = \"off\"";
        return Err(resolved.fault(capacitance, what));
    }
    Ok(())
}
