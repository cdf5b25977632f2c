//! Random drives under random loads: nothing is lost, nothing is counted twice, time adds up.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use reprieve_base::{Op, SECTOR_BYTES};

use super::cases::{Case, case, dispatch, many};
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
    for (part, key) in reprieve_ssd::txn::PART_NAMES.iter().enumerate() {
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
    // A dispatcher may have had pages written anew, and what it began last may not be done.
    let anew = outcome.summary["device"]["redistributed_pages"].as_u64().unwrap_or(0);
    let merged = device("merged_writes");
    let programmed_at_last = flash("host_programs") + merged;
    let at_start = outcome.summary["device"]["buffered_at_start"].as_u64().unwrap_or(0);
    if case.policies.write_back {
        let failed = outcome.summary["flash"]["bad_blocks"]["failed_host_programs"].as_u64();
        let held = outcome.summary["device"].get("dropped_writes").is_some();
        let dropped = if held { device("dropped_writes") } else { 0 };
        let came = written + at_start + anew + failed.unwrap_or(0);
        let buffered = came - programmed_at_last - dropped;
        let room = case.buffer_pages() + failed.unwrap_or(0);
        assert!(buffered <= room, "{buffered} pages lost, the buffer holds {room}");
        assert!(
            device("partial_writes") <= in_part && device("partial_writes") + merged >= in_part
        );
    } else if let Some(bad) = outcome.summary["flash"].get("bad_blocks") {
        // Each of these was written again, unless it had been overwritten.
        let failed = bad["failed_host_programs"].as_u64().expect("a count");
        let most = written + at_start + anew + failed;
        assert!((written..=most).contains(&programmed_at_last), "{programmed_at_last} of {most}");
        assert_eq!(device("partial_writes"), in_part, "pages written in part");
    } else {
        assert_eq!(merged, 0, "a page that is acknowledged when programmed is programmed");
        let most = written + at_start + anew;
        assert!((written..=most).contains(&programmed_at_last), "{programmed_at_last} of {most}");
        assert_eq!(device("partial_writes"), in_part, "pages written in part");
    }
    assert!(flash("rmw_reads") <= device("partial_writes") + anew);

    let (trimmed, trimmed_in_part) = sum(Op::Trim);
    assert_eq!(device("trims_of_part_of_a_page"), trimmed_in_part);
    assert_eq!(device("trimmed_pages"), trimmed - trimmed_in_part);
}

/// Logical pages that have their data in the flash when the run begins, or fewer where nobody says.
fn valid_at_first(case: &Case, outcome: &Outcome) -> u64 {
    let logical = outcome.logical_pages;
    let trims = case.load.trim_fraction > 0.0;
    let Some(run_in) = outcome.summary.get("precondition") else {
        // Only overwrites of the load's own trim, as they do for a mapping in flash.
        return if case.policies.preconditioned && !trims { logical } else { 0 };
    };
    let valid = run_in["valid_pages"].as_u64().expect("a count");
    assert!(valid <= logical, "{valid} of {logical} pages");
    // A page that waits in the buffer has its old data in the flash.
    assert!(trims || valid == logical, "{valid} of {logical} pages, and nothing is trimmed");
    valid
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
    let valid_at_first = valid_at_first(case, outcome);
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
    let outcome = drive::run_drawn(&case.toml(), sets);
    check_log(case, &outcome);
    check_classes(&outcome);
    check_pages(case, &outcome);
    check_flash(case, &outcome);
    check_time(case, &outcome);
    outcome.count("run.page_transactions")
}

fn refs(sets: &[String]) -> Vec<&str> {
    sets.iter().map(String::as_str).collect()
}

proptest! {
    #![proptest_config(many(1000))]

    #[test]
    fn requests_pages_and_time_are_conserved(case in case(), dispatch in dispatch()) {
        check(&case, &refs(&dispatch));
    }

    #[test]
    fn writes_inside_erases_are_conserved_on_a_full_drive(
        mut case in case(),
        is_steady in prop::bool::weighted(0.25),
    ) {
        case.shape.extra_spare = 0;
        case.policies.preconditioned = true;
        let full = ["ftl.precondition=sequential", "ftl.precondition=steady"];
        check(&case, &[
            full[usize::from(is_steady)],
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
    #![proptest_config(many(300))]

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
        let outcome = drive::run_drawn(&case.toml(), &sets);
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
            drive::run_drawn(&case.toml(), &sets)
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
        let tree = (case(), dispatch()).new_tree(&mut runner).expect("no case is rejected");
        let (mut case, dispatch) = tree.current();
        case.load.requests *= longer;
        done += check(&case, &refs(&dispatch));
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
