//! Random drives under random loads: nothing is lost, nothing is counted twice, time adds up.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use reprieve_base::{Op, SECTOR_BYTES};
use reprieve_sim::registries;

use super::drive::{self, Outcome, Row};
use super::parallel::METERED;

/// Percentiles of the summary, in parts per million so that a rank is exact.
const PERCENTILES: [(&str, u64); 6] = [
    ("p50", 500_000),
    ("p95", 950_000),
    ("p99", 990_000),
    ("p99_9", 999_000),
    ("p99_99", 999_900),
    ("p99_999", 999_990),
];

/// A small drive.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    channels: u32,
    dies: u32,
    planes: u32,
    pub(super) blocks: u32,
    pub(super) pages: u32,
    page_bytes: u32,
    /// Free blocks of a plane that the host does not get.
    reserve: u32,
    /// Blocks of a plane kept from the user beyond what garbage collection needs.
    pub(super) extra_spare: u32,
    /// Open blocks of a plane beyond the first.
    more_fronts: u32,
}

impl Shape {
    fn planes_in_all(&self) -> u64 {
        u64::from(self.channels * self.dies * self.planes)
    }

    /// Blocks kept from the user: the reserve, three under way, one to gain, and more.
    fn spare_blocks(&self) -> u32 {
        (self.reserve + 4 + self.more_fronts + self.extra_spare).min(self.blocks - 1)
    }

    fn physical_pages(&self) -> u64 {
        self.planes_in_all() * u64::from(self.blocks * self.pages)
    }

    fn logical_pages(&self) -> u64 {
        self.planes_in_all() * u64::from((self.blocks - self.spare_blocks()) * self.pages)
    }

    fn toml(&self) -> String {
        let share = f64::from(self.spare_blocks()) / f64::from(self.blocks);
        format!(
            "[geometry]\nchannels = {}\ndies_per_channel = {}\nplanes_per_die = {}\n\
             blocks_per_plane = {}\npages_per_block = {}\npage_bytes = {}\n\
             [ftl]\nover_provisioning = {share}\ngc_hard_free_blocks = {}\n",
            self.channels,
            self.dies,
            self.planes,
            self.blocks,
            self.pages,
            self.page_bytes,
            self.reserve,
        )
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    let sizes = prop::sample::select(vec![512u32, 2048, 4096, 8192]);
    let many = (1..=4u32, 1..=3u32, 1..=4u32, 12..=40u32, 4..=16u32, sizes, 1..=3u32, 0..=8u32);
    many.prop_map(|(channels, dies, planes, blocks, pages, page_bytes, reserve, extra_spare)| {
        let more_fronts = 0;
        Shape {
            channels,
            dies,
            planes,
            blocks,
            pages,
            page_bytes,
            reserve,
            extra_spare,
            more_fronts,
        }
    })
}

/// Policies of the drive, as the rest of the sections that [`Shape`] begins.
#[derive(Clone, Debug)]
struct Policies {
    /// The rest of `[ftl]`, then other sections.
    toml: String,
    write_back: bool,
    unwritten_is_zero: bool,
    preconditioned: bool,
    shadow_buffer: bool,
    /// Open blocks of a plane: all, and those that take moved pages.
    fronts: (u32, u32),
}

fn names(entries: &[reprieve_base::Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// Who has a channel next, and how much of a page crosses it.
fn channel() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "[channel]\ntransfer_unit_bytes = 512\n",
        "[channel]\norder = \"data_first\"\n",
        "[channel]\norder = \"commands_first\"\ntransfer_unit_bytes = 512\n",
    ])
}
/// Keys of `[ftl]`, whether the drive is preconditioned, and the open blocks of a plane.
type Translation = (String, bool, (u32, u32));

/// Placement, victim, background collection and preconditioning.
fn ftl() -> impl Strategy<Value = Translation> {
    let registries = registries();
    (
        prop::sample::select(names(registries.placements)),
        prop::sample::select(names(registries.gc_victims)),
        any::<bool>(),
        0.0..0.6f64,
        prop::sample::select(vec!["none", "sequential", "steady"]),
        collection(),
        channel(),
    )
        .prop_map(
            |(placement, victim, background, start, precondition, collection, channel)| {
                let toml = format!(
                    "placement = \"{placement}\"\ngc_victim = \"{victim}\"\n\
                 gc_background = {background}\ngc_start_free_share = {start}\n\
                 precondition = \"{precondition}\"\n{}{channel}",
                    collection.0
                );
                (toml, precondition != "none", collection.1)
            },
        )
}

