//! A drive with zones that is saved in the middle goes on as if it had not been.

use reprieve_base::{Op, Stream, Time};
use reprieve_embed::{Ask, Completion, Drive};

/// Eight zones of six pages of 2 KiB on each of four planes, 96 sectors; wordlines of three pages.
const DRIVE: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\nplanes_per_die = 2\n\
    blocks_per_plane = 20\npages_per_block = 6\n[timing]\nwordline_pages = 3\n\
    [suspension]\nprogram = \"ipc\"\nerase = true\n[scheduling]\npolicy = \"rps\"\n\
    [ftl]\nover_provisioning = 0.6\nplacement = \"wordline\"\n\
    [zones]\nmodel = \"host-managed\"\nreset = \"erased\"\nmax_open = 3\n\
    [buffer]\nacknowledge = \"back\"\n";

/// Operations for zones by turns, four milliseconds apart, so that those of one zone are complete
/// before its next, and reads beside.
fn load() -> Vec<(u64, Op, u64, u32)> {
    let mut stream = Stream::new(3, "test.zones", 0);
    let mut pages = [0u64; 8];
    let mut asks = Vec::new();
    for number in 0..480u64 {
        let (at, zone) = (1 + number * 4_000_000, number % 8);
        let held = &mut pages[zone as usize];
        let first = zone * 96;
        match stream.below(6) {
            _ if *held == 24 => {
                asks.push((at, Op::Reset, first, 0));
                *held = 0;
            }
            0 => {
                asks.push((at, Op::Finish, first, 0));
                *held = 24;
            }
            1 if *held > 0 => asks.push((at, Op::Close, first, 0)),
            _ => {
                let more = 1 + stream.below((24 - *held).min(9));
                asks.push((at, Op::Append, first, 2048 * more as u32));
                *held += more;
            }
        }
        for read in 0..stream.below(3) {
            asks.push((at + 70_000 * read, Op::Read, stream.below(8 * 24) * 4, 2048));
        }
    }
    asks
}

/// Runs the load, saved and restored before each request whose number is a multiple of `every`.
fn run(every: usize) -> (Vec<Completion>, String) {
    let mut drive = Drive::open(DRIVE, "test.toml", &[]).expect("a drive");
    let mut done = Vec::new();
    let mut take = |drive: &mut Drive| {
        while let Some(completion) = drive.poll() {
            done.push(completion);
        }
    };
    for (number, (at_ns, op, lba, bytes)) in load().into_iter().enumerate() {
        while drive.next() < Time::from_ns(at_ns) {
            drive.advance(drive.next()).expect("it is the next instant");
            take(&mut drive);
        }
        if every > 0 && number % every == 0 {
            let saved = drive.save();
            drive = Drive::restore(&saved).expect("it was saved just now");
            assert!(drive.save() == saved, "what is restored is saved otherwise");
        }
        let ask = Ask { tag: number as u64, op, lba, bytes, fua: false };
        drive.submit(Time::from_ns(at_ns), ask).expect("a good request");
    }
    while drive.open_requests() > 0 {
        drive.advance(drive.next()).expect("it is the next instant");
        take(&mut drive);
    }
    (done, drive.summary())
}

#[test]
fn zones_saved_at_any_request_go_on() {
    let never = run(0);
    let count = |op| never.0.iter().filter(|done| done.op == op).count();
    // An erase takes 1,508 us, and a reset waits for it; a zone finished empty has none.
    let waits = |done: &&Completion| (done.completion - done.arrival).ns() >= 1_508_000;
    let resets = never.0.iter().filter(|done| done.op == Op::Reset);
    assert!(resets.filter(waits).count() > 20 && count(Op::Reset) > 30);
    assert!(count(Op::Finish) > 30 && count(Op::Append) > 200);
    assert!(never == run(1), "saved before each request");
    assert!(never == run(7), "saved before each seventh request");
}

#[test]
fn a_request_that_a_zone_does_not_take_is_refused_with_the_reason() {
    let mut drive = Drive::open(DRIVE, "test.toml", &[]).expect("a drive");
    let ask = Ask { tag: 0, op: Op::Write, lba: 4, bytes: 2048, fua: false };
    drive.submit(Time::from_ns(5), ask).expect("it is looked at when it arrives");
    let refused = drive.run(Time::from_ns(10), 1).expect_err("it is off the write pointer");
    assert_eq!(
        refused.to_string(),
        "workload: write: zone 0 has its write pointer at unit 0 of 24, and the write begins at \
         unit 1; it must begin at the write pointer"
    );
}
