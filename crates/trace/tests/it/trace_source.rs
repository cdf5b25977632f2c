//! From rows to requests: order, the part that is replayed, devices, addresses and the clock.

use proptest::prelude::*;
use reprieve_base::{Dur, Op, Request, Time, UserError};
use reprieve_trace::{
    AddressPolicy, Counts, DeviceSelection, Load, TraceClock, TraceConfig, Workload, WorkloadConfig,
};

use crate::files::{TestFile, whole};

const GIB: u64 = 1 << 30;

fn replay(config: &TraceConfig, capacity: u64) -> Result<(Vec<Request>, Counts), UserError> {
    let mut workload = Workload::open(&WorkloadConfig::Trace(config.clone()), capacity, 1)?;
    let mut requests = Vec::new();
    while let Some(request) = workload.next_request()? {
        requests.push(request);
    }
    assert_eq!(workload.next_request(), Ok(None));
    assert_eq!(workload.queue_depth(), config.queue_depth);
    let counts = workload.counts();
    assert_eq!(counts.requests, requests.len() as u64);
    Ok((requests, counts))
}

/// Arrivals and addresses of a replay.
fn places(config: &TraceConfig, capacity: u64) -> Vec<(u64, u64)> {
    let (requests, _) = replay(config, capacity).expect("a good trace");
    requests.iter().map(|request| (request.arrival.ns(), request.lba)).collect()
}

fn error_of(config: &TraceConfig, capacity: u64) -> String {
    let error = replay(config, capacity).expect_err("a mistake").to_string();
    error.replace(&config.path.display().to_string(), "FILE")
}

#[test]
fn a_workload_can_be_moved_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<Workload>();
}

#[test]
fn a_run_starts_at_its_first_request() {
    let file = TestFile::new("t", "500 0 8 8 1\n700 0 16 16 0\n");
    let (requests, counts) = replay(&whole(&file), GIB).expect("a good trace");
    let request =
        |ns, op, lba, bytes| Request { arrival: Time::from_ns(ns), op, lba, bytes, fua: false };
    assert_eq!(requests, [request(0, Op::Read, 8, 4096), request(200, Op::Write, 16, 8192)]);
    assert_eq!(counts, Counts { rows: 2, requests: 2, ..Counts::default() });
}

#[test]
fn a_closed_replay_has_the_rows_without_their_times() {
    let file = TestFile::new("t", "500 0 8 8 1\n700 0 16 16 0\n");
    let config = TraceConfig { queue_depth: Some(3), ..whole(&file) };
    assert_eq!(places(&config, GIB), [(0, 8), (0, 16)]);
    let scaled = TraceConfig { time_scale: 0.5, ..config };
    let (key, _, what) = scaled.contradiction().expect("nothing to scale");
    let expected = "must be 1 in a closed loop, which has no arrivals to scale";
    assert_eq!((key, what.as_str()), ("time_scale", expected));
}

#[test]
fn past_the_end_requests_are_clamped_or_left_out() {
    // A drive of 16 sectors: one fits, one straddles the end, one lies behind it, one ends with it.
    let file = TestFile::new("t", "0 0 8 4 1\n1 0 14 4 0\n2 0 100 4 0\n3 0 12 4 1\n");
    let clamped = TraceConfig { address: AddressPolicy::Clamp, ..whole(&file) };
    assert_eq!(places(&clamped, 16 * 512), [(0, 8), (1, 12), (2, 12), (3, 12)]);
    let (_, counts) = replay(&clamped, 16 * 512).expect("good rows");
    assert_eq!((counts.wrapped, counts.dropped), (2, vec![]));
    let left_out = TraceConfig { address: AddressPolicy::Drop, ..whole(&file) };
    assert_eq!(places(&left_out, 16 * 512), [(0, 8), (3, 12)]);
    let (_, counts) = replay(&left_out, 16 * 512).expect("good rows");
    assert_eq!(counts.dropped, [("past the end of the drive", 2)]);
    assert_eq!((counts.rows, counts.wrapped), (4, 0));
    // Larger than the drive: no place to move it to, and none needed if it is left out.
    assert!(error_of(&clamped, 3 * 512).contains("larger than the drive"));
    assert!(error_of(&left_out, 3 * 512).contains("4 past the end of the drive"));
}

