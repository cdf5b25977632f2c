//! Trains whose starts cluster on all scales, streams and repeats, against closed forms.

use std::collections::VecDeque;

use reprieve_base::{Dur, Op, Request};
use reprieve_trace::{Arrivals, MixedConfig, Trains, Workload, WorkloadConfig};

const MIB: u64 = 1 << 20;

/// Single requests: a million in a span of 1,024 ms, seven tenths in the busier half.
const STARTS: Trains = Trains {
    rate_iops: 1e6 / 1.024,
    requests: 1.0,
    gap: Dur::ZERO,
    simultaneous_fraction: 0.0,
    bias: 0.7,
    span: Dur::from_us(1_024_000),
    independent: Dur::ZERO,
    tick: Dur::from_us(1_000),
};

fn config(trains: Trains, requests: u64) -> MixedConfig {
    let arrivals = Arrivals::Trains(trains);
    MixedConfig {
        requests,
        read_fraction: 1.0,
        trim_fraction: 0.0,
        arrivals,
        ..crate::mixed::config()
    }
}

fn generate(config: &MixedConfig, seed: u64) -> Vec<Request> {
    let config = WorkloadConfig::Mixed(config.clone());
    let mut workload = Workload::open(&config, 64 * MIB, seed).expect("good");
    std::iter::from_fn(|| workload.next_request().expect("generators do not fail")).collect()
}

/// How many requests arrive in each window of a span.
fn counts(requests: &[Request], window: Dur, windows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for request in requests {
        counts[(request.arrival.ns() / window.ns()) as usize] += 1.0;
    }
    counts
}

#[test]
fn each_halving_gives_the_busier_half_its_share() {
    let requests = generate(&config(STARTS, 1_000_000), 3);
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    // After two halvings a quarter has 0.7 * 0.7 of all, two have 0.7 * 0.3, one 0.3 * 0.3; a
    // count is rounded twice, by less than 1 each time.
    let mut quarters = counts(&requests, Dur::from_us(256_000), 4);
    quarters.sort_by(f64::total_cmp);
    for (found, exact) in quarters.iter().zip([90_000.0, 210_000.0, 210_000.0, 490_000.0]) {
        assert!((found - exact).abs() <= 2.0, "{found}, expected {exact}");
    }
    // After k halvings the squares of the counts sum to N^2 (0.7^2 + 0.3^2)^k.
    for halvings in 1..=6u32 {
        let windows = 1usize << halvings;
        let window = Dur::from_ns(STARTS.span.ns() / windows as u64);
        let squares: f64 =
            counts(&requests, window, windows).iter().map(|count| count * count).sum();
        let exact = 1e12 * 0.58f64.powi(halvings as i32);
        assert!((squares / exact - 1.0).abs() < 1e-3, "{halvings}: {squares}, expected {exact}");
    }
}

#[test]
fn one_span_follows_the_other_and_what_starts_within_a_tick_starts_together() {
    let requests = generate(&config(STARTS, 2_000_000), 4);
    assert_eq!(counts(&requests, STARTS.span, 2), [1e6, 1e6]);
    // 1,024 ticks in each span, and a million starts: single ones, which are anywhere in their
    // interval, are few.
    let whole = requests.iter().filter(|r| r.arrival.ns() % 1_000_000 == 0).count();
    assert!(whole > 1_999_000, "{whole} on a tick");
}

#[test]
fn starts_do_not_cluster_within_the_time_that_is_said() {
    // Independent within the whole span: counts are binomial, with a variance of N p (1 - p).
    let independent = Trains { independent: STARTS.span, bias: 0.9, ..STARTS };
    let requests = generate(&config(independent, 1_000_000), 5);
    let windows = counts(&requests, Dur::from_us(1_000), 1_024);
    let mean = 1e6 / 1024.0;
    let variance = windows.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 1024.0;
    // The variance of 1,024 counts has a relative standard error of sqrt(2 / 1,024) = 0.044.
    assert!((variance / mean - 1.0).abs() < 5.0 * 0.044, "dispersion {}", variance / mean);
}

