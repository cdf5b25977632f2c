//! Settings of the host interface: buffers, queues and the link.

use reprieve_base::Dur;

use crate::value::words;

/// Section `[buffer]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Buffer {
    pub bytes: u64,
    pub acknowledge: Acknowledge,
    pub hold: Option<Hold>,
    pub read_hits: bool,
    pub throttle: Throttle,
}

/// Limits on how fast writes enter the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttle {
    pub bytes_per_s: Option<u64>,
    pub below_free_share: f64,
    pub quota_bytes: Option<u64>,
    pub window: Dur,
}

/// Dirty pages that stay in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hold {
    pub replacement: Replacement,
    pub high_watermark: f64,
    pub low_watermark: f64,
    pub flush_idle: Option<Dur>,
}

/// Which dirty page goes to the flash first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    #[default]
    Fifo,
    Lru,
}

/// Section `[read_cache]` of a drive that has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCache {
    pub bytes: u64,
    pub replacement: Eviction,
    pub fill_on_write: bool,
}

impl ReadCache {
    /// Pages that it can hold, at most those of the drive.
    pub fn pages(&self, logical_pages: u32, page_bytes: u32) -> u32 {
        let pages = self.bytes / u64::from(page_bytes);
        u32::try_from(pages).map_or(logical_pages, |pages| pages.min(logical_pages))
    }
}

/// Section `[host]`, and the cost of the workload's reads of unwritten pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    pub interface: Interface,
    pub order: LinkOrder,
    pub command: Dur,
    /// Time of every command in the controller, without delaying another.
    pub controller: Dur,
    /// As above, for writes, trims and flushes.
    pub controller_write: Dur,
    pub link_bytes_per_s: Option<u64>,
    /// The link by its generation; without either, transfers take no time.
    pub pcie: Option<Pcie>,
    /// Packets in which data crosses the link; `None`: it takes its own bytes alone.
    pub packets: Option<Packets>,
    pub commands_cross_link: bool,
    pub unwritten_costs_read: bool,
}

impl Host {
    /// Rate of the link in each direction; `None`: transfers take no time.
    pub fn link_rate_bytes_per_s(&self) -> Option<u64> {
        self.link_bytes_per_s.or(self.pcie.map(Pcie::bytes_per_s))
    }
}

/// The interface between the host and the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    #[default]
    Direct,
    Nvme(Nvme),
    Sata,
}

/// Submission queues, and how the drive fetches from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nvme {
    pub queues: u32,
    pub queue_entries: u32,
    pub outstanding: Option<u32>,
    pub arbitration: String,
    pub burst: Option<u32>,
    pub weights: Vec<u32>,
    pub class_weights: Vec<u32>,
    pub priorities: Vec<Priority>,
}

impl Nvme {
    /// One queue of `queue_entries` commands.
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

/// A PCI Express link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pcie {
    pub generation: u32,
    pub lanes: u32,
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

/// Packets of a PCI Express link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    pub payload_bytes_max: u32,
    pub overhead_bytes: u32,
}

impl Packets {
    /// Bytes on the link for `bytes` of data; a message without data is a packet as well.
    #[cold]
    pub fn on_link_bytes(self, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(u64::from(self.payload_bytes_max)).max(1);
        bytes + packets * u64::from(self.overhead_bytes)
    }
}

words! {
    /// When a write is acknowledged.
    Acknowledge {
        "through" = Through, "When its last page is programmed.";
        "back" = Back, "When its last page is in the buffer.";
    }

    /// The eviction policy of a cache.
    Eviction {
        "fifo" = Fifo, "The page that came into the cache first.";
        "lru" = Lru, "The page used longest ago.";
    }

    /// In which order requests and their data cross the host link.
    LinkOrder {
        "free" = Free, "Commands take their own way, and reads overtake writes.";
        "in_order" = InOrder,
            "One request at a time crosses the link, in either direction; none overtakes another.";
    }

    /// Priority classes of queues, the highest first.
    Priority {
        "urgent" = Urgent, "Before every other.";
        "high" = High, "After urgent.";
        "medium" = Medium, "After high.";
        "low" = Low, "After medium.";
    }
}
