//! The settings of dispatchers, between the scenario and its keys.

use super::flatten::{Pair, count, text};
use super::resolve::Values;
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

/// Settings of `mbm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbmRules {
    /// How many of the writes that wait a channel may begin.
    pub channel_limit: ChannelLimit,
    /// Which idle chip of a channel is first.
    pub chips: Chips,
    /// A multi-plane read takes pages of different requests.
    pub joins_requests: bool,
    /// Where writes to what long reads have touched are spread; `None`: nowhere.
    pub read_areas: Option<ReadAreas>,
}

/// What a long read marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAreas {
    /// A read of more pages is long.
    pub threshold_pages: u32,
    /// Length of an area.
    pub area_bytes: u64,
}

/// How many of the writes that wait a channel may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelLimit {
    /// An even share of all that the channels carry.
    Exact,
    /// The same, rounded up for each.
    Printed,
    /// As many as there are.
    None,
}

/// Which idle chip of a channel gets writes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chips {
    /// The one that can program fewest pages at once, then those that can most.
    LeastThenGreatest,
    /// In order.
    InOrder,
}

impl Word for ChannelLimit {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("exact", ChannelLimit::Exact),
        ("printed", ChannelLimit::Printed),
        ("none", ChannelLimit::None),
    ];
}

impl Word for Chips {
    const WORDS: &'static [(&'static str, Self)] =
        &[("least-then-greatest", Chips::LeastThenGreatest), ("in-order", Chips::InOrder)];
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
        mbm: values.text_if_on("scheduling.mbm_channel_limit").map(|limit| MbmRules {
            channel_limit: Word::of_word(limit),
            chips: Word::of_word(values.text("scheduling.mbm_chips")),
            joins_requests: values.text("scheduling.mbm_joint_reads") == "any",
            read_areas: values.u32_if_on("scheduling.mbm_read_threshold_pages").map(|pages| {
                ReadAreas {
                    threshold_pages: pages,
                    area_bytes: values.count("scheduling.mbm_read_area_bytes"),
                }
            }),
        }),
    }
}

/// The keys of all these with their values.
pub(super) fn pairs(dispatch: &Dispatch) -> Vec<Pair> {
    let Dispatch { policy, paq, mbm } = dispatch;
    let areas = mbm.map(|mbm| mbm.read_areas);
    let area = areas.flatten();
    let joint = mbm.map(|mbm| if mbm.joins_requests { "any" } else { "request" });
    let spread = areas.map(|areas| if areas.is_some() { "spread" } else { "as-others" });
    vec![
        ("scheduling.dispatch", text(policy)),
        ("scheduling.paq_window_pages", paq.and_then(|paq| count(paq.window))),
        ("scheduling.paq_conflict", paq.and_then(|paq| text(paq.conflict.word()))),
        ("scheduling.mbm_channel_limit", mbm.and_then(|mbm| text(mbm.channel_limit.word()))),
        ("scheduling.mbm_chips", mbm.and_then(|mbm| text(mbm.chips.word()))),
        ("scheduling.mbm_joint_reads", joint.and_then(text)),
        ("scheduling.mbm_read_areas", spread.and_then(text)),
        ("scheduling.mbm_read_threshold_pages", area.and_then(|area| count(area.threshold_pages))),
        ("scheduling.mbm_read_area_bytes", area.and_then(|area| count(area.area_bytes))),
    ]
}
