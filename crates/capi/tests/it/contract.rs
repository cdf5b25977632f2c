//! What the header promises of each call, and times worked out by hand.

use std::ptr::{null, null_mut};
use std::thread;

use reprieve::{Request, Status, reprieve_abi_version, reprieve_advance, reprieve_close};
use reprieve::{reprieve_next, reprieve_open, reprieve_poll, reprieve_submit};
use reprieve_ssd::causes::CAUSE_NAMES;
use reprieve_ssd::txn::PART_NAMES;

use super::c_drive::{Drive, INVALID, NEVER, OK, TIME, request};
use super::same::{DRIVE, requests};

/// One die without link, and with times that no preset has.
const ONE_DIE: &str = "device = \"fast12-slc\"\npolicy = \"fifo\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [timing]\nt_command_us = 0.2\nt_read_us = 30\nt_bus_us = 51.2\n\
    [ftl]\ngc_background = false\nprecondition = \"sequential\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

/// Command, sensing, and a page of 2,048 bytes across the bus.
const READ_NS: u64 = 200 + 30_000 + 51_200;

#[test]
fn a_read_takes_what_command_array_and_bus_do() {
    let drive = Drive::open(ONE_DIE);
    assert_eq!(drive.next(), NEVER);
    assert_eq!(drive.submit(1_000, request(0, 0, 2048)), OK);
    assert_eq!(drive.next(), 1_000);
    let steps = drive.finish();
    let told = [(0, 0, 1_000, 1_000 + READ_NS)];
    assert_eq!(steps.first(), Some(&(1_000, vec![])));
    assert_eq!(steps.last(), Some(&(1_000 + READ_NS, told.to_vec())));
}

#[test]
fn of_two_reads_of_one_die_the_second_waits_whatever_the_order_of_submission() {
    let drive = Drive::open(ONE_DIE);
    let second = Request { tag: 2, ..request(0, 0, 2048) };
    let first = Request { tag: 1, ..request(0, 400, 2048) };
    assert_eq!(drive.submit(20, second), OK);
    assert_eq!(drive.submit(10, first), OK);
    let steps = drive.finish();
    let told: Vec<_> = steps.into_iter().flat_map(|(_, told)| told).collect();
    let end_ns = 10 + READ_NS;
    assert_eq!(told, [(1, 0, 10, end_ns), (2, 1, 20, end_ns + READ_NS)]);
}

#[test]
fn what_is_submitted_in_the_present_arrives_in_it() {
    let drive = Drive::open(ONE_DIE);
    assert_eq!(drive.submit(0, request(0, 0, 2048)), OK);
    assert_eq!(drive.run(NEVER >> 2), READ_NS);
    assert_eq!(drive.submit(READ_NS, request(0, 4, 2048)), OK);
    assert_eq!(drive.next(), READ_NS);
    assert_eq!(drive.run(NEVER >> 2), READ_NS, "a completion waits");
    assert_eq!(drive.poll().len(), 1);
    assert_eq!(drive.run(NEVER >> 2), 2 * READ_NS);
    assert_eq!(drive.poll(), [(0, 1, READ_NS, 2 * READ_NS)]);
}

#[test]
fn a_run_ends_when_as_many_wait_as_are_wanted() {
    let drive = Drive::open(ONE_DIE);
    for page in 0..5 {
        assert_eq!(drive.submit(0, request(0, 4 * page, 2048)), OK);
    }
    assert_eq!(drive.run_to(NEVER >> 2, 3), 3 * READ_NS);
    assert_eq!(drive.run_to(NEVER >> 2, 3), 3 * READ_NS, "so many wait");
    assert_eq!(drive.run_to(NEVER >> 2, 4), 4 * READ_NS);
    assert_eq!(drive.run_to(4 * READ_NS + 7, 9), 4 * READ_NS + 7);
    assert_eq!(drive.poll().len(), 4);
    assert_eq!(drive.run_to(1 << 60, usize::MAX), 1 << 60);
    assert_eq!(drive.poll(), [(0, 4, 0, 5 * READ_NS)]);
    assert_eq!(unsafe { reprieve::reprieve_run(drive.0, 1 << 61, 0, null_mut()) }, INVALID);
}

#[test]
fn no_instant_is_left_out_and_none_comes_again() {
    let drive = Drive::open(ONE_DIE);
    assert_eq!(drive.submit(500, request(0, 0, 2048)), OK);
    assert_eq!(drive.advance(501), TIME);
    assert_eq!(
        drive.error(),
        "advance to 501 ns: something happens at 500 ns; advance to that first"
    );
    assert_eq!(drive.advance(499), OK);
    assert_eq!(drive.submit(498, request(0, 0, 2048)), TIME);
    assert_eq!(
        drive.error(),
        "a read arrives at 498 ns, and the drive is at 499 ns: it must not be earlier"
    );
    assert_eq!(drive.advance(498), TIME);
    assert_eq!(drive.error(), "advance to 498 ns: the drive is at 499 ns already");
    assert_eq!(drive.submit((1 << 62) + 1, request(0, 0, 2048)), INVALID);
    let told: Vec<_> = drive.finish().into_iter().flat_map(|(_, told)| told).collect();
    assert_eq!(told, [(0, 0, 500, 500 + READ_NS)], "what was refused has left nothing behind");
    assert_eq!(drive.advance(1 << 62), OK, "an idle drive waits as long as one likes");
    assert_eq!(drive.advance((1 << 62) + 1), INVALID);
}

