//! Trains whose starts cluster on all scales, streams and repeats, against closed forms.

use std::collections::VecDeque;

use reprieve_base::{Dur, Op, Request};
use reprieve_trace::{Arrivals, MixedConfig, Trains, Workload, WorkloadConfig};

const MIB: u64 = 1 << 20;
const SPAN: Dur = Dur::from_us(1_024_000);

/// Single requests: a million in a span of 1,024 ms, seven tenths in the busier half.
fn starts() -> Trains {
    Trains {
        rate_iops: 1e6 / 1.024,
        requests: 1.0,
        gap: Dur::ZERO,
        simultaneous_fraction: 0.0,
        bias: vec![0.7],
        span: SPAN,
        independent: Dur::ZERO,
        tick: Dur::from_us(1_000),
    }
}

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
    let requests = generate(&config(starts(), 1_000_000), 3);
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
        let window = Dur::from_ns(SPAN.ns() / windows as u64);
        let squares: f64 =
            counts(&requests, window, windows).iter().map(|count| count * count).sum();
        let exact = 1e12 * 0.58f64.powi(halvings as i32);
        assert!((squares / exact - 1.0).abs() < 1e-3, "{halvings}: {squares}, expected {exact}");
    }
}

/// Mean square of the share of a cascade that falls between two places of it, by its biases.
///
/// One half of it has one share and the other half the other, and in each of them lies a cascade of
/// the other biases; in the last ones the share goes by length.
fn share_squared(biases: &[f64], from: f64, to: f64) -> f64 {
    let (from, to) = (from.clamp(0.0, 1.0), to.clamp(0.0, 1.0));
    let Some((bias, rest)) = biases.split_first() else { return (to - from) * (to - from) };
    if to - from == 0.0 || to - from == 1.0 {
        return to - from;
    }
    let length = |from: f64, to: f64| to.clamp(0.0, 1.0) - from.clamp(0.0, 1.0);
    let first = (2.0 * from, 2.0 * to);
    let second = (2.0 * from - 1.0, 2.0 * to - 1.0);
    let alone = share_squared(rest, first.0, first.1) + share_squared(rest, second.0, second.1);
    let both = length(first.0, first.1) * length(second.0, second.1);
    let of_the_busier = bias * bias + (1.0 - bias) * (1.0 - bias);
    of_the_busier / 2.0 * alone + 2.0 * bias * (1.0 - bias) * both
}

#[test]
fn each_halving_has_its_own_share() {
    let bias = vec![0.9, 0.5, 0.6, 0.75];
    let requests = generate(&config(Trains { bias: bias.clone(), ..starts() }, 1_000_000), 8);
    // The last share holds for two more halvings.
    let mut exact = 1e12;
    for halvings in 1..=6usize {
        let share = bias[halvings.min(4) - 1];
        exact *= share * share + (1.0 - share) * (1.0 - share);
        let windows = 1usize << halvings;
        let window = Dur::from_ns(SPAN.ns() / windows as u64);
        let squares: f64 =
            counts(&requests, window, windows).iter().map(|count| count * count).sum();
        assert!((squares / exact - 1.0).abs() < 1e-3, "{halvings}: {squares}, expected {exact}");
    }
}

