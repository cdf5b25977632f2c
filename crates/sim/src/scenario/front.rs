//! Sections `[buffer]`, `[read_cache]`, `[host]`: types, from values and back, and checks.

use reprieve_base::{Dur, UserError};

use super::flatten::{Pair, count, dur, number, text};
use super::resolve::{Resolved, Values};
use super::value::Value;
use super::words::Word;
use super::{LinkOrder, Scenario};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// When its last page is programmed.
    Through,
    /// When its last page is in the buffer.
    Back,
}

/// Which dirty page goes to the flash first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The one that came into the buffer first.
    Fifo,
    /// The one written or read longest ago.
    Lru,
}

/// Dirty pages that stay in the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Which goes first.
    pub replacement: Replacement,
    /// Pages go when more than this share of the buffer is dirty; in [0, 1).
    pub high_watermark: f64,
    /// They go until no more than this share is dirty; at most `high_watermark`.
    pub low_watermark: f64,
    /// All go when no request has been open for so long; `None`: they stay.
    pub flush_idle: Option<Dur>,
}

/// Section `[buffer]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Capacity; at least one page.
    pub bytes: u64,
    /// When a write is acknowledged.
    pub acknowledge: Acknowledge,
    /// Dirty pages stay; `None`: they go to the flash at once.
    pub hold: Option<Hold>,
    /// Reads of pages in the buffer are answered from it; else they go to the flash.
    pub read_hits: bool,
}

/// Which page of a cache makes room for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// The one that came first.
    Fifo,
    /// The one used longest ago.
    Lru,
}

/// Section `[read_cache]` of a drive that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadCache {
    /// Capacity; at least one page.
    pub bytes: u64,
    /// Which page makes room.
    pub replacement: Eviction,
    /// Pages that are written come into the cache; else they leave it.
    pub fill_on_write: bool,
}

impl ReadCache {
    /// Pages that it can hold: never more than the drive has.
    pub fn pages(&self, logical_pages: u32, page_bytes: u32) -> u32 {
        let pages = self.bytes / u64::from(page_bytes);
        u32::try_from(pages).map_or(logical_pages, |pages| pages.min(logical_pages))
    }
}

/// What is between the host and the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Nothing: every request reaches the drive at its arrival.
    Direct,
    /// Submission queues.
    Nvme(Nvme),
    /// One queue with NCQ, and a link that is half duplex.
    Sata,
}

/// Submission queues, and how the drive fetches from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvme {
    /// How many; at least 1.
    pub queues: u32,
    /// Commands of one queue that may be outstanding; at least 1.
    pub queue_entries: u32,
    /// Commands of all queues that may be outstanding; `None`: no limit.
    pub outstanding: Option<u32>,
    /// Name in the registry of arbitrations.
    pub arbitration: String,
    /// Commands in a row; `None` where the arbitration has weights instead.
    pub burst: Option<u32>,
    /// Arbitration `weighted`: commands in a row of each queue, at least 1; else empty.
    pub weights: Vec<u32>,
    /// Arbitration `weighted-classes`: commands in a row of high, medium and low; else empty.
    pub class_weights: Vec<u32>,
    /// Arbitrations with classes: that of each queue; else empty.
    pub priorities: Vec<Priority>,
}

/// Classes of queues, the first of them asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Before every other.
    Urgent,
    /// After urgent.
    High,
    /// After high.
    Medium,
    /// After medium.
    Low,
}

/// A PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcie {
    /// From 1 to 6.
    pub generation: u32,
    /// From 1 to 16.
    pub lanes: u32,
}

/// Packets of a PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    /// Data that one of them carries at most; a power of two.
    pub payload_bytes_max: u32,
    /// What each has besides: header, sequence number, check sum and framing.
    pub overhead_bytes: u32,
}

/// Section `[host]`, and what the workload's reads of unwritten pages cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What is between the host and the drive.
    pub interface: Interface,
    /// In which order requests cross the link.
    pub order: LinkOrder,
    /// Time that fetching a command takes; 0 without queues.
    pub command: Dur,
    /// Rate of the host link in each direction; `None`: as `pcie` has it.
    pub link_bytes_per_s: Option<u64>,
    /// The link by its generation; without either, transfers take no time.
    pub pcie: Option<Pcie>,
    /// Packets in which data crosses the link; `None`: it takes its own bytes alone.
    pub packets: Option<Packets>,
    /// Whether the exchanges of a command cross the link besides its data; only with queues and
    /// a rate.
    pub commands_cross_link: bool,
    /// Whether a read of a page that was never written costs a flash read.
    pub unwritten_costs_read: bool,
}

