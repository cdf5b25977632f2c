//! The test for a beginning that differs, against tables, and in runs with and without a transient.

use reprieve_base::Stream;

use super::*;

/// Marks of a run of reads with these latencies in ns, in 10 batches.
fn marks(latencies_ns: &[f64]) -> Vec<PieceEnd> {
    let piece = latencies_ns.len() / (10 * PIECES as usize);
    let mut mark = PieceEnd::default();
    let marks = latencies_ns.chunks_exact(piece).map(|chunk| {
        mark.count[0] += chunk.len() as u64;
        mark.latency_ns[0] += chunk.iter().map(|ns| ns.round() as u128).sum::<u128>();
        mark
    });
    marks.collect()
}

#[test]
fn the_tail_of_student_is_that_of_the_tables() {
    // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2: one-sided 0.975, 0.995, 0.999.
    for (freedom, values) in [
        (1, [12.706, 63.657, 318.313]),
        (2, [4.303, 9.925, 22.327]),
        (3, [3.182, 5.841, 10.215]),
        (8, [2.306, 3.355, 4.501]),
        (9, [2.262, 3.250, 4.297]),
        (17, [2.110, 2.898, 3.646]),
    ] {
        for (t, expected) in values.into_iter().zip([0.05, 0.01, 0.002]) {
            let got = beyond(t, freedom);
            assert!((got / expected - 1.0).abs() < 2e-3, "{got} for {expected}: {freedom}, {t}");
        }
    }
    assert_eq!(beyond(0.0, 9), 1.0);
    assert!(beyond(f64::INFINITY, 9).abs() < 1e-12);
}

/// Alarms of 2,000 runs of 1,280 requests.
fn alarms(name: &str, mut run: impl FnMut(&mut Stream) -> Vec<f64>) -> u32 {
    let mut stream = Stream::new(1, name, 0);
    (0..2000).map(|_| u32::from(!beginning(&marks(&run(&mut stream))).is_empty())).sum()
}

/// Uniform in (0, 1].
fn uniform(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
}

fn exponential(stream: &mut Stream) -> f64 {
    -uniform(stream).ln()
}

/// Times in an M/M/1 queue that is in equilibrium from the start, with mean service 1.
fn queue(stream: &mut Stream, load: f64, times: usize) -> Vec<f64> {
    // In equilibrium the wait is 0 with probability 1 − load, else exponential with 1 / (1 − load).
    let mut wait = match uniform(stream) > load {
        true => 0.0,
        false => exponential(stream) / (1.0 - load),
    };
    let time = |_| {
        let service = exponential(stream);
        let time = wait + service;
        wait = (time - exponential(stream) / load).max(0.0);
        1e5 * time
    };
    (0..times).map(time).collect()
}

#[test]
fn runs_without_a_transient_are_told_to_have_one_in_a_hundredth_at_most() {
    // A hundredth of 2,000 runs and three standard errors: 20 + 3 x 4.45.
    const MOST: u32 = 33;
    let equal = alarms("equal", |stream| (0..1280).map(|_| 1e5 * exponential(stream)).collect());
    let skewed = alarms("skewed", |stream| {
        // Log-normal with sigma 2, by Box and Muller: the mean is seven times the median.
        let normal = |stream: &mut Stream| {
            (-2.0 * uniform(stream).ln()).sqrt() * (std::f64::consts::TAU * uniform(stream)).cos()
        };
        (0..1280).map(|_| 1e5 * (2.0 * normal(stream)).exp()).collect()
    });
    let half = alarms("half", |stream| queue(stream, 0.5, 1280));
    let full = alarms("full", |stream| queue(stream, 0.9, 1280));
    // Four times a run, on average, 32 requests in a row wait for something rare.
    let rare = alarms("rare", |stream| {
        let mut run: Vec<f64> = (0..1280).map(|_| 1e5 * exponential(stream)).collect();
        let mut at = 320.0 * exponential(stream);
        while at < 1248.0 {
            run[at as usize..at as usize + 32].iter_mut().for_each(|time| *time += 4e6);
            at += 320.0 * exponential(stream);
        }
        run
    });
    for (name, got) in
        [("equal", equal), ("skewed", skewed), ("half", half), ("full", full), ("rare", rare)]
    {
        println!("{name}: {got} of 2,000 runs");
        assert!(got <= MOST, "{name}: {got} of 2,000 runs");
    }
}

#[test]
fn a_transient_is_seen() {
    // Twice the latency for the first tenth, or six times for the first fiftieth; likewise half.
    let step = |share: f64, factor: f64| {
        alarms("step", |stream| {
            let until = (1280.0 * share) as usize;
            let at = |number| if number < until { factor } else { 1.0 };
            (0..1280).map(|number| 1e5 * at(number) * exponential(stream)).collect()
        })
    };
    for (share, factor) in [(0.1, 2.0), (0.02, 6.0), (0.1, 0.4)] {
        let seen = step(share, factor);
        assert!(seen > 1800, "{share} and {factor}: {seen} of 2,000 runs");
    }
}

#[test]
fn what_is_told_is_the_first_batch_and_the_rest() {
    // Ten batches of 80: 3 ms in the first, 1 and 2 ms by turns in the others.
    let all = (0..800).map(|number| match number / 80 {
        0 => 3e6,
        batch if batch % 2 == 1 => 1.9e6,
        _ => 2.1e6,
    });
    let [differs] = beginning(&marks(&all.collect::<Vec<f64>>()))[..] else { panic!("one does") };
    assert_eq!((differs.name, differs.first), ("the mean read latency", 3000.0));
    // Five batches of 1.9 and four of 2.1 ms.
    assert!((differs.rest - (5.0 * 1900.0 + 4.0 * 2100.0) / 9.0).abs() < 1e-9, "{differs:?}");
}

#[test]
fn too_few_batches_or_requests_say_nothing() {
    let step = |requests: usize| -> Vec<f64> {
        (0..requests).map(|number| if number < requests / 10 { 9e6 } else { 1e6 }).collect()
    };
    assert_eq!(beginning(&marks(&step(800))).len(), 1);
    assert_eq!(beginning(&marks(&step(800))[..36]), []);
    // Eight requests a batch, two a piece.
    assert_eq!(beginning(&marks(&step(80))), []);
    assert_eq!(beginning(&[]), []);
}

#[test]
fn waf_is_tested_where_something_is_written() {
    // 100 KB a piece, programmed five times over in the first batch and twice or so after it.
    let mut mark = PieceEnd::default();
    let marks = (0..40u64).map(|piece| {
        mark.written_bytes[0] += 100_000;
        mark.written_bytes[1] += if piece < 4 { 500_000 } else { 200_000 + 100 * (piece % 7) };
        mark
    });
    let [waf] = beginning(&marks.collect::<Vec<_>>())[..] else { panic!("one does") };
    assert_eq!((waf.name, waf.first), ("the WAF", 5.0));
}
