//! Intervals hold what theory knows as often as they say, and are none where requests are too few.

use reprieve_base::{Op, Stream, Time};
use reprieve_policy::txn::LatencyComponents;

use super::*;
use crate::stats::Latencies;

/// Runs of which each coverage is counted.
const RUNS: u64 = 1000;
/// 93 to 97 %. Of 1000 runs that hold with probability 0.95 each, 950 do, with a deviation of
/// √(1000 · 0.95 · 0.05) = 6.9: fewer or more than these come once in 260 times.
const HOLDING: std::ops::RangeInclusive<u64> = 930..=970;

fn record(latencies: &mut Latencies, number: u64, op: Op, latency_ns: u64) {
    if latencies.record(number, op, false, 512, latency_ns, &LatencyComponents::default()) {
        latencies.mark(number, Time::ZERO, 0);
    }
}

/// The section after reads of these latencies.
fn section(latencies_ns: impl Iterator<Item = f64>) -> Value {
    let mut latencies = Latencies::in_batches();
    for (number, latency_ns) in (0..).zip(latencies_ns) {
        record(&mut latencies, number, Op::Read, latency_ns.round() as u64);
    }
    confidence(&latencies.read().by_batch(), &latencies.batching().expect("they are kept"))
}

fn holds(section: &Value, name: &str, truth_ns: f64) -> bool {
    let bounds: [f64; 2] =
        std::array::from_fn(|end| section[name][end].as_f64().expect("enough requests"));
    assert!(bounds[0] < bounds[1], "{name}: {section}");
    (bounds[0]..=bounds[1]).contains(&truth_ns)
}

/// Asserts that the intervals of runs of a stream hold each of the figures often enough.
fn assert_coverage<S: Iterator<Item = f64>>(
    what: &str,
    requests: usize,
    truths_ns: &[(&str, f64)],
    stream: impl Fn(Stream) -> S,
) {
    let mut held = vec![0; truths_ns.len()];
    for seed in 0..RUNS {
        let section = section(stream(Stream::new(seed, "coverage", 0)).take(requests));
        for (held, (name, truth_ns)) in held.iter_mut().zip(truths_ns) {
            *held += u64::from(holds(&section, name, *truth_ns));
        }
    }
    for (held, (name, _)) in held.into_iter().zip(truths_ns) {
        assert!(HOLDING.contains(&held), "{what}: {name} held in {held} of {RUNS} runs");
    }
}

const MEAN_NS: f64 = 100_000.0;

fn exponential(rng: &mut Stream, mean: f64) -> f64 {
    -mean * (1.0 - rng.unit()).ln()
}

