//! Models broken on purpose: each is caught, with all that is needed to find the fault.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

const COMMAND: &str = "reprieve run broken.toml --check";

fn checker() -> Checker {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_channel: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_bytes: 4096,
    };
    Checker::new(&geometry, 5, COMMAND)
}

fn ns(at: u64) -> Time {
    Time::from_ns(at)
}

fn page(plane: u32, block: u32, page: u32) -> PageAddress {
    PageAddress { plane, block, page }
}

fn one(plane: u32, block: u32, number: u32) -> Extent {
    Extent::of_page(page(plane, block, number), false)
}

/// What the panic of `broken` says.
fn message(broken: impl FnOnce()) -> String {
    let fault = catch_unwind(AssertUnwindSafe(broken)).expect_err("the checker sees nothing");
    *fault.downcast::<String>().expect("a panic with a message")
}

/// What is seen, one after the other, and a piece of what the checker says to the last of it.
fn assert_caught(die: u32, seen: &[DieEvent], place: &str, what: &str) {
    let mut checker = checker();
    let (last, before) = seen.split_last().expect("something is seen");
    before.iter().for_each(|seen| checker.die_did(die, *seen));
    let said = message(|| checker.die_did(die, *last));
    assert!(said.starts_with(place) && said.contains(what), "{said}");
    assert!(said.ends_with(&format!("(seed 5; to repeat: {COMMAND})")), "{said}");
}

#[test]
fn two_operations_in_one_array_are_caught() {
    let place = &format!("at {} die 1:", ns(30));
    assert_caught(1, &[DieEvent::Taken(ns(10)), DieEvent::Taken(ns(30))], place, "at work since");
    assert_caught(1, &[DieEvent::Freed(ns(30))], place, "has not begun");
    let twice = [DieEvent::Taken(ns(10)), DieEvent::Freed(ns(20)), DieEvent::Freed(ns(30))];
    assert_caught(1, &twice, place, "has not begun");
}

#[test]
fn a_page_programmed_twice_or_out_of_order_is_caught() {
    let place = format!("at {} die 0:", ns(9));
    let program = |number| DieEvent::Program(ns(9), one(1, 3, number));
    assert_caught(0, &[program(0), program(0)], &place, "with 1 pages programmed");
    assert_caught(0, &[program(1)], &place, "with 0 pages programmed");
    let all: Vec<DieEvent> = (0..=4).map(program).collect();
    assert_caught(0, &all, &place, "with 4 pages programmed");
    // An erase of another block does not help; one of its own does.
    let other = [program(0), DieEvent::Erase(ns(9), one(1, 2, 0)), program(0)];
    assert_caught(0, &other, &place, "with 1 pages programmed");
    let mut checker = checker();
    for seen in [program(0), DieEvent::Erase(ns(9), one(1, 3, 0)), program(0), program(1)] {
        checker.die_did(0, seen);
    }
}

#[test]
fn a_command_of_planes_that_do_not_go_together_is_caught() {
    let place = format!("at {} die 0:", ns(9));
    let joins = |at| Extent::of_page(at, true);
    let first = DieEvent::Program(ns(9), one(0, 3, 0));
    let what = "to a command that it does not fit";
    assert_caught(0, &[first, DieEvent::Program(ns(9), joins(page(0, 4, 0)))], &place, what);
    assert_caught(0, &[first, DieEvent::Program(ns(9), joins(page(1, 4, 1)))], &place, what);
    assert_caught(0, &[first, DieEvent::Erase(ns(9), joins(page(1, 4, 0)))], &place, what);
    let wordline = |number| DieEvent::Program(ns(9), Extent { pages: 3, ..one(1, 3, number) });
    assert_caught(0, &[wordline(0), wordline(3)], &place, "with 3 pages programmed");
    let mut checker = checker();
    checker.die_did(0, first);
    checker.die_did(0, DieEvent::Program(ns(9), joins(page(1, 4, 0))));
    assert_eq!(checker.programmed().iter().sum::<u16>(), 2);
}

#[test]
fn two_transfers_at_once_are_caught() {
    let mut checker = checker();
    checker.channel_did(0, DieEvent::Transfer(ns(0), ns(20)));
    checker.channel_did(1, DieEvent::Transfer(ns(10), ns(30)));
    checker.channel_did(0, DieEvent::Transfer(ns(20), ns(40)));
    let said = message(|| checker.channel_did(0, DieEvent::Transfer(ns(39), ns(50))));
    assert!(said.contains("channel 0: a transfer begins while another lasts"), "{said}");
}

#[test]
fn requests_that_complete_twice_or_never_are_caught() {
    let mut checker = checker();
    checker.request_arrived(ns(1), 0);
    checker.request_arrived(ns(1), 1);
    checker.request_completed(ns(2), 1);
    let said = message(|| checker.ended(ns(3), 1));
    assert!(said.contains("request 0 never completes"), "{said}");
    let said = message(|| checker.request_completed(ns(3), 1));
    assert!(said.contains("request 1 completes once more"), "{said}");
    let said = message(|| checker.request_arrived(ns(3), 5));
    assert!(said.contains("request 5 arrives out of turn"), "{said}");
    checker.request_completed(ns(4), 0);
    checker.ended(ns(4), 2);
    assert!(message(|| checker.ended(ns(4), 3)).contains("2 requests arrived, 3 completed"));
    checker.instant(ns(4));
    assert!(message(|| _ = checker.instant(ns(3))).contains("time runs back"));
}

#[test]
fn a_write_that_reads_without_need_or_not_with_it_is_caught() {
    let mut checker = checker();
    // Page 1 holds its sectors 2 and 3.
    let holds = |lpn, sector| lpn == 1 && (sector == 2 || sector == 3);
    checker.sectors = Some(HeldSectors::new(2, 8, holds));
    checker.leaves_sectors(ns(1), 1, &(2..4), false);
    checker.leaves_sectors(ns(1), 1, &(3..4), true);
    checker.leaves_sectors(ns(1), 0, &(0..1), false);
    let said = message(|| checker.leaves_sectors(ns(2), 1, &(2..4), true));
    assert!(said.contains("logical page 1 leaves others: true; by the record"), "{said}");
    let said = message(|| checker.leaves_sectors(ns(2), 1, &(0..3), false));
    assert!(said.contains("the first of them is Some(3)"), "{said}");
}
