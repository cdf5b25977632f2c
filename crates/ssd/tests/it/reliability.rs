//! Raw bit errors on a drive: latencies of decoding and retries by hand, wear, and outcomes against
//! the binomial.
//!
//! SLC of FAST 2012 on one die without a link: a read is 10 us in the array and 20 us on the bus,
//! a program 20 us of data in and 140 us in the array. A page is four sectors, two codewords of
//! 1 KiB of user data and 8192 bits.

use reprieve_base::Op;
use reprieve_ssd::{Options, Ssd, registries, scenario};

use super::drive::{self, Outcome, TraceRow};

/// A code of 64 bits in a codeword without parity; 1, 4 and 20 us; three retries, then two senses
/// for a soft decoding of 30 us.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n[reliability]\nmodel = \"power\"\n\
    [ecc]\ncode = \"ldpc\"\ncode_rate = 1\ncorrectable_bits = 64\nretries_max = 3\n\
    soft_senses = 2\nsoft_correctable_bits = 128\nt_soft_decode_us = 30\n";

/// All bits of the page's rate are wrong with certainty where it matters: half of 8192 bits is far
/// above every limit, and no error is far below.
const BROKEN: &str = "reliability.epsilon=0.5";

fn read_once(sets: &[&str]) -> Outcome {
    drive::replay(SLC, sets, &[(0, 'R', 0, 4)])
}

fn latency_us(outcome: &Outcome, row: usize) -> f64 {
    outcome.rows[row].latency_ns() as f64 / 1000.0
}

fn parts(outcome: &Outcome, row: usize) -> [u64; 3] {
    ["array_ns", "bus_ns", "ecc_ns"].map(|name| outcome.rows[row].part_ns(name))
}

#[test]
fn a_page_without_errors_costs_the_shortest_decoding() {
    let outcome = read_once(&[]);
    assert_eq!(parts(&outcome, 0), [10_000, 20_000, 1_000]);
    assert_eq!(outcome.rows[0].latency_ns(), 31_000);
    assert_eq!(outcome.summary["reliability"]["hard_by_retries"], serde_json::json!([1, 0, 0, 0]));
    assert_eq!(outcome.number("requests.read.components_ns.ecc"), 1_000.0);
    // Off, nothing of it is there.
    for sets in [&["ecc.code=none"][..], &["reliability.model=none"]] {
        let outcome = read_once(sets);
        assert_eq!(outcome.rows[0].latency_ns(), 30_000, "{sets:?}");
        assert!(outcome.summary["requests"]["read"]["components_ns"].get("ecc").is_none());
    }
    let outcome = read_once(&["reliability.model=none"]);
    assert!(outcome.summary.get("reliability").is_none() && outcome.summary.get("wear").is_none());
}

#[test]
fn a_page_that_nothing_corrects_runs_through_everything() {
    // Four senses with 20 us of failed decoding each, two more, and 30 us of soft decoding.
    let outcome = read_once(&[BROKEN, "ecc.retry_rber_factor=1"]);
    assert_eq!(parts(&outcome, 0), [60_000, 120_000, 110_000]);
    assert_eq!(outcome.rows[0].latency_ns(), 290_000);
    assert_eq!(outcome.rows[0].uncorrectable_pages, 1);
    assert_eq!(outcome.count("reliability.uncorrectable.host_reads"), 1);
    assert_eq!(outcome.count("reliability.decoded.uncorrectable"), 1);
    assert_eq!(outcome.count("reliability.further_senses"), 5);
    assert_eq!(outcome.count("flash.host_reads"), 1);
    // Without soft decoding it ends after the last retry, without retries after the first sense.
    let short = [BROKEN, "ecc.retry_rber_factor=1", "ecc.soft_senses=0"];
    assert_eq!(latency_us(&read_once(&short), 0), 4.0 * 50.0);
    let none = [BROKEN, "ecc.soft_senses=0", "ecc.retries_max=0"];
    let outcome = read_once(&none);
    assert_eq!(latency_us(&outcome, 0), 50.0);
    assert_eq!(outcome.rows[0].uncorrectable_pages, 1);
}