impl Nvme {
    /// One queue of so many commands.
    pub fn one_queue(queue_entries: u32) -> Nvme {
        Nvme {
            queues: 1,
            queue_entries,
            outstanding: None,
            arbitration: "round-robin".to_string(),
            burst: Some(1),
            weights: Vec::new(),
            class_weights: Vec::new(),
            priorities: Vec::new(),
        }
    }
}

impl Pcie {
    /// Bytes a second in each direction, without the overhead of packets; rounded down.
    ///
    /// PCI Express Base Specification 6.0: transfers a second of a lane by generation, and of the
    /// bits that are transferred the share that is not line code: 8 of 10, then 128 of 130; in the
    /// FLITs of generation 6, 242 of 256 bytes are not check or correction bytes.
    pub fn bytes_per_s(self) -> u64 {
        let (megabits_per_s, part, whole) = match self.generation {
            1 => (2_500, 8, 10),
            2 => (5_000, 8, 10),
            3 => (8_000, 128, 130),
            4 => (16_000, 128, 130),
            5 => (32_000, 128, 130),
            6 => (64_000, 242, 256),
            other => panic!("the schema bounds the generation to 6, not {other}"),
        };
        u64::from(self.lanes) * megabits_per_s * 1_000_000 * part / whole / 8
    }
}

impl Packets {
    /// Bytes on the link for so many of data; a message without data is a packet as well.
    #[cold]
    pub fn on_link_bytes(self, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(u64::from(self.payload_bytes_max)).max(1);
        bytes + packets * u64::from(self.overhead_bytes)
    }
}

impl Host {
    /// Rate of the link in each direction; `None`: transfers take no time.
    pub fn link_rate_bytes_per_s(&self) -> Option<u64> {
        self.link_bytes_per_s.or(self.pcie.map(Pcie::bytes_per_s))
    }
}

impl Word for Acknowledge {
    const WORDS: &'static [(&'static str, Self)] =
        &[("through", Acknowledge::Through), ("back", Acknowledge::Back)];
}

impl Word for Replacement {
    const WORDS: &'static [(&'static str, Self)] =
        &[("fifo", Replacement::Fifo), ("lru", Replacement::Lru)];
}

impl Word for Eviction {
    const WORDS: &'static [(&'static str, Self)] =
        &[("fifo", Eviction::Fifo), ("lru", Eviction::Lru)];
}

/// The word of `buffer.replacement` for a buffer that holds nothing.
const IMMEDIATE: &str = "immediate";

impl Word for Priority {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("urgent", Priority::Urgent),
        ("high", Priority::High),
        ("medium", Priority::Medium),
        ("low", Priority::Low),
    ];
}

/// Submission queues that a load names; none if it names none.
pub(super) fn queues(values: &Values) -> Vec<u32> {
    let queues = values.counts_if_on("workload.queues").unwrap_or_default();
    let queue = |queue: &u64| u32::try_from(*queue).expect("the schema bounds it");
    queues.iter().map(queue).collect()
}

/// The inverse of `queues`.
pub(super) fn queues_pair(queues: &[u32]) -> Pair {
    let queues: Vec<u64> = queues.iter().map(|queue| u64::from(*queue)).collect();
    let value = (!queues.is_empty()).then_some(Value::Counts(queues));
    ("workload.queues", value)
}

pub(super) fn buffer(values: &Values) -> Buffer {
    Buffer {
        bytes: values.count("buffer.bytes"),
        acknowledge: Word::of_word(values.text("buffer.acknowledge")),
        hold: values.text_if_on("buffer.replacement").filter(|word| *word != IMMEDIATE).map(
            |word| Hold {
                replacement: Word::of_word(word),
                high_watermark: values.number("buffer.high_watermark"),
                low_watermark: values.number("buffer.low_watermark"),
                flush_idle: values.dur_if_on("buffer.flush_idle_us"),
            },
        ),
        read_hits: values.flag("buffer.read_hits"),
    }
}

pub(super) fn read_cache(values: &Values) -> Option<ReadCache> {
    let bytes = values.count("read_cache.bytes");
    (bytes > 0).then(|| ReadCache {
        bytes,
        replacement: Word::of_word(values.text("read_cache.replacement")),
        fill_on_write: values.flag("read_cache.fill_on_write"),
    })
}

