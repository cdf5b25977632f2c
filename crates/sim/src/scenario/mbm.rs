//! The settings of the dispatcher `mbm`, between the scenario and its keys.

use super::flatten::{Pair, count, flag, text};
use super::resolve::Values;
use super::words::Word;

/// Settings of `mbm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbmRules {
    /// How the writes that wait are shared out; `None`: a channel may begin as many as there are.
    pub share: Option<ShareRules>,
    /// Which of channels and chips that are equal is first.
    pub ties: Ties,
    /// Which planes of a die are programmed together.
    pub alignment: Alignment,
    /// Which idle chip of a channel is first.
    pub chips: Chips,
    /// A multi-plane read takes pages of different requests.
    pub joins_requests: bool,
    /// Where writes to what long reads have touched are spread; `None`: nowhere.
    pub read_areas: Option<ReadAreas>,
}

/// How many of the writes that wait a channel may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareRules {
    /// What does not divide.
    pub rounding: Rounding,
    /// It is computed when writes come; else at every instant at which any wait.
    pub on_arrival: bool,
    /// All writes that a channel was given count; else those under way.
    pub counts_all_writes: bool,
    /// How many writes a page to be read counts for.
    pub read_weight: u32,
    /// A die that collects counts for a page.
    pub counts_collection: bool,
}

/// What becomes of writes that cannot be shared out evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Some channels get one more.
    Exact,
    /// All may take one more.
    Printed,
}

/// Which of equals is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one behind the one that was chosen last.
    Rotating,
    /// The lowest in number.
    InOrder,
}

/// Which planes of a die are programmed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Those that have got least far.
    Lagging,
    /// The most that stand at one page.
    Largest,
}

/// Which idle chip of a channel gets writes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chips {
    /// The one that can program fewest pages at once, as far as this goes; then the one with most.
    LeastThenGreatest(FirstOf),
    /// In order.
    InOrder,
}

/// Of what a chip is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOf {
    /// Of those of its channel at an instant.
    Channel,
    /// Of those of the drive at an instant.
    Instant,
    /// Of those that a request gets.
    Request,
}

/// What a long read marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAreas {
    /// A read of more pages is long.
    pub threshold_pages: u32,
    /// Length of an area.
    pub area_bytes: u64,
    /// A read that is not long ends a mark.
    pub short_reads_end: bool,
    /// When pages are written anew; `None`: never.
    pub redistribution: Option<Redistribution>,
}

/// When pages of a long read are written anew, to where their numbers put them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// What is uneven.
    pub trigger: Trigger,
    /// Pages of one read, at most.
    pub pages_max: u32,
}

/// What of a read is uneven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Its pages on the channels, or the commands of its dies.
    Either,
    /// Its pages on the channels.
    Channels,
    /// The commands of its dies.
    Transactions,
}

impl Word for Rounding {
    const WORDS: &'static [(&'static str, Self)] =
        &[("exact", Rounding::Exact), ("printed", Rounding::Printed)];
}

impl Word for Ties {
    const WORDS: &'static [(&'static str, Self)] =
        &[("rotating", Ties::Rotating), ("in-order", Ties::InOrder)];
}

impl Word for Alignment {
    const WORDS: &'static [(&'static str, Self)] =
        &[("lagging", Alignment::Lagging), ("largest", Alignment::Largest)];
}

impl Word for FirstOf {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("channel", FirstOf::Channel),
        ("instant", FirstOf::Instant),
        ("request", FirstOf::Request),
    ];
}

impl Word for Trigger {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("either", Trigger::Either),
        ("channels", Trigger::Channels),
        ("transactions", Trigger::Transactions),
    ];
}