#[test]
fn a_retry_that_finds_no_error_ends_it() {
    // A factor of 0: the second sense is without errors.
    let outcome = read_once(&[BROKEN, "ecc.retry_rber_factor=0"]);
    assert_eq!(parts(&outcome, 0), [20_000, 40_000, 21_000]);
    assert_eq!(outcome.summary["reliability"]["hard_by_retries"], serde_json::json!([0, 1, 0, 0]));
    assert_eq!(outcome.rows[0].uncorrectable_pages, 0);
    // Only the first sense counts for the rate.
    assert_eq!(outcome.number("reliability.rber.mean"), 0.5);
}

#[test]
fn soft_decoding_corrects_what_hard_decoding_could_not() {
    // About 4096 of 8192 bits are wrong: beyond 64, within 8192.
    let outcome = read_once(&[BROKEN, "ecc.retries_max=0", "ecc.soft_correctable_bits=8192"]);
    assert_eq!(parts(&outcome, 0), [30_000, 60_000, 50_000]);
    assert_eq!(outcome.count("reliability.decoded.soft"), 1);
    assert_eq!(outcome.count("reliability.decoded.uncorrectable"), 0);
    assert_eq!(outcome.rows[0].uncorrectable_pages, 0);
}

#[test]
fn a_retry_goes_before_what_waits_and_leaves_the_die_while_it_decodes() {
    // The first read is out at 30 and decoded at 50; the second senses from 30 and is out at 60.
    // The retry then goes before the third: 60 to 90, decoded at 91; the second's decoding ends at
    // 80 and its own retry runs from 90 to 120, before the third at last.
    let rows: Vec<TraceRow> = (0..3).map(|page| (0, 'R', 4 * page, 4)).collect();
    let outcome = drive::replay(SLC, &[BROKEN, "ecc.retry_rber_factor=0"], &rows);
    let done: Vec<u64> = outcome.rows.iter().map(|row| row.completion_ns / 1000).collect();
    // The third: out at 150, failed at 170, again out at 200, decoded at 201.
    assert_eq!(done, [91, 121, 201]);
}

const SLOW: &str = "ecc.t_decode_max_us=30";

#[test]
fn a_retry_suspends_a_program_as_its_first_sense_did() {
    // The read is out at 30, its decoding fails at 60. The data of the write is in from 31 to 51,
    // and its first pulse would last to 71. Cancelled at 60, it leaves the array free at 64: the
    // page is out at 94, and decoded at 95.
    let ipc = ["suspension.program=ipc", BROKEN, "ecc.retry_rber_factor=0", SLOW];
    let rows = [(0, 'R', 800, 4), (31_000, 'W', 400, 4)];
    let outcome = drive::replay(SLC, &ipc, &rows);
    assert_eq!(outcome.count("flash.suspensions.program"), 1);
    assert_eq!(latency_us(&outcome, 0), 95.0);
    let none = ["suspension.program=none", BROKEN, "ecc.retry_rber_factor=0", SLOW];
    // Programmed until 191; then 30, and 1 of decoding.
    assert_eq!(latency_us(&drive::replay(SLC, &none, &rows), 0), 222.0);
}

#[test]
fn a_write_of_part_of_a_page_decodes_the_rest_of_it() {
    let outcome = drive::replay(SLC, &[], &[(0, 'W', 0, 1)]);
    assert_eq!(latency_us(&outcome, 0), 31.0 + 160.0);
    assert_eq!(outcome.rows[0].part_ns("rmw_ns"), 31_000);
    let lost = [BROKEN, "ecc.retries_max=0", "ecc.soft_senses=0"];
    let outcome = drive::replay(SLC, &lost, &[(0, 'W', 0, 1)]);
    assert_eq!(outcome.rows[0].uncorrectable_pages, 1);
    assert_eq!(outcome.count("reliability.uncorrectable.rmw_reads"), 1);
    assert_eq!(latency_us(&outcome, 0), 50.0 + 160.0);
}

