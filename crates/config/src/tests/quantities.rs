//! Numbers with a unit: exact in the unit of their key, refused with another.

use super::super::{json_schema, print, reference_markdown};
use super::{BASE, REGISTRIES, bad, good};

/// Each pair of overrides on `BASE` gives the same scenario.
fn alike(cases: &[(&str, &str)]) {
    for (with_unit, plain) in cases {
        assert_eq!(good(BASE, &[with_unit]), good(BASE, &[plain]), "{with_unit}");
    }
}

#[test]
fn a_time_may_have_any_unit_of_time() {
    alike(&[
        ("timing.t_read_us=50us", "timing.t_read_us=50"),
        ("timing.t_read_us=\"0.05 ms\"", "timing.t_read_us=50"),
        ("timing.t_read_us=50 µs", "timing.t_read_us=50"),
        ("timing.t_read_us=1ns", "timing.t_read_us=0.001"),
        ("timing.t_read_us=1.5s", "timing.t_read_us=1500000"),
        ("measure.from_s=2 ms", "measure.from_s=0.002"),
        ("measure.from_s=7ns", "measure.from_s=0.000000007"),
    ]);
}

#[test]
fn bytes_have_powers_of_1024_unless_b_follows_the_prefix() {
    alike(&[
        ("buffer.bytes=\"16 MiB\"", "buffer.bytes=16777216"),
        ("buffer.bytes=16M", "buffer.bytes=16777216"),
        ("buffer.bytes=16MB", "buffer.bytes=16000000"),
        ("buffer.bytes=0.5GiB", "buffer.bytes=536870912"),
        ("buffer.bytes=1TiB", "buffer.bytes=1099511627776"),
        ("buffer.bytes=65536B", "buffer.bytes=65536"),
        ("buffer.bytes=64K", "buffer.bytes=65536"),
        ("buffer.bytes=64kB", "buffer.bytes=64000"),
        ("geometry.page_bytes=4KiB", "geometry.page_bytes=4096"),
        ("host.link_bytes_per_s=3.5GB", "host.link_bytes_per_s=3500000000"),
        ("workload.request_bytes=64k", "workload.request_bytes=65536"),
        (
            "workload.request_bytes=[[\"4k\", 3], [\"0.5 KiB\", 1]]",
            "workload.request_bytes=[[4096, 3], [512, 1]]",
        ),
    ]);
}

#[test]
fn counts_have_powers_of_1000() {
    alike(&[
        ("workload.requests=4k", "workload.requests=4000"),
        ("workload.requests=1.25M", "workload.requests=1250000"),
        // The largest: no number of it passes through floating point.
        ("seed=18446744073709551.615k", "seed=18446744073709551615"),
    ]);
}

#[test]
fn a_unit_that_does_not_fit_is_refused() {
    for (set, error) in [
        (
            "timing.t_read_us=50KiB",
            "--set: timing.t_read_us = \"50KiB\": \"KiB\" is none of its units (ns, us, ms, s); \
             must be a time in microseconds, whole in nanoseconds, from 0 to 10000000000",
        ),
        (
            "buffer.bytes=4us",
            "--set: buffer.bytes = \"4us\": \"us\" is none of its units (B, KiB or k, kB, and so \
             on with M, G, T); must be an integer from 512 to 1099511627776",
        ),
        (
            "buffer.bytes=64KB",
            "--set: buffer.bytes = \"64KB\": \"KB\" is none of its units (B, KiB or k, kB, and so \
             on with M, G, T); must be an integer from 512 to 1099511627776",
        ),
        (
            "workload.requests=4 KiB",
            "--set: workload.requests = \"4 KiB\": \"KiB\" is none of its units (k, M, G, T); must \
             be an integer from 1 to 18446744073709551615",
        ),
        (
            "timing.t_read_us=0.5ns",
            "--set: timing.t_read_us = \"0.5ns\": must be a time in microseconds, whole in \
             nanoseconds, from 0 to 10000000000",
        ),
        (
            "workload.requests=0.0005k",
            "--set: workload.requests = \"0.0005k\": must be an integer from 1 to \
             18446744073709551615",
        ),
        (
            "geometry.channels=3G",
            "--set: geometry.channels = \"3G\": must be an integer from 1 to 2147483648",
        ),
        (
            "geometry.channels=\"4\"",
            "--set: geometry.channels = \"4\": must be an integer from 1 to 2147483648",
        ),
        (
            "seed=99999999999999999999999999999999999999999T",
            "--set: seed = \"99999999999999999999999999999999999999999T\": must be an integer from \
             0 to 18446744073709551615",
        ),
        ("name=3ms", ""),
    ] {
        match error {
            "" => assert_eq!(good(BASE, &[set]).device, "3ms"),
            error => assert_eq!(bad(BASE, &[set]), error),
        }
    }
}

#[test]
fn a_file_may_have_them_and_the_printed_form_has_none() {
    let text = format!("{BASE}[timing]\nt_read_us = \"30 us\"\n[buffer]\nbytes = \"8MiB\"\n");
    let printed = print(&good(&text, &[]));
    assert!(printed.contains("\nt_read_us = 30\n"), "{printed}");
    assert!(printed.contains("\nbytes = 8388608\n"), "{printed}");
    let text = format!("{BASE}[timing]\nt_read_us = \"30 m\"\n");
    assert!(bad(&text, &[]).starts_with("s.toml:8: timing.t_read_us = \"30 m\": \"m\" is none of"));
}

#[test]
fn schema_and_reference_say_so() {
    let schema: serde_json::Value =
        serde_json::from_str(&json_schema(&REGISTRIES)).expect("it is JSON");
    let timing = &schema["properties"]["timing"]["properties"]["t_read_us"];
    assert_eq!(timing["type"], serde_json::json!(["number", "string"]));
    assert_eq!(timing["pattern"], r"^[0-9][0-9.]*\s*(ns|[uµμ]s|ms|s)$");
    let sizes = &schema["properties"]["workload"]["properties"]["request_bytes"]["anyOf"][1];
    assert_eq!(
        sizes["items"]["prefixItems"][0]["pattern"],
        r"^[0-9][0-9.]*\s*(B|[kKMGT](iB)?|[kMGT]B)$"
    );
    assert_eq!(schema["properties"]["name"]["type"], "string");
    assert!(reference_markdown(&REGISTRIES).contains("A number may have a unit, in quotes"));
}
