//! The server in a simulated world: clients, sockets, clock and disk, drawn from one number.

mod admin;
mod blocks;
mod disk;
mod found;
mod oracle;
mod setup;
mod wire;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use setup::Plan;

/// Histories of `make test-all`.
const HISTORIES: u64 = 20_000;

/// Runs a history; errors with the promise that it breaks, or the panic.
fn run(plan: &Plan, log: &mut Option<Vec<String>>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| world::run(plan, log))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("a panic: {}", text.unwrap_or("without a text")))
    })
}

/// Leaves out steps of a history as long as it is still `broken`.
fn shrink(plan: &Plan, broken: impl Fn(&Plan) -> bool) -> Plan {
    let mut plan = plan.clone();
    let mut length = plan.steps.len().div_ceil(2);
    while length > 0 {
        let mut first = 0;
        while first < plan.steps.len() {
            let mut smaller = plan.clone();
            smaller.steps.drain(first..(first + length).min(plan.steps.len()));
            match broken(&smaller) {
                true => plan = smaller,
                false => first += length,
            }
        }
        length /= 2;
    }
    plan
}

/// Returns the smallest history found that breaks a promise, if that of this number does.
fn failure(number: u64) -> Option<String> {
    let plan = Plan::of(number);
    run(&plan, &mut None).err()?;
    let plan = shrink(&plan, |plan| run(plan, &mut None).is_err());
    let mut log = Some(Vec::new());
    let broken = run(&plan, &mut log).expect_err("it was broken before");
    let history = log.expect("it was kept").join("\n");
    Some(format!(
        "{history}\n{broken}\n{} steps; again: REPRIEVE_HISTORY={number} cargo test -p \
         reprieve-serve --lib every_promise",
        plan.steps.len()
    ))
}

/// Panics with the first history of these on two threads that breaks a promise.
fn check(numbers: Range<u64>) {
    let next = AtomicU64::new(numbers.start);
    let work = || {
        let drawn = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let found = drawn.take_while(|number| *number < numbers.end).find_map(failure);
        next.fetch_max(if found.is_some() { numbers.end } else { 0 }, Ordering::Relaxed);
        found
    };
    let found = thread::scope(|scope| {
        let other = scope.spawn(work);
        let found = work();
        found.or(other.join().expect("panics are caught"))
    });
    if let Some(text) = found {
        panic!("{text}");
    }
}

/// Returns a number from the environment.
fn given(name: &str) -> Option<f64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn histories_keep_every_promise() {
    let first = given("REPRIEVE_HISTORY").map(|number| number as u64);
    let cases = given("REPRIEVE_CASES").unwrap_or(1.0);
    let count = if first.is_some() { 1.0 } else { HISTORIES as f64 * cases };
    let first = first.unwrap_or(0);
    check(first..first + count as u64);
}

#[test]
#[ignore = "hours; make long runs it, with the number of histories in REPRIEVE_HISTORIES"]
fn a_night_of_histories_keeps_every_promise() {
    let count = given("REPRIEVE_HISTORIES").unwrap_or(1e6) as u64;
    check(HISTORIES..HISTORIES + count);
}

/// Events that must be frequent, by the words with which a history tells of them.
const EVENTS: [&str; 17] = [
    "is answered: 0",
    "is answered: 5",
    "is answered: 22",
    "is answered: 28",
    "resets",
    "closes",
    "says goodbye",
    "a sync has failed",
    "the server is to stop",
    "its power has failed",
    "the server gives up",
    "could not be brought to safety",
    "Stopped",
    "Killed",
    "PowerLost",
    "Cut",
    "Lied",
];

#[test]
fn a_history_shrinks_to_the_steps_that_break_it() {
    for seed in 0..20 {
        let plan = Plan::of(seed);
        let needed = [plan.steps[3], plan.steps[plan.steps.len() - 2]];
        let shrunk = shrink(&plan, |plan| needed.iter().all(|step| plan.steps.contains(step)));
        assert_eq!((shrunk.setup, shrunk.steps), (plan.setup, needed.to_vec()));
    }
}

#[test]
fn a_history_is_the_same_again() {
    for number in 0..100 {
        let [first, again] = [(); 2].map(|()| {
            let mut log = Some(Vec::new());
            run(&Plan::of(number), &mut log).expect("it keeps every promise");
            log
        });
        assert_eq!(first, again, "{number}");
    }
}

#[test]
fn histories_meet_every_event() {
    let mut counts = [0; EVENTS.len()];
    for number in 0..500 {
        let mut log = Some(Vec::new());
        run(&Plan::of(number), &mut log).expect("it keeps every promise");
        let log = log.expect("it was kept");
        for (count, event) in counts.iter_mut().zip(EVENTS) {
            *count += usize::from(log.iter().any(|line| line.contains(event)));
        }
    }
    let rare = EVENTS.iter().zip(counts).filter(|(_, count)| *count < 10);
    assert_eq!(rare.collect::<Vec<_>>(), [], "histories of 500 with an event");
}