#[test]
fn a_part_of_a_page_has_fewer_codewords() {
    // Certain failure of one codeword in two cannot be told apart; of the rates only the count of
    // codewords changes: half a page is one of two.
    let rber = 64.0 / 8192.0;
    let sets = [
        format!("reliability.epsilon={rber}"),
        "ecc.retries_max=0".to_string(),
        "ecc.soft_senses=0".to_string(),
        "channel.transfer_unit_bytes=1024".to_string(),
    ];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let lost = |sectors: u64| {
        let rows: Vec<TraceRow> = (0..4000).map(|n| (100_000 * n, 'R', 0, sectors)).collect();
        drive::replay(SLC, &sets, &rows).number("reliability.decoded.uncorrectable") / 4000.0
    };
    let above = above(8192, rber, 64);
    for (sectors, wanted) in [(2, above), (4, 1.0 - (1.0 - above).powi(2))] {
        let (got, tolerance) = (lost(sectors), 5.0 * (wanted * (1.0 - wanted) / 4000.0).sqrt());
        assert!((got - wanted).abs() < tolerance, "{sectors} sectors: {got} for {wanted}");
    }
}

/// P(more than `limit` of `bits` are wrong), summed from the ratio of neighbours.
fn above(bits: u64, rate: f64, limit: u64) -> f64 {
    let mut chance = (1.0 - rate).powi(bits as i32);
    let mut within = 0.0;
    for errors in 0..=limit {
        within += chance;
        chance *= (bits - errors) as f64 / (errors + 1) as f64 * rate / (1.0 - rate);
    }
    1.0 - within
}

#[test]
fn retries_are_as_many_as_the_binomial_has_it() {
    // 80 errors on average, then 64, then 51, then 41; the page is good if both codewords are.
    let rates = [0, 1, 2, 3].map(|retry| 80.0 / 8192.0 * 0.8f64.powi(retry));
    let epsilon = format!("reliability.epsilon={}", rates[0]);
    let sets = [epsilon.as_str(), "ecc.retry_rber_factor=0.8", "ecc.soft_senses=0"];
    let reads = 20_000;
    let rows: Vec<TraceRow> = (0..reads).map(|n| (500_000 * n, 'R', 4 * (n % 64), 4)).collect();
    let outcome = drive::replay(SLC, &sets, &rows);
    let mut left = 1.0;
    for (retry, rate) in rates.into_iter().enumerate() {
        let good = left * (1.0 - above(8192, rate, 64)).powi(2);
        left -= good;
        let got = outcome.number(&format!("reliability.hard_by_retries.{retry}"));
        let tolerance = 5.0 * (good * (1.0 - good) * reads as f64).sqrt().max(1.0);
        assert!((got - good * reads as f64).abs() < tolerance, "{retry}: {got} of {good}");
    }
    assert_eq!(outcome.count("reliability.reads"), reads);
}

#[test]
fn reads_age_and_cycles_make_a_rate() {
    // 1e-3 x C, 1e-4 x days, 1e-5 x reads of the block before, with C = 10.
    let sets = [
        "reliability.cycles_at_start=10",
        "reliability.alpha=1e-3",
        "reliability.beta=1e-4",
        "reliability.m=0",
        "reliability.gamma=1e-5",
        "reliability.p=0",
        "reliability.age_days=2",
        "ecc.code=none",
    ];
    let rows: Vec<TraceRow> = (0..5).map(|n| (100_000 * n, 'R', 4 * n, 4)).collect();
    let outcome = drive::replay(SLC, &sets, &rows);
    let (mean, max) =
        (outcome.number("reliability.rber.mean"), outcome.number("reliability.rber.max"));
    // The simulated microseconds are 1e-9 of a day each.
    assert!((mean - (0.01 + 2e-4 + 2e-5)).abs() < 1e-11, "{mean}");
    assert!((max - (0.01 + 2e-4 + 4e-5)).abs() < 1e-11, "{max}");
    // A page that was written here is new: nothing but wear.
    let rows = [(0, 'W', 0, 4), (1_000_000, 'R', 0, 4)];
    let max = drive::replay(SLC, &sets, &rows).number("reliability.rber.max");
    assert!((max - 0.01).abs() < 1e-11, "{max}");
}

