//! Random drives under random loads, as scenarios: every policy, mode and setting may occur.

use proptest::prelude::*;
use reprieve_base::SECTOR_BYTES;
use reprieve_ssd::registries;

use super::drive;

/// Scales the number of random cases: 0.25 in `make test`, 10 in `make long`.
///
/// Below 1, tests of many combinations take some of them.
pub(super) fn times() -> f64 {
    std::env::var("REPRIEVE_CASES").map_or(1.0, |times| times.parse().expect("a number"))
}

/// Returns a configuration with this number of cases, scaled by [`times`].
pub(super) fn many(cases: u32) -> ProptestConfig {
    let cases = (f64::from(cases) * times()).ceil() as u32;
    ProptestConfig { cases, ..ProptestConfig::default() }
}

/// A small drive.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) channels: u32,
    pub(super) dies: u32,
    pub(super) planes: u32,
    pub(super) blocks: u32,
    pub(super) pages: u32,
    pub(super) page_bytes: u32,
    /// Free blocks of a plane that the host does not get.
    pub(super) reserve: u32,
    /// Blocks of a plane kept from the user beyond what garbage collection needs.
    pub(super) extra_spare: u32,
    /// Open blocks of a plane beyond the first.
    pub(super) more_fronts: u32,
}

impl Shape {
    pub(super) fn planes_in_all(&self) -> u64 {
        u64::from(self.channels * self.dies * self.planes)
    }

    /// Blocks kept from the user: the reserve, three under way, one to gain, and more.
    pub(super) fn spare_blocks(&self) -> u32 {
        (self.reserve + 4 + self.more_fronts + self.extra_spare).min(self.blocks - 1)
    }

    pub(super) fn physical_pages(&self) -> u64 {
        self.planes_in_all() * u64::from(self.blocks * self.pages)
    }

    pub(super) fn logical_pages(&self) -> u64 {
        self.planes_in_all() * u64::from((self.blocks - self.spare_blocks()) * self.pages)
    }