#[test]
fn trains_have_their_mean_length_gaps_and_rate() {
    // Starts 5 ms apart, within a nanosecond or so; gaps of 0.1 ms, a fifth of them of no time.
    let trains = Trains {
        rate_iops: 1e3,
        requests: 5.0,
        gap: Dur::from_us(100),
        simultaneous_fraction: 0.2,
        bias: 0.5,
        span: Dur::from_us(1_000_000_000),
        independent: Dur::ZERO,
        tick: Dur::from_us(1),
    };
    let requests = generate(&config(trains, 400_000), 6);
    let span_s = requests.last().expect("many").arrival.ns() as f64 / 1e9;
    // 80,000 geometric lengths of variance 20: a relative error of sqrt(20 / 80,000) / 5.
    assert!((span_s / 400.0 - 1.0).abs() < 5.0 * 0.0032, "{span_s} s");
    let gaps = requests.windows(2).map(|pair| pair[1].arrival.ns() - pair[0].arrival.ns());
    let together = gaps.filter(|gap| *gap == 0).count() as f64 / 399_999.0;
    // 0.8 of the requests follow another of their train, and 0.2 of those at once.
    assert!((together - 0.16).abs() < 5.0 * 0.0006, "{together} together");
}

#[test]
fn streams_and_repeats_have_their_shares_and_keep_their_sizes() {
    let config = MixedConfig {
        requests: 100_000,
        read_fraction: 0.5,
        trim_fraction: 0.0,
        read_sequential_fraction: 0.3,
        write_sequential_fraction: 0.5,
        sequential_streams: 4,
        repeat_fraction: 0.4,
        repeat_window: 8,
        sizes: vec![(512, 1.0), (2048, 1.0), (4096, 2.0)],
        align_bytes: 512,
        arrivals: Arrivals::Fixed { rate_iops: 1e3 },
        ..crate::mixed::config()
    };
    // On a drive so large that a place drawn anew is next to no other.
    let mut workload = Workload::open(&WorkloadConfig::Mixed(config), 1 << 50, 7).expect("good");
    let mut earlier = [(); 2].map(|()| (VecDeque::new(), VecDeque::new()));
    let mut found = [[0.0f64; 3]; 2];
    while let Some(request) = workload.next_request().expect("generators do not fail") {
        let which = usize::from(request.op == Op::Write);
        let (ends, requests) = &mut earlier[which];
        let place = (request.lba, request.bytes);
        let goes_on = ends.iter().position(|end| *end == place);
        let repeats = requests.contains(&place);
        found[which][0] += 1.0;
        found[which][1] += f64::from(u8::from(goes_on.is_some()));
        found[which][2] += f64::from(u8::from(repeats && goes_on.is_none()));
        // A stream that went on is where it is now, and so is one that began.
        if let Some(place) = goes_on {
            ends.remove(place);
        }
        ends.push_back((request.lba + u64::from(request.bytes) / 512, request.bytes));
        requests.push_back(place);
        if ends.len() > 4 {
            ends.pop_front();
        }
        if requests.len() > 8 {
            requests.pop_front();
        }
    }
    // Some requests do both: one repeats a place that a stream has gone on to since, or two
    // streams ended alike after a repeat. Those count as going on: up to a repeat's share more.
    for ([count, on, again], sequential) in found.into_iter().zip([0.3, 0.5]) {
        let (on, again) = (on / count, again / count);
        assert!((on + again - sequential - 0.4).abs() < 0.02, "{on} and {again}");
        assert!(on >= sequential - 0.01, "{on} of {sequential} go on");
    }
}

#[test]
fn settings_of_trains_and_streams_outside_their_range_are_mistakes() {
    let with = |trains| config(trains, 10);
    let place = |config: MixedConfig| MixedConfig { requests: 10, ..config };
    let base = crate::mixed::config();
    let cases = [
        ("train_requests", with(Trains { requests: 0.5, ..STARTS })),
        ("train_simultaneous_fraction", with(Trains { simultaneous_fraction: 1.1, ..STARTS })),
        ("train_bias", with(Trains { bias: 0.4, ..STARTS })),
        ("train_bias", with(Trains { bias: 1.0, ..STARTS })),
        ("train_tick_us", with(Trains { tick: Dur::ZERO, ..STARTS })),
        ("train_span_s", with(Trains { span: Dur::from_us(1), ..STARTS })),
        ("train_independent_s", with(Trains { independent: STARTS.span * 2, ..STARTS })),
        ("rate_iops", with(Trains { rate_iops: 0.0, ..STARTS })),
        ("sequential_streams", place(MixedConfig { sequential_streams: 0, ..base.clone() })),
        ("repeat_window_requests", place(MixedConfig { repeat_window: 0, ..base.clone() })),
        ("repeat_fraction", place(MixedConfig { repeat_fraction: -0.1, ..base.clone() })),
        (
            "repeat_fraction",
            place(MixedConfig { repeat_fraction: 0.6, read_sequential_fraction: 0.5, ..base }),
        ),
    ];
    for (key, config) in cases {
        let error = Workload::open(&WorkloadConfig::Mixed(config), 64 * MIB, 1).expect_err(key);
        let error = error.to_string();
        assert!(error.starts_with(&format!("workload.{key} = ")), "{key}: {error}");
    }
}
