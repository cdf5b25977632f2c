//! Busy windows, rebuilds and the parity log by hand, to the nanosecond.
//!
//! The drives are those of `array.rs`: a read of a page takes 30 us, a program 160.

use reprieve_array::{Array, Options, Read, Request, Row};
use reprieve_base::{Dur, Op, Time};
use serde_json::Value;

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"fifo\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";
const PAGE: u64 = 2048;

/// RAID 5 of four data chunks: parity is on drive 4 in stripe 0, on 3 in stripe 1; data follows it.
fn raid5() -> Options {
    let (chunk_bytes, threads) = (PAGE, Some(1));
    Options { drives: 5, parity: 1, chunk_bytes, threads, ..Options::default() }
}

/// A mirror whose second drive is new.
fn new_mirror() -> Options {
    let (failed, rebuild) = (vec![1], Some(1));
    Options { drives: 2, mirrors: 2, parity: 0, failed, rebuild, rebuild_stripes: 1, ..raid5() }
}

fn open(options: &Options) -> Array {
    Array::open(DRIVE, "test.toml", &[], options).expect("an array")
}

fn request(at_us: u64, op: char, page: u64) -> Request {
    let arrival = Time::ZERO + Dur::from_us(at_us);
    Request {
        arrival,
        op: if op == 'W' { Op::Write } else { Op::Read },
        offset: page * PAGE,
        bytes: PAGE,
    }
}

/// When requests of one page are complete, and reads and writes of drives that they took.
fn run(array: &mut Array, requests: &[Request]) -> Vec<(u64, u32, u32)> {
    array.submit(requests.iter().copied()).expect("good requests");
    let of = |row: Row| (row.completion.ns() / 1000, row.reads, row.writes);
    array.run().expect("drives last").into_iter().map(of).collect()
}

fn summary(array: &Array) -> Value {
    serde_json::from_str(&array.summary()).expect("JSON")
}

#[test]
fn reads_go_around_the_drive_in_its_window() {
    let read = Read::AroundWindows;
    let mut array = open(&Options { read, busy_window_us: Some(100.0), ..raid5() });
    // Page 0 is on drive 0, whose windows begin at 0, 500, 1000; page 1 is on drive 1.
    let at = [(0, 0), (60, 1), (100, 1), (130, 0), (499, 0), (1000, 0)];
    let rows = run(&mut array, &at.map(|(at_us, page)| request(at_us, 'R', page)));
    let taken = [(30, 4), (90, 1), (130, 4), (160, 1), (529, 1), (1030, 4)];
    assert_eq!(rows, taken.map(|(end_us, reads)| (end_us, reads, 0)));
}

#[test]
fn drives_in_a_steady_state_have_windows() {
    let steady = format!("{DRIVE}[ftl]\nprecondition = \"steady\"\ngc_start_free_share = 0.3\n");
    let options = Options { busy_window_us: Some(500.0), ..raid5() };
    let mut array = Array::open(&steady, "test.toml", &[], &options).expect("an array");
    let writes = (0..100).map(|page| request(page * 100, 'W', page * 37 % 200));
    assert_eq!(run(&mut array, &writes.collect::<Vec<_>>()).len(), 100);
}

#[test]
fn a_mirror_is_rebuilt_stripe_by_stripe() {
    let mut array = open(&new_mirror());
    let stripes = array.capacity_bytes() / PAGE;
    array.run_watched(true, &mut |_| true).expect("drives last");
    let end_us = |array: &Array| summary(array)["rebuild"]["end_ns"].as_u64().expect("done") / 1000;
    // A read, the controller, a program, and the controller again.
    assert_eq!(end_us(&array), stripes * (30 + 1 + 160 + 1) - 1);
    // Copies take turns from stripe to stripe, and the new drive has all of its chunks.
    let at_us = end_us(&array) + 10;
    let rows = run(&mut array, &[0, 1].map(|page| request(at_us, 'R', page)));
    assert_eq!(rows, [(at_us + 30, 1, 0), (at_us + 30, 1, 0)]);
    let read = |array: &Array| summary(array)["drives"][1]["flash"]["reads"].as_u64();
    assert_eq!(read(&array), Some(1));

    let slow = Options { rebuild_bytes_per_s: Some(PAGE as f64 * 1e3), ..new_mirror() };
    let mut array = open(&slow);
    array.run_watched(true, &mut |_| true).expect("drives last");
    assert_eq!(end_us(&array), (stripes - 1) * 1000 + 191);
}

