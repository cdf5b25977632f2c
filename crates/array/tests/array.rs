//! Arrays of tiny drives by hand, to the nanosecond, and the rules that hold for all loads.
//!
//! Each drive is one plane of the part of FAST 2012 without a host link: a read of a page takes
//! 10 us in the array and 20 on the bus, a program 20 on the bus and 140 in the array. Requests
//! are served first come, first served. A chunk is a page unless a test says otherwise.

use reprieve_array::{Array, Options, Read, Request, Row};
use reprieve_base::{Dur, Op, Stream, Time};
use reprieve_embed::{Ask, Drive};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"fifo\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";
const PAGE: u64 = 2048;

fn options(drives: usize) -> Options {
    Options { drives, chunk_bytes: PAGE, threads: Some(1), ..Options::default() }
}

/// RAID 5 of four data chunks: parity is on drive 4 in stripe 0, on 3 in stripe 1; data follows it.
fn raid5() -> Options {
    Options { parity: 1, ..options(5) }
}

fn hedged(after_us: u64, options: Options) -> Options {
    Options { read: Read::Hedged, hedge_after_us: Some(after_us as f64), ..options }
}

/// The first failed drive is replaced, and rebuilt stripe by stripe.
fn rebuilding(options: Options) -> Options {
    Options { rebuild: Some(options.failed[0]), rebuild_stripes: 1, ..options }
}

fn open(options: &Options) -> Array {
    Array::open(DRIVE, "test.toml", &[], options).expect("an array")
}

/// A read or write at a time in us, of whole pages.
fn request(at_us: u64, op: char, page: u64, pages: u64) -> Request {
    Request {
        arrival: Time::ZERO + Dur::from_us(at_us),
        op: if op == 'W' { Op::Write } else { Op::Read },
        offset: page * PAGE,
        bytes: pages * PAGE,
    }
}

fn run(options: &Options, requests: &[Request]) -> Vec<Row> {
    let mut array = open(options);
    array.submit(requests.iter().copied()).expect("good requests");
    array.run().expect("drives last")
}

fn done_us(rows: &[Row]) -> Vec<u64> {
    assert!(rows.iter().all(|row| row.completion.ns() % 1000 == 0));
    rows.iter().map(|row| row.completion.ns() / 1000).collect()
}

/// Reads and writes of drives, chunks read around a drive, and hedges.
fn counts(row: &Row) -> [u32; 4] {
    [row.reads, row.writes, row.reconstructed, row.hedged]
}

#[test]
fn stripes_are_read_from_all_drives_at_once() {
    let rows = run(&options(4), &[request(0, 'R', 0, 4)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![30], [4, 0, 0, 0]));
    // Of six pages, drives 3 and 0 have two each, which they read one after the other.
    assert_eq!(done_us(&run(&options(4), &[request(0, 'R', 3, 6)])), [60]);
    // Page 9 is on drive 1: the read of page 5 waits for its program.
    let rows = run(&options(4), &[request(5, 'R', 3, 6), request(0, 'W', 9, 1)]);
    assert_eq!(done_us(&rows), [160 + 30, 160]);
}

#[test]
fn a_full_stripe_is_written_with_its_parity_at_once() {
    let rows = run(&raid5(), &[request(0, 'W', 4, 4)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![160], [0, 5, 0, 0]));
    // A stripe and a page: the page needs old data and parity, 30, the controller, 1, and 160.
    // Stripe 1 has data 0 on drive 4 and parity on 3, which both have a program of stripe 0 before.
    let rows = run(&raid5(), &[request(0, 'W', 0, 5)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![160 + 30 + 1 + 160], [2, 7, 0, 0]));
}

#[test]
fn a_small_write_reads_old_data_and_parity_first() {
    let rows = run(&raid5(), &[request(7, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![7 + 30 + 1 + 160], [2, 2, 0, 0]));
    // Three of four chunks: the fourth alone is read.
    let rows = run(&raid5(), &[request(0, 'W', 1, 3)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![191], [1, 4, 0, 0]));
    // With two chunks of parity, a small write reads and writes three drives.
    let raid6 = Options { parity: 2, ..options(7) };
    let rows = run(&raid6, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![191], [3, 3, 0, 0]));
}

