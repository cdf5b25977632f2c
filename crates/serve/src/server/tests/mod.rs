//! The server in a simulated world: clients, sockets, clock and disk, drawn from one number.

mod disk;
mod oracle;
mod wire;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use world::Plan;

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

/// Leaves out steps of a history that breaks a promise while it still breaks one.
fn shrink(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let mut length = plan.steps.len().div_ceil(2);
    while length > 0 {
        let mut first = 0;
        while first < plan.steps.len() {
            let mut smaller = plan.clone();
            smaller.steps.drain(first..(first + length).min(plan.steps.len()));
            match run(&smaller, &mut None) {
                Ok(()) => first += length,
                Err(_) => plan = smaller,
            }
        }
        length /= 2;
    }
    plan
}

/// Panics with the smallest history found, if that of this number breaks a promise.
fn check(number: u64) {
    let plan = Plan::of(number);
    if run(&plan, &mut None).is_ok() {
        return;
    }
    let (plan, mut log) = (shrink(&plan), Some(Vec::new()));
    let broken = run(&plan, &mut log).expect_err("it was broken before");
    let steps = log.expect("it was kept").join("\n");
    panic!(
        "{steps}\n{broken}\n{} steps; again: REPRIEVE_HISTORY={number} cargo test -p \
         reprieve-serve --lib every_promise",
        plan.steps.len()
    );
}

/// A number from the environment.
fn given(name: &str) -> Option<f64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Checks histories on two threads.
fn check_all(count: u64) {
    let next = AtomicU64::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|number| *number < count).for_each(check);
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}

#[test]
fn histories_keep_every_promise() {
    if let Some(number) = given("REPRIEVE_HISTORY") {
        return check(number as u64);
    }
    check_all((HISTORIES as f64 * given("REPRIEVE_CASES").unwrap_or(1.0)) as u64);
}
