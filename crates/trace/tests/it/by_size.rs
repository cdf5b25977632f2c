//! Sizes in runs, and places that follow requests of the same size, against closed forms.

use std::collections::VecDeque;

use reprieve_base::{Op, Request, SECTOR_BYTES, Stream};
use reprieve_trace::{Arrivals, MixedConfig, Workload, WorkloadConfig};

/// So large that a place drawn anew is next to no other.
const DRIVE_BYTES: u64 = 1 << 50;
const SMALL: u32 = 512;
const MIDDLE: u32 = 4096;
const LARGE: u32 = 49152;

/// Shares of .5, .46 and .04; a large write follows a large one in a third of the cases or more.
fn config() -> MixedConfig {
    MixedConfig {
        requests: 400_000,
        read_fraction: 0.0,
        trim_fraction: 0.0,
        sizes: vec![(SMALL, 50.0), (MIDDLE, 46.0), (LARGE, 4.0)],
        size_run_fraction: vec![0.1, 0.0, 0.6],
        align_bytes: 512,
        arrivals: Arrivals::Fixed { rate_iops: 1e3 },
        ..crate::mixed::config()
    }
}

fn generate(config: &MixedConfig, seed: u64) -> Vec<Request> {
    let config = WorkloadConfig::Mixed(config.clone());
    let mut workload = Workload::open(&config, DRIVE_BYTES, seed).expect("good");
    std::iter::from_fn(|| workload.next_request().expect("generators do not fail")).collect()
}

fn end_sector(request: &Request) -> u64 {
    request.lba + u64::from(request.bytes) / SECTOR_BYTES
}

/// How often a size occurs, and how often it follows itself.
fn counts(requests: &[Request], bytes: u32) -> (f64, f64) {
    let of = requests.iter().filter(|request| request.bytes == bytes).count();
    let pairs = requests.windows(2).filter(|pair| pair.iter().all(|one| one.bytes == bytes));
    (of as f64, pairs.count() as f64)
}

#[test]
fn sizes_keep_their_shares_and_follow_themselves_as_often_as_the_closed_form_says() {
    // What does not keep its size is drawn with weights of .5 * .9, .46 * 1 and .04 * .4, in all
    // .926: chances of .48596, .49676, .01728. So a size follows itself in a share of
    // .1 + .9 * .48596 = .53737, .49676 and .6 + .4 * .01728 = .60691.
    let expected = [(SMALL, 0.5, 0.53737), (MIDDLE, 0.46, 0.49676), (LARGE, 0.04, 0.60691)];
    let seeds = 20;
    let mut found = [(0.0, 0.0); 3];
    for seed in 0..seeds {
        let requests = generate(&MixedConfig { requests: 100_000, ..config() }, seed);
        for ((all, pairs), (bytes, ..)) in found.iter_mut().zip(expected) {
            let (count, pair) = counts(&requests, bytes);
            *all += count;
            *pairs += pair;
        }
    }
    for ((all, pairs), (bytes, share, follows)) in found.into_iter().zip(expected) {
        let drawn = 100_000.0 * seeds as f64;
        // A Markov chain's counts have the variance of independent ones times (1 + r) / (1 - r),
        // r being at most .6.
        let error = (share * (1.0 - share) / drawn * (1.6 / 0.4)).sqrt();
        assert!((all / drawn - share).abs() < 5.0 * error, "{bytes}: a share of {}", all / drawn);
        let error = (follows * (1.0 - follows) / all).sqrt();
        assert!((pairs / all - follows).abs() < 5.0 * error, "{bytes}: {} follow", pairs / all);
    }
}

#[test]
fn each_operation_has_runs_of_its_own() {
    // Of half the requests each: a read between two writes does not end a run of the writes.
    let mixed = MixedConfig { read_fraction: 0.5, size_run_fraction: vec![0.9], ..config() };
    let requests = generate(&mixed, 3);
    for op in [Op::Read, Op::Write] {
        let own: Vec<Request> = requests.iter().filter(|r| r.op == op).copied().collect();
        // One chance for all sizes: what is drawn has the shares themselves, .9 + .1 * .04.
        let (count, pairs) = counts(&own, LARGE);
        let error = (0.904 * 0.096 / count).sqrt();
        assert!((pairs / count - 0.904).abs() < 5.0 * error, "{op:?}: {}", pairs / count);
    }
}