#[test]
fn a_write_across_two_chunks_takes_whole_chunks_of_parity() {
    // Chunks of two pages: pages 1 and 2 are the second of drive 0 and the first of drive 1. Old
    // data is a page each, old parity two pages, which drive 4 reads and programs in turn.
    let array = Options { chunk_bytes: 2 * PAGE, ..raid5() };
    let rows = run(&array, &[request(0, 'W', 1, 2)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![60 + 1 + 320], [3, 3, 0, 0]));
}

#[test]
fn reads_of_a_failed_drive_come_from_the_others() {
    let array = Options { failed: vec![0], ..raid5() };
    // Page 1 is read from drive 1 first, then page 0 from drives 1 to 4.
    let rows = run(&array, &[request(0, 'R', 1, 1), request(0, 'R', 0, 1)]);
    assert_eq!(done_us(&rows), [30, 60]);
    assert_eq!((counts(&rows[0]), counts(&rows[1])), ([1, 0, 0, 0], [4, 0, 1, 0]));
}

#[test]
fn writes_without_a_drive() {
    // The chunk itself is lost: its parity follows from the three other chunks.
    let rows = run(&Options { failed: vec![0], ..raid5() }, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![191], [3, 1, 0, 0]));
    // Another chunk is lost: old data and parity do.
    let rows = run(&Options { failed: vec![2], ..raid5() }, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![191], [2, 2, 0, 0]));
    // Parity is lost: nothing is read.
    let rows = run(&Options { failed: vec![4], ..raid5() }, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![160], [0, 1, 0, 0]));
    // Of 4 + 2, data is on drives 1 to 4, and two chunks are lost: the others give all old data.
    let raid6 = Options { parity: 2, failed: vec![1, 2], ..options(6) };
    let rows = run(&raid6, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![191], [4, 2, 0, 0]));
}

#[test]
fn copies_are_written_together_and_read_by_turns() {
    let array = Options { mirrors: 2, ..options(2) };
    let rows = run(&array, &[request(0, 'W', 0, 1)]);
    assert_eq!((done_us(&rows), counts(&rows[0])), (vec![160], [0, 2, 0, 0]));
    let reads = [request(0, 'R', 0, 1), request(0, 'R', 1, 1)];
    assert_eq!(done_us(&run(&array, &reads)), [30, 30]);
    let degraded = Options { failed: vec![0], ..array.clone() };
    assert_eq!(done_us(&run(&degraded, &reads)), [30, 60]);
    // Of four drives, pages 0 and 1 are in pairs of their own; page 2 has its turn at the other.
    let pairs = Options { drives: 4, ..array };
    let reads = [request(0, 'R', 0, 1), request(0, 'R', 1, 1), request(0, 'R', 2, 1)];
    assert_eq!(done_us(&run(&pairs, &reads)), [30, 30, 30]);
}

/// Two small writes, one in stripe 0 on drives 0 and 4, one in stripe 1 on drives 0 and 3.
///
/// Drive 0 reads until 30 and 60, and programs from 60 (the first arrives at 31, behind the second
/// read) to 220 and 380. Drive 4 programs from 31 to 191, drive 3 from 61 to 221. Then a read of
/// drive 0 at `at_us`: stripe 2 has parity on drive 2, and page 10 on drive 0.
fn beside_writes(at_us: u64) -> [Request; 3] {
    [request(0, 'W', 0, 1), request(0, 'W', 5, 1), request(at_us, 'R', 10, 1)]
}