/// Streams, the course of collection and wear levelling; and the open blocks of a plane.
fn collection() -> impl Strategy<Value = (String, (u32, u32))> {
    let streams = [("single", 1), ("hot-cold", 2)];
    assert_eq!(streams.map(|(name, _)| name).to_vec(), names(registries().streams));
    (
        prop::sample::select(streams.to_vec()),
        any::<(bool, bool, bool)>(),
        prop::option::of(0.1..3.0f64),
        prop::option::of(1..4u32),
        prop::option::of(2..4u32),
    )
        .prop_map(
            |((stream, count), (separate, preemptible, least_worn), rate, dies, spread)| {
                let gc_stream = if separate { "separate" } else { "shared" };
                let free_block = if least_worn { "least-worn" } else { "oldest" };
                let mut toml = format!(
                    "stream = \"{stream}\"\ngc_stream = \"{gc_stream}\"\n\
                 gc_preemptible = {preemptible}\nfree_block = \"{free_block}\"\n\
                 count_erases = true\n"
                );
                let mut optional = |key: &str, value: Option<String>| {
                    if let Some(value) = value {
                        toml.push_str(&format!("{key} = {value}\n"));
                    }
                };
                optional("gc_rate_pages_per_write", rate.map(|rate| rate.to_string()));
                optional("gc_dies_max", dies.map(|dies| dies.to_string()));
                optional("static_wear_spread", spread.map(|spread| spread.to_string()));
                let moved = if separate { 1 } else { count };
                (toml, (count + u32::from(separate), moved))
            },
        )
}

/// How a part departs from those of the paper: keys of `[suspension]`.
fn modes() -> impl Strategy<Value = String> {
    let erase_modes = ["\"immediate\"", "\"deferred\"", "\"timeout\"\nerase_timeout_us = 700"];
    (
        prop::sample::select(erase_modes.to_vec()),
        any::<bool>(),
        prop::sample::select(vec!["atomic", "interruptible"]),
        prop::sample::select(vec!["data_out", "array_read"]),
    )
        .prop_map(|(erase_mode, inside, restore, resume_at)| {
            format!(
                "erase_mode = {erase_mode}\nreset_inside_phase = {inside}\n\
                 restore = \"{restore}\"\nresume_at = \"{resume_at}\"\n"
            )
        })
}

/// What the part can suspend and when the controller asks for it.
fn suspension() -> impl Strategy<Value = (String, bool)> {
    let sets = ["[]", "[\"program\"]", "[\"gc_program\", \"erase\"]", "[\"erase\", \"program\"]"];
    let set = || prop::sample::select(sets.to_vec());
    let limit = prop::option::of(1..4u32);
    let threshold = (prop::option::of(0..500u32), prop::option::of(0..500u32));
    (
        prop::sample::select(vec!["none", "ips", "ipc", "iteration"]),
        any::<(bool, bool)>(),
        prop::sample::select(vec!["exact", "redo_phase", "restart"]),
        prop::sample::select(vec!["never", "always", "proportional"]),
        (limit, 0..60u32),
        prop::sample::select(names(registries().suspend_policies)),
        threshold,
        (set(), set(), prop::sample::select(vec!["[]", "[\"erase\"]"]), modes()),
    )
        .prop_map(
            |(program, (erase, shadow), resume, vth, guards, policy, threshold, sets)| {
                let mut toml = format!(
                    "[suspension]\nprogram = \"{program}\"\nerase = {erase}\n\
                 erase_resume = \"{resume}\"\nvth_reached = \"{vth}\"\nshadow_buffer = {shadow}\n\
                 min_progress_us = {}\npolicy = \"{policy}\"\nrmw_read_suspends = {}\n\
                 gc_read_suspends = {}\nhost_write_suspends = {}\n{}",
                    guards.1, sets.0, sets.1, sets.2, sets.3
                );
                let mut optional = |key: &str, value: Option<u32>| {
                    if let Some(value) = value {
                        toml.push_str(&format!("{key} = {value}\n"));
                    }
                };
                optional("max_per_operation", guards.0);
                if policy == "threshold" {
                    optional("min_remaining_us", threshold.0);
                    optional("max_suspended_us", threshold.1);
                }
                (toml, shadow)
            },
        )
}

/// Segments of the erase of 1500 us, and the law of reads: keys of `[timing]`.
fn part() -> impl Strategy<Value = String> {
    let laws = prop::sample::select(vec!["fixed", "exponential"]);
    (prop::sample::select(vec![1u32, 3, 100]), laws)
        .prop_map(|(segments, law)| format!("erase_segments = {segments}\nread_law = \"{law}\"\n"))
}

