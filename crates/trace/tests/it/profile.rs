//! A trace in numbers, against sums done by hand.

use reprieve_trace::{DeviceProfile, SizeProfile, profile};

use crate::files::TestFile;

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
    let file = TestFile::new("t", "3 0 0 8 1\n3 0 0 8 0\n");
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!((found.interarrival_ns_mean, found.interarrival_scv), (Some(0.0), None));
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