#[test]
fn a_flush_has_no_address_whatever_its_device() {
    let file =
        TestFile::new("t", "fio version 3 iolog\n0 a write 4096 4096\n5 b sync\n7 b read 0 512\n");
    let (requests, counts) = replay(&whole(&file), GIB).expect("good rows");
    // Device b begins behind the 8192 bytes of a.
    let found: Vec<_> = requests.iter().map(|r| (r.op, r.lba, r.bytes)).collect();
    assert_eq!(found, [(Op::Write, 8, 4096), (Op::Flush, 0, 0), (Op::Read, 16, 512)]);
    assert_eq!(counts.wrapped, 0);
}

#[test]
fn scaled_times_round_half_up_and_do_not_add_up_errors() {
    // 0.5 of 1, 2, 3 and 5 ns: 0.5, 1, 1.5 and 2.5 ns.
    let file = TestFile::new("t", "10 0 8 8 1\n11 0 8 8 1\n12 0 8 8 1\n13 0 8 8 1\n15 0 8 8 1\n");
    let config = TraceConfig { time_scale: 0.5, ..whole(&file) };
    let times: Vec<u64> = places(&config, GIB).iter().map(|place| place.0).collect();
    assert_eq!(times, [0, 1, 1, 2, 3]);
    let config = TraceConfig { time_scale: 1e19, ..whole(&file) };
    let error = error_of(&config, GIB);
    assert!(error.contains("workload.time_scale") && error.contains("line 3"), "{error}");
}

#[test]
fn start_and_duration_are_trace_time_before_scaling() {
    // Times since the first row: 0, 100, 199, 200, 300. Kept: from 100, for 100, so two rows.
    let rows = "50 0 0 8 1\n150 0 8 8 1\n249 0 16 8 1\n250 0 24 8 1\n350 0 32 8 1\n";
    let file = TestFile::new("t", rows);
    let config = TraceConfig {
        start: Dur::from_ns(100),
        duration: Some(Dur::from_ns(100)),
        time_scale: 2.0,
        ..whole(&file)
    };
    assert_eq!(places(&config, GIB), [(0, 8), (198, 16)]);
    let (_, counts) = replay(&config, GIB).expect("a good trace");
    assert_eq!(counts.dropped, [("before start", 1)]);
    let config = TraceConfig { start: Dur::from_ns(301), ..whole(&file) };
    assert_eq!(
        error_of(&config, GIB),
        "FILE: has no request to replay: of its rows, 5 before start"
    );
}

#[test]
fn a_limit_of_requests_is_kept_exactly() {
    let file = TestFile::new("t", "1 0 0 8 1\n2 0 8 8 1\n3 0 16 8 1\nnot a row\n");
    // Merged, or the devices' extents would be read from the whole file first.
    let devices = DeviceSelection::Merge;
    let config = TraceConfig { max_requests: Some(2), devices, ..whole(&file) };
    let mut workload =
        Workload::open(&WorkloadConfig::Trace(config), GIB, 1).expect("a good trace");
    assert_eq!(workload.counts().requests, 0);
    assert!(workload.next_request().expect("good").is_some());
    assert_eq!(workload.counts().requests, 1);
    assert!(workload.next_request().expect("good").is_some());
    assert_eq!(workload.next_request(), Ok(None));
    assert_eq!(workload.progress(), Some(1.0));
}