#[test]
fn pages_of_each_type_have_a_rate_of_their_own() {
    let sets = [
        "reliability.epsilon=0.01",
        "timing.page_types=2",
        "reliability.rber_factor_by_type=[0.5, 2]",
        "ecc.code=none",
    ];
    let max = |page: u64| {
        drive::replay(SLC, &sets, &[(0, 'R', 4 * page, 4)]).number("reliability.rber.max")
    };
    assert_eq!([0, 1, 2].map(max), [0.005, 0.02, 0.005]);
}

#[test]
fn suspensions_of_a_program_raise_the_rate_of_its_page_and_wear_its_block() {
    let sets = [
        "suspension.program=ipc",
        "reliability.delta=0.001",
        "reliability.wear_per_program_suspend=0.25",
        "reliability.wear_per_erase_suspend=1",
        "reliability.rated_cycles=1000",
        "ecc.code=none",
    ];
    // Two reads suspend the program of page 0; then the page is read.
    let rows =
        [(0, 'W', 0, 4), (61_000, 'R', 800, 4), (120_000, 'R', 800, 4), (900_000, 'R', 0, 4)];
    let outcome = drive::replay(SLC, &sets, &rows);
    assert_eq!(outcome.count("flash.suspensions.program"), 2);
    assert!((outcome.number("reliability.rber.max") - 0.002).abs() < 1e-15);
    assert_eq!(outcome.number("wear.cycles.max"), 0.5);
    assert_eq!(outcome.number("wear.cycles.mean"), 0.5 / 64.0);
    assert_eq!(outcome.number("wear.cycles_by_suspensions"), 0.5);
    assert_eq!(outcome.count("wear.suspensions"), 2);
    // One page of 64 is 1/64 of a cycle, and half a cycle of suspensions besides. 64 blocks of 64
    // pages have 4096 pages, 2867 of them the user's; WAF 1.
    let alone = 1000.0 * (4096.0 / 2867.0) / 1825.0;
    let of = |name: &str| outcome.number(&format!("wear.drive_writes_per_day.{name}"));
    assert!((of("without_suspensions") / alone - 1.0).abs() < 1e-12);
    let share = (1.0 / 64.0) / (1.0 / 64.0 + 0.5);
    assert!((of("with_suspensions") / (alone * share) - 1.0).abs() < 1e-12);
}