#[test]
fn a_rebuild_goes_on_while_requests_do() {
    // Stripe 0 is rebuilt at 191, stripe 1 is read at 192. Reads of both at 180 and at 200: drive 0
    // alone has them at first, and turns to it between, behind the read of stripe 1 until 222.
    let mut array = open(&new_mirror());
    let rows = run(&mut array, &[request(150, 'R', 1), request(200, 'R', 1)]);
    assert_eq!(rows, [(180, 1, 0), (252, 1, 0)]);
    let rebuild = &summary(&array)["rebuild"];
    assert_eq!((&rebuild["rebuilt_bytes"], &rebuild["end_ns"]), (&(2 * PAGE).into(), &Value::Null));
    assert_eq!(summary(&array)["rebuild_writes"], 2);
    // Later a write of stripe 1 reaches both drives, and one of stripe 3 the old one alone.
    let at_us = array.now().ns() / 1000 + 1;
    let rows = run(&mut array, &[request(at_us, 'W', 1), request(at_us, 'W', 3)]);
    assert_eq!([rows[0].2, rows[1].2], [2, 1]);
}

#[test]
fn a_chunk_of_a_stripe_is_rebuilt_from_all_others() {
    let parity = Options { failed: vec![2], rebuild: Some(2), rebuild_stripes: 2, ..raid5() };
    let mut array = open(&parity);
    let stripes = array.capacity_bytes() / PAGE / 4;
    array.run_watched(true, &mut |_| true).expect("drives last");
    let sum = summary(&array);
    assert_eq!(
        (&sum["rebuild_reads"], &sum["rebuild_writes"]),
        (&(4 * stripes).into(), &stripes.div_ceil(2).into(),)
    );
    for drive in [0, 1, 3, 4] {
        assert_eq!(sum["drives"][drive]["flash"]["reads"], stripes);
    }
    // Two reads of each drive, one after the other; two programs of the new one.
    let pairs = stripes / 2;
    let last = if stripes % 2 == 1 { 30 + 1 + 160 + 1 } else { 0 };
    let end_ns = 1000 * (pairs * (2 * 30 + 1 + 2 * 160 + 1) + last - 1);
    assert_eq!(sum["rebuild"]["end_ns"], end_ns);
}

#[test]
fn parity_is_logged_before_a_partial_write() {
    let mut array = open(&Options { parity_log: true, ..raid5() });
    // Old data and parity; three pages of the log, a header of two and the parity; the writes.
    let rows = run(&mut array, &[request(0, 'W', 0)]);
    assert_eq!(rows, [(30 + 1 + 3 * 160 + 1 + 160, 2, 3)]);
    // A whole stripe needs none.
    let at = array.now();
    let whole = Request { arrival: at, op: Op::Write, offset: 8 * PAGE, bytes: 4 * PAGE };
    assert_eq!(run(&mut array, &[whole]), [((at + Dur::from_us(160)).ns() / 1000, 0, 5)]);
    let data = |log| open(&Options { parity_log: log, ..raid5() }).capacity_bytes() / 4;
    assert_eq!(data(false) - data(true), 1 << 20);
}

#[test]
fn stripes_are_torn_between_their_first_and_last_write() {
    // A read at 29 keeps drive 4 from 30 to 60: there parity is programmed until 220, and data
    // elsewhere until 191.
    let torn = |parity_log| {
        let mut array = open(&Options { parity_log, ..raid5() });
        run(&mut array, &[request(0, 'W', 0), request(29, 'R', 4)]);
        (summary(&array)["write_hole"].clone(), array.now().ns() as f64)
    };
    let (hole, now_ns) = torn(false);
    assert_eq!(hole["half_written_stripes_mean"], 29_000.0 / now_ns);
    assert_eq!(hole["torn_stripes_mean"], hole["half_written_stripes_mean"]);
    assert_eq!(torn(true).0["torn_stripes_mean"], 0.0);
}

#[test]
fn options_are_a_table_of_text() {
    let options =
        Options::parse("drives = 6\nparity = 2\nread = \"hedged\"\nhedge_after_us = 50\n");
    let hedged = Options { read: Read::Hedged, hedge_after_us: Some(50.0), ..Options::default() };
    assert_eq!(options, Ok(Options { drives: 6, parity: 2, ..hedged }));
    let wrong = [
        (
            "drives = 6\npairty = 2",
            "line 2 of the array's options, `pairty = 2`: unknown field `pairty`",
        ),
        ("drives = \"x\"", "line 1 of the array's options, `drives = \"x\"`: invalid type"),
        (
            "read = \"late\"",
            "line 1 of the array's options, `read = \"late\"`: unknown variant `late`",
        ),
        ("drives = 0", "drives = 0: must be from 1 to"),
    ];
    for (text, sentence) in wrong {
        let error = Options::parse(text).expect_err("wrong").to_string();
        assert!(error.starts_with(sentence), "{error}");
    }
}