/// The whole of `[host]` but the link's rate.
fn host() -> impl Strategy<Value = String> {
    let nvme = (
        1..70u32,
        1..5u32,
        prop::option::of(1..6u32),
        prop::sample::select(names(registries().arbitrations)),
        1..4u32,
    );
    let nvme = nvme.prop_map(|(queues, entries, outstanding, arbitration, burst)| {
        let list = |items: &[&str]| {
            let items = items.iter().cycle().take(queues as usize);
            items.copied().collect::<Vec<_>>().join(", ")
        };
        let arbitration_keys = match arbitration {
            "weighted" => format!("queue_weights = [{}]\n", list(&["3", "1", "2"])),
            "strict-priority" => {
                let classes = list(&["\"low\"", "\"urgent\"", "\"high\"", "\"low\""]);
                format!("arbitration_burst = {burst}\nqueue_priorities = [{classes}]\n")
            }
            "weighted-classes" => {
                let classes = list(&["\"low\"", "\"high\"", "\"urgent\"", "\"medium\""]);
                format!("class_weights = [2, {burst}, 1]\nqueue_priorities = [{classes}]\n")
            }
            _ => format!("arbitration_burst = {burst}\n"),
        };
        let outstanding = outstanding.map_or(String::new(), |all| format!("outstanding = {all}\n"));
        format!(
            "interface = \"nvme\"\nqueues = {queues}\nqueue_entries = {entries}\n\
             arbitration = \"{arbitration}\"\n{arbitration_keys}{outstanding}"
        )
    });
    let command_us = prop::sample::select(vec!["0", "1.5", "40"]);
    let queued = (prop_oneof![nvme, Just("interface = \"sata\"\n".to_string())], command_us)
        .prop_map(|(keys, command_us)| format!("[host]\n{keys}t_command_us = {command_us}\n"));
    prop_oneof![Just("[host]\n".to_string()), queued]
}

/// The host link: its rate, packets, and whether commands cross it.
#[derive(Clone, Debug)]
struct HostLink {
    bytes_per_s: Option<u64>,
    payload_bytes: Option<u32>,
    carries_commands: bool,
}

impl HostLink {
    /// Keys of `[host]`, as far as the interface has them.
    fn of(&self, is_nvme: bool, is_sata: bool) -> String {
        let Some(rate) = self.bytes_per_s else { return String::new() };
        let mut toml = format!("link_bytes_per_s = {rate}\n");
        if let Some(bytes) = self.payload_bytes.filter(|_| !is_sata) {
            toml.push_str(&format!("pcie_max_payload_bytes = {bytes}\n"));
        }
        if is_nvme {
            toml.push_str(&format!("commands_cross_link = {}\n", self.carries_commands));
        }
        toml
    }
}

fn link() -> impl Strategy<Value = HostLink> {
    let payload = prop::option::of(prop::sample::select(vec![128u32, 4096]));
    let keys = (prop::option::of(1_000_000..4_000_000_000u64), payload, any::<bool>());
    keys.prop_map(|(bytes_per_s, payload_bytes, carries_commands)| HostLink {
        bytes_per_s,
        payload_bytes,
        carries_commands,
    })
}

/// How a write-back buffer keeps pages: keys of `[buffer]`.
fn hold() -> impl Strategy<Value = String> {
    let idle = prop::option::of(0..2000u32);
    let keys = (prop::sample::select(vec!["fifo", "lru"]), 0.0..0.999f64, 0.0..=1.0f64, idle);
    let keys = keys.prop_map(|(replacement, high, share, idle)| {
        let low = high * share;
        let idle = idle.map_or(String::new(), |us| format!("flush_idle_us = {us}\n"));
        format!(
            "replacement = \"{replacement}\"\nhigh_watermark = {high}\n\
             low_watermark = {low}\n{idle}"
        )
    });
    prop_oneof![Just(String::new()), keys]
}

/// The section of a read cache of some pages.
fn read_cache() -> impl Strategy<Value = String> {
    let keys = (1..40u32, prop::sample::select(vec!["fifo", "lru"]), any::<bool>());
    let keys = keys.prop_map(|(pages, replacement, on_write)| {
        format!(
            "[read_cache]\nbytes = {}\nreplacement = \"{replacement}\"\n\
             fill_on_write = {on_write}\n",
            pages * 8192
        )
    });
    prop_oneof![Just(String::new()), keys]
}

