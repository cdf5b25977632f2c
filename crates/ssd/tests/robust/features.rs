//! The features of which pairs are tried: keys with few values from the schema, others by a row.

use reprieve_base::Stream;
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Kind, Need};

/// A busy little drive that collects garbage from the first request on.
pub const DRIVE: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\n\
    dies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 20\npages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.5\ngc_hard_free_blocks = 3\nprecondition = \"sequential\"\n\
    [buffer]\nbytes = 65536\n[workload]\ngenerator = \"mixed\"\nread_fraction = 0.4\n\
    trim_fraction = 0.05\nfua_fraction = 0.05\nflush_every_requests = 25\n\
    request_bytes = [[512, 1], [2048, 3], [6144, 1]]\nalign_bytes = 512\nqueue_depth = 6\n";

/// A feature: in what it may differ from its default, each a list of `KEY=VALUE`.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The key, or the name of the row; of this feature alone.
    pub name: &'static str,
    pub choices: Vec<Vec<String>>,
}

/// Keys with a few words that are no features of a drive, or need a file.
const LEFT_OUT: &[&str] = &[
    "workload.format",
    "workload.generator",
    "workload.replay",
    "workload.address",
    "workload.timestamps",
    "timing.values",
    "policy",
    // With a row of their own below.
    "power_loss.mode",
    "power.account",
    "thermal.model",
    "ftl.twin_blocks",
    "reliability.model",
];

/// What the schema does not say: numbers that matter, and keys that only mean something together.
///
/// A row is a feature and its choices; the keys of a choice stand behind one another.
const ROWS: &[(&str, &[&str])] = &[
    ("shorthand", &["policy=rps", "policy=per", "policy=pe0", "policy=pes-ips", "policy=pes-ipc"]),
    ("max_per_operation", &["suspension.max_per_operation=1", "suspension.max_per_operation=3"]),
    ("min_progress", &["suspension.min_progress_us=20"]),
    ("host_reads", &["suspension.host_read_suspends=[]", HOST_READS]),
    ("rmw_reads", &["suspension.rmw_read_suspends=[\"program\", \"erase\"]"]),
    ("gc_reads", &["suspension.gc_read_suspends=[\"program\"]"]),
    ("nested", &["suspension.host_write_suspends=[\"erase\"]"]),
    ("write_queue", &["scheduling.write_queue_limit=1", "scheduling.write_queue_limit=4"]),
    ("segments", &["timing.erase_segments=4"]),
    ("page_types", &["timing.page_types=2 timing.t_read_us_by_type=[20,60]"]),
    ("spread", &["timing.program_iterations_weights=[[3,1],[5,2]]"]),
    ("wordlines", &["timing.wordline_pages=2", "timing.wordline_pages=4"]),
    ("mapping_unit", &["ftl.mapping_bytes=512", "ftl.mapping_bytes=1024", UNITS_AND_STREAMS]),
    ("wordlines_apart", &[WORDLINES_OF_STREAMS, WORDLINES_AND_MAP]),
    ("two_pass", &[TWO_PASS]),
    ("slc_cache", &[SLC_STATIC, SLC_DYNAMIC]),
    ("reset", &["timing.t_voltage_reset_us=3"]),
    ("superblocks", &[SUPERBLOCKS]),
    ("planes", &["geometry.planes_per_die=1", "geometry.planes_per_die=4"]),
    ("chips", &["geometry.chips_per_channel=2", "geometry.dies_per_channel=1"]),
    ("page_bytes", &["geometry.page_bytes=4096"]),
    ("transfer_unit", &["channel.transfer_unit_bytes=512"]),
    ("gc_start", &["ftl.gc_start_free_share=0", "ftl.gc_start_free_share=0.5"]),
    ("gc_rate", &["ftl.gc_rate_pages_per_write=0.5", "ftl.gc_rate_pages_per_write=3"]),
    ("gc_pace", &["ftl.gc_pace=free-space"]),
    ("write_pace", &["buffer.throttle_bytes_per_s=2000000 buffer.throttle_below_free_share=0.4"]),
    ("write_quota", &["buffer.quota_bytes=65536 buffer.quota_window_us=3000"]),
    ("gc_dies", &["ftl.gc_dies_max=1"]),
    ("static_wear", &["ftl.static_wear_spread=2"]),
    ("factory_bad", &["ftl.factory_bad_share=0.01"]),
    ("busy_window", &["ftl.busy_window_period_us=9000 ftl.busy_window_us=3000"]),
    ("scan", &["ftl.scan_period_s=0.02", SCAN]),
    ("program_failure", &["nand.program_failure=0.0005"]),
    ("erase_failure", &["nand.erase_failure=0.002"]),
    ("map_cache", &["ftl.mapping=demand ftl.map_cache_bytes=64"]),
    ("small_buffer", &["buffer.bytes=8192", "buffer.bytes=16384 buffer.acknowledge=back"]),
    ("dirty_pages", &[DIRTY, "buffer.acknowledge=back buffer.replacement=fifo"]),
    ("read_cache", &["read_cache.bytes=32768", FILLED]),
    ("command_time", &["host.t_command_us=2"]),
    ("queues", &[QUEUES, SHORT_QUEUE, "host.interface=sata"]),
    ("pcie", &["host.pcie_generation=3 host.pcie_lanes=2 host.commands_cross_link=true"]),
    ("outstanding", &["host.interface=nvme host.outstanding=1"]),
    ("flows", &[FLOWS]),
    ("power", &[POWER]),
    ("budget", &[BUDGET]),
    ("heat", &[HEAT]),
    ("reliability", &[AGEING, "reliability.model=power reliability.cycles_at_start=100"]),
    ("errors", &[ERRORS]),
    ("power_loss", &[LOSS, "power_loss.mode=on power_loss.p_controller_mw=1000"]),
    ("capacity", &["ftl.over_provisioning=0.6", "ftl.over_provisioning=0.75"]),
    ("reserve", &["ftl.gc_hard_free_blocks=1", "ftl.gc_hard_free_blocks=4"]),
    ("load", &["workload.read_fraction=0", "workload.read_fraction=0.8"]),
    ("sizes", &["workload.request_bytes=512", "workload.request_bytes=16384"]),
    ("depth", &["workload.queue_depth=1", "workload.queue_depth=32"]),
    ("open_loop", &["workload.arrivals=poisson workload.rate_iops=4000"]),
    ("flushes", &["workload.flush_every_requests=5"]),
];