pub(super) fn host(values: &Values) -> Host {
    let is_nvme = values.text("host.interface") == "nvme";
    Host {
        interface: match values.text("host.interface") {
            "direct" => Interface::Direct,
            "nvme" => Interface::Nvme(nvme(values)),
            "sata" => Interface::Sata,
            other => panic!("interface {other} is in the schema and not built"),
        },
        order: Word::of_word(values.text("host.order")),
        command: values.dur_if_on("host.t_command_us").unwrap_or(Dur::ZERO),
        link_bytes_per_s: values.count_if_on("host.link_bytes_per_s"),
        pcie: values
            .u32_if_on("host.pcie_generation")
            .map(|generation| Pcie { generation, lanes: values.u32("host.pcie_lanes") }),
        packets: values.u32_if_on("host.pcie_max_payload_bytes").map(|payload_bytes_max| Packets {
            payload_bytes_max,
            overhead_bytes: values.u32("host.pcie_packet_bytes"),
        }),
        commands_cross_link: is_nvme && values.flag("host.commands_cross_link"),
        unwritten_costs_read: values.text_if_on("workload.unwritten") != Some("zero"),
    }
}

fn nvme(values: &Values) -> Nvme {
    let weight = |weight: &u64| u32::try_from(*weight).expect("the schema bounds it");
    let weights = |name| values.counts_if_on(name).unwrap_or_default().iter().map(weight).collect();
    let priorities = values.words_if_on("host.queue_priorities").unwrap_or_default();
    Nvme {
        queues: values.u32("host.queues"),
        queue_entries: values.u32("host.queue_entries"),
        outstanding: values.u32_if_on("host.outstanding"),
        arbitration: values.text("host.arbitration").to_string(),
        burst: values.u32_if_on("host.arbitration_burst"),
        weights: weights("host.queue_weights"),
        class_weights: weights("host.class_weights"),
        priorities: priorities.iter().map(|word| Word::of_word(word)).collect(),
    }
}

/// The values of these sections: the inverse of what builds them.
pub(super) fn pairs(scenario: &Scenario) -> Vec<Pair> {
    let (buffer, host) = (&scenario.buffer, &scenario.host);
    let mut pairs = vec![
        ("buffer.bytes", count(buffer.bytes)),
        ("buffer.acknowledge", text(buffer.acknowledge.word())),
        ("buffer.read_hits", Some(Value::Flag(buffer.read_hits))),
        ("host.order", text(host.order.word())),
        ("host.link_bytes_per_s", host.link_bytes_per_s.and_then(count)),
        ("host.pcie_generation", host.pcie.and_then(|pcie| count(pcie.generation))),
        ("host.pcie_lanes", host.pcie.and_then(|pcie| count(pcie.lanes))),
    ];
    let packets = host.packets;
    pairs.push(("host.pcie_max_payload_bytes", packets.and_then(|p| count(p.payload_bytes_max))));
    pairs.push(("host.pcie_packet_bytes", packets.and_then(|p| count(p.overhead_bytes))));
    pairs.extend(hold_pairs(buffer));
    pairs.extend(read_cache_pairs(scenario.read_cache));
    match &host.interface {
        Interface::Direct => pairs.push(("host.interface", text("direct"))),
        Interface::Sata => pairs.push(("host.interface", text("sata"))),
        Interface::Nvme(nvme) => {
            pairs.push(("host.interface", text("nvme")));
            let crosses = Value::Flag(host.commands_cross_link);
            pairs.push(("host.commands_cross_link", Some(crosses)));
            pairs.extend(nvme_pairs(nvme));
        }
    }
    if host.interface != Interface::Direct {
        pairs.push(("host.t_command_us", dur(host.command)));
    }
    pairs
}

fn read_cache_pairs(cache: Option<ReadCache>) -> Vec<Pair> {
    let Some(cache) = cache else { return vec![("read_cache.bytes", count(0u64))] };
    vec![
        ("read_cache.bytes", count(cache.bytes)),
        ("read_cache.replacement", text(cache.replacement.word())),
        ("read_cache.fill_on_write", Some(Value::Flag(cache.fill_on_write))),
    ]
}

fn hold_pairs(buffer: &Buffer) -> Vec<Pair> {
    match buffer.hold {
        None if buffer.acknowledge == Acknowledge::Through => Vec::new(),
        None => vec![("buffer.replacement", text(IMMEDIATE))],
        Some(hold) => vec![
            ("buffer.replacement", text(hold.replacement.word())),
            ("buffer.high_watermark", number(hold.high_watermark)),
            ("buffer.low_watermark", number(hold.low_watermark)),
            ("buffer.flush_idle_us", hold.flush_idle.and_then(dur)),
        ],
    }
}