fn policies() -> impl Strategy<Value = Policies> {
    (
        ftl(),
        suspension(),
        prop::sample::select(names(registries().schedulers)),
        prop::option::of(1..5u32),
        (any::<(bool, bool, bool)>(), part()),
        prop::sample::select(vec![0u32, 1, 300]),
        // Pages of the largest size that the buffer holds; smaller pages: more of them.
        prop::sample::select(vec![1u32, 2, 5, 64]),
        (link(), host(), hold(), read_cache()),
    )
        .prop_map(|(ftl, suspension, scheduler, limit, flags, command_ns, buffer, front)| {
            let ((write_back, unwritten_is_zero, cache_register), part) = flags;
            let (link, host, hold, read_cache) = front;
            let hold = if write_back { hold } else { String::new() };
            let acknowledge = if write_back { "back" } else { "through" };
            let command_us = f64::from(command_ns) / 1000.0;
            let mut toml = format!(
                "{}{}[timing]\n{part}cache_register = {cache_register}\n\
                 t_command_us = {command_us}\n\
                 [buffer]\nbytes = {}\nacknowledge = \"{acknowledge}\"\n\
                 {hold}[scheduling]\npolicy = \"{scheduler}\"\n",
                ftl.0,
                suspension.0,
                buffer * 8192
            );
            if let Some(limit) = limit {
                toml.push_str(&format!("write_queue_limit = {limit}\n"));
            }
            toml.push_str(&read_cache);
            toml.push_str(&host);
            toml.push_str(&link.of(host.contains("nvme"), host.contains("sata")));
            Policies {
                toml,
                write_back,
                unwritten_is_zero,
                preconditioned: ftl.1,
                shadow_buffer: suspension.1,
                fronts: ftl.2,
            }
        })
}

/// A load, as a share of a drive that is not known yet.
#[derive(Clone, Debug)]
struct Load {
    requests: u64,
    read_fraction: f64,
    trim_fraction: f64,
    fua_fraction: f64,
    flush_every: Option<u64>,
    /// Lengths, in sectors; longer ones than the drive are left out.
    sectors: Vec<u64>,
    unaligned: bool,
    addresses: String,
    queue_depth: Option<usize>,
    arrivals: String,
}

fn load() -> impl Strategy<Value = Load> {
    let addresses = prop::sample::select(vec![
        "addresses = \"uniform\"\n",
        "addresses = \"sequential\"\n",
        "addresses = \"zipf\"\nzipf_theta = 1.1\n",
        "addresses = \"hot-cold\"\nhot_share = 0.25\nhot_fraction = 0.9\n",
    ]);
    let arrivals = prop_oneof![
        (1..80usize).prop_map(|depth| {
            (Some(depth), format!("arrivals = \"closed\"\nqueue_depth = {depth}\n"))
        }),
        (1..40_000u32, prop::sample::select(vec!["poisson", "fixed"])).prop_map(|(rate, how)| {
            (None, format!("arrivals = \"{how}\"\nrate_iops = {rate}\n"))
        }),
    ];
    let sectors = prop::collection::vec(1..=40u64, 1..4);
    let durable = (0.0..0.5f64, prop::option::of(2..50u64));
    let all = (
        100..900u64,
        0.0..=1.0f64,
        0.0..0.3f64,
        sectors,
        durable,
        any::<bool>(),
        addresses,
        arrivals,
    );
    all.prop_map(
        |(
            requests,
            reads,
            trims,
            sectors,
            durable,
            unaligned,
            addresses,
            (queue_depth, arrivals),
        )| Load {
            requests,
            fua_fraction: durable.0,
            flush_every: durable.1,
            read_fraction: reads * (1.0 - trims),
            trim_fraction: trims,
            sectors,
            unaligned,
            addresses: addresses.to_string(),
            queue_depth,
            arrivals,
        },
    )
}

/// A drive and what is asked of it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    seed: u64,
    pub(super) shape: Shape,
    policies: Policies,
    load: Load,
}

/// Powers that all differ, so that the checker finds energy that is booked for another phase.
const POWER: &str = "[power]\naccount = \"on\"\np_idle_mw = 1.5\np_sense_mw = 20\n\
    p_program_pulse_mw = 31\np_program_verify_mw = 23\np_erase_pulse_mw = 47\n\
    p_erase_verify_mw = 29\np_suspended_mw = 5\ne_resume_nj = 3.25\nseries_us = 137\n";