#[test]
fn devices_lie_one_behind_the_other() {
    // Device 2 ends at sector 3 + 5 = 8: 4 KiB. Device 5 ends at 17 + 8 = 25, rounded up to a
    // multiple of 4 KiB: 32. Device 7 begins at 8 + 32 = 40.
    let rows = "1 5 17 8 1\n2 7 1 8 1\n3 2 3 5 1\n4 7 0 8 1\n";
    let file = TestFile::new("t", rows);
    assert_eq!(places(&whole(&file), GIB), [(0, 25), (1, 41), (2, 3), (3, 40)]);
    let merged = TraceConfig { devices: DeviceSelection::Merge, ..whole(&file) };
    assert_eq!(places(&merged, GIB), [(0, 17), (1, 1), (2, 3), (3, 0)]);
    // In the order given: device 7 ends at sector 9, rounded up to 16; then device 2.
    let some = TraceConfig { devices: DeviceSelection::Only(vec![7, 2]), ..whole(&file) };
    assert_eq!(places(&some, GIB), [(0, 1), (1, 16 + 3), (2, 0)]);
    assert_eq!(replay(&some, GIB).expect("good").1.dropped, [("other device", 1)]);
    let one = TraceConfig { devices: DeviceSelection::Only(vec![7]), ..whole(&file) };
    assert_eq!(places(&one, GIB), [(0, 1), (2, 0)]);
}

#[test]
fn a_part_of_a_trace_lies_where_the_whole_puts_it() {
    let file = TestFile::new("t", "1 1 0 8 1\n2 0 8 8 1\n3 1 8 8 1\n");
    let part = TraceConfig { max_requests: Some(1), ..whole(&file) };
    assert_eq!(places(&part, GIB), [(0, 16)]);
    assert_eq!(places(&whole(&file), GIB), [(0, 16), (1, 8), (2, 24)]);
}

#[test]
fn a_device_that_is_not_there_is_a_mistake() {
    let file = TestFile::new("t", "1 5 17 8 1\n2 7 1 8 1\n");
    for list in [vec![3], vec![5, 3]] {
        let config = TraceConfig { devices: DeviceSelection::Only(list), ..whole(&file) };
        let error = error_of(&config, GIB);
        assert!(error.contains('5') && error.contains('7') && error.contains("device"), "{error}");
    }
}

#[test]
fn addresses_wrap_at_the_capacity_and_never_straddle_it() {
    // A drive of 100 sectors. Sector 195 wraps to 95, and 8 sectors from there would end at 103:
    // moved to 92. Sector 92 just fits. Sector 300 wraps to 0.
    let file = TestFile::new("t", "1 0 92 8 1\n2 0 195 8 1\n3 0 300 8 1\n4 0 93 8 0\n");
    let config = TraceConfig { address: AddressPolicy::Modulo, ..whole(&file) };
    assert_eq!(places(&config, 51_200), [(0, 92), (1, 92), (2, 0), (3, 92)]);
    assert_eq!(replay(&config, 51_200).expect("good").1.wrapped, 3);
    let small = error_of(&config, 2048);
    assert!(small.starts_with("FILE:1: ") && small.contains("4096 bytes"), "{small}");
}

#[test]
fn an_address_past_the_end_can_be_an_error() {
    let file = TestFile::new("t", "1 0 92 8 1\n2 0 93 8 1\n");
    let error = error_of(&whole(&file), 51_200);
    assert!(error.starts_with("FILE:2: sector 93"), "{error}");
    assert!(error.contains("modulo") && error.contains("scale"), "{error}");
}

#[test]
fn an_extent_is_scaled_onto_the_capacity() {
    // Extent 100 * 4 KiB (the request at sector 792 ends it), capacity 50 * 4 KiB. Page 40
    // becomes 20, and 3 sectors into the page stay 3; page 99 becomes 49, and 8 sectors fit.
    let file = TestFile::new("t", "1 0 323 8 1\n2 0 792 8 1\n3 0 0 8 0\n");
    let config = TraceConfig { address: AddressPolicy::Scale, ..whole(&file) };
    assert_eq!(places(&config, 50 * 4096), [(0, 163), (1, 392), (2, 0)]);
    assert_eq!(replay(&config, 50 * 4096).expect("good").1.wrapped, 2);
    // Onto twice the capacity: pages 40 and 99 become 80 and 198.
    assert_eq!(places(&config, 200 * 4096), [(0, 643), (1, 1584), (2, 0)]);
}

