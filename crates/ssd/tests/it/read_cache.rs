//! The read cache: what it answers by hand, and how often against formulas for random reads.
//!
//! SLC of FAST 2012 on one die without a link: read 30 us, program 160 us. A page is four sectors.

use super::closed_form::assert_mean;
use super::drive::{self, TraceRow};

/// A cache of two pages.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n[read_cache]\nbytes = 4096\n";

/// Latencies in microseconds of `R`, `W` and `D` of these pages, a millisecond apart.
fn latencies_us(sets: &[&str], work: &[(char, u64)]) -> Vec<u64> {
    let rows = work.iter().enumerate();
    let rows: Vec<TraceRow> =
        rows.map(|(n, (op, page))| (1_000_000 * n as u64, *op, 4 * page, 4)).collect();
    let outcome = drive::replay(SLC, sets, &rows);
    outcome.rows.iter().map(|row| row.latency_ns() / 1000).collect()
}

const FIFO: &str = "read_cache.replacement=fifo";
const ON_WRITE: &str = "read_cache.fill_on_write=true";

#[test]
fn a_page_that_was_read_is_there_until_others_take_its_place() {
    let work = [('R', 0), ('R', 1), ('R', 0), ('R', 2), ('R', 0), ('R', 1)];
    // Page 2 takes the place of page 1, which was used longest ago, or of 0, which came first.
    assert_eq!(latencies_us(&[], &work), [30, 30, 0, 30, 0, 30]);
    assert_eq!(latencies_us(&[FIFO], &work), [30, 30, 0, 30, 30, 30]);
    assert_eq!(latencies_us(&["read_cache.bytes=0"], &work), [30; 6]);
    // Three pages are room for all.
    assert_eq!(latencies_us(&["read_cache.bytes=6144"], &work), [30, 30, 0, 30, 0, 0]);
}

#[test]
fn hits_and_misses_are_told() {
    let rows: Vec<TraceRow> = [0, 1, 0, 2]
        .iter()
        .enumerate()
        .map(|(n, p)| (1_000_000 * n as u64, 'R', 4 * p, 4))
        .collect();
    let outcome = drive::replay(SLC, &[], &rows);
    let of = |key: &str| outcome.number(&format!("device.read_cache.{key}"));
    assert_eq!(["hits", "misses", "evictions", "hit_share"].map(of), [1.0, 3.0, 1.0, 0.25]);
    assert_eq!(outcome.count("flash.host_reads"), 3);
    let outcome = drive::replay(SLC, &["read_cache.bytes=0"], &rows);
    assert!(outcome.summary["device"].get("read_cache").is_none());
}

#[test]
fn a_write_takes_its_page_out_or_puts_it_in() {
    let work = [('R', 0), ('W', 0), ('R', 0), ('R', 0), ('W', 1), ('R', 1)];
    assert_eq!(latencies_us(&[], &work), [30, 160, 30, 0, 160, 30]);
    assert_eq!(latencies_us(&[ON_WRITE], &work), [30, 160, 0, 0, 160, 0]);
    // The place that it leaves is free: page 1 stays.
    let work = [('R', 0), ('R', 1), ('W', 0), ('R', 2), ('R', 1)];
    assert_eq!(latencies_us(&[FIFO], &work), [30, 30, 160, 30, 0]);
    // Trimmed, it is gone: rewritten, it comes from the flash.
    let work = [('R', 0), ('D', 0), ('W', 0), ('R', 0)];
    assert_eq!(latencies_us(&[], &work), [30, 0, 160, 30]);
}

#[test]
fn a_part_of_a_page_is_cached_only_with_the_rest() {
    let rows =
        [(0, 'W', 0, 1), (1_000_000, 'R', 0, 4), (2_000_000, 'W', 0, 1), (3_000_000, 'R', 0, 4)];
    let outcome = drive::replay(SLC, &[ON_WRITE], &rows);
    let latencies: Vec<u64> = outcome.rows.iter().map(|row| row.latency_ns() / 1000).collect();
    // The second write has the rest in the cache.
    assert_eq!(latencies, [190, 30, 160, 0]);
}