fn nvme_pairs(nvme: &Nvme) -> [Pair; 8] {
    let weights = |weights: &[u32]| {
        let counts = weights.iter().map(|weight| u64::from(*weight)).collect();
        Some(Value::Counts(counts)).filter(|_| !weights.is_empty())
    };
    let classes = nvme.priorities.iter().map(|class| class.word().to_string()).collect();
    [
        ("host.queues", count(nvme.queues)),
        ("host.queue_entries", count(nvme.queue_entries)),
        ("host.outstanding", nvme.outstanding.and_then(count)),
        ("host.arbitration", text(&nvme.arbitration)),
        ("host.arbitration_burst", nvme.burst.and_then(count)),
        ("host.queue_weights", weights(&nvme.weights)),
        ("host.class_weights", weights(&nvme.class_weights)),
        (
            "host.queue_priorities",
            Some(Value::Words(classes)).filter(|_| !nvme.priorities.is_empty()),
        ),
    ]
}

/// Refuses values of these sections that do not fit each other or the geometry.
pub(super) fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let page_bytes = scenario.geometry.page_bytes;
    if scenario.buffer.bytes < u64::from(page_bytes) {
        let what = format!("must hold at least one page of {page_bytes} bytes");
        return Err(resolved.fault("buffer.bytes", what));
    }
    if scenario.read_cache.is_some_and(|cache| cache.bytes < u64::from(page_bytes)) {
        let what = format!("must be 0, or hold at least one page of {page_bytes} bytes");
        return Err(resolved.fault("read_cache.bytes", what));
    }
    read_hits(scenario, resolved)?;
    if let Some(hold) = &scenario.buffer.hold {
        if hold.low_watermark > hold.high_watermark {
            let what = format!("must be at most buffer.high_watermark = {}", hold.high_watermark);
            return Err(resolved.fault("buffer.low_watermark", what));
        }
    }
    link(&scenario.host, resolved)?;
    let Interface::Nvme(nvme) = &scenario.host.interface else { return Ok(()) };
    if let Some(queue) = scenario.queues.iter().find(|queue| **queue >= nvme.queues) {
        let what = format!("{queue} is no queue; there are those from 0 to {}", nvme.queues - 1);
        return Err(resolved.fault("workload.queues", what));
    }
    if !matches!(nvme.class_weights.len(), 0 | 3) {
        let length = nvme.class_weights.len();
        let what = format!("has {length} items; must have 3, for high, medium and low");
        return Err(resolved.fault("host.class_weights", what));
    }
    for (name, length) in [
        ("host.queue_weights", nvme.weights.len()),
        ("host.queue_priorities", nvme.priorities.len()),
    ] {
        if length != 0 && length != nvme.queues as usize {
            let what = format!(
                "has {length} items, and host.queues = {} asks for one for each queue",
                nvme.queues
            );
            return Err(resolved.fault(name, what));
        }
    }
    Ok(())
}

/// A buffer that answers no reads keeps no pages, and knows where their old copies are.
fn read_hits(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let what = if scenario.buffer.read_hits {
        return Ok(());
    } else if scenario.buffer.hold.is_some() {
        "pages that stay in the buffer are nowhere else to be read; must be true, or \
         buffer.replacement \"immediate\""
    } else if scenario.ftl.demand.is_some() {
        "where the old copy of a page in the buffer lies is not looked up in the flash; must be \
         true with ftl.mapping = \"demand\""
    } else {
        return Ok(());
    };
    Err(resolved.fault("buffer.read_hits", what))
}

/// What crosses a link needs one, and packets have sizes that PCI Express knows.
fn link(host: &Host, resolved: &Resolved) -> Result<(), UserError> {
    let has_rate = host.link_rate_bytes_per_s().is_some();
    let needs = "needs a link with host.link_bytes_per_s or host.pcie_generation";
    if let Some(packets) = host.packets {
        if !packets.payload_bytes_max.is_power_of_two() {
            let what = "must be 128, 256, 512, 1024, 2048 or 4096";
            return Err(resolved.fault("host.pcie_max_payload_bytes", what));
        }
        if !has_rate {
            return Err(resolved.fault("host.pcie_max_payload_bytes", needs));
        }
    }
    if host.commands_cross_link && !has_rate {
        return Err(resolved.fault("host.commands_cross_link", needs));
    }
    if host.order == LinkOrder::InOrder {
        if !has_rate {
            return Err(resolved.fault("host.order", needs));
        }
        if host.commands_cross_link {
            let what = "the exchanges of several commands share the link; must be \"free\" with \
                        host.commands_cross_link = true";
            return Err(resolved.fault("host.order", what));
        }
    }
    Ok(())
}