#[test]
fn a_read_behind_programs_is_hedged() {
    let writes = [220, 380];
    let rows = run(&raid5(), &beside_writes(195));
    assert_eq!(done_us(&rows), [&writes[..], &[410]].concat());
    let hedged = |us| hedged(us, raid5());
    // At 225 all others are idle.
    let rows = run(&hedged(30), &beside_writes(195));
    assert_eq!(done_us(&rows), [&writes[..], &[255]].concat());
    assert_eq!(counts(&rows[2]), [5, 0, 0, 1]);
    // At 215 drive 3 still programs, until 221.
    let rows = run(&hedged(20), &beside_writes(195));
    assert_eq!(done_us(&rows), [&writes[..], &[251]].concat());
    // At 395 the read has been sent to the drive's array, and is first.
    let rows = run(&hedged(200), &beside_writes(195));
    assert_eq!((done_us(&rows)[2], rows[2].hedged), (410, 1));
    // An answer at 410 is not earlier than a hedge at 410; one at 411 is not sent.
    assert_eq!(run(&hedged(215), &beside_writes(195))[2].hedged, 1);
    assert_eq!(run(&hedged(216), &beside_writes(195))[2].hedged, 0);
}

#[test]
fn the_read_that_lost_still_takes_its_drive() {
    let hedged = hedged(30, raid5());
    // The hedge answers at 255. The read at drive 0 still takes 380 to 410, and another one there
    // ends at 440; its hedge, sent at 420, ends at 450.
    let mut requests = beside_writes(195).to_vec();
    requests.push(request(390, 'R', 10, 1));
    let rows = run(&hedged, &requests);
    assert_eq!(done_us(&rows), [220, 380, 255, 440]);
    let mut array = open(&hedged);
    array.submit(requests).expect("good requests");
    array.run().expect("drives last");
    let summary: serde_json::Value = serde_json::from_str(&array.summary()).expect("it is JSON");
    assert_eq!(summary["hedged_reads"], 2);
    assert_eq!(summary["hedges_won"], 1);
    assert_eq!(summary["drives"][0]["requests"]["read"]["count"], 4);
    assert_eq!(summary["requests"]["read"]["latency_ns"]["max"], 60_000);
}

#[test]
fn reads_go_around_drives_with_writes() {
    let around = Options { read: Read::AroundWrites, ..raid5() };
    // At 195 drive 3, which would be needed, also has a write; at 225 drive 0 alone has.
    assert_eq!(done_us(&run(&around, &beside_writes(195)))[2], 410);
    let rows = run(&around, &beside_writes(225));
    assert_eq!((done_us(&rows)[2], counts(&rows[2])), (255, [4, 0, 1, 0]));
    // The write ends at 380: it is open then, and not at 381.
    assert_eq!(run(&around, &beside_writes(380))[2].reconstructed, 1);
    assert_eq!(run(&around, &beside_writes(381))[2].reconstructed, 0);
}

/// Reads and writes of up to nine pages at random times.
fn random(seed: u64, count: u64, pages: u64) -> Vec<Request> {
    let mut stream = Stream::new(seed, "test.array", 0);
    let mut at_ns = 0;
    let of = |_| {
        at_ns += [0, 1, 7_000, 90_000][stream.below(4) as usize];
        let length = 1 + stream.below(9);
        Request {
            arrival: Time::from_ns(at_ns),
            op: [Op::Write, Op::Read, Op::Read][stream.below(3) as usize],
            offset: stream.below(pages - length) * PAGE + 512 * stream.below(4),
            bytes: length * PAGE - 1536,
        }
    };
    (0..count).map(of).collect()
}

#[test]
fn threads_change_nothing() {
    let arrays = [
        Options { chunk_bytes: 2 * PAGE, ..options(5) },
        hedged(100, Options { parity: 2, failed: vec![3], ..options(6) }),
        Options { parity: 1, read: Read::AroundWrites, chunk_bytes: 4 * PAGE, ..options(4) },
        hedged(100, Options { mirrors: 3, ..options(6) }),
        rebuilding(Options { parity_log: true, failed: vec![2], ..raid5() }),
        Options { read: Read::AroundWindows, busy_window_us: Some(500.0), ..raid5() },
    ];
    for array in arrays {
        let results = [1, 2, 3, 8].map(|threads| {
            let mut array = open(&Options { threads: Some(threads), ..array.clone() });
            let pages = array.capacity_bytes() / PAGE;
            let mut rows = Vec::new();
            for seed in 0..2 {
                let from = array.now();
                let load = random(seed, 2_000, pages);
                let later = |request: Request| {
                    let arrival = from + (request.arrival - Time::ZERO);
                    Request { arrival, ..request }
                };
                array.submit(load.into_iter().map(later)).expect("good requests");
                rows.extend(array.run().expect("drives last"));
            }
            (rows, array.summary())
        });
        assert!(results.iter().all(|result| *result == results[0]), "{array:?}");
    }
}

