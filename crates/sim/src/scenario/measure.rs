//! Section `[measure]`: from its values to the typed form and back, and what does not fit.

use reprieve_base::{Dur, UserError};
use reprieve_trace::WorkloadConfig;

use super::Scenario;
use super::flatten::{Pair, count, dur, text};
use super::resolve::{Resolved, Use, Values};
use super::words::Word;

/// Who finds the end of the transient with which a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmup {
    /// The user, who says from when on the run is measured.
    #[default]
    None,
    /// The run itself.
    Auto,
}

impl Word for Warmup {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Warmup::None), ("auto", Warmup::Auto)];
}

/// Section `[measure]`: a request counts if it has this number or a higher one and arrives at this
/// time or later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Lowest number in order of arrival.
    pub from_request: u64,
    /// Earliest arrival, from the start of the run.
    pub from: Dur,
    /// Who finds the end of the transient.
    pub warmup: Warmup,
}

/// The section.
pub(super) fn measure(values: &Values) -> Measure {
    Measure {
        from_request: values.count("measure.from_request"),
        from: values.dur("measure.from_s"),
        warmup: Word::of_word(values.text("measure.warmup")),
    }
}

/// The values that make this section.
pub(super) fn pairs(measure: &Measure) -> [Pair; 3] {
    [
        ("measure.from_request", count(measure.from_request)),
        ("measure.from_s", dur(measure.from)),
        ("measure.warmup", text(measure.warmup.word())),
    ]
}

/// Refuses a section where nothing is measured, and one that says two things.
pub(super) fn check(
    scenario: &Scenario,
    resolved: &Resolved,
    purpose: Use,
) -> Result<(), UserError> {
    let Measure { from_request, from, warmup } = scenario.measure;
    let given = [
        ("measure.from_request", from_request > 0),
        ("measure.from_s", from > Dur::ZERO),
        ("measure.warmup", warmup != Warmup::None),
    ];
    let mut given = given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name);
    let Some(name) = given.next() else { return Ok(()) };
    let what = match purpose {
        Use::Rig => "the rig reports every command, and excludes none; leave it out",
        Use::Serve => "a served drive counts all that its clients ask for; leave it out",
        Use::Run if warmup == Warmup::Auto && name != "measure.warmup" => {
            "says by hand what measure.warmup = \"auto\" is to find; give one of the two"
        }
        Use::Run => return Ok(()),
    };
    Err(resolved.fault(name, what))
}

/// Refuses to exclude all requests of loads that say how many they have.
pub(super) fn check_enough(scenario: &Scenario, path: &str) -> Result<(), UserError> {
    let loads = scenario.workload.iter().chain(scenario.flows.iter().map(|flow| &flow.workload));
    let requests = loads.map(|load| match load {
        WorkloadConfig::Mixed(load) => Some(load.requests),
        WorkloadConfig::Trace(_) | WorkloadConfig::Fio(_) => None,
    });
    let from_request = scenario.measure.from_request;
    match requests.sum::<Option<u64>>() {
        Some(requests) if from_request >= requests => {
            let what = format!(
                "measure.from_request = {from_request}: excludes all {requests} requests; must be \
                 below {requests}"
            );
            Err(UserError::new(what).at(path))
        }
        _ => Ok(()),
    }
}