impl Case {
    pub(super) fn toml(&self) -> String {
        let Case { seed, shape, policies, load } = self;
        let device = "device = \"fast12-slc\"";
        let capacity = shape.logical_pages() * u64::from(shape.page_bytes) / SECTOR_BYTES;
        // A quarter of the drive, in whole pages, is hot, and every request has to fit there.
        let longest = (capacity / 5).max(1);
        let align = if load.unaligned { SECTOR_BYTES } else { u64::from(shape.page_bytes) };
        let sizes: Vec<String> = load
            .sectors
            .iter()
            .map(|sectors| format!("[{}, 1]", (*sectors).min(longest) * SECTOR_BYTES))
            .collect();
        let flush = load
            .flush_every
            .map_or(String::new(), |every| format!("flush_every_requests = {every}\n"));
        let unwritten = if policies.unwritten_is_zero { "zero" } else { "flash" };
        format!(
            "seed = {seed}\n{device}\n{POWER}{}{}[workload]\ngenerator = \"mixed\"\nrequests = {}\n\
             read_fraction = {}\ntrim_fraction = {}\nfua_fraction = {}\n{flush}\
             request_bytes = [{}]\nalign_bytes = {align}\n\
             unwritten = \"{unwritten}\"\n{}{}",
            shape.toml(),
            policies.toml,
            load.requests,
            load.read_fraction,
            load.trim_fraction,
            load.fua_fraction,
            sizes.join(", "),
            load.addresses,
            load.arrivals
        )
    }
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    (any::<u64>(), shape(), policies(), load()).prop_map(|(seed, mut shape, policies, load)| {
        let (fronts, moved) = policies.fronts;
        shape.reserve = shape.reserve.max(moved);
        shape.more_fronts = fronts - 1;
        Case { seed, shape, policies, load }
    })
}

/// Pages that a request touches, and how many of them in part.
fn pages(row: &Row, page_bytes: u64) -> (u64, u64) {
    let (from, to) = (row.lba * SECTOR_BYTES, row.lba * SECTOR_BYTES + row.bytes);
    let touched = to.div_ceil(page_bytes) - from / page_bytes;
    let whole = (to / page_bytes).saturating_sub(from.div_ceil(page_bytes));
    (touched, touched - whole)
}

/// Every request once, in order of arrival, and each with an account of its time.
pub(super) fn check_log(case: &Case, outcome: &Outcome) {
    let rows = &outcome.rows;
    assert_eq!(rows.len() as u64, case.load.requests);
    for (id, row) in rows.iter().enumerate() {
        assert_eq!(row.id, id as u64, "a request is missing or complete twice");
        assert!(row.completion_ns >= row.arrival_ns, "{row:?}");
        assert_eq!(row.parts_ns.iter().sum::<u64>(), row.latency_ns(), "{row:?}");
    }
    assert!(rows.is_sorted_by_key(|row| row.arrival_ns), "numbers are not in order of arrival");
    if let Some(depth) = case.load.queue_depth {
        // A request arrives when one completes, so that always `depth` are outstanding.
        let mut completions: Vec<u64> = rows.iter().map(|row| row.completion_ns).collect();
        completions.sort_unstable();
        for (row, completion) in rows.iter().skip(depth).zip(completions) {
            assert_eq!(row.arrival_ns, completion, "request {} of a closed loop", row.id);
        }
    }
}

/// The summary's latencies against those of the log.
fn check_class(outcome: &Outcome, name: &str, rows: &[&Row]) {
    let number = |key: &str| outcome.number(&format!("requests.{name}.{key}"));
    assert_eq!(number("count"), rows.len() as f64, "{name}");
    assert_eq!(number("bytes"), rows.iter().map(|row| row.bytes as f64).sum::<f64>(), "{name}");
    let mut latencies: Vec<u64> = rows.iter().map(|row| row.latency_ns()).collect();
    latencies.sort_unstable();
    let Some((min, max)) = latencies.first().zip(latencies.last()) else { return };
    assert_eq!(number("latency_ns.min"), *min as f64, "{name}");
    assert_eq!(number("latency_ns.max"), *max as f64, "{name}");
    let mean = latencies.iter().sum::<u64>() as f64 / rows.len() as f64;
    assert_eq!(number("latency_ns.mean"), mean, "{name}");
    for (key, ppm) in PERCENTILES {
        let rank = (latencies.len() as u64 * ppm).div_ceil(1_000_000);
        let exact = latencies[rank as usize - 1] as f64;
        let got = number(&format!("latency_ns.{key}"));
        assert!(got >= exact && got <= exact * 1.001, "{name} {key}: {got}, nearest rank {exact}");
    }
    let has_map = outcome.summary["flash"].get("mapping").is_some();
    for (part, key) in reprieve_sim::txn::PART_NAMES.iter().enumerate() {
        if *key == "map_ns" && !has_map {
            assert!(rows.iter().all(|row| row.part_ns("map_ns") == 0), "nothing waits for it");
            continue;
        }
        let sum: u64 = rows.iter().map(|row| row.parts_ns[part]).sum();
        let short = key.trim_end_matches("_ns");
        let told = outcome.summary["requests"][name]["components_ns"].get(short);
        if ["host_queue_ns", "ecc_ns"].contains(key) && told.is_none() {
            assert_eq!(sum, 0, "{name}: time in {short}, which is not there");
            continue;
        }
        let got = number(&format!("components_ns.{}", key.trim_end_matches("_ns")));
        assert_eq!(got, sum as f64 / rows.len() as f64, "{name} {key}");
    }
}