#[test]
fn what_goes_on_or_repeats_follows_requests_of_its_own_size() {
    let shares = [(SMALL, 0.0, 0.7), (MIDDLE, 0.3, 0.4), (LARGE, 0.9, 0.0)];
    let placed = MixedConfig {
        sequential_by_size: shares.iter().map(|share| share.1).collect(),
        repeat_by_size: shares.iter().map(|share| share.2).collect(),
        sequential_streams: 4,
        repeat_window: 8,
        ..config()
    };
    let requests = generate(&placed, 7);
    for (bytes, sequential, repeat) in shares {
        let (mut ends, mut earlier) = (VecDeque::new(), VecDeque::new());
        let (mut on, mut again, mut all) = (0.0, 0.0, 0.0);
        for request in requests.iter().filter(|request| request.bytes == bytes) {
            all += 1.0;
            let goes_on = ends.iter().position(|end| *end == request.lba);
            match goes_on.map(|stream| ends.remove(stream)) {
                Some(_) => on += 1.0,
                None if earlier.contains(&request.lba) => again += 1.0,
                None => {}
            }
            ends.push_back(end_sector(request));
            earlier.push_back(request.lba);
            if ends.len() > 4 {
                ends.pop_front();
            }
            if earlier.len() > 8 {
                earlier.pop_front();
            }
        }
        // A repeat may be of a place that a stream has gone on to since, and counts as going on.
        let error = 5.0 * (0.25f64 / all).sqrt();
        let both = sequential + repeat;
        assert!(((on + again) / all - both).abs() < error + 0.001, "{bytes}: {on} and {again}");
        assert!(on / all > sequential - error, "{bytes}: {on} of {all} go on");
        assert!(repeat > 0.0 || on / all < sequential + error, "{bytes}: {on} of {all} go on");
    }
}

#[test]
fn the_shares_of_an_operation_hold_for_all_its_sizes() {
    let all = MixedConfig { write_sequential_fraction: 0.25, repeat_fraction: 0.5, ..config() };
    let listed =
        MixedConfig { sequential_by_size: vec![0.25; 3], repeat_by_size: vec![0.5], ..config() };
    assert_eq!(generate(&all, 5), generate(&listed, 5));
}

#[test]
fn without_runs_each_size_takes_one_draw_and_each_place_another() {
    // The draws themselves, from the streams that have always had them.
    let plain = MixedConfig { requests: 10_000, size_run_fraction: Vec::new(), ..config() };
    let mut size_stream = Stream::new(11, "workload.size", 0);
    let mut address_stream = Stream::new(11, "workload.address", 0);
    for request in generate(&plain, 11) {
        let draw = size_stream.unit();
        let bytes = [(0.5, SMALL), (0.96, MIDDLE), (1.0, LARGE)];
        let bytes = bytes.iter().find(|(below, _)| draw < *below).expect("below 1").1;
        assert_eq!(request.bytes, bytes);
        let sectors = u64::from(bytes) / SECTOR_BYTES;
        assert_eq!(request.lba, address_stream.below(DRIVE_BYTES / SECTOR_BYTES - sectors + 1));
    }
}

#[test]
fn lists_that_do_not_fit_the_sizes_are_mistakes() {
    let base = || MixedConfig { requests: 10, ..config() };
    let cases = [
        (
            "size_run_fraction",
            MixedConfig { size_run_fraction: vec![0.5; 2], ..base() },
            "each size of request_bytes, 3",
        ),
        (
            "repeat_by_size",
            MixedConfig {
                sequential_by_size: vec![0.1, 0.5, 0.1],
                repeat_by_size: vec![0.6],
                ..base()
            },
            "of size 2",
        ),
        (
            "sequential_by_size",
            MixedConfig { sequential_by_size: vec![0.7], repeat_fraction: 0.4, ..base() },
            "repeats",
        ),
    ];
    for (key, config, what) in cases {
        let (found, _, sentence) = config.contradiction().expect(key);
        assert!(found == key && sentence.contains(what), "{found}: {sentence}");
    }
}
