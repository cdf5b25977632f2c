//! The part of the schema between host and translation layer: buffers, queues and the link.

use reprieve_base::Entry;

use super::{Family, Kind, Section, Unit, When};
use super::{below, count, optional, required, usual};

const US: Kind = Kind::Duration(Unit::Microseconds);
const U32: u64 = u32::MAX as u64;
const NVM_EXPRESS: &str = "NVM Express Base Specification 2.0, section 3.4.4";

const ACKNOWLEDGE: &[Entry] = &[
    Entry { name: "through", doc: "When its last page is programmed." },
    Entry { name: "back", doc: "When its last page is in the buffer." },
];

const REPLACEMENT: &[Entry] = &[
    Entry { name: "immediate", doc: "Every page goes at once." },
    Entry { name: "fifo", doc: "Above a watermark, the page that came into the buffer first." },
    Entry { name: "lru", doc: "Above a watermark, the page written or read longest ago." },
];

const HELD: When = When::Equals("buffer.replacement", &["fifo", "lru"]);

/// Section `[buffer]`.
pub(super) const BUFFER: Section = Section {
    name: "buffer",
    doc: "The write buffer.",
    keys: &[
        usual(
            "buffer.bytes",
            count(512, 1 << 40),
            "67108864",
            "Capacity of the write buffer; at least one page.",
        )
        .source("Wu and He, FAST 2012, section 3.1: 64 MB"),
        usual(
            "buffer.acknowledge",
            Kind::Choice(ACKNOWLEDGE),
            "\"through\"",
            "When a write is acknowledged.",
        ),
        usual(
            "buffer.replacement",
            Kind::Choice(REPLACEMENT),
            "\"immediate\"",
            "When a page in the buffer goes to the flash, and which goes first.",
        )
        .when(When::Equals("buffer.acknowledge", &["back"])),
        usual(
            "buffer.high_watermark",
            below(0.0, 1.0),
            "0.8",
            "Pages go to the flash when more than this share of the buffer is dirty.",
        )
        .when(HELD),
        usual(
            "buffer.low_watermark",
            below(0.0, 1.0),
            "0.5",
            "They go until no more than this share is dirty; at most the high watermark.",
        )
        .when(HELD),
        optional(
            "buffer.flush_idle_us",
            US,
            "All dirty pages go when no request has been open for so long; absent: they stay.",
        )
        .when(HELD),
        usual(
            "buffer.read_hits",
            Kind::Flag,
            "true",
            "Whether reads of pages in the write buffer are answered from it; else from the flash.",
        ),
    ],
};

const EVICTION: &[Entry] = &[
    Entry { name: "fifo", doc: "The page that came into the cache first." },
    Entry { name: "lru", doc: "The page used longest ago." },
];

/// Section `[read_cache]`.
pub(super) const READ_CACHE: Section = Section {
    name: "read_cache",
    doc: "The cache of pages that were read.",
    keys: &[
        usual(
            "read_cache.bytes",
            count(0, 1 << 40),
            "0",
            "Capacity of the read cache; 0: there is none.",
        ),
        usual(
            "read_cache.replacement",
            Kind::Choice(EVICTION),
            "\"lru\"",
            "Which page makes room for another.",
        ),
        usual(
            "read_cache.fill_on_write",
            Kind::Flag,
            "false",
            "Whether pages that are written come into the cache; else they leave it.",
        ),
    ],
};

const INTERFACE: &[Entry] = &[
    Entry { name: "direct", doc: "Every request reaches the drive at its arrival." },
    Entry { name: "nvme", doc: "Submission queues, out of which the drive fetches commands." },
    Entry { name: "sata", doc: "One queue of 32 commands (NCQ), and a link that is half duplex." },
];

const ORDER: &[Entry] = &[
    Entry { name: "free", doc: "Commands take their own way, and reads overtake writes." },
    Entry {
        name: "in_order",
        doc: "One request at a time crosses the link, in either direction; none overtakes another.",
    },
];

const PRIORITY: &[Entry] = &[
    Entry { name: "urgent", doc: "Before every other." },
    Entry { name: "high", doc: "After urgent." },
    Entry { name: "medium", doc: "After high." },
    Entry { name: "low", doc: "After medium." },
];