#[test]
fn erases_are_cycles_and_forget_reads() {
    let text = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\nseed = 3\n\
        [geometry]\nchannels = 2\nblocks_per_plane = 24\npages_per_block = 8\n\
        [ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n\
        [reliability]\nmodel = \"power\"\nwear_per_suspend = 0.5\ncycles_at_start = 100\n\
        epsilon = 0.0072\n[ecc]\ncode = \"ldpc\"\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.5\n\
        request_bytes = [[1024, 1], [2048, 3]]\nqueue_depth = 16\n";
    for sets in [
        &[][..],
        &["parallelism.multi_plane=page", "ftl.placement=aligned"],
        &["parallelism.independent_plane_reads=true"],
        &["timing.cache_register=true", "policy=fifo"],
        &["ftl.copyback=true"],
        &[
            "power.account=on",
            "timing.t_erase_loops_us=[500, 1000]",
            "timing.t_erase_us_by_cycles=[[0, [[900, 1], [1500, 2]]], [110, [[4000, 1]]]]",
        ],
        &["timing.wordline_pages=2", "ftl.over_provisioning=0.65"],
        // A write that has to go first and has no room waits for a page that is sensed again.
        &["scheduling.policy=deadline"],
        &["scheduling.policy=rps-age", "scheduling.age_limit_us=100"],
        &["scheduling.write_queue_limit=1", "ftl.gc_background=false"],
        &["ecc.retries_max=1", "ecc.retry_rber_factor=1", "ecc.soft_correctable_bits=80"],
        // A buffer that does not hold the whole drive, or no read would come to the flash.
        &["buffer.acknowledge=back", "buffer.bytes=32768", "ftl.gc_background=false"],
        &[
            "parallelism.independent_plane_reads=true",
            "parallelism.multi_plane=page",
            "suspension.multi_plane=plane",
        ],
        &["ftl.mapping=demand", "ftl.map_cache_bytes=1024"],
        &["ftl.gc_preemptible=false", "power.account=on"],
    ] {
        // Under the checker, which also follows that every page has an outcome.
        let outcome = drive::run(drive::load_with(text, sets));
        assert_eq!(outcome.rows.len(), 20_000, "{sets:?}");
        let further = outcome.count("reliability.further_senses");
        assert!(further > 500, "{sets:?}: pages are sensed again, {further} times");
        let (erases, blocks) = (outcome.number("wear.erases"), 2.0 * 4.0 * 24.0);
        assert_eq!(outcome.count("wear.erases"), outcome.count("flash.erases"), "{sets:?}");
        let cycles = 100.0 + (erases + outcome.number("wear.cycles_by_suspensions")) / blocks;
        let mean = outcome.number("wear.cycles.mean");
        assert!((mean - cycles).abs() < 1e-9, "{sets:?}: {mean} for {cycles}");
        assert!(outcome.number("wear.cycles.min") >= 100.0, "{sets:?}");
        let lost: u64 = outcome.rows.iter().map(|row| row.uncorrectable_pages).sum();
        assert!(lost <= outcome.count("reliability.decoded.uncorrectable"), "{sets:?}");
        // The same again, bit for bit.
        assert_eq!(drive::run(drive::load_with(text, sets)), outcome, "{sets:?}");
    }
}

#[test]
fn cycles_at_the_start_are_within_their_spread() {
    let sets = ["reliability.cycles_at_start=1000", "reliability.cycles_spread=0.1"];
    let outcome = read_once(&sets);
    let of = |name: &str| outcome.number(&format!("wear.cycles.{name}"));
    // 64 blocks, uniform on 201 numbers: the mean is within five times 58 / 8 of 1000, and the
    // extremes are within a fifth of the range of its ends, but for one chance in 1.6 million.
    assert!((of("mean") - 1000.0).abs() < 37.0, "{}", of("mean"));
    assert!((900.0..940.0).contains(&of("min")), "{}", of("min"));
    assert!(of("max") > 1060.0 && of("max") <= 1100.0, "{}", of("max"));
    let other = read_once(&[&sets[..], &["seed=2"]].concat());
    assert_ne!(other.number("wear.cycles.mean"), of("mean"));
}

#[test]
fn ages_and_wear_go_on_from_a_saved_state() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    let workload = "[workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 1\n\
        queue_depth = 1\n";
    // Errors come with age alone: after one cycle 1e-6 of the bits for each day.
    let laws = [
        "reliability.epsilon=0",
        "reliability.alpha=0",
        "reliability.beta=1e-6",
        "reliability.m=1",
        "reliability.n=1",
        "reliability.gamma=0",
        "reliability.cycles_at_start=1",
        "reliability.cycles_spread=0",
    ];
    let load =
        |more: &[&str]| drive::load_with(&format!("{SLC}{workload}"), &[&laws[..], more].concat());
    let rber = |ssd: &mut Ssd| {
        while ssd.step(1000).expect("a generator without bad rows") {}
        ssd.summary()["reliability"]["rber"]["max"].as_f64().expect("a number")
    };
    let mut old = Ssd::new(load(&["reliability.age_days=30"]), false).expect("a drive");
    assert!((rber(&mut old) - 30e-6).abs() < 1e-9);
    old.save_state(&path).expect("room for a file");
    // The next run goes on from there, whatever age it would begin with by itself.
    let options = Options { from_state: Some(path), ..Options::default() };
    let mut next = Ssd::with(load(&["reliability.age_days=2"]), &options).expect("a drive");
    assert!((rber(&mut next) - 30e-6).abs() < 1e-9);
}