#[test]
fn requests_are_widened_to_whole_sectors_and_counted() {
    // Bytes 100..1,300 are sectors 0, 1 and 2; 512..1,024 are sector 1 as they stand.
    let file = TestFile::new("t", "5,h,0,Read,100,1200,1\n5,h,0,Read,512,512,1\n");
    let (requests, counts) = replay(&whole(&file), GIB).expect("a good trace");
    assert_eq!((requests[0].lba, requests[0].bytes), (0, 1536));
    assert_eq!((requests[1].lba, requests[1].bytes), (1, 512));
    assert_eq!(counts.widened, 1);
}

#[test]
fn repeats_within_the_window_are_dropped() {
    // After the first row at 0: a repeat at 10 (within), one at 11 (not within 10 of the kept
    // row at 0), one at 21 (within 10 of 11); others differ in length, operation or device.
    let rows = "0 0 8 8 1\n10 0 8 8 1\n10 0 8 16 1\n10 0 8 8 0\n10 1 8 8 1\n11 0 8 8 1\n\
                21 0 8 8 1\n";
    let file = TestFile::new("t", rows);
    let config = TraceConfig {
        drop_duplicates_within: Some(Dur::from_ns(10)),
        devices: DeviceSelection::Merge,
        ..whole(&file)
    };
    let times: Vec<u64> = places(&config, GIB).iter().map(|place| place.0).collect();
    assert_eq!(times, [0, 10, 10, 10, 11]);
    assert_eq!(replay(&config, GIB).expect("good").1.dropped, [("duplicate", 2)]);
}

#[test]
fn late_rows_are_an_error_or_put_in_order() {
    let file = TestFile::new("t", "5 0 0 8 1\n9 0 8 8 1\n9 0 16 8 1\n7 0 24 8 1\n9 0 32 8 1\n");
    let error = error_of(&whole(&file), GIB);
    assert!(error.starts_with("FILE:4: time runs back by 2 ns from line 3"), "{error}");
    assert!(error.contains("sort_window_requests above 0"), "{error}");
    // Held back: two rows of time 9 when the row of time 7 comes. Equal times keep their order.
    let sorted = TraceConfig { sort_window_requests: 2, ..whole(&file) };
    assert_eq!(places(&sorted, GIB), [(0, 0), (2, 24), (4, 8), (4, 16), (4, 32)]);
    assert_eq!(replay(&sorted, GIB).expect("good").1.resorted, 1);
    let too_small = TraceConfig { sort_window_requests: 1, ..whole(&file) };
    let error = error_of(&too_small, GIB);
    assert!(error.contains("FILE:4:") && error.contains("above 1"), "{error}");
}

proptest! {
    /// Whatever the rows and the settings: times never run back, addresses stay on the drive,
    /// and every row is either handed out or counted as dropped.
    #[test]
    fn a_replay_keeps_its_promises(
        rows in prop::collection::vec(
            (0u64..5_000, 0u32..3, 0u64..100_000, 0u32..64, any::<bool>()),
            1..200,
        ),
        policy in prop::sample::select(vec![AddressPolicy::Modulo, AddressPolicy::Scale]),
        devices in prop::sample::select(
            vec![DeviceSelection::Concatenate, DeviceSelection::Merge],
        ),
        capacity_sectors in 64u64..50_000,
        time_scale in 0.01f64..10.0,
        filter in any::<bool>(),
    ) {
        prop_assume!(rows.iter().any(|row| row.3 > 0));
        let text: String = rows
            .iter()
            .map(|(t, d, lba, n, read)| format!("{t} {d} {lba} {n} {}\n", u32::from(*read)))
            .collect();
        let file = TestFile::new("random", text);
        let config = TraceConfig {
            address: policy,
            devices,
            time_scale,
            sort_window_requests: 200,
            drop_duplicates_within: filter.then_some(Dur::from_ns(100)),
            ..whole(&file)
        };
        let (requests, counts) = replay(&config, capacity_sectors * 512).expect("good rows");
        prop_assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
        for request in &requests {
            prop_assert!(request.bytes > 0 && request.bytes % 512 == 0);
            prop_assert!(request.lba + u64::from(request.bytes) / 512 <= capacity_sectors);
        }
        let dropped: u64 = counts.dropped.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(counts.requests + dropped, counts.rows);
        prop_assert_eq!(counts.rows, rows.len() as u64);
    }
}