#[test]
fn one_drive_is_that_drive() {
    let mut drive = Drive::open(DRIVE, "test.toml", &[]).expect("a drive");
    let capacity_bytes = drive.capacity_bytes();
    let load = random(5, 3_000, capacity_bytes / PAGE);
    for (number, request) in load.iter().enumerate() {
        let op = request.op;
        let (lba, bytes) = (request.offset / 512, request.bytes as u32);
        let ask = Ask { tag: number as u64, op, lba, bytes, fua: false };
        drive.submit(request.arrival, ask).expect("a good request");
    }
    drive.run(Time::from_ns(1 << 60), load.len()).expect("the drive lasts");
    let mut expected = vec![Time::ZERO; load.len()];
    while let Some(done) = drive.poll() {
        expected[done.tag as usize] = done.completion;
    }
    let rows = run(&Options { chunk_bytes: capacity_bytes, ..options(1) }, &load);
    assert!(rows.iter().map(|row| row.completion).eq(expected));
}

/// A read has a drive suspend its program for an older read, of a partial write, which alone would
/// have waited: drives must not have been simulated to the end of the program by then.
#[test]
fn a_later_read_brings_a_partial_write_forward() {
    let sets = [
        "policy=\"pes-ips\"",
        "suspension.policy=batch",
        "suspension.batch.reads=2",
        "suspension.batch.oldest_us=1000",
    ]
    .map(str::to_owned);
    // Page 2000 is on drive 0, its parity on drive 4, as is page 2004; page 2005 is on drive 0 too.
    // None is in the block that is programmed.
    let requests = [
        request(0, 'W', 8, 4),
        request(30, 'W', 2000, 1),
        request(60, 'R', 2005, 1),
        request(60, 'R', 2004, 1),
    ];
    let mut array = Array::open(DRIVE, "test.toml", &sets, &raid5()).expect("an array");
    array.submit(requests).expect("good requests");
    let rows = array.run().expect("drives last");

    // Each drive by itself: chunk 2 is programmed at 0, chunk 500 is read at 30, chunk 501 at 60.
    let alone = |write_at: Option<Time>| {
        let mut drive = Drive::open(DRIVE, "test.toml", &sets).expect("a drive");
        let at = |us| Time::ZERO + Dur::from_us(us);
        let mut asks =
            vec![(at(0), Op::Write, 2), (at(30), Op::Read, 500), (at(60), Op::Read, 501)];
        asks.extend(write_at.map(|at| (at, Op::Write, 500)));
        for (tag, (at, op, chunk)) in (0..).zip(asks) {
            let ask = Ask { tag, op, lba: 4 * chunk, bytes: PAGE as u32, fua: false };
            drive.submit(at, ask).expect("a good request");
        }
        drive.run(Time::from_ns(1 << 60), 4).expect("the drive lasts");
        let mut done = [Time::ZERO; 4];
        while let Some(completion) = drive.poll() {
            done[completion.tag as usize] = completion.completion;
        }
        done
    };
    let read = alone(None)[1];
    assert!(read < Time::ZERO + Dur::from_us(160), "the program was not suspended: {read}");
    let done = alone(Some(read + Dur::from_us(1)));
    assert_eq!([rows[1], rows[2], rows[3]].map(|row| row.completion), [done[3], done[2], done[2]]);
}

#[test]
fn latencies_of_a_long_queue_are_not_cut() {
    // Five thousand reads of one page wait for each other, 30 us each: the median is 75 ms.
    let mut array = open(&options(1));
    array.submit([request(0, 'R', 0, 1); 5_000]).expect("good requests");
    array.run().expect("drives last");
    let summary: serde_json::Value = serde_json::from_str(&array.summary()).expect("JSON");
    let p50_ns = summary["requests"]["read"]["latency_ns"]["p50"].as_f64().expect("a number");
    assert!((p50_ns / 75e6 - 1.0).abs() < 0.001, "{p50_ns}");
}

