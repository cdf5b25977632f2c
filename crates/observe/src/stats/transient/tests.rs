//! MSER-5 against its definition and by hand, and what a run says of its transient.

use proptest::prelude::*;

use super::*;

/// The definition, straight: for every cut anew.
fn by_definition(means: &[f64]) -> Vec<f64> {
    let errors = (0..=means.len() - LAST).map(|cut| {
        let left = &means[cut..];
        let count = left.len() as f64;
        let mean = left.iter().sum::<f64>() / count;
        left.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count.powi(2)
    });
    errors.collect()
}

#[test]
fn the_cut_is_what_a_hand_calculation_says() {
    // [10, 2, 2, 2, 2, 2]: cut 0 has mean 20/6, squares 53.3, error 53.3/36; cut 1 has none.
    assert_eq!(mser(&[10.0, 2.0, 2.0, 2.0, 2.0, 2.0]), 1);
    // Nothing to cut, and of equals the fewest.
    assert_eq!(mser(&[2.0; 12]), 0);
    // 1 and 3 by turns after a 5. Cut 0 of 9: mean 21/9 = 7/3, squares 64/9 + 4 x 16/9 + 4 x 4/9
    // = 16, error 16/81 = 0.198. Cut 1 of 8: squares 8, error 8/64 = 0.125. Cut 2 of 7, from 3 on:
    // mean 15/7, squares 48/7, error 0.140. Cut 3 of 6: 6/36 = 0.167; cut 4 of 5: 24/5/25 = 0.192.
    let values = [5.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0];
    assert_eq!(mser(&values), 1);
    let by_hand = [16.0 / 81.0, 8.0 / 64.0, 48.0 / 343.0, 6.0 / 36.0, 24.0 / 125.0];
    for (got, expected) in by_definition(&values).iter().zip(by_hand) {
        assert!((got - expected).abs() < 1e-12, "{got} for {expected}");
    }
}

proptest! {
    #[test]
    fn the_cut_is_the_least_error_of_the_definition(
        bias in prop::collection::vec(0.0..100.0f64, 0..20),
        rest in prop::collection::vec(0.0..10.0f64, 20..60),
    ) {
        let means: Vec<f64> = bias.into_iter().chain(rest).collect();
        let errors = by_definition(&means);
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let cut = mser(&means);
        prop_assert!(errors[cut] <= least * (1.0 + 1e-9), "{} at {cut}, {least}", errors[cut]);
    }
}

/// A run of so many reads, one at a time, with these latencies.
fn reads(latencies_ns: impl IntoIterator<Item = u64>) -> Found {
    let mut transient = Transient::default();
    let mut arrived = 0;
    for latency_ns in latencies_ns {
        arrived += 1;
        transient.completed(Op::Read, latency_ns, 512, arrived, 0);
        // What is neither read nor write is no observation.
        transient.completed(Op::Trim, 7, 512, arrived, 0);
    }
    transient.found(arrived)
}

#[test]
fn a_run_finds_the_end_of_a_step() {
    // 20 slow reads and 180 fast ones: 4 batches of 40.
    let found = reads((0..200).map(|number| if number < 20 { 9000 } else { 100 }));
    assert_eq!((found.from_request, found.is_too_short), (20, false));
    assert!(found.reason.contains("latest in the read latency"), "{}", found.reason);
    // 18 of them: the fourth batch is mixed, and goes.
    assert_eq!(reads((0..200).map(|number| if number < 18 { 9000 } else { 100 })).from_request, 20);
    let none = reads([100; 200]);
    assert_eq!((none.from_request, none.is_too_short), (0, false));
}

#[test]
fn a_run_that_is_too_short_says_so() {
    // It falls to its end: the last batches are the most alike.
    let falling = reads((0..200).map(|number| 100 * (200 - number) * (200 - number)));
    assert_eq!((falling.from_request, falling.is_too_short), (0, true));
    // The step is in the second half.
    assert!(reads((0..200).map(|number| if number < 120 { 9000 } else { 100 })).is_too_short);
    assert!(!reads((0..200).map(|number| if number < 100 { 9000 } else { 100 })).is_too_short);
    // 49 reads have nine batches.
    assert!(reads([100; 49]).is_too_short);
    assert!(!reads([100; 50]).is_too_short);
}

#[test]
fn the_latest_of_latencies_and_waf_decides() {
    // 100 writes of 4 KiB: the first 30 are programmed three times, the others once.
    let mut transient = Transient::default();
    let mut programmed_bytes = 0;
    for number in 0..100u64 {
        programmed_bytes += if number < 30 { 3 * 4096 } else { 4096 };
        let latency_ns = if number < 10 { 900 } else { 100 };
        transient.completed(Op::Write, latency_ns, 4096, 2 * number + 2, programmed_bytes);
    }
    let found = transient.found(200);
    // When the thirtieth write was complete 60 requests had arrived.
    assert_eq!((found.from_request, found.is_too_short), (60, false));
    assert!(found.reason.contains("latest in the WAF"), "{}", found.reason);
    assert_eq!(transient.series[2].means[..7], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0]);
}

#[test]
fn what_has_arrived_before_the_end_of_the_transient_is_excluded() {
    // All 200 requests arrive at once: no request is left that came after the transient.
    let mut transient = Transient::default();
    for number in 0..200 {
        let latency_ns = if number < 20 { 9000 } else { 100 };
        transient.completed(Op::Read, latency_ns, 512, 200, 0);
    }
    assert!(transient.found(200).is_too_short);
}
