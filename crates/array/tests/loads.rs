//! Trims, flushes and closed loads of an array by hand, to the nanosecond.
//!
//! The drives are those of `array.rs`: a read of a page takes 30 us, a program 160; a trim takes no
//! time, nor does a read of a page that was trimmed.

use reprieve_array::{Array, Options, Request, Row};
use reprieve_base::{Dur, Op, Time};
use serde_json::Value;

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"fifo\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";
const PAGE: u64 = 2048;

fn options(drives: usize) -> Options {
    Options { drives, chunk_bytes: PAGE, threads: Some(1), ..Options::default() }
}

fn request(at_us: u64, op: Op, page: u64, pages: u64) -> Request {
    let (offset, bytes) = (page * PAGE, pages * PAGE);
    Request { arrival: Time::ZERO + Dur::from_us(at_us), op, offset, bytes }
}

fn done_us(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.completion.ns() / 1000).collect()
}

/// When requests are complete: a trim at 200 us, then reads of these pages, 100 us apart.
fn trimmed(options: &Options, trim: (u64, u64), pages: &[u64]) -> Vec<u64> {
    let mut array = Array::open(DRIVE, "test.toml", &[], options).expect("an array");
    let reads = (3..).zip(pages).map(|(turn, page)| request(100 * turn, Op::Read, *page, 1));
    let all = [request(200, Op::Trim, trim.0, trim.1)].into_iter().chain(reads);
    array.submit(all).expect("good requests");
    let rows = array.run().expect("drives last");
    let summary: Value = serde_json::from_str(&array.summary()).expect("JSON");
    assert_eq!(summary["requests"]["trim"]["count"], 1);
    assert_eq!((rows[0].reads, rows[0].writes), (0, 0));
    done_us(&rows)
}

#[test]
fn trims_reach_all_drives_of_whole_stripes() {
    // Without parity every page: of pages 1 to 6 on four drives, and on pairs of copies.
    let pages = [0, 1, 4, 6, 7];
    let expected = [200, 330, 400, 500, 600, 730];
    assert_eq!(trimmed(&options(4), (1, 6), &pages), expected);
    let pairs = Options { mirrors: 2, ..options(4) };
    assert_eq!(trimmed(&pairs, (1, 6), &pages), expected);
    // With parity of pages 1 to 9 stripe 1 alone, which is pages 4 to 7; and of 1 to 6 nothing.
    let raid5 = Options { parity: 1, ..options(5) };
    assert_eq!(trimmed(&raid5, (1, 9), &[3, 4, 7, 8]), [200, 330, 400, 500, 630]);
    assert_eq!(trimmed(&raid5, (1, 6), &[4]), [200, 330]);
    // Old data and parity of a stripe that was trimmed take no time to read.
    let mut array = Array::open(DRIVE, "test.toml", &[], &raid5).expect("an array");
    array.submit([request(0, Op::Trim, 0, 4), request(10, Op::Write, 1, 1)]).expect("good");
    assert_eq!(done_us(&array.run().expect("drives last")), [0, 10 + 1 + 160]);
}

#[test]
fn a_flush_waits_for_the_writes_of_all_drives() {
    let flush = |at_us| request(at_us, Op::Flush, 0, 0);
    let mut array = Array::open(DRIVE, "test.toml", &[], &options(4)).expect("an array");
    let requests = [flush(0), request(1, Op::Write, 2, 1), flush(20), flush(300)];
    array.submit(requests).expect("good requests");
    assert_eq!(done_us(&array.run().expect("drives last")), [0, 161, 161, 300]);
    // The failed drive of a mirror gets none.
    let degraded = Options { mirrors: 2, failed: vec![0], ..options(2) };
    let mut array = Array::open(DRIVE, "test.toml", &[], &degraded).expect("an array");
    array.submit([request(0, Op::Write, 0, 1), flush(1)]).expect("good requests");
    assert_eq!(done_us(&array.run().expect("drives last")), [160, 160]);
    let wrong = array.submit([Request { bytes: 512, ..flush(900) }]).expect_err("it has no length");
    let sentence = "request 0: bytes = 512 at offset = 0: a flush has neither; must be 0";
    assert_eq!(wrong.to_string(), sentence);
}

fn closed(depth: u32, requests: u32, options: &Options) -> Vec<Row> {
    let load = format!(
        "{DRIVE}[workload]\ngenerator = \"mixed\"\nrequests = {requests}\nrequest_bytes = 2048\n\
         read_fraction = {}\nqueue_depth = {depth}\n",
        if depth == 1 { 1.0 } else { 0.5 }
    );
    let mut array = Array::open_with_load(&load, "test.toml", &[], options).expect("an array");
    array.run().expect("drives last")
}

#[test]
fn an_array_takes_one_load() {
    let of = |load: &str| {
        let text = format!("{DRIVE}{load}");
        let array = Array::open_with_load(&text, "test.toml", &[], &options(2));
        array.map(drop).expect_err("no load of an array").to_string()
    };
    let mixed = "generator = \"mixed\"\nrequests = 1\nread_fraction = 1\nqueue_depth = 1\n";
    let flows = format!("[flow.a]\n{mixed}[flow.b]\n{mixed}");
    let one = "test.toml: an array takes one load; needs [workload] in place of";
    assert_eq!(of(&flows), format!("{one} the flows"));
    let job = std::env::temp_dir().join(format!("array-{}.fio", std::process::id()));
    std::fs::write(&job, "[a]\nrw=read\nsize=1m\n").expect("room for a file");
    let fio = of(&format!("[workload]\nfio = {job:?}\n"));
    std::fs::remove_file(&job).expect("it was written");
    assert_eq!(fio, format!("{one} fio's jobs"));
}

#[test]
fn a_closed_load_keeps_its_depth() {
    // A read of 30 us, the controller, the next read.
    assert_eq!(done_us(&closed(1, 3, &options(2))), [30, 61, 92]);
    // The requests of eight in flight, as a load that arrives when they did, and on two threads.
    let raid5 = Options { parity: 1, ..options(5) };
    let rows = closed(8, 400, &raid5);
    let mut open = Array::open(DRIVE, "test.toml", &[], &raid5).expect("an array");
    open.submit(rows.iter().map(|row| row.request)).expect("good requests");
    assert_eq!(open.run().expect("drives last"), rows);
    assert_eq!(closed(8, 400, &Options { threads: Some(2), ..raid5 }), rows);
    for row in &rows[8..] {
        let follows = |before: &Row| before.completion + Dur::from_us(1) == row.request.arrival;
        assert!(rows.iter().any(follows), "nothing was complete before it");
    }
    for row in &rows {
        let at = row.request.arrival;
        let is_open = |other: &&Row| other.request.arrival <= at && other.completion > at;
        assert!(rows.iter().filter(is_open).count() <= 8);
    }
}