pub(super) fn check_classes(outcome: &Outcome) {
    let all = |wanted: &[Op]| -> Vec<&Row> {
        outcome.rows.iter().filter(|row| wanted.contains(&row.op)).collect()
    };
    check_class(outcome, "read", &all(&[Op::Read]));
    check_class(outcome, "write", &all(&[Op::Write]));
    check_class(outcome, "total", &all(&[Op::Read, Op::Write]));
    for (name, op) in [("trim", Op::Trim), ("flush", Op::Flush)] {
        let rows = all(&[op]);
        assert_eq!(outcome.summary["requests"].get(name).is_some(), !rows.is_empty());
        if !rows.is_empty() {
            check_class(outcome, name, &rows);
        }
    }
}

/// Pages in against pages out: of the host, of the buffer, of the flash.
pub(super) fn check_pages(case: &Case, outcome: &Outcome) {
    let page_bytes = u64::from(case.shape.page_bytes);
    let sum = |op: Op| {
        let pages = outcome.of(op).map(|row| pages(row, page_bytes));
        pages.fold((0, 0), |sum, page| (sum.0 + page.0, sum.1 + page.1))
    };
    let flash = |key: &str| outcome.count(&format!("flash.{key}"));
    let device = |key: &str| outcome.count(&format!("device.{key}"));

    let cached = &outcome.summary["device"]["read_cache"]["hits"];
    let from_cache = cached.as_u64().unwrap_or(0);
    let from_buffer_or_zero = device("buffer_hits") + device("zero_reads") + from_cache;
    assert_eq!(flash("host_reads") + from_buffer_or_zero, sum(Op::Read).0, "pages read");

    let (written, in_part) = sum(Op::Write);
    let merged = device("merged_writes");
    let programmed_at_last = flash("host_programs") + merged;
    if case.policies.write_back {
        let failed = outcome.summary["flash"]["bad_blocks"]["failed_host_programs"].as_u64();
        let held = outcome.summary["device"].get("dropped_writes").is_some();
        let dropped = if held { device("dropped_writes") } else { 0 };
        let buffered = (written + failed.unwrap_or(0)) - programmed_at_last - dropped;
        let room = case.buffer_pages() + failed.unwrap_or(0);
        assert!(buffered <= room, "{buffered} pages lost, the buffer holds {room}");
        assert!(
            device("partial_writes") <= in_part && device("partial_writes") + merged >= in_part
        );
    } else if let Some(bad) = outcome.summary["flash"].get("bad_blocks") {
        // Each of these was written again, unless it had been overwritten.
        let failed = bad["failed_host_programs"].as_u64().expect("a count");
        let most = written + failed;
        assert!((written..=most).contains(&programmed_at_last), "{programmed_at_last} of {most}");
        assert_eq!(device("partial_writes"), in_part, "pages written in part");
    } else {
        assert_eq!(merged, 0, "a page that is acknowledged when programmed is programmed");
        assert_eq!(programmed_at_last, written, "pages written");
        assert_eq!(device("partial_writes"), in_part, "pages written in part");
    }
    assert!(flash("rmw_reads") <= device("partial_writes"));

    let (trimmed, trimmed_in_part) = sum(Op::Trim);
    assert_eq!(device("trims_of_part_of_a_page"), trimmed_in_part);
    assert_eq!(device("trimmed_pages"), trimmed - trimmed_in_part);
}

impl Case {
    /// Adds blocks for a few failures, of which each costs one.
    pub(super) fn expect_failures(&mut self) {
        self.shape.blocks += 40;
        self.shape.extra_spare += 40;
        self.shape.reserve += 4;
        self.policies.preconditioned = true;
    }

    /// Adds what a mapping in flash needs: its own open block and one kept for it, and its pages.
    pub(super) fn make_room_for_mapping(&mut self) {
        let shape = &mut self.shape;
        shape.reserve += 1;
        shape.more_fronts += 1;
        let per_page = shape.page_bytes / 4;
        let map_pages = (shape.blocks + 2) * shape.pages / per_page + 1;
        let more = map_pages.div_ceil(shape.pages) + 2;
        shape.blocks += more;
        shape.extra_spare += more;
    }

    fn buffer_pages(&self) -> u64 {
        drive::load(&self.toml()).buffer.bytes / u64::from(self.shape.page_bytes)
    }
}