const WORDLINES_OF_STREAMS: &str = "timing.wordline_pages=2 ftl.over_provisioning=0.7 \
    ftl.stream=hot-cold";
const WORDLINES_AND_MAP: &str = "timing.wordline_pages=2 ftl.over_provisioning=0.7 \
    ftl.mapping=demand ftl.map_cache_bytes=64";
const UNITS_AND_STREAMS: &str = "ftl.mapping_bytes=512 ftl.gc_stream=separate \
    timing.wordline_pages=2 ftl.over_provisioning=0.7 buffer.acknowledge=back";
const TWO_PASS: &str = "timing.wordline_pages=2 ftl.over_provisioning=0.7 \
    timing.coarse_iterations=2";
const SLC_STATIC: &str = "slc_cache.mode=static slc_cache.blocks_per_plane=2 \
    slc_cache.fold=pressure slc_cache.t_slc_read_us=5 slc_cache.slc_program_iterations=2 \
    timing.wordline_pages=2 ftl.over_provisioning=0.7";
const SLC_DYNAMIC: &str = "slc_cache.mode=dynamic slc_cache.min_free_share=0.3 \
    slc_cache.t_slc_read_us=5 slc_cache.slc_program_iterations=2 \
    timing.wordline_pages=2 ftl.over_provisioning=0.7";
const HOST_READS: &str = "suspension.host_read_suspends=[\"gc_program\",\"erase\"]";
const SUPERBLOCKS: &str = "ftl.twin_blocks=true parallelism.multi_plane=page";
const DIRTY: &str = "buffer.acknowledge=back buffer.replacement=lru buffer.flush_idle_us=200";
const FILLED: &str = "read_cache.bytes=8192 read_cache.fill_on_write=true";
const QUEUES: &str = "host.interface=nvme host.queues=3 host.queue_entries=2";
const SHORT_QUEUE: &str = "host.interface=nvme host.queues=1 host.queue_entries=2";
const FLOWS: &str = "flow.a.requests=60 flow.b.requests=40 flow.b.read_fraction=1";
const POWER: &str = "power.account=on power.p_sense_mw=20 power.p_program_pulse_mw=40 \
    power.p_program_verify_mw=20 power.p_erase_pulse_mw=30 power.p_erase_verify_mw=20 \
    power.p_idle_mw=1 power.e_io_pj_per_bit=2";
const HEAT: &str = "power.account=on power.p_sense_mw=20 power.p_program_pulse_mw=40 \
    power.p_program_verify_mw=20 power.p_erase_pulse_mw=30 power.p_idle_mw=1 \
    power.e_io_pj_per_bit=2 thermal.model=rc thermal.c_per_w=500 thermal.time_constant_s=0.002 \
    thermal.start_c=40 thermal.light_c=41 thermal.heavy_c=42 thermal.hysteresis_c=1 \
    thermal.poll_us=50 thermal.light_budget_mw=90 thermal.heavy_budget_mw=45";