#[test]
fn a_part_of_a_page_is_written_without_a_read_where_the_rest_is_cached() {
    // Read: 30. A sector over it: 160 without the 30 of the old page. The write takes the page
    // out, so that the next sector reads the flash again, 190.
    let mut rows = vec![
        (0, 'R', 0, 4),
        (1_000_000, 'W', 0, 1),
        (2_000_000, 'W', 1, 1),
        (3_000_000, 'R', 0, 4),
    ];
    let run = |rows: &[TraceRow], sets: &[&str]| {
        let outcome = drive::replay(SLC, sets, rows);
        let latencies: Vec<u64> = outcome.rows.iter().map(|row| row.latency_ns() / 1000).collect();
        let of = |key: &str| outcome.count(&format!("device.read_cache.{key}"));
        (latencies, ["hits", "rmw_hits", "misses"].map(of), outcome.count("flash.rmw_reads"))
    };
    assert_eq!(run(&rows, &[]), (vec![30, 160, 190, 30], [0, 1, 2], 1));
    // It stays with what was written.
    assert_eq!(run(&rows, &[ON_WRITE]), (vec![30, 160, 160, 0], [1, 2, 1], 0));
    // A trimmed page has no rest, neither in the flash nor in the cache.
    rows[1] = (1_000_000, 'D', 0, 4);
    assert_eq!(run(&rows, &[]), (vec![30, 0, 160, 30], [0, 0, 2], 0));
}

#[test]
fn a_page_of_which_a_part_was_read_is_not_cached() {
    // A sector of four takes the 10 us of the array and a quarter of the 20 us of the bus.
    let rows = [(0, 'R', 0, 1), (1_000_000, 'R', 0, 4), (2_000_000, 'R', 0, 1)];
    let outcome = drive::replay(SLC, &["channel.transfer_unit_bytes=512"], &rows);
    let latencies: Vec<u64> = outcome.rows.iter().map(|row| row.latency_ns()).collect();
    assert_eq!(latencies, [15_000, 30_000, 0]);
    let outcome = drive::replay(SLC, &[], &rows);
    let latencies: Vec<u64> = outcome.rows.iter().map(|row| row.latency_ns()).collect();
    assert_eq!(latencies, [30_000, 0, 0]);
}

#[test]
fn what_was_overwritten_while_it_was_read_is_not_cached() {
    // The read is done at 30, the write comes at 1 and is programmed until 190.
    let rows = [(0, 'R', 0, 4), (1_000, 'W', 0, 4), (1_000_000, 'R', 0, 4), (2_000_000, 'R', 0, 4)];
    let outcome = drive::replay(SLC, &[], &rows);
    let latencies: Vec<u64> = outcome.rows.iter().map(|row| row.latency_ns() / 1000).collect();
    assert_eq!(latencies, [30, 189, 30, 0]);
}

/// Pages that are read, and pages that the cache holds.
const PAGES: usize = 2000;
const CACHED: f64 = 200.0;

/// Reads by Zipf's law with exponent 1, one at a time: 1 for each hit, else 0.
fn zipf_hits(replacement: &str) -> Vec<f64> {
    let text = format!(
        "{SLC}replacement = \"{replacement}\"\n[workload]\ngenerator = \"mixed\"\n\
         requests = 400000\nread_fraction = 1.0\nrequest_bytes = 2048\naddresses = \"zipf\"\n\
         zipf_theta = 1.0\nzipf_unit_bytes = 2048\nfootprint_bytes = {}\nqueue_depth = 1\n",
        2048 * PAGES
    );
    let bytes = format!("read_cache.bytes={}", 2048 * CACHED as u64);
    let outcome = drive::run(drive::load_with(&text, &[&bytes]));
    outcome.rows.iter().map(|row| f64::from(u8::from(row.latency_ns() == 0))).collect()
}

/// Share of hits where page i is in the cache with probability `present(p_i t)`, and t is such that
/// as many pages are there as fit.
fn hit_share(present: impl Fn(f64) -> f64) -> f64 {
    let sum: f64 = (1..=PAGES).map(|rank| 1.0 / rank as f64).sum();
    let chances: Vec<f64> = (1..=PAGES).map(|rank| 1.0 / rank as f64 / sum).collect();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let time = (low + high) / 2.0;
        let cached: f64 = chances.iter().map(|chance| present(chance * time)).sum();
        if cached < CACHED { low = time } else { high = time }
    }
    chances.iter().map(|chance| chance * present(chance * low)).sum()
}

#[test]
fn independent_reads_hit_as_the_characteristic_time_predicts() {
    // Che, Tung and Wang, IEEE JSAC 20(7), 2002, for LRU; Fricker, Robert and Roberts, ITC 2012,
    // for FIFO. Both are approximations: exact in the limit, and known to be within a hundredth.
    let lru = hit_share(|load| 1.0 - (-load).exp());
    let fifo = hit_share(|load| load / (1.0 + load));
    assert!(lru > fifo + 0.03, "{lru} and {fifo} are told apart");
    assert_mean("LRU", &zipf_hits("lru"), lru, 0.01);
    assert_mean("FIFO", &zipf_hits("fifo"), fifo, 0.01);
}