/// What the flash did against what it can do.
pub(super) fn check_flash(case: &Case, outcome: &Outcome) {
    let flash = |key: &str| outcome.count(&format!("flash.{key}"));
    let (programs, host_programs) = (flash("programs"), flash("host_programs"));
    let mapping = |key: &str| outcome.summary["flash"]["mapping"][key].as_u64().unwrap_or(0);
    assert_eq!(programs, host_programs + flash("gc_programs") + mapping("programs"));
    let reads = flash("host_reads") + flash("rmw_reads") + flash("gc_reads") + mapping("reads");
    assert_eq!(flash("reads"), reads, "pages sensed");
    let asked = mapping("misses") + mapping("evicted_pages") + mapping("updated_pages");
    assert!(mapping("reads") <= asked, "the mapping is read without a reason");
    let written = mapping("evicted_pages") + mapping("updated_pages");
    let failed_map = outcome.summary["flash"]["bad_blocks"]["failed_map_programs"].as_u64();
    assert!(mapping("programs") <= written + failed_map.unwrap_or(0));
    let failed = outcome.summary["flash"]["bad_blocks"]["failed_gc_programs"].as_u64();
    let most = flash("gc_reads") + failed.unwrap_or(0);
    assert!(flash("gc_programs") <= most, "moved without having been read");
    // Pages that were free at first, and those of erased blocks; all can be in use at most once.
    let valid_at_first = if case.policies.preconditioned { case.shape.logical_pages() } else { 0 };
    let free_at_first = case.shape.physical_pages() - valid_at_first;
    let gained = flash("erases") * u64::from(case.shape.pages);
    assert!(programs <= free_at_first + gained, "{programs} programs, {gained} pages erased");

    // Of each block erased as often as the wear says; one a die may be under way.
    let blocks = case.shape.physical_pages() / u64::from(case.shape.pages);
    let counted = outcome.number("flash.wear.mean") * blocks as f64;
    assert!((counted - flash("erases") as f64).abs() < 1e-6 * (1.0 + counted), "{counted} erases");

    let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
    let written_bytes = outcome.number("requests.write.bytes");
    let programmed_bytes = programs as f64 * f64::from(case.shape.page_bytes);
    assert_eq!(outcome.number("flash.waf"), ratio(programmed_bytes, written_bytes));
    let gc_waf = ratio(programs as f64, host_programs as f64);
    assert_eq!(outcome.number("flash.gc_waf"), gc_waf);
    for share in ["flash.suspended_share.program", "flash.suspended_share.erase"] {
        assert!((0.0..=1.0).contains(&outcome.number(share)), "{share}");
    }
}

/// Time of the drive: shares are shares, and the channels' time is that of their transfers.
fn check_time(case: &Case, outcome: &Outcome) {
    let share = |key: &str| {
        let share = outcome.number(&format!("device.{key}"));
        assert!((0.0..=1.0).contains(&share), "{key} = {share}");
        share
    };
    share("idle_share");
    share("die_busy_share");
    let simulated_ns = outcome.number("device.simulated_ns");
    let last_ns = outcome.rows.iter().map(|row| row.completion_ns).max();
    assert_eq!(simulated_ns, last_ns.expect("there are requests") as f64);
    let channels = f64::from(case.shape.channels);
    let busy_ns = share("channel_busy_share") * simulated_ns * channels;

    let scenario = drive::load(&case.toml());
    let timing = scenario.timing;
    let flash = |key: &str| outcome.number(&format!("flash.{key}"));
    let pages = flash("reads") + flash("programs");
    let commands = (pages + flash("erases")) * timing.command.ns() as f64;
    let complete_ns = pages * timing.bus.ns() as f64 + commands;
    // Each die may be at one more command and page, and at one page it has sensed before.
    let dies = channels * f64::from(case.shape.dies);
    let under_way_ns = dies * 2.0 * (timing.bus.ns() + timing.command.ns()) as f64;
    let restores = if case.policies.shadow_buffer { 0.0 } else { flash("suspensions.program") };
    let restores_ns = restores * timing.bus.ns() as f64;
    let rounding_ns = simulated_ns * 1e-9;
    let most_ns = complete_ns + under_way_ns + restores_ns + rounding_ns;
    assert!(busy_ns <= most_ns, "{busy_ns} ns of at most {most_ns} ns on the bus");
    // A page that leaves in part does so with one unit at least.
    let page_bytes = case.shape.page_bytes;
    let unit_bytes = scenario.channel.transfer_unit_bytes.unwrap_or(page_bytes);
    let left_out = 1.0 - f64::from(unit_bytes) / f64::from(page_bytes);
    let least_ns = complete_ns - flash("reads") * timing.bus.ns() as f64 * left_out - rounding_ns;
    assert!(busy_ns >= least_ns, "{busy_ns} ns of at least {least_ns} ns on the bus");
}