const QUEUED: When = When::Equals("host.interface", &["nvme", "sata"]);
const NVME: When = When::Equals("host.interface", &["nvme"]);

/// Section `[host]`.
pub(super) const HOST: Section = Section {
    name: "host",
    doc: "The link to the host, and its queues.",
    keys: &[
        usual(
            "host.interface",
            Kind::Choice(INTERFACE),
            "\"direct\"",
            "What is between the host and the drive.",
        ),
        usual(
            "host.order",
            Kind::Choice(ORDER),
            "\"free\"",
            "In which order requests and their data cross the host link.",
        ),
        usual("host.queues", count(1, 65535), "1", "Submission queues.")
            .when(NVME)
            .source("NVM Express Base Specification 2.0: at most 65,535"),
        usual(
            "host.queue_entries",
            count(1, 65535),
            "1023",
            "Commands of one queue that may be outstanding; others wait.",
        )
        .when(NVME)
        .source("Linux 6.1, drivers/nvme/host/pci.c: 1,024 entries, one of them free"),
        optional(
            "host.outstanding",
            count(1, U32),
            "Commands of all queues that the drive works on at a time; absent: no limit.",
        )
        .when(NVME),
        usual(
            "host.arbitration",
            Kind::Registered(Family::Arbitration),
            "\"round-robin\"",
            "From which queue the next command is fetched.",
        )
        .when(NVME)
        .source(NVM_EXPRESS),
        usual(
            "host.arbitration_burst",
            count(1, U32),
            "1",
            "Commands that a queue may send in its turn.",
        )
        .when(When::Equals(
            "host.arbitration",
            &["round-robin", "strict-priority", "weighted-classes"],
        ))
        .source(NVM_EXPRESS),
        required(
            "host.queue_weights",
            Kind::Counts { min: 1, max: 65535 },
            "Commands that each queue may send in its turn, in the order of the queues.",
        )
        .when(When::Equals("host.arbitration", &["weighted"])),
        required(
            "host.class_weights",
            Kind::Counts { min: 1, max: 256 },
            "Commands that the high, the medium and the low class may send in a round.",
        )
        .when(When::Equals("host.arbitration", &["weighted-classes"]))
        .source(NVM_EXPRESS),
        required(
            "host.queue_priorities",
            Kind::Words(PRIORITY),
            "The class of each queue, in the order of the queues.",
        )
        .when(When::Equals("host.arbitration", &["strict-priority", "weighted-classes"])),
        usual(
            "host.t_command_us",
            US,
            "0",
            "Time that fetching a command takes; commands are fetched one after the other.",
        )
        .when(QUEUED),
        optional(
            "host.link_bytes_per_s",
            count(1, 1_000_000_000_000),
            "Rate of the host link in each direction; absent: transfers take no time.",
        ),
        optional(
            "host.pcie_generation",
            count(1, 6),
            "PCI Express generation of the link, in place of link_bytes_per_s.",
        )
        .source("PCI Express Base Specification 6.0: 8b/10b to 2.0, 128b/130b to 5.0, then FLITs")
        .when(When::Equals("host.interface", &["direct", "nvme"])),
        optional(
            "host.pcie_max_payload_bytes",
            count(128, 4096),
            "Data in a PCI Express packet at most; absent: packets take nothing besides data.",
        )
        .source("PCI Express Base Specification 6.0: Max_Payload_Size, 128 to 4096")
        .when(When::Equals("host.interface", &["direct", "nvme"])),
        usual(
            "host.pcie_packet_bytes",
            count(0, 64),
            "24",
            "Bytes of a packet besides its data: header, sequence number, check sum, framing.",
        )
        .source("PCI Express Base Specification 6.0: 16 with 64-bit addresses, 4 (LCRC), 4")
        .when(When::Given("host.pcie_max_payload_bytes")),
        usual(
            "host.commands_cross_link",
            Kind::Flag,
            "false",
            "Whether doorbells, queue entries and requests for data cross the link besides data.",
        )
        .when(NVME),
        usual("host.pcie_lanes", count(1, 16), "4", "Lanes of the link.")
            .when(When::Given("host.pcie_generation")),
    ],
};
