//! Settings of the dispatcher `mbm`.

use crate::value::words;

/// Settings of `mbm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MbmRules {
    pub share: Option<ShareRules>,
    pub unit: TransactionUnit,
    pub ties: Ties,
    pub alignment: Alignment,
    pub chips: Chips,
    pub joins_requests: bool,
    pub read_areas: Option<ReadAreas>,
}

/// Limit on the waiting writes that a channel may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareRules {
    /// Handling of the remainder.
    pub rounding: Rounding,
    pub on_arrival: bool,
    pub counts_all_writes: bool,
    pub read_weight: u32,
    pub counts_collection: bool,
}

/// Handling of writes that cannot be shared out evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    #[default]
    Exact,
    Printed,
}

/// Which idle chip of a channel gets writes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chips {
    LeastThenGreatest(FirstOf),
    #[default]
    InOrder,
}

/// The areas that a long read marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAreas {
    pub spread: Spread,
    pub threshold_pages: u32,
    pub area_bytes: u64,
    pub short_reads_end: bool,
    pub redistribution: Option<Redistribution>,
}

/// Destination of writes to areas that long reads have touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// To the plane given by their number.
    #[default]
    ByNumber,
    /// Around the channels, within the plan for all writes.
    Even,
}

/// When pages of a long read are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// The condition that starts it.
    pub trigger: Trigger,
    pub pages_max: u32,
    /// The budget: pages that the host writes for each rewritten one.
    pub writes_per_page: Option<u32>,
    /// No page is rewritten while writes wait.
    pub makes_way: bool,
}

impl Redistribution {
    /// Returns the settings with this trigger; the others have separate keys.
    pub(crate) fn by(trigger: Trigger) -> Redistribution {
        Redistribution { trigger, pages_max: 0, writes_per_page: None, makes_way: false }
    }
}

/// The imbalance of a read that starts a redistribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Either,
    Channels,
    Transactions,
}

words! {
    /// The unit that must be idle, and starts writes together.
    TransactionUnit {
        "chip" = Chip, "A chip: its dies work together, and wait for each other.";
        "die" = Die, "A die: those of a chip begin one by one.";
    }

    /// The order among equals.
    Ties {
        "rotating" = Rotating, "The one behind the one that was chosen last.";
        "in-order" = InOrder, "The lowest in number.";
    }

    /// Which planes of a die are programmed together.
    Alignment {
        "lagging" = Lagging, "Those that have got least far, until they have caught up.";
        "largest" = Largest,
            "The most that stand at one page, of equals those that have got least far.";
    }

    /// The unit within which a chip is the first.
    FirstOf {
        "channel" = Channel, "For each channel at each instant.";
        "instant" = Instant, "For the drive at each instant.";
        "request" = Request, "For each request.";
    }
}