/// Mean and percentiles of an exponential distribution of that mean.
fn truths_of_exponential(mean_ns: f64) -> [(&'static str, f64); 4] {
    let quantile = |q: f64| -mean_ns * (1.0 - q).ln();
    [("mean", mean_ns), ("p50", quantile(0.5)), ("p95", quantile(0.95)), ("p99", quantile(0.99))]
}

#[test]
fn independent_latencies_are_held_as_often_as_promised() {
    assert_coverage("exponential", 20_000, &truths_of_exponential(MEAN_NS), |mut rng| {
        std::iter::repeat_with(move || exponential(&mut rng, MEAN_NS))
    });
}

#[test]
fn a_queue_is_held_as_often_as_promised() {
    // M/M/1 at a load of 0.4: response times are exponential with a mean of 1 / (1 - 0.4) services,
    // and each goes with those before it.
    let (load, service_ns) = (0.4, 20_000.0);
    let truths = truths_of_exponential(service_ns / (1.0 - load));
    assert_coverage("M/M/1", 60_000, &truths, |mut rng| {
        let mut response_ns = exponential(&mut rng, service_ns / (1.0 - load));
        std::iter::repeat_with(move || {
            let gap_ns = exponential(&mut rng, service_ns / load);
            let waits_ns = (response_ns - gap_ns).max(0.0);
            response_ns = waits_ns + exponential(&mut rng, service_ns);
            response_ns
        })
    });
}

#[test]
fn an_autoregressive_stream_is_held_and_its_batches_go_alone() {
    let stream = |mut rng: Stream| {
        // x' = 0.9 x + noise around the mean; the noise, uniform, keeps it within 10 noises.
        let mut strays_ns = 0.0;
        std::iter::repeat_with(move || {
            strays_ns = 0.9 * strays_ns + 9_000.0 * (2.0 * rng.unit() - 1.0);
            MEAN_NS + strays_ns
        })
    };
    assert_coverage("AR(1)", 40_000, &[("mean", MEAN_NS), ("p50", MEAN_NS)], stream);
    let lag_1 = |requests| {
        let section = section(stream(Stream::new(1, "lag", 0)).take(requests));
        section["lag_1_autocorrelation"].as_f64().expect("means of batches that differ")
    };
    // Over batches of 8192 nothing is left of 0.9; of 18 values alone it strays by 1 / √18 = 0.24.
    assert!(lag_1(150_000).abs() < 0.6, "{}", lag_1(150_000));
}

#[test]
fn lag_1_is_that_of_the_means() {
    // Batches of 64 requests of 1, 2, 3 … 10 us: deviations −4.5 … 4.5, whose squares sum up to
    // 82.5 and products of neighbours to 57.75.
    let section = section((0..640).map(|request| f64::from(1 + request / 64) * 1000.0));
    let got = section["lag_1_autocorrelation"].as_f64().expect("means that differ");
    assert!((got - 57.75 / 82.5).abs() < 1e-12, "{got}");
    // The mean is 5.5 us, and its interval by hand: t of 9 degrees of freedom is 2.26216.
    let factor = (2.26216 * (82.5f64 / (10.0 * 9.0)).sqrt() / 5.5).exp();
    for (end, expected_ns) in [5500.0 / factor, 5500.0 * factor].into_iter().enumerate() {
        let got_ns = section["mean"][end].as_f64().expect("640 requests are enough");
        assert!((got_ns - expected_ns).abs() < 1e-6, "{got_ns} for {expected_ns}");
    }
}

#[test]
fn equal_latencies_have_an_interval_of_no_width() {
    let section = section(std::iter::repeat_n(5000.0, 100_000));
    for name in ["mean", "p50", "p99"] {
        assert_eq!(section[name].to_string(), "[5000.0,5000.0]", "{name}");
    }
    assert!(section["lag_1_autocorrelation"].is_null());
}

/// The figures without an interval, and what they would need.
fn too_few(section: &Value) -> Vec<(&str, u64)> {
    let figures = section["too_few"].as_object().expect("a table");
    for (name, interval) in section.as_object().expect("a table") {
        let has_none = interval.is_null() && name != "lag_1_autocorrelation";
        assert_eq!(has_none, figures.contains_key(name), "{name}: {section}");
    }
    figures.iter().map(|(name, needs)| (name.as_str(), needs.as_u64().expect("a count"))).collect()
}

#[test]
fn too_few_requests_make_no_interval() {
    let tail = [("p99_9", 10_000), ("p99_99", 100_000), ("p99_999", 1_000_000)];
    let all = [("mean", 10), ("p50", 20), ("p95", 200), ("p99", 1000)];
    let after = |requests| section(std::iter::repeat_n(5000.0, requests));
    let everything = [&all[..], &tail].concat();
    // Nine batches, of 64; ten; twenty of 512, ten of 1024; twenty of 8192, ten of 16,384.
    for (requests, batches, batch_requests, expected) in [
        (0, 0, 64, &everything[..]),
        (639, 9, 64, &everything),
        (640, 10, 64, &everything[2..]),
        (10_240, 20, 512, &everything[3..]),
        (10_241, 10, 1024, &everything[4..]),
        (163_840, 20, 8192, &everything[4..]),
        (163_841, 10, 16_384, &everything[5..]),
    ] {
        let section = after(requests);
        assert_eq!(section["batches"], json!(batches), "{requests}");
        assert_eq!(section["batch_requests"], json!(batch_requests), "{requests}");
        assert_eq!(too_few(&section), expected, "{requests}");
    }
}

#[test]
fn a_class_is_told_by_its_own_requests() {
    // One of 100 is a write: ten batches of 1024 have 10 or 11 writes each.
    let mut latencies = Latencies::in_batches();
    for request in 0..10_241u64 {
        let op = if request % 100 == 0 { Op::Write } else { Op::Read };
        record(&mut latencies, request, op, 5000);
    }
    let batching = latencies.batching().expect("they are kept");
    let section = confidence(&latencies.write().by_batch(), &batching);
    assert_eq!((&section["batches"], &section["fewest_requests"]), (&json!(10), &json!(10)));
    assert_eq!(too_few(&section)[0], ("p50", 20));
}

#[test]
fn student_t_is_the_integral_of_its_density() {
    // With x = √ν tan θ the density is that of cos^(ν − 1) θ.
    let integral = |freedom: usize, end: f64| {
        const STEPS: u32 = 100_000;
        let step = end / f64::from(STEPS);
        let middle = |index: u32| (f64::from(index) + 0.5) * step;
        (0..STEPS).map(|index| middle(index).cos().powi(freedom as i32 - 1)).sum::<f64>() * step
    };
    for (index, t) in STUDENT_T.into_iter().enumerate() {
        let freedom = FEWEST_BATCHES - 1 + index;
        let within = integral(freedom, (t / (freedom as f64).sqrt()).atan())
            / integral(freedom, std::f64::consts::FRAC_PI_2);
        assert!((within - LEVEL).abs() < 1e-6, "{freedom}: {within}");
    }
}