#[test]
fn a_trace_goes_on_one_mean_gap_after_its_last_row() {
    // Gaps of 100 and 300, 200 in the mean: passes begin 400 + 200 apart.
    let file = TestFile::new("t", "# a\n500 0 8 8 1\n600 0 16 16 0\n900 0 24 0 1\n900 0 24 8 1\n");
    let config = TraceConfig { repeat: 3, ..whole(&file) };
    let (requests, counts) = replay(&config, GIB).expect("a good trace");
    let arrivals: Vec<u64> = requests.iter().map(|request| request.arrival.ns()).collect();
    assert_eq!(arrivals, [0, 100, 400, 600, 700, 1000, 1200, 1300, 1600]);
    assert_eq!(requests[0].lba, requests[6].lba);
    assert_eq!((counts.rows, counts.other_lines), (12, 3));
    assert_eq!(counts.dropped, [("zero length", 3)]);
    let ns =
        |config: TraceConfig| places(&config, GIB).iter().map(|place| place.0).collect::<Vec<_>>();
    // The clock as a whole is scaled; a limit is of all passes; a part is repeated as it is.
    let scaled = TraceConfig { time_scale: 0.5, ..config.clone() };
    assert_eq!(ns(scaled), [0, 50, 200, 300, 350, 500, 600, 650, 800]);
    let limited = TraceConfig { max_requests: Some(4), ..config.clone() };
    assert_eq!(ns(limited), [0, 100, 400, 600]);
    let part = TraceConfig { duration: Some(Dur::from_ns(200)), ..config.clone() };
    assert_eq!(ns(part), [0, 100, 200, 300, 400, 500]);
    let late = TraceConfig { start: Dur::from_ns(1), ..config.clone() };
    assert_eq!(ns(late), [0, 300, 600, 900, 1200, 1500]);
    // In a closed loop only the order counts. A single request has no gap.
    let closed = TraceConfig { queue_depth: Some(2), repeat: 2, ..config.clone() };
    assert_eq!(ns(closed), [0; 6]);
    let one = TestFile::new("t", "5 0 8 8 1\n");
    assert_eq!(ns(TraceConfig { repeat: 3, ..whole(&one) }), [0, 0, 0]);
}

#[test]
fn each_pass_has_the_same_devices_and_duplicates() {
    let file = TestFile::new("t", "0 3 8 8 1\n100 5 0 8 0\n200 5 0 8 0\n900 3 8 8 1\n");
    let config =
        TraceConfig { repeat: 2, drop_duplicates_within: Some(Dur::from_ns(500)), ..whole(&file) };
    // Device 5 lies behind the 16 sectors of device 3, rounded up to 8 KiB. 0, 100 and 900, whose
    // gaps are 450 in the mean; the first row of the second pass does not repeat the last of the
    // first.
    assert_eq!(
        places(&config, GIB),
        [(0, 8), (100, 16), (900, 8), (1350, 8), (1450, 16), (2250, 8)]
    );
    let (_, counts) = replay(&config, GIB).expect("a good trace");
    assert_eq!(counts.dropped, [("duplicate", 2)]);
    let only = TraceConfig { devices: DeviceSelection::Only(vec![5]), ..config };
    assert_eq!(places(&only, GIB), [(0, 0), (0, 0)]);
}

