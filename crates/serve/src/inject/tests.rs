//! How faults are written, which commands they strike, and what a loss of power leaves.

use super::*;
use crate::protocol::FLAG_FUA;

fn request(kind: Kind, offset: u64, bytes: u64) -> Request {
    Request { kind, flags: 0, cookie: 0, offset, bytes }
}

/// Which of these commands a fault strikes, counted from 1.
fn struck(text: &str, commands: &[Request]) -> Vec<usize> {
    let fault = Injection::parse(text).expect("it is written well");
    let mut faults = Injections::new(vec![fault]);
    let places = 1..=commands.len();
    places.filter(|place| faults.strike(&commands[place - 1]) != InjectedFault::default()).collect()
}

#[test]
fn a_fault_strikes_by_the_place_among_commands_of_its_kind() {
    let write = request(Kind::Write, 0, 512);
    let read = request(Kind::Read, 0, 512);
    let mixed = [write, read, write, write, read, write, write];
    assert_eq!(struck("eio", &mixed), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(struck("eio:op=read", &mixed), [2, 5]);
    assert_eq!(struck("eio:op=write,every=2", &mixed), [3, 6]);
    assert_eq!(struck("eio:op=write,after=1", &mixed), [3, 4, 6, 7]);
    assert_eq!(struck("eio:op=write,after=1,every=3", &mixed), [6]);
    assert_eq!(struck("late:us=5,every=4", &mixed), [4]);
    assert_eq!(struck("power-cut:after=3", &mixed), [6, 7]);
    assert_eq!(struck("torn:after=4", &mixed), [7]);
}

#[test]
fn a_fault_strikes_what_touches_its_bytes() {
    let touches = |kind, offset, bytes| {
        !struck("eio:first=4096,bytes=4096", &[request(kind, offset, bytes)]).is_empty()
    };
    assert!(touches(Kind::Read, 4096, 4096));
    assert!(touches(Kind::Write, 8191, 1));
    assert!(touches(Kind::Trim, 0, 4097));
    assert!(!touches(Kind::Read, 0, 4096));
    assert!(!touches(Kind::Read, 8192, 4096));
    assert!(!touches(Kind::Flush, 0, 0));
    assert!(!touches(Kind::Flush, u64::MAX, 1));
    assert!(!touches(Kind::BlockStatus, 4096, 4096));
    let forced = Request { flags: FLAG_FUA, ..request(Kind::Write, 4096, 512) };
    assert_eq!(struck("eio:op=write,first=4096,bytes=1", &[forced]), [1]);
}

#[test]
fn several_faults_strike_one_command() {
    let texts = ["late:us=5", "late:us=7", "eio:op=read", "power-cut:after=0", "torn:after=0"];
    let list = texts.map(|text| Injection::parse(text).expect("it is written well"));
    let mut faults = Injections::new(list.to_vec());
    let (late, none) = (Dur::from_ns(7000), None);
    let read = faults.strike(&request(Kind::Read, 0, 512));
    assert_eq!(read, InjectedFault { is_error: true, late, power_cut: none });
    let write = faults.strike(&request(Kind::Write, 0, 512));
    assert_eq!(write, InjectedFault { is_error: false, late, power_cut: Some(3) });
}

#[test]
fn a_misspelt_fault_is_refused_with_what_would_be_right() {
    for (text, sentence) in [
        (
            "eoi",
            "\"eoi\" is no fault; it must be one of eio, late, power-cut, torn; did you mean eio?",
        ),
        ("", "\"\" is no fault; it must be one of eio, late, power-cut, torn"),
        (
            "eio:opp=read",
            "\"opp\" is no key of eio; it must be one of op, first, bytes, after, \
          every; did you mean op?",
        ),
        (
            "eio:op=raed",
            "\"raed\" is no op; it must be one of read, write, flush, trim, \
          write-zeroes, any; did you mean read?",
        ),
        (
            "torn:after=1,op=write",
            "\"op\" is no key of torn; it must be one of after, first, \
          bytes, keep_percent, seed",
        ),
        ("eio:read", "\"read\" must be KEY=VALUE"),
        ("eio:every=0", "every = 0 must be a whole number from 1 to 18446744073709551615"),
        ("eio:after=-1", "after = -1 must be a whole number from 0 to 18446744073709551615"),
        ("eio:first=0", "first and bytes must be there both or not at all"),
        ("eio:after=1,after=2", "after is there twice; it must be there once"),
        ("late", "late needs us=NUMBER"),
        ("late:us=1e3", "us = 1e3 must be a whole number from 1 to 3600000000"),
        ("power-cut", "power-cut needs after=NUMBER"),
        (
            "power-cut:after=1,keep_percent=101",
            "keep_percent = 101 must be a whole number from \
          0 to 100",
        ),
    ] {
        let refused = Injection::parse(text).expect_err("it is misspelt").to_string();
        assert_eq!(refused, format!("--fault {text}: {sentence}"));
    }
}

#[test]
fn a_torn_write_leaves_half_of_its_sectors() {
    let stored = |text, bytes| match Injection::parse(text).expect("it is written well").effect {
        Effect::PowerCut(cut) => cut.stored_bytes(&request(Kind::Write, 0, bytes)),
        other => panic!("{other:?}"),
    };
    // 8, 9, 1 and no sectors.
    assert_eq!([4096, 4608, 512, 0].map(|bytes| stored("torn:after=0", bytes)), [2048, 2048, 0, 0]);
    assert_eq!(stored("power-cut:after=0", 4096), 0);
}