#[test]
fn counts_are_dispersed_on_each_scale_as_the_shares_say() {
    // More in the longest and the shortest intervals than between, down to ticks of a 1,024th.
    let bias = vec![0.75, 0.6, 0.5, 0.5, 0.55, 0.65, 0.7, 0.8, 0.7, 0.6];
    let trains = Trains { rate_iops: 1e5 / 1.024, bias: bias.clone(), ..starts() };
    let config = config(trains, 100_000);
    let seeds: Vec<Vec<Request>> = (1..=200).map(|seed| generate(&config, seed)).collect();
    // Windows of which no number fills a half: they lie across many of them.
    for windows in [3, 7, 25, 100] {
        let window = Dur::from_ns(SPAN.ns().div_ceil(windows as u64));
        let means: Vec<f64> = seeds
            .iter()
            .map(|requests| counts(requests, window, windows).iter().map(|c| c * c).sum::<f64>())
            .collect();
        let mean = means.iter().sum::<f64>() / 200.0;
        let variance = means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / 199.0;
        let length = window.ns() as f64 / SPAN.ns() as f64;
        let square = |window: usize| {
            let from = window as f64 * length;
            share_squared(&bias, from, from + length)
        };
        let exact = 1e10 * (0..windows).map(square).sum::<f64>();
        // Counts of a tick are whole, and those of 98 starts: less than a thousandth.
        let error = 5.0 * (variance / 200.0).sqrt() + 1e-3 * exact;
        assert!((mean - exact).abs() < error, "{windows}: {mean}, expected {exact} ± {error}");
    }
}

#[test]
fn one_share_is_the_same_as_a_list_of_it() {
    let of = |bias| generate(&config(Trains { bias, ..starts() }, 20_000), 9);
    let one = of(vec![0.7]);
    assert_eq!(of(vec![0.7; 10]), one);
    assert_ne!(of(vec![0.7, 0.6]), one);
}

#[test]
fn a_share_for_which_there_is_no_halving_is_a_mistake() {
    // 1,024 ms are halved ten times to get to a tick of 1 ms, or five times to 32 ms.
    let open = |trains: Trains| {
        let config = WorkloadConfig::Mixed(config(trains, 10));
        Workload::open(&config, 64 * MIB, 1).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(open(Trains { bias: vec![0.7; 10], ..starts() }), Ok(()));
    let error = open(Trains { bias: vec![0.7; 11], ..starts() }).expect_err("eleven");
    assert!(error.contains("train_bias") && error.contains("1 to 10 values"), "{error}");
    let independent = Dur::from_us(32_000);
    let error = open(Trains { bias: vec![0.7; 6], independent, ..starts() }).expect_err("six");
    assert!(error.contains("1 to 5 values"), "{error}");
    let error = open(Trains { bias: Vec::new(), ..starts() }).expect_err("none");
    assert!(error.contains("1 to 10 values"), "{error}");
}

#[test]
fn one_span_follows_the_other_and_what_starts_within_a_tick_starts_together() {
    let requests = generate(&config(starts(), 2_000_000), 4);
    assert_eq!(counts(&requests, SPAN, 2), [1e6, 1e6]);
    // 1,024 ticks in each span, and a million starts: single ones, which are anywhere in their
    // interval, are few.
    let whole = requests.iter().filter(|r| r.arrival.ns() % 1_000_000 == 0).count();
    assert!(whole > 1_999_000, "{whole} on a tick");
}

#[test]
fn starts_do_not_cluster_within_the_time_that_is_said() {
    // Independent within the whole span: counts are binomial, with a variance of N p (1 - p).
    let independent = Trains { independent: SPAN, bias: vec![0.9], ..starts() };
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
        bias: vec![0.5],
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
fn settings_of_trains_and_repeats_that_contradict_each_other_are_mistakes() {
    let cases = [
        ("train_tick_us", Trains { tick: Dur::ZERO, ..starts() }),
        ("train_span_s", Trains { span: Dur::from_us(1), ..starts() }),
        ("train_independent_s", Trains { independent: SPAN * 2, ..starts() }),
    ];
    for (key, trains) in cases {
        let config = WorkloadConfig::Mixed(config(trains, 10));
        let error = Workload::open(&config, 64 * MIB, 1).expect_err(key).to_string();
        assert!(error.starts_with(&format!("workload.{key} = ")), "{key}: {error}");
    }
    let base = crate::mixed::config();
    let more = MixedConfig { repeat_fraction: 0.6, read_sequential_fraction: 0.5, ..base };
    assert_eq!(more.contradiction().expect("1.1 in all").0, "repeat_fraction");
}
