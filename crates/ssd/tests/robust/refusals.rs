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

#[test]
fn zones_leave_no_room_for_what_overwrites_or_moves() {
    let zoned = |set: &str, said: &str| {
        let sets = ["zones.model=host-managed", "workload.read_fraction=1", set];
        match load(DRIVE, &sets) {
            Err(error) => assert_eq!(error.to_string(), format!("--set: {said}")),
            Ok(_) => panic!("{set} passes"),
        }
    };
    zoned(
        "workload.read_fraction=0.5",
        "workload.read_fraction = 0.5: a drive with zones is written at their write pointers, \
         which this generator does not know; must be 1, with writes and resets from a trace or \
         from fio's jobs with zonemode = zbd",
    );
    zoned("zones.planes=3", "zones.planes = 3: must be 0, or divide the 2 planes of the drive");
    zoned(
        "zones.size_bytes=20480",
        "zones.size_bytes = 20480: a zone holds 32768 bytes, in units of 2048; must be a multiple \
         of these, and at least as large",
    );
    zoned("zones.max_active=4", "zones.max_active = 4: must be at least zones.max_open = 14");
    zoned(
        "ftl.placement=dynamic",
        "ftl.placement = \"dynamic\": the place of a page in its zone says in which plane it is; \
         must be a fixed order such as \"cwdp\", \"aligned\" or \"wordline\" with zones",
    );
    zoned(
        "ftl.precondition=steady",
        "ftl.precondition = \"steady\": a drive with zones moves, keeps and recovers no pages; \
         must be \"none\" or \"sequential\"",
    );
    let loses = [
        "zones.model=host-managed",
        "workload.read_fraction=1",
        "power_loss.mode=on",
        "power_loss.p_controller_mw=1000",
        "power_loss.hold_up_us=900",
    ];
    let error = load(DRIVE, &loses).map(|_| ()).expect_err("it loses its power").to_string();
    assert_eq!(
        error,
        "--set: power_loss.mode = \"on\": a drive with zones moves, keeps and recovers no pages; \
         must be \"off\""
    );
    for set in [
        "ftl.stream=hot-cold",
        "ftl.gc_stream=separate",
        "ftl.mapping=demand",
        "ftl.twin_blocks=true",
        "nand.erase_failure=0.1",
        "nand.program_failure=0.1",
        "scheduling.dispatch=paq",
        "ftl.static_wear_spread=3",
    ] {
        let sets = ["zones.model=host-managed", "workload.read_fraction=1", set];
        let error = load(DRIVE, &sets).map(|_| ()).expect_err(set).to_string();
        assert!(error.starts_with("--set: ") && error.contains("zone"), "{set}: {error}");
    }
}
