//! What may not be combined is refused when the scenario is read, with the place of the key.

use super::load;

/// Two planes of 16 blocks of 8 pages of 2 KiB; the user sees 150 of the 256.
const DRIVE: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\ndies_per_channel = 1\n\
    planes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.4140625\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 100\nread_fraction = 0\nqueue_depth = 1\n";

#[track_caller]
fn refused(sets: &[&str], said: &str) {
    match load(DRIVE, sets) {
        Err(error) => assert_eq!(error.to_string(), said),
        Ok(_) => panic!("{sets:?} pass"),
    }
}

#[test]
fn a_dispatcher_does_not_go_with_what_it_knows_nothing_of() {
    refused(
        &["scheduling.dispatch=mbm", "ftl.stream=hot-cold"],
        "--set: ftl.stream = \"hot-cold\": a dispatcher that places writes sees one next page of a \
         plane; must be \"single\" with scheduling.dispatch = \"mbm\"",
    );
}

#[test]
fn a_plane_has_blocks_for_its_data_and_for_collection() {
    // 75 pages of a plane take 10 blocks; 2 are kept, 3 under way, 1 is to gain: all 16. One open
    // block more needs one more.
    assert!(load(DRIVE, &[""; 0]).is_ok());
    let said = "test.toml:9: ftl.over_provisioning = 0.4140625: with these ftl.stream, \
        ftl.gc_stream and ftl.mapping a plane needs 17 blocks for its data and garbage collection, \
        and it has 16; must be larger";
    refused(&["ftl.gc_stream=separate"], said);
    refused(&["ftl.stream=hot-cold"], said);
    refused(
        &["ftl.stream=hot-cold", "ftl.gc_hard_free_blocks=1", "ftl.over_provisioning=0.6"],
        "--set: ftl.gc_hard_free_blocks = 1: with these ftl.stream, ftl.gc_stream and ftl.mapping \
         garbage collection writes to 2 open blocks of a plane; must be at least 2",
    );
    refused(
        &["ftl.factory_bad_share=0.9999"],
        "--set: ftl.factory_bad_share = 0.9999: plane 0 has 0 good blocks of 16, and its data and \
         garbage collection need 16; must be smaller, or ftl.over_provisioning larger",
    );
}

#[test]
fn a_load_fits_the_drive_and_a_life() {
    // 150 pages of 2 KiB are 307,200 bytes.
    refused(
        &["workload.request_bytes=307712"],
        "--set: workload.request_bytes = 307712: does not fit into the footprint, which has 307200 \
         bytes",
    );
    refused(
        &["workload.arrivals=poisson", "workload.rate_iops=1e-7"],
        "--set: workload.rate_iops = 0.0000001: 100 requests would take 32 years; a run may last \
         3 years",
    );
    let of_flow = "flow.hot.request_bytes=307712";
    let error = load(DRIVE, &[of_flow]).expect_err("too long").to_string();
    assert!(error.starts_with("--set: flow.hot.request_bytes = 307712: does not fit"), "{error}");
}