#[test]
fn requests_that_no_drive_takes_are_refused() {
    let drive = Drive::open(ONE_DIE);
    let sectors = unsafe { reprieve::reprieve_capacity_bytes(drive.0) } / 512;
    let past = format!("a read of 4 sectors at sector {}: the drive has {sectors}", sectors - 3);
    let wrong = [
        (request(0, sectors - 3, 2048), past.as_str()),
        (request(0, u64::MAX, 2048), "the drive has"),
        (request(1, 0, 0), "a write of 0 bytes"),
        (request(1, 0, 700), "a write of 700 bytes: must be a positive multiple of 512"),
        (request(3, 4, 0), "a flush of 0 bytes at sector 4"),
        (request(4, 0, 512), "op = 4: must be at most 3"),
        (Request { fua: 1, ..request(0, 0, 512) }, "only a write"),
        (Request { fua: 2, ..request(1, 0, 512) }, "fua = 2"),
        (Request { reserved: 9, ..request(1, 0, 512) }, "reserved = 9"),
    ];
    for (request, sentence) in wrong {
        assert_eq!(drive.submit(0, request), INVALID);
        assert!(drive.error().contains(sentence), "{}", drive.error());
    }
    assert_eq!(drive.next(), NEVER);
    assert_eq!(drive.submit(0, request(0, sectors - 4, 2048)), OK);
}

#[test]
fn a_drive_that_cannot_be_opened_says_why() {
    let (status, error) = Drive::try_open("device = \"fast13-slc\"").err().expect("a mistake");
    assert_eq!(status, INVALID);
    assert!(error.starts_with("the scenario:1: device"), "{error}");
    assert!(!error.contains('\n'), "{error}");
    let mut handle = null_mut();
    unsafe {
        assert_eq!(reprieve_open(null(), 3, &raw mut handle), INVALID);
        let mut at_ns = 0;
        assert_eq!(reprieve_next(handle, &raw mut at_ns), INVALID);
        reprieve_close(handle);
        let text = [0xffu8, 0xfe];
        assert_eq!(reprieve_open(text.as_ptr().cast(), 2, &raw mut handle), INVALID);
        assert!(Drive(handle).error().contains("UTF-8"));
    }
}

#[test]
fn null_pointers_are_refused() {
    let drive = Drive::open(ONE_DIE);
    unsafe {
        assert_eq!(reprieve_open(null(), 0, null_mut()), INVALID);
        assert_eq!(reprieve_submit(null_mut(), 0, null()), INVALID);
        assert_eq!(reprieve_submit(drive.0, 0, null()), INVALID);
        assert_eq!(reprieve_next(drive.0, null_mut()), INVALID);
        assert_eq!(reprieve_advance(null_mut(), 0), INVALID);
        assert_eq!(reprieve_poll(drive.0, null_mut(), 1), -i64::from(INVALID));
        assert_eq!(reprieve_poll(drive.0, null_mut(), 0), 0);
        reprieve_close(null_mut());
    }
    assert_eq!(reprieve_abi_version(), 1);
}

#[test]
fn drives_of_several_threads_do_not_meet() {
    let course = |seed: u64| {
        let drive = Drive::open(&format!("seed = {seed}\n{DRIVE}"));
        for (at_ns, request) in requests(2_000, 300, seed) {
            assert_eq!(drive.submit(at_ns, request), OK);
        }
        drive
    };
    let alone: Vec<_> = (0..3).map(|seed| course(seed).finish()).collect();
    let opened: Vec<Drive> = (0..3).map(course).collect();
    // Opened by one thread, used by another.
    let threads = opened.into_iter().map(|drive| {
        thread::spawn(move || {
            let drive = drive;
            drive.finish()
        })
    });
    let threads: Vec<_> = threads.collect();
    let together = threads.into_iter().map(|thread| thread.join().expect("it ends"));
    assert_eq!(together.collect::<Vec<_>>(), alone);
}

#[test]
fn a_status_is_what_the_header_says() {
    let header = include_str!("../../include/reprieve.h");
    let all = [
        ("OK", Status::Ok),
        ("INVALID", Status::Invalid),
        ("TIME", Status::Time),
        ("SPACE", Status::Space),
        ("BUSY", Status::Busy),
        ("FAULT", Status::Fault),
    ];
    for (name, status) in all {
        let line = format!("#define REPRIEVE_{name} {} ", status as i32);
        assert!(header.contains(&line), "{line}");
    }
}

#[test]
fn the_fields_of_details_are_the_columns_of_the_log() {
    let header = include_str!("../../include/reprieve.h");
    let (_, fields) =
        header.split_once("typedef struct reprieve_completion2 {").expect("it is there");
    let (fields, _) = fields.split_once("uint32_t die;").expect("it is there");
    let names = fields.lines().filter_map(|line| line.trim().strip_prefix("uint64_t "));
    let names: Vec<&str> =
        names.filter_map(|line| line.split_once(';')).map(|(name, _)| name).collect();
    assert_eq!(names, [&PART_NAMES[..], &CAUSE_NAMES[..]].concat());
}