/// The settings, where `mbm` is named.
pub(super) fn mbm(values: &Values) -> Option<MbmRules> {
    values.text_if_on("scheduling.mbm_ties").map(|ties| MbmRules {
        share: values.text_if_on("scheduling.mbm_share_when").map(|when| ShareRules {
            rounding: Word::of_word(values.text("scheduling.mbm_channel_limit")),
            on_arrival: when == "arrival",
            counts_all_writes: values.text("scheduling.mbm_share_writes") == "all",
            read_weight: values.u32("scheduling.mbm_share_read_weight"),
            counts_collection: values.flag("scheduling.mbm_share_collection"),
        }),
        ties: Word::of_word(ties),
        alignment: Word::of_word(values.text("scheduling.mbm_alignment")),
        chips: match values.text_if_on("scheduling.mbm_first_chip") {
            Some(first) => Chips::LeastThenGreatest(Word::of_word(first)),
            None => Chips::InOrder,
        },
        joins_requests: values.text("scheduling.mbm_joint_reads") == "any",
        read_areas: values.u32_if_on("scheduling.mbm_read_threshold_pages").map(|pages| {
            let redistributed = values.u32_if_on("scheduling.mbm_redistributed_pages");
            ReadAreas {
                threshold_pages: pages,
                area_bytes: values.count("scheduling.mbm_read_area_bytes"),
                short_reads_end: values.text("scheduling.mbm_read_area_end") == "short-read",
                redistribution: redistributed.map(|pages_max| Redistribution {
                    trigger: Word::of_word(values.text("scheduling.mbm_redistribution")),
                    pages_max,
                }),
            }
        }),
    })
}

/// The keys of all these with their values.
pub(super) fn pairs(mbm: Option<MbmRules>) -> Vec<Pair> {
    let share = mbm.map(|mbm| mbm.share);
    let shared = share.flatten();
    let limit = share.map(|share| share.map_or("none", |share| share.rounding.word()));
    let when = |share: ShareRules| if share.on_arrival { "arrival" } else { "instant" };
    let writes = |share: ShareRules| if share.counts_all_writes { "all" } else { "under-way" };
    let (chips, first) = match mbm.map(|mbm| mbm.chips) {
        None => (None, None),
        Some(Chips::LeastThenGreatest(first)) => (Some("least-then-greatest"), Some(first.word())),
        Some(Chips::InOrder) => (Some("in-order"), None),
    };
    let joint = mbm.map(|mbm| if mbm.joins_requests { "any" } else { "request" });
    let areas = mbm.map(|mbm| mbm.read_areas);
    let area = areas.flatten();
    let spread = areas.map(|areas| if areas.is_some() { "spread" } else { "as-others" });
    let end = |area: ReadAreas| if area.short_reads_end { "short-read" } else { "never" };
    let again = area.and_then(|area| area.redistribution);
    let trigger = area.map(|area| area.redistribution.map_or("none", |again| again.trigger.word()));
    vec![
        ("scheduling.mbm_channel_limit", limit.and_then(text)),
        ("scheduling.mbm_share_when", shared.map(when).and_then(text)),
        ("scheduling.mbm_share_writes", shared.map(writes).and_then(text)),
        ("scheduling.mbm_share_read_weight", shared.and_then(|share| count(share.read_weight))),
        ("scheduling.mbm_share_collection", shared.and_then(|share| flag(share.counts_collection))),
        ("scheduling.mbm_ties", mbm.and_then(|mbm| text(mbm.ties.word()))),
        ("scheduling.mbm_alignment", mbm.and_then(|mbm| text(mbm.alignment.word()))),
        ("scheduling.mbm_chips", chips.and_then(text)),
        ("scheduling.mbm_first_chip", first.and_then(text)),
        ("scheduling.mbm_joint_reads", joint.and_then(text)),
        ("scheduling.mbm_read_areas", spread.and_then(text)),
        ("scheduling.mbm_read_threshold_pages", area.and_then(|area| count(area.threshold_pages))),
        ("scheduling.mbm_read_area_bytes", area.and_then(|area| count(area.area_bytes))),
        ("scheduling.mbm_read_area_end", area.map(end).and_then(text)),
        ("scheduling.mbm_redistribution", trigger.and_then(text)),
        ("scheduling.mbm_redistributed_pages", again.and_then(|again| count(again.pages_max))),
    ]
}