    pub(super) fn toml(&self) -> String {
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

/// Small planes are drawn more often than large ones: the same requests collect more of their
/// blocks, and the run-in of a steady drive takes operations in proportion to its pages.
fn shape() -> impl Strategy<Value = Shape> {
    let sizes = prop::sample::select(vec![512u32, 2048, 4096, 8192]);
    let blocks = prop_oneof![4 => 14..=20u32, 1 => 12..=40u32];
    let pages = prop_oneof![4 => 4..=7u32, 1 => 4..=16u32];
    let many = (1..=4u32, 1..=3u32, 1..=4u32, blocks, pages, sizes, 1..=3u32, 0..=8u32);
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
pub(super) struct Policies {
    /// The rest of `[ftl]`, then other sections.
    pub(super) toml: String,
    pub(super) write_back: bool,
    pub(super) unwritten_is_zero: bool,
    pub(super) preconditioned: bool,
    pub(super) shadow_buffer: bool,
    /// Open blocks of a plane: all, and those that take moved pages.
    pub(super) fronts: (u32, u32),
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
        // A steady drive costs several times as much as one that collects only in its run.
        prop::sample::select(vec!["none", "none", "sequential", "sequential", "steady"]),
        collection(),
        channel(),
        prop::sample::select(vec!["read_modify_write", "track_sectors", "pad"]),
    )
        .prop_map(
            |(placement, victim, background, start, precondition, collection, channel, partial)| {
                let toml = format!(
                    "placement = \"{placement}\"\ngc_victim = \"{victim}\"\n\
                 gc_background = {background}\ngc_start_free_share = {start}\n\
                 precondition = \"{precondition}\"\npartial_write = \"{partial}\"\n{}{channel}",
                    collection.0
                );
                (toml, precondition != "none", collection.1)
            },
        )
}

/// Streams, the course of collection and wear levelling; and the open blocks of a plane.
fn collection() -> impl Strategy<Value = (String, (u32, u32))> {
    let streams = [("single", 1), ("hot-cold", 2)];
    // Placement handles go with no steady state, and have tests of their own.
    let mut drawn = names(registries().streams);
    drawn.retain(|name| *name != "placement");
    assert_eq!(streams.map(|(name, _)| name).to_vec(), drawn);
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
                let levels = u32::from(spread.is_some());
                (toml, (count + u32::from(separate) + levels, moved))
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
                toml.push_str(match policy {
                    "batch" => "batch.reads = 2\nbatch.oldest_us = 150\n",
                    "deadline" => "deadline.read_slo_us = 300\ndeadline.backlog_weight = 0.5\n",
                    _ => "",
                });
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
            "arrival-order" => String::new(),
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
pub(super) struct HostLink {
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

/// The steps of the scheduler that has them: any order of some, and then every class.
fn steps() -> impl Strategy<Value = String> {
    let known = [
        "host_read after_us=50",
        "host_read",
        "host_write after_us=100",
        "host_write queued=3",
        "gc_read urgent",
        "gc_read after_us=300",
        "gc_program",
        "erase after_us=1000",
        "erase urgent",
        "resume of=host_write after_us=40",
        "resume of=erase after_us=200",
        "resume after_us=100",
        "resume",
    ];
    let first = prop::collection::vec(prop::sample::select(known.to_vec()), 0..6);
    first.prop_map(|first| {
        let all = ["host_read", "gc_read", "gc_program", "erase", "host_write", "resume"];
        format!("{:?}", [&first[..], &all].concat())
    })
}

fn policies() -> impl Strategy<Value = Policies> {
    (
        ftl(),
        suspension(),
        (prop::sample::select(names(registries().schedulers)), steps()),
        prop::option::of(1..5u32),
        (any::<(bool, bool, bool)>(), part()),
        prop::sample::select(vec![0u32, 1, 300]),
        // Pages of the largest size that the buffer holds; smaller pages: more of them.
        prop::sample::select(vec![1u32, 2, 5, 64]),
        (link(), host(), hold(), read_cache()),
    )
        .prop_map(
            |(ftl, suspension, (scheduler, steps), limit, flags, command_ns, buffer, front)| {
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
                if scheduler == "microcode" {
                    toml.push_str(&format!("steps = {}\n", steps));
                }
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
            },
        )
}

/// Every setting of MBM.
pub(super) fn mbm() -> impl Strategy<Value = Vec<String>> {
    let word = |key: &'static str, words: &[&'static str]| {
        prop::sample::select(words.to_vec()).prop_map(move |word| format!("{key}={word}"))
    };
    let limits = ["exact", "printed", "none"];
    let share = (
        word("limit", &limits),
        word("when", &["instant", "arrival"]),
        word("writes", &["under-way", "all"]),
        word("read_weight", &["0", "1", "5"]),
        word("collection", &["false", "true"]),
    );
    let share = share.prop_map(|(limit, when, writes, weight, collection)| {
        let counted = [when, writes, weight, collection].map(|key| format!("share_{key}"));
        let counted = if limit == "limit=none" { vec![] } else { counted.to_vec() };
        [vec![format!("channel_{limit}")], counted].concat()
    });
    let first = word("first_chip", &["channel", "instant", "request"]);
    let chips = prop::option::of(first).prop_map(|first| match first {
        Some(first) => vec!["chips=least-then-greatest".to_string(), first],
        None => vec!["chips=in-order".to_string()],
    });
    let areas = (
        word("read_threshold_pages", &["1", "2", "4"]),
        word("read_area_bytes", &["512", "65536", "1048576"]),
        word("read_area_end", &["short-read", "never"]),
        word("redistribution", &["either", "channels", "transactions", "none"]),
        1..10u32,
        word("read_areas", &["spread", "even"]),
    );
    let areas = areas.prop_map(|(threshold, area, end, again, pages, spread)| {
        let most = (again != "redistribution=none").then(|| {
            [
                format!("redistributed_pages={pages}"),
                format!("writes_per_redistributed_page={pages}"),
            ]
        });
        let keys = [threshold, area, end, again, spread].into_iter();
        keys.chain(most.into_iter().flatten()).collect::<Vec<_>>()
    });
    let areas = prop::option::of(areas);
    let areas = areas.prop_map(|some| some.unwrap_or(vec!["read_areas=as-others".to_string()]));
    let others = (
        word("ties", &["rotating", "in-order"]),
        word("alignment", &["lagging", "largest"]),
        word("joint_reads", &["request", "any"]),
    );
    (share, chips, areas, others).prop_map(|(share, chips, areas, (ties, alignment, joint))| {
        let keys = [share, chips, areas, vec![ties, alignment, joint]].concat();
        keys.iter().map(|key| format!("scheduling.mbm_{key}")).collect()
    })
}

/// Overrides that put a dispatcher over the queues of a drive, none over half of all.
pub(super) fn dispatch() -> impl Strategy<Value = Vec<String>> {
    let some = (prop::sample::select(names(registries().dispatchers)), 1..40u32, mbm());
    let some = some.prop_map(|(name, window, mbm)| {
        let dispatch = format!("scheduling.dispatch={name}");
        let settings = match name {
            "paq" => vec![format!("scheduling.paq_window_pages={window}")],
            "mbm" => [vec!["ftl.stream=single".to_string()], mbm].concat(),
            _ => vec![],
        };
        [vec![dispatch], settings].concat()
    });
    prop_oneof![Just(vec![]), some]
}

/// A load, as a share of a drive that is not known yet.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) requests: u64,
    pub(super) read_fraction: f64,
    pub(super) trim_fraction: f64,
    pub(super) fua_fraction: f64,
    pub(super) flush_every: Option<u64>,
    /// Lengths, in sectors; longer ones than the drive are left out.
    pub(super) sectors: Vec<u64>,
    pub(super) unaligned: bool,
    pub(super) addresses: String,
    pub(super) queue_depth: Option<usize>,
    pub(super) arrivals: String,
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
    pub(super) seed: u64,
    pub(super) shape: Shape,
    pub(super) policies: Policies,
    pub(super) load: Load,
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
        // A run costs by its pages, and twelve of a request are on several dies.
        let twelve = 12 * u64::from(shape.page_bytes) / SECTOR_BYTES;
        let longest = (capacity / 5).clamp(1, twelve);
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

    pub(super) fn buffer_pages(&self) -> u64 {
        drive::load(&self.toml()).buffer.bytes / u64::from(self.shape.page_bytes)
    }
}
