//! Keys between host and translation layer: buffers, queues and the link.

use crate::row::*;
use crate::types::*;

const HELD: &[Need] = &[is("buffer.replacement", &["fifo", "lru"])];
const NVME: &[Need] = &[is("host.interface", &["nvme"])];
const NVM_EXPRESS: &str = "NVM Express Base Specification 2.0, section 3.4.4";

section! {
    /// The write buffer.
    BUFFER "buffer"

    /// Capacity of the write buffer; at least one page.
    bytes [buffer.bytes] count(512, 1 << 40), or("67108864"),
        from("Wu and He, FAST 2012, section 3.1: 64 MB");
    /// When a write is acknowledged.
    acknowledge [buffer.acknowledge] choice(Acknowledge::WORDS), or("'through'");
    /// When a page in the buffer goes to the flash, and which goes first.
    replacement [buffer.hold] variant_of {
        "immediate" = None => None, "Every page goes at once.";
        "fifo" = Some(Hold { replacement: Replacement::Fifo, .. }) =>
            Some(Hold { replacement: Replacement::Fifo, ..Default::default() }),
            "Above a watermark, the page that came into the buffer first.";
        "lru" = Some(Hold { replacement: Replacement::Lru, .. }) =>
            Some(Hold { replacement: Replacement::Lru, ..Default::default() }),
            "Above a watermark, the page written or read longest ago.";
    }, or("'immediate'"), when(&[is("buffer.acknowledge", &["back"])]);
    /// Pages go to the flash when more than this share of the buffer is dirty.
    high_watermark [buffer.hold?.high_watermark] below(0.0, 1.0), or("0.8"), when(HELD);
    /// They go until no more than this share is dirty; at most the high watermark.
    low_watermark [buffer.hold?.low_watermark] below(0.0, 1.0), or("0.5"), when(HELD);
    /// All dirty pages go when no request has been open for this long; absent: they stay.
    flush_idle_us [buffer.hold?.flush_idle] us(), absent(), when(HELD);
    /// The rate at which writes enter the buffer while few blocks are free; absent: any.
    throttle_bytes_per_s [buffer.throttle.bytes_per_s] count(1, 1_000_000_000_000), absent();
    /// That rate holds while fewer blocks than this share of all are free.
    throttle_below_free_share [buffer.throttle.below_free_share] closed(0.0, 1.0), or("1"),
        when(&[given("buffer.throttle_bytes_per_s")]);
    /// Bytes of writes that enter the buffer in a window, after which others wait for the next;
    /// absent: any.
    quota_bytes [buffer.throttle.quota_bytes] count(512, 1 << 40), absent();
    /// The length of such a window; windows follow each other from the start of the run.
    quota_window_us [buffer.throttle.window] us(), when(&[given("buffer.quota_bytes")]);
    /// Whether reads of pages in the write buffer are answered from it; else from the flash.
    read_hits [buffer.read_hits] flag(), or("true");
}

section! {
    /// The cache of pages that were read.
    READ_CACHE "read_cache"

    /// Capacity of the read cache; 0: there is none.
    bytes (
        |s| s.read_cache.map_or(0, |cache| cache.bytes).value(),
        |s, value, _| {
            let cache = ReadCache { bytes: of(value), ..Default::default() };
            s.read_cache = Some(cache).filter(|cache| cache.bytes > 0);
        }
    ) count(0, 1 << 40), or("0");
    /// Which page is evicted.
    replacement [read_cache?.replacement] choice(Eviction::WORDS), or("'lru'");
    /// Whether written pages enter the cache; else they are removed from it.
    fill_on_write [read_cache?.fill_on_write] flag(), or("false");
}