/// Arrivals of traces that are replayed at once, each by itself.
fn at_once(configs: &[TraceConfig]) -> Result<Vec<Vec<u64>>, UserError> {
    let configs: Vec<WorkloadConfig> = configs.iter().cloned().map(WorkloadConfig::Trace).collect();
    let load = |config| Load { config, seed: 1, bytes: 0..GIB };
    let loads: Vec<Load> = configs.iter().map(load).collect();
    let mut arrivals = Vec::new();
    for mut load in Workload::open_all(&loads)? {
        let mut of_load = Vec::new();
        while let Some(request) = load.next_request()? {
            of_load.push(request.arrival.ns());
        }
        arrivals.push(of_load);
    }
    Ok(arrivals)
}

#[test]
fn traces_at_once_have_one_clock() {
    let late = TestFile::new("late", "500700 0 8 8 1\n500900 0 8 8 1\n");
    let early = TestFile::new("early", "700 0 8 8 1\n1700 0 8 8 1\n");
    let (late, early) = (whole(&late), whole(&early));
    let both = |late: &TraceConfig, early: &TraceConfig| {
        at_once(&[late.clone(), early.clone()]).expect("good traces")
    };
    assert_eq!(both(&late, &early), [vec![500_000, 500_200], vec![0, 1000]]);
    // Parts are those of the common clock; the first request of all is at 0.
    let from = |config: &TraceConfig, ns| TraceConfig { start: Dur::from_ns(ns), ..config.clone() };
    assert_eq!(both(&from(&late, 400), &from(&early, 400)), [vec![499_000, 499_200], vec![0]]);
    let limited = TraceConfig { duration: Some(Dur::from_ns(500_100)), ..late.clone() };
    assert_eq!(both(&limited, &early), [vec![500_000], vec![0, 1000]]);
    // A scale is of the time since then, an own clock of none, a closed loop has none.
    let scaled = TraceConfig { time_scale: 0.5, ..late.clone() };
    assert_eq!(both(&scaled, &early), [vec![250_000, 250_100], vec![0, 1000]]);
    let own = TraceConfig { clock: Some(TraceClock::Own), ..late.clone() };
    assert_eq!(both(&own, &early), [vec![0, 200], vec![0, 1000]]);
    let closed = TraceConfig { queue_depth: Some(1), ..early.clone() };
    assert_eq!(both(&late, &closed), [vec![0, 200], vec![0, 0]]);
    let again = TraceConfig { repeat: 2, ..late.clone() };
    assert_eq!(both(&again, &early)[0], [500_000, 500_200, 500_400, 500_600]);
}

#[test]
fn traces_that_are_far_apart_are_of_one_clock_only_if_somebody_says_so() {
    // 86,401 s, and a day.
    let late = TestFile::new("late", "86401000000700 0 8 8 1\n");
    let day = TestFile::new("day", "86400000000700 0 8 8 1\n");
    let early = TestFile::new("early", "700 0 8 8 1\n");
    let error = at_once(&[whole(&late), whole(&early)]).expect_err("far apart").to_string();
    assert!(error.starts_with(&format!("{}: begins ", late.0.display())), "{error}");
    assert!(error.contains(&format!("after {}, with which", early.0.display())), "{error}");
    assert!(error.contains("clock = \"own\"") && error.contains("clock = \"shared\""), "{error}");
    let said = TraceConfig { clock: Some(TraceClock::Shared), ..whole(&late) };
    let found = at_once(&[said, whole(&early)]).expect("said");
    assert_eq!(found, [vec![86_401_000_000_000], vec![0]]);
    let found = at_once(&[whole(&day), whole(&early)]).expect("a day");
    assert_eq!(found, [vec![86_400_000_000_000], vec![0]]);
}