#[test]
fn an_array_whose_drive_has_failed_does_no_more() {
    // A zone takes writes at its write pointer alone, which the drive sees when one arrives.
    let zoned = format!("{DRIVE}[zones]\nmodel = \"host-managed\"\n");
    let mut array = Array::open(&zoned, "test.toml", &[], &options(1)).expect("an array");
    array.submit([request(0, 'W', 1, 1)]).expect("it is looked at when it arrives");
    let sentence = array.run().expect_err("it is off the write pointer").to_string();
    assert!(sentence.contains("it must begin at the write pointer"), "{sentence}");
    assert_eq!(array.run().expect_err("it has failed").to_string(), sentence);
}

#[test]
fn mistakes_are_sentences() {
    let wrong = [
        (Options { parity: 5, ..options(5) }, "parity = 5: must be below drives, which is 5"),
        (Options { mirrors: 2, ..options(5) }, "mirrors = 2: must divide drives, which is 5"),
        (Options { mirrors: 2, parity: 1, ..options(4) }, "mirrors = 2: must be 1 with parity"),
        (Options { chunk_bytes: 1000, ..options(5) }, "chunk_bytes = 1000: must be a multiple"),
        (Options { chunk_bytes: 1 << 30, ..options(5) }, "chunk_bytes = 1073741824: must be at"),
        (Options { read: Read::AroundWrites, ..options(5) }, "read: must be \"direct\" without"),
        (Options { read: Read::Hedged, ..raid5() }, "read = \"hedged\": needs hedge_after_us"),
        (Options { read: Read::AroundWindows, ..raid5() }, "read = \"around-windows\": needs busy"),
        (Options { busy_window_us: Some(9.0), ..options(1) }, "busy_window_us: drives take turns"),
        (hedged(0, raid5()), "hedge_after_us = 0.0: must be from 0.001 to"),
        (Options { parity_log: true, parity: 2, ..options(6) }, "parity_log: must be false unless"),
        (
            Options { rebuild: Some(3), ..raid5() },
            "rebuild = 3: must be one of failed, which is []",
        ),
        (
            Options { rebuild_bytes_per_s: Some(1e6), failed: vec![3], ..raid5() },
            "rebuild_bytes_per_s: only a rebuild has it; needs rebuild",
        ),
        (Options { busy_window_us: Some(1e308), ..raid5() }, "busy_window_us = 1e308: must be"),
        (Options { failed: vec![5], ..raid5() }, "failed = [5]: must be different numbers below"),
        (Options { failed: vec![1, 2], ..raid5() }, "failed = [1, 2]: data is lost; a stripe can"),
        (
            Options { failed: vec![2, 3], mirrors: 2, ..options(4) },
            "failed = [2, 3]: data is lost; a stripe can do without 1 of its drives",
        ),
    ];
    for (options, sentence) in wrong {
        let error = Array::open(DRIVE, "test.toml", &[], &options).map(drop).expect_err("wrong");
        assert!(error.to_string().starts_with(sentence), "{error}");
    }
    let mut array = open(&raid5());
    let good = request(3, 'R', 0, 1);
    let end = array.capacity_bytes();
    let wrong = [
        (Request { bytes: 0, ..good }, "request 1: bytes = 0: must be a positive multiple of 512"),
        (Request { offset: 5, ..good }, "request 1: offset = 5: must be a multiple of 512"),
        (Request { offset: end, ..good }, "request 1: 2048 bytes at offset = "),
    ];
    for (request, sentence) in wrong {
        let error = array.submit([good, request]).expect_err("the second is wrong");
        assert!(error.to_string().starts_with(sentence), "{error}");
    }
    array.submit([good]).expect("a good request");
    assert_eq!(done_us(&array.run().expect("drives last")), [33]);
    let late = array.submit([good]).expect_err("its time has passed").to_string();
    assert_eq!(late, "request 0: arrival_ns = 3000: the array is at 33001 ns; must not be earlier");
}
