//! Settings of the dispatcher `mbm`.

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

/// What has to be idle, and begins writes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionUnit {
    #[default]
    Chip,
    Die,
}

/// How many of the writes that wait a channel may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareRules {
    /// What does not divide.
    pub rounding: Rounding,
    pub on_arrival: bool,
    pub counts_all_writes: bool,
    pub read_weight: u32,
    pub counts_collection: bool,
}

/// What becomes of writes that cannot be shared out evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    #[default]
    Exact,
    Printed,
}

/// Which of equals is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    #[default]
    Rotating,
    InOrder,
}

/// Which planes of a die are programmed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    #[default]
    Lagging,
    Largest,
}

/// Which idle chip of a channel gets writes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chips {
    LeastThenGreatest(FirstOf),
    #[default]
    InOrder,
}

/// Of what a chip is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOf {
    Channel,
    Instant,
    Request,
}

/// What a long read marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAreas {
    pub spread: Spread,
    pub threshold_pages: u32,
    pub area_bytes: u64,
    pub short_reads_end: bool,
    pub redistribution: Option<Redistribution>,
}

/// Where writes go to what long reads have touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// To the plane that their number says.
    #[default]
    ByNumber,
    /// Around the channels, within what is planned for all writes.
    Even,
}

/// When pages of a long read are written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// What is uneven.
    pub trigger: Trigger,
    pub pages_max: u32,
    /// The budget: pages that the host writes for each of these.
    pub writes_per_page: Option<u32>,
}

impl Redistribution {
    /// What begins it; the rest has keys of its own.
    pub(crate) fn by(trigger: Trigger) -> Redistribution {
        Redistribution { trigger, pages_max: 0, writes_per_page: None }
    }
}

/// What of a read is uneven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Either,
    Channels,
    Transactions,
}
