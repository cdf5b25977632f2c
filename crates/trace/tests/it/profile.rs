//! A trace in numbers, against sums done by hand.

use reprieve_trace::{
    AddressPolicy, DeviceProfile, Load, Profile, SizeProfile, TraceConfig, WorkloadConfig, profile,
    profile_loads,
};

use crate::files::{TestFile, whole};

/// The profile of a single load.
pub(crate) fn of_load(
    config: &WorkloadConfig,
    capacity_bytes: u64,
    seed: u64,
) -> Result<Profile, reprieve_base::UserError> {
    profile_loads(&[Load { config, seed, bytes: 0..capacity_bytes }], u64::MAX)
}

#[test]
fn a_profile_is_what_counting_by_hand_gives() {
    // Device 0: sectors 0..8 read, 8..16 read (sequential), 8..16 read again 500 us later (a
    // near duplicate), 12..20 written. Device 4: sectors 16..17 written at the same time.
    let file = TestFile::new(
        "t",
        "1000000 0 0 8 1\n2000000 0 8 8 1\n2500000 0 8 8 1\n6000000 0 12 8 0\n6000000 4 16 1 0\n",
    );
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!(found.format, "mqsim");
    assert_eq!((found.rows, found.requests, found.other_lines), (5, 5, 0));
    assert_eq!((found.reads, found.writes, found.others), (3, 2, 0));
    assert_eq!((found.read_bytes, found.written_bytes), (3 * 4096, 4096 + 512));
    assert_eq!(found.span_ns, 5_000_000);
    assert_eq!((found.same_time, found.times_back, found.near_duplicates), (1, 0, 1));
    // Gaps of 1, 0.5, 3.5 and 0 ms: mean 1.25, mean square (1 + 0.25 + 12.25) / 4 = 3.375, so
    // the variance is 3.375 - 1.5625 = 1.8125 and its ratio to the squared mean 1.16.
    assert_eq!(found.interarrival_ns_mean, Some(1_250_000.0));
    let scv = found.interarrival_scv.expect("a mean above 0");
    assert!((scv - 1.16).abs() < 1e-12, "{scv}");
    let size_bytes =
        SizeProfile { mean: 3379.2, min: 512, p50: 4096, p95: 4096, p99: 4096, max: 4096 };
    assert_eq!(found.size_bytes, size_bytes);
    // Deviations from the mean of -0.25, -0.75, 2.25 and -1.25 ms: products of neighbours
    // 0.1875 - 1.6875 - 2.8125 = -4.3125 over the sum of squares 7.25.
    let correlation = found.interarrival_correlation.expect("gaps that differ");
    assert!((correlation + 4.3125 / 7.25).abs() < 1e-12, "{correlation}");
    assert_eq!(found.same_time_share, Some(0.25));
    let reads = SizeProfile { mean: 4096.0, min: 4096, ..size_bytes.clone() };
    let writes = SizeProfile { mean: 2304.0, p50: 512, ..size_bytes };
    assert_eq!((found.read_size_bytes, found.write_size_bytes), (Some(reads), Some(writes)));
    // Of three reads the second goes on from the first; neither write follows one on its device.
    assert_eq!(found.read_sequential_share, Some(1.0 / 3.0));
    assert_eq!(found.write_sequential_share, Some(0.0));
    // The first three are aligned at both ends; the second begins where the first ended.
    assert_eq!((found.aligned_share, found.sequential_share), (0.6, 0.2));
    // Pages 0, 1 and 2 of device 0, page 2 of device 4.
    assert_eq!(found.footprint_pages, 4);
    assert_eq!(found.address_bytes_max, 20 * 512);
    let device = |device, requests, reads, address_bytes_min, extent_bytes, footprint_pages| {
        DeviceProfile { device, requests, reads, address_bytes_min, extent_bytes, footprint_pages }
    };
    let devices = [device(0, 4, 3, 0, 20 * 512, 3), device(4, 1, 0, 8192, 17 * 512, 1)];
    assert_eq!(found.devices, devices);
}