#[test]
fn the_rig_decodes_too() {
    let sets: Vec<String> = ["reliability.model=power", "ecc.code=ldpc", BROKEN]
        .iter()
        .chain(&["ecc.retry_rber_factor=0"])
        .map(ToString::to_string)
        .collect();
    let scenario = scenario::load_rig("fast12-slc", &sets, registries()).expect("a good device");
    let commands = "arrival_ns,op,plane,block,page\n0,read,0,0,0\n";
    let commands = reprieve_ssd::rig::parse(commands, &scenario).expect("a good command");
    let results = reprieve_ssd::rig::run(&scenario, &commands).expect("a legal command");
    assert_eq!(results[0].completion.ns(), 81_000);
}

#[test]
fn only_reads_are_decoded() {
    let outcome = drive::replay(SLC, &[BROKEN], &[(0, 'W', 0, 4)]);
    assert_eq!(latency_us(&outcome, 0), 160.0);
    assert_eq!(outcome.of(Op::Write).map(|row| row.uncorrectable_pages).sum::<u64>(), 0);
    assert_eq!(outcome.count("reliability.reads"), 0);
}

#[test]
fn a_block_that_remembers_its_retry_is_read_with_it() {
    // Each sense takes 30 us; the nominal voltages fail after 20, the first retry finds no error
    // within 1. Reads come one at a time: 30 + 20 + 30 + 1, then 30 + 1 in the same block. Pages 0
    // and 1 are of one block of 64; page 64 is of another, which has its own retry.
    let remembers = [BROKEN, "ecc.retry_rber_factor=0", "ecc.first_sense=block"];
    let rows = [
        (0, 'R', 0, 4),
        (1_000_000, 'R', 4, 4),
        (2_000_000, 'R', 4 * 64, 4),
        (3_000_000, 'R', 0, 4),
    ];
    let outcome = drive::replay(SLC, &remembers, &rows);
    let of = |outcome: &Outcome| -> Vec<u64> {
        outcome.rows.iter().map(|row| row.latency_ns() / 1000).collect()
    };
    assert_eq!(of(&outcome), [81, 31, 81, 31]);
    // Two reads needed a further sense, two none; the rate that is reported is the nominal one.
    assert_eq!(outcome.summary["reliability"]["hard_by_retries"], serde_json::json!([2, 2, 0, 0]));
    assert_eq!(outcome.count("reliability.further_senses"), 2);
    assert_eq!(outcome.number("reliability.rber.mean"), 0.5);
    let forgets = [BROKEN, "ecc.retry_rber_factor=0"];
    assert_eq!(of(&drive::replay(SLC, &forgets, &rows)), [81, 81, 81, 81]);
    // The second read was sensed before the first one's retry was known: it needs its own.
    let outcome = drive::replay(SLC, &remembers, &[(0, 'R', 0, 4), (1, 'R', 4, 4)]);
    assert_eq!(outcome.summary["reliability"]["hard_by_retries"], serde_json::json!([0, 2, 0, 0]));
}

#[test]
fn an_erase_makes_a_block_forget_its_retry() {
    // The drive of 48 of its 64 blocks is overwritten three times in order, a block at a time, so
    // that each block is erased with nothing in it. Two pages of what was just written are read:
    // the first read after an erase needs a retry, the second does not.
    let sets = [BROKEN, "ecc.retry_rber_factor=0", "ecc.first_sense=block"];
    let (mut rows, mut at_ns) = (Vec::new(), 0);
    for block in (0..3).flat_map(|_| 0..48u64) {
        let writes = (0..64).map(|page| (block * 64 + page, 'W'));
        for (page, op) in writes.chain([(block * 64 + 10, 'R'), (block * 64 + 20, 'R')]) {
            rows.push((at_ns, op, 4 * page, 4));
            at_ns += 5_000_000;
        }
    }
    let spare = ["ftl.over_provisioning=0.25", "ftl.gc_start_free_share=0.1"];
    let outcome = drive::replay(SLC, &[&sets[..], &spare].concat(), &rows);
    assert!(outcome.count("flash.erases") > 64, "{}", outcome.count("flash.erases"));
    assert_eq!(outcome.number("flash.gc_waf"), 1.0);
    let reads = 3 * 48;
    let senses = serde_json::json!([reads, reads, 0, 0]);
    assert_eq!(outcome.summary["reliability"]["hard_by_retries"], senses);
}
