//! The settings of dispatchers, between the scenario and its keys, and what they need of it.

use reprieve_base::UserError;

use super::Scenario;
use super::flatten::{Pair, count, text};
use super::mbm::{self, MbmRules};
use super::resolve::{Resolved, Values};
use super::words::Word;

/// The dispatcher and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Name in the registry of dispatchers.
    pub policy: String,
    /// Of `paq`; `None` with another.
    pub paq: Option<PaqRules>,
    /// Of `mbm`; `None` with another.
    pub mbm: Option<MbmRules>,
}

/// Settings of `paq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaqRules {
    /// Page operations that are looked at, the oldest.
    pub window: u32,
    /// What two operations must not share.
    pub conflict: Conflict,
}

/// What two operations must not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// A chip.
    Chip,
    /// A die.
    Die,
}

impl Word for Conflict {
    const WORDS: &'static [(&'static str, Self)] =
        &[("chip", Conflict::Chip), ("die", Conflict::Die)];
}

pub(super) fn dispatch(values: &Values) -> Dispatch {
    Dispatch {
        policy: values.text("scheduling.dispatch").to_string(),
        paq: values.u32_if_on("scheduling.paq_window_pages").map(|window| PaqRules {
            window,
            conflict: Word::of_word(values.text("scheduling.paq_conflict")),
        }),
        mbm: mbm::mbm(values),
    }
}

/// Refuses a dispatcher beside what it knows nothing of.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let Some(mbm) = scenario.scheduling.dispatch.mbm else { return Ok(()) };
    if scenario.ftl.streams.policy != "single" {
        let what = "a dispatcher that places writes sees one next page of a plane; must be \
                    \"single\" with scheduling.dispatch = \"mbm\"";
        return Err(resolved.fault("ftl.stream", what));
    }
    let rewrites = mbm.read_areas.is_some_and(|areas| areas.redistribution.is_some());
    if rewrites && scenario.ftl.demand.is_some() {
        let what = "a dispatcher that has pages written anew looks nothing up in the flash; must \
                    be \"flat\", or scheduling.mbm_redistribution \"none\"";
        return Err(resolved.fault("ftl.mapping", what));
    }
    Ok(())
}

/// The keys of all these with their values.
pub(super) fn pairs(dispatch: &Dispatch) -> Vec<Pair> {
    let Dispatch { policy, paq, mbm } = dispatch;
    let mut pairs = vec![
        ("scheduling.dispatch", text(policy)),
        ("scheduling.paq_window_pages", paq.and_then(|paq| count(paq.window))),
        ("scheduling.paq_conflict", paq.and_then(|paq| text(paq.conflict.word()))),
    ];
    pairs.extend(mbm::pairs(*mbm));
    pairs
}