/// Runs a case and checks it; returns its page transactions.
fn check(case: &Case, sets: &[&str]) -> u64 {
    let outcome = drive::run(drive::load_with(&case.toml(), sets));
    check_log(case, &outcome);
    check_classes(&outcome);
    check_pages(case, &outcome);
    check_flash(case, &outcome);
    check_time(case, &outcome);
    outcome.count("run.page_transactions")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn requests_pages_and_time_are_conserved(case in case()) {
        check(&case, &[]);
    }

    #[test]
    fn writes_inside_erases_are_conserved_on_a_full_drive(mut case in case()) {
        case.shape.extra_spare = 0;
        case.policies.preconditioned = true;
        check(&case, &[
            "ftl.precondition=steady",
            "scheduling.policy=rps",
            "suspension.erase=true",
            "suspension.host_write_suspends=[\"erase\"]",
            "workload.read_fraction=0.2",
        ]);
    }

    #[test]
    fn pages_survive_failing_programs_and_erases(mut case in case()) {
        case.expect_failures();
        check(&case, &[
            "ftl.precondition=sequential",
            "ftl.factory_bad_share=0.05",
            "nand.program_failure=0.0005",
            "nand.erase_failure=0.005",
        ]);
    }

    #[test]
    fn a_mapping_in_flash_loses_nothing(
        mut case in case(),
        entries in 8..200u64,
        segmented in any::<bool>(),
    ) {
        case.make_room_for_mapping();
        let cache = format!("ftl.map_cache_bytes={}", 8 * entries);
        let policy = if segmented { "segmented" } else { "lru" };
        let policy = format!("ftl.map_cache_policy={policy}");
        check(&case, &["ftl.mapping=demand", &cache, &policy]);
    }

    #[test]
    fn a_mapping_in_flash_survives_failing_programs(mut case in case(), entries in 8..40u64) {
        case.shape.blocks += 60;
        case.shape.extra_spare += 60;
        case.shape.reserve += 5;
        case.policies.preconditioned = true;
        let cache = format!("ftl.map_cache_bytes={}", 8 * entries);
        check(&case, &[
            "ftl.mapping=demand",
            &cache,
            "ftl.precondition=sequential",
            "nand.program_failure=0.0005",
            "nand.erase_failure=0.005",
        ]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The checker looks at the budget after every instant.
    #[test]
    fn drives_keep_to_a_budget(
        case in case(),
        way in 0..=METERED.len(),
        dies in 1..4u32,
        budget_mw in prop::option::of(20..150u32),
        counts in prop::sample::select(vec!["mean", "peak"]),
    ) {
        let ways = METERED.get(way).copied().unwrap_or_default();
        let limit = match budget_mw {
            Some(mw) if !ways.contains(&"parallelism.cache_program=true") => {
                format!("power.budget_mw={mw}")
            }
            _ => format!("power.max_active_dies={dies}"),
        };
        let counts = format!("power.budget_counts={counts}");
        let writes: &[&str] =
            if ways.is_empty() { &[] } else { &["suspension.host_write_suspends=[]"] };
        let sets = [ways, writes, &[&limit, &counts]].concat();
        let outcome = drive::run(drive::load_with(&case.toml(), &sets));
        check_log(&case, &outcome);
        check_classes(&outcome);
        check_pages(&case, &outcome);
        check_flash(&case, &outcome);
    }

    #[test]
    fn a_budget_for_everything_changes_nothing(case in case(), way in 0..=METERED.len()) {
        let ways = METERED.get(way).copied().unwrap_or_default();
        let writes: &[&str] =
            if ways.is_empty() { &[] } else { &["suspension.host_write_suspends=[]"] };
        let run = |limit: &str| {
            let sets = [ways, writes, &[limit]].concat();
            drive::run(drive::load_with(&case.toml(), &sets))
        };
        prop_assert_eq!(run("power.max_active_dies=none"), run("power.max_active_dies=1000"));
    }
}

/// Runs case after case, each with `longer` times its requests, for so many page transactions.
///
/// The cases are always the same, so that a longer run begins with those of a shorter one.
fn run_cases(page_transactions: u64, longer: u64) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut done, mut cases) = (0, 0);
    while done < page_transactions {
        let tree = case().new_tree(&mut runner).expect("no case is rejected");
        let mut case = tree.current();
        case.load.requests *= longer;
        done += check(&case, &[]);
        cases += 1;
    }
    println!("{done} page transactions of {cases} drives under the checker");
}

#[test]
fn a_million_page_transactions_pass_the_checker() {
    run_cases(1_000_000, 10);
}

#[test]
#[ignore = "takes minutes: make long"]
fn a_hundred_million_page_transactions_pass_the_checker() {
    run_cases(100_000_000, 100);
}