section! {
    /// The link to the host, and its queues.
    HOST "host"

    /// Interface between the host and the drive.
    interface [host.interface] variant_of {
        "direct" = Interface::Direct => Interface::Direct,
            "Every request reaches the drive at its arrival.";
        "nvme" = Interface::Nvme(_) => Interface::Nvme(Default::default()),
            "Submission queues, out of which the drive fetches commands.";
        "sata" = Interface::Sata => Interface::Sata,
            "One queue of 32 commands (NCQ), and a link that is half duplex.";
    }, or("'direct'");
    /// In which order requests and their data cross the host link.
    order [host.order] choice(LinkOrder::WORDS), or("'free'");
    /// Submission queues.
    queues [host.interface as Interface::Nvme.queues] count(1, 65_535), or("1"), when(NVME),
        from("NVM Express Base Specification 2.0: at most 65,535");
    /// Commands of one queue that may be outstanding; others wait.
    queue_entries [host.interface as Interface::Nvme.queue_entries] count(1, 65_535), or("1023"),
        when(NVME), from("Linux 6.1, drivers/nvme/host/pci.c: 1,024 entries, one of them free");
    /// Commands of all queues that the drive works on at a time; absent: no limit.
    outstanding [host.interface as Interface::Nvme.outstanding] count(1, U32), absent(), when(NVME);
    /// From which queue the next command is fetched.
    arbitration [host.interface as Interface::Nvme.arbitration]
        registered(|all| all.arbitrations.into()), or("'round-robin'"), when(NVME),
        from(NVM_EXPRESS);
    /// Commands that a queue may send in its turn.
    arbitration_burst [host.interface as Interface::Nvme.burst] count(1, U32), or("1"),
        when(&[is("host.arbitration", &["round-robin", "strict-priority", "weighted-classes"])]),
        from(NVM_EXPRESS);
    /// Commands that each queue may send in its turn, in the order of the queues.
    queue_weights [host.interface as Interface::Nvme.weights] counts(1, 65_535),
        when(&[is("host.arbitration", &["weighted"])]);
    /// Commands that the high, the medium and the low class may send in a round.
    class_weights [host.interface as Interface::Nvme.class_weights] counts(1, 256),
        when(&[is("host.arbitration", &["weighted-classes"])]), from(NVM_EXPRESS);
    /// The class of each queue, in the order of the queues.
    queue_priorities [host.interface as Interface::Nvme.priorities] list_of(Priority::WORDS),
        when(&[is("host.arbitration", &["strict-priority", "weighted-classes"])]);
    /// Time to fetch a command; commands are fetched one after the other.
    t_command_us [host.command] us(), or("0"), when(&[is("host.interface", &["nvme", "sata"])]);
    /// Time of every command in the controller, during which it delays no other.
    t_controller_us [host.controller] us(), or("0");
    /// As above, for a write, a trim or a flush.
    t_controller_write_us [host.controller_write] us(), same_as("host.t_controller_us");
    /// Rate of the host link in each direction; absent: transfers take no time.
    link_bytes_per_s [host.link_bytes_per_s] count(1, 1_000_000_000_000), absent();
    /// PCI Express generation of the link, in place of link_bytes_per_s.
    pcie_generation [host.pcie??.generation] count(1, 6), absent(),
        when(&[is("host.interface", &["direct", "nvme"])]),
        from("PCI Express Base Specification 6.0: 8b/10b to 2.0, 128b/130b to 5.0, then FLITs");
    /// Data in a PCI Express packet at most; absent: packets have no overhead.
    pcie_max_payload_bytes [host.packets??.payload_bytes_max] count(128, 1 << 12), absent(),
        when(&[is("host.interface", &["direct", "nvme"])]),
        from("PCI Express Base Specification 6.0: Max_Payload_Size, 128 to 4096");
    /// Bytes of a packet besides its data: header, sequence number, check sum, framing.
    pcie_packet_bytes [host.packets?.overhead_bytes] count(0, 64), or("24"),
        when(&[given("host.pcie_max_payload_bytes")]),
        from("PCI Express Base Specification 6.0: 16 with 64-bit addresses, 4 (LCRC), 4");
    /// Whether doorbells, queue entries and requests for data cross the link besides data.
    commands_cross_link [host.commands_cross_link] flag(), or("false"), when(NVME);
    /// Lanes of the link.
    pcie_lanes [host.pcie?.lanes] count(1, 16), or("4"), when(&[given("host.pcie_generation")]);
}