#[test]
fn a_profile_is_of_the_order_of_time() {
    let file = TestFile::new("t", "3 0 0 8 1\n1 0 8 8 1\n2 0 16 8 1\n");
    let found = profile(&file.0, "auto").expect("good rows");
    // Read in the order 8, 16, 0: the second follows the first.
    assert_eq!((found.times_back, found.span_ns), (2, 2));
    assert!((found.sequential_share - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn one_request_has_no_gaps() {
    let file = TestFile::new("t", "3 0 0 8 1\n");
    let found = profile(&file.0, "auto").expect("a good row");
    assert_eq!((found.interarrival_ns_mean, found.interarrival_scv), (None, None));
    assert_eq!((found.interarrival_correlation, found.same_time_share), (None, None));
    assert_eq!((found.write_size_bytes, found.write_sequential_share), (None, None));
    let file = TestFile::new("t", "3 0 0 8 1\n3 0 0 8 0\n");
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!((found.interarrival_ns_mean, found.interarrival_scv), (Some(0.0), None));
    assert_eq!((found.interarrival_correlation, found.same_time_share), (None, Some(1.0)));
}

#[test]
fn runs_of_reads_and_of_writes_are_counted_by_themselves_and_by_device() {
    // Reads of device 0 at 0, 8, 16 with writes between. Of the writes the second and the third
    // begin where the other device's last one ended, which is no run; the fourth goes on.
    let file = TestFile::new(
        "t",
        "1 0 0 8 1\n2 0 64 8 0\n3 0 8 8 1\n4 1 72 8 0\n5 0 80 8 0\n6 0 16 8 1\n7 0 88 8 0\n",
    );
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!(found.read_sequential_share, Some(2.0 / 3.0));
    assert_eq!(found.write_sequential_share, Some(0.25));
    // No request begins where the one before on its device ended.
    assert_eq!(found.sequential_share, 0.0);
    // Equal gaps tell nothing of each other.
    assert_eq!((found.interarrival_scv, found.interarrival_correlation), (Some(0.0), None));
}

#[test]
fn gaps_by_turns_are_correlated_downwards() {
    // Gaps 1, 3, 1, 3, 1, 3 ms after a long while: mean 2, five products of -1 over six squares.
    let file = TestFile::new(
        "t",
        "1000000000000 0 0 8 1\n1000001000000 0 0 8 1\n1000004000000 0 0 8 1\n\
         1000005000000 0 0 8 1\n1000008000000 0 0 8 1\n1000009000000 0 0 8 1\n\
         1000012000000 0 0 8 1\n",
    );
    let found = profile(&file.0, "auto").expect("good rows");
    let correlation = found.interarrival_correlation.expect("gaps that differ");
    assert!((correlation + 5.0 / 6.0).abs() < 1e-12, "{correlation}");
}

#[test]
fn a_replayed_trace_has_the_profile_of_what_the_drive_sees() {
    let file = TestFile::new("t", "1000 0 0 8 1\n3000 1 8 8 0\n");
    let config = TraceConfig { time_scale: 0.5, address: AddressPolicy::Modulo, ..whole(&file) };
    let found = of_load(&WorkloadConfig::Trace(config), 1 << 20, 1).expect("good rows");
    assert_eq!((found.format, found.requests, found.span_ns), ("replay", 2, 1000));
    // Device 1 lies behind device 0, whose extent of 4 KiB moves its sector 8 to 16.
    assert_eq!((found.devices.len(), found.address_bytes_max), (1, 24 * 512));
}

#[test]
fn a_large_request_touches_every_page_of_it() {
    // 64 MiB from byte 512 on: 16,384 pages and a bit of one more; then all of it again.
    let file = TestFile::new("t", "1 0 1 131072 1\n2 0 8 131064 0\n");
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!(found.footprint_pages, 16_385);
}

#[test]
fn json_has_the_same_numbers() {
    let rows = "1 0 0 8 1\n2 0 8 0 1\n3 0 8 8 0\n";
    let file = TestFile::new("t", rows);
    let found = profile(&file.0, "auto").expect("good rows");
    let json: serde_json::Value = serde_json::from_str(&found.to_json()).expect("valid JSON");
    assert_eq!(json["format"], "mqsim");
    assert_eq!(json["dropped"], serde_json::json!({"zero length": 1}));
    assert_eq!(json["size_bytes"]["p50"], 4096);
    assert_eq!(json["devices"][0]["requests"], 2);
}

#[test]
fn a_trace_of_nothing_is_an_error() {
    let file = TestFile::new("t", "1 0 0 0 1\n");
    let error = profile(&file.0, "auto").expect_err("no request").to_string();
    assert!(error.contains("no request of format mqsim"), "{error}");
}
