//! Placement handles: two loads whose data lives for different times, kept apart or mixed.

use super::drive;

/// One plane of 64 blocks of 64 pages. `hot` overwrites 512 pages in order, 8 blocks; `cold` 2,048,
/// 32 blocks, with an eighth of the writes. Blocks of a tenth of the host's writes are spare.
const LOADS: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [ftl]\nover_provisioning = 0.3\ngc_background = false\n\
    [workload]\ngenerator = \"mixed\"\nread_fraction = 0\nrequest_bytes = 2048\n\
    addresses = \"sequential\"\narrivals = \"fixed\"\n\
    [flow.hot]\nrequests = 40000\nrate_iops = 4000\nfootprint_bytes = 1048576\n\
    [flow.cold]\nrequests = 5000\nrate_iops = 500\nfootprint_start_bytes = 1048576\n\
    footprint_bytes = 4194304\n";

#[test]
fn loads_that_overwrite_in_order_are_not_amplified_when_kept_apart() {
    let apart = ["ftl.stream=placement", "flow.hot.placement=1"];
    let apart = drive::run(drive::load_with(LOADS, &apart));
    // Of 62 blocks that are not free, valid pages are in at most 8 + 1 of one load, 32 + 1 of the
    // other, and two are open: victims hold nothing.
    assert!(apart.count("flash.erases") > 500);
    assert_eq!(apart.count("flash.gc_programs"), 0);
    assert_eq!(apart.number("flash.waf"), 1.0);
    // Mixed, a block has 57 pages of the one, dead after 9 blocks, and 7 of the other, which live
    // for 288: each of these is moved once at least, but for those of the last 62 blocks.
    let least = f64::from(5000 - 62 * 64 / 9) / 45000.0;
    for mixed in [&[][..], &["ftl.stream=placement"]] {
        let mixed = drive::run(drive::load_with(LOADS, mixed));
        let moved = mixed.count("flash.gc_programs") as f64 / 45000.0;
        assert!(moved > least, "{moved} moves a write, at least {least}");
    }
}

#[test]
fn handles_are_counted_and_have_blocks() {
    let bad = |sets: &[&str]| drive::bad(LOADS, sets);
    let said = bad(&["ftl.stream=placement", "flow.hot.placement=2"]);
    assert!(said.contains("placement = 2: must be below ftl.placement_handles = 2"), "{said}");
    let said = bad(&["flow.hot.placement=1"]);
    assert!(said.contains("only while ftl.stream is \"placement\""), "{said}");
    let said = bad(&["ftl.stream=placement", "ftl.precondition=steady"]);
    assert!(said.contains("overwrites before the run have no placement handle"), "{said}");
    let said = bad(&["ftl.stream=placement", "ftl.placement_handles=4"]);
    assert!(said.contains("must be at least 4"), "{said}");
    // Moved pages that are mixed have one open block.
    let mixed = ["ftl.stream=placement", "ftl.placement_handles=4", "ftl.gc_stream=separate"];
    drive::load_with(LOADS, &mixed);
}