const BUDGET: &str = "power.max_active_dies=1";
const AGEING: &str = "reliability.model=power";
/// As many wrong bits of a codeword on average as can be corrected.
const ERRORS: &str = "reliability.model=power reliability.epsilon=0.008 ecc.code=ldpc";
const SCAN: &str = "ftl.scan_period_s=0.02 ftl.refresh_retries=1 reliability.model=power \
    reliability.epsilon=0.008 ecc.code=ldpc";
const LOSS: &str = "power_loss.mode=on power_loss.p_controller_mw=1000 power_loss.hold_up_us=900";

/// The values of a key of few words.
fn words(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Flag => vec!["true", "false"],
        Kind::Choice(entries) => entries.iter().map(|entry| entry.name).collect(),
        _ => Vec::new(),
    }
}

/// What a choice needs beside it.
const WITH: &[(&str, &str)] = &[
    ("ftl.gc_victims_in_step=true", "ftl.gc_stream=separate parallelism.multi_plane=page"),
    ("ftl.wait_for_planes=true", "parallelism.multi_plane=page timing.wordline_pages=2"),
    ("suspension.policy=batch", "suspension.batch.reads=2 suspension.batch.oldest_us=150"),
    ("suspension.policy=deadline", "suspension.deadline.read_slo_us=300"),
];

/// The names of the registries, by the key that takes them.
fn registered() -> [(&'static str, &'static [reprieve_base::Entry]); 7] {
    let all = registries();
    [
        ("scheduling.policy", all.schedulers),
        ("scheduling.dispatch", all.dispatchers),
        ("suspension.policy", all.suspend_policies),
        ("ftl.placement", all.placements),
        ("ftl.gc_victim", all.gc_victims),
        ("ftl.stream", all.streams),
        ("host.arbitration", all.arbitrations),
    ]
}

/// What has to be set so that a key applies.
fn needs(when: &[Need]) -> Option<Vec<String>> {
    if when.is_empty() {
        return Some(Vec::new());
    }
    let Need { key, values } = when.iter().find(|need| !need.values.is_empty())?;
    let value = values[0];
    let outer = scenario::keys().iter().find(|other| other.full_name == *key).map(|key| key.when);
    let mut sets = needs(outer.expect("a key of the schema"))?;
    sets.push(format!("{key}={value}"));
    Some(sets)
}

/// Every feature: a new key of few words is one by itself.
pub fn all() -> Vec<Feature> {
    let mut features = Vec::new();
    for key in scenario::keys() {
        let names = registered().into_iter().find(|(name, _)| *name == key.full_name);
        let values = match names {
            Some((_, entries)) => entries.iter().map(|entry| entry.name).collect(),
            None => words(key.kind),
        };
        let Some(needs) = needs(key.when) else { continue };
        if values.is_empty() || LEFT_OUT.contains(&key.full_name) {
            continue;
        }
        let choice = |value: &&str| {
            let set = format!("{}={value}", key.full_name);
            let more = WITH.iter().find(|(choice, _)| *choice == set).map_or("", |(_, more)| more);
            [&needs[..], &[set], &split(more)[..]].concat()
        };
        let choices = values.iter().map(choice).collect();
        features.push(Feature { name: key.full_name, choices });
    }
    for &(name, choices) in ROWS {
        let sets = |choice: &&str| split(choice);
        let choices = choices.iter().map(sets).collect();
        features.push(Feature { name, choices });
    }
    features
}

/// The sets of a row: a blank before a key's name ends the one before it.
pub fn split(choice: &str) -> Vec<String> {
    let mut sets: Vec<String> = Vec::new();
    for word in choice.split_whitespace() {
        match sets.last_mut().filter(|_| !word.contains('=')) {
            Some(last) => *last = format!("{last} {word}"),
            None => sets.push(word.to_string()),
        }
    }
    sets
}

/// The sets of some features at random, with a seed and a number of requests of its own.
pub fn sets(features: &[&Feature], stream: &mut Stream) -> Vec<String> {
    let mut sets = vec![
        format!("seed={}", stream.below(1_000)),
        format!("workload.requests={}", 1 + stream.below(150)),
    ];
    for feature in features {
        let choice = stream.below(feature.choices.len() as u64) as usize;
        sets.extend(feature.choices[choice].iter().cloned());
    }
    sets
}
