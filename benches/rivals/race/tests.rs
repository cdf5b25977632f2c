//! Every request of a rival is complete at the nanosecond at which the product completes it.

use super::*;

/// Requests of `make test`, and of `make test-all`.
const FEW: u64 = 30_000;
const MANY: u64 = 1_000_000;
/// Transactions by which they may be apart at the end: some of each plane.
const MORE_MAX: u64 = 256;

#[track_caller]
fn agree(name: &str) {
    let count = if std::env::var_os("REPRIEVE_QUICK").is_some() { FEW } else { MANY };
    let load = Rivalled::named(name).expect("it is one of them");
    // Small, so that every plane collects. `equal` never does.
    let small = ["geometry.blocks_per_plane=64".to_string()];
    let sets = if name == "equal" { &[][..] } else { &small };
    let options = Options { log_requests: true, without_attribution: true, ..Options::default() };
    let mut product = load.product(sets, count, &options).expect("it is a scenario");
    let mut rival = (load.prepare)(&mut product).expect("it has a state");
    product.window(count).expect("it runs");
    let (requests, completions) = course(&mut product);
    let ran = rival(requests, true);
    assert_eq!(ran.log.len() as u64, count);
    let differs = |number: &usize| ran.log[*number] != completions[*number];
    let different = (0..ran.log.len()).filter(differs).count();
    if let Some(first) = (0..ran.log.len()).find(differs) {
        let (own, other) = (ran.log[first], completions[first]);
        panic!(
            "{different} of {count} requests differ; number {first} arrives and is complete at \
             {own:?}, in the product at {other:?}"
        );
    }
    // The product counts those that are complete, and collects to the last request of all dies.
    let more = ran.transactions.abs_diff(product.transactions());
    assert!(more <= MORE_MAX, "{} transactions, {more} apart", ran.transactions);
}

/// The requests that the product has served, and when each arrived and was complete.
fn course(product: &mut Load) -> (Vec<Request>, Vec<(u64, u64)>) {
    let log = product.take_log();
    let page_bytes = i64::from(product.scenario.geometry.page_bytes);
    let mut requests = vec![Request::default(); log.id.len()];
    let mut completions = vec![(0, 0); log.id.len()];
    for (row, id) in log.id.iter().enumerate() {
        let arrival = log.arrival_ns[row] as u64;
        let lpn = (log.lba[row] * 512 / page_bytes) as u32;
        requests[*id as usize] = Request { arrival, lpn, is_write: log.op[row] == 1 };
        completions[*id as usize] = (arrival, log.completion_ns[row] as u64);
    }
    (requests, completions)
}

#[test]
fn equal_completes_at_the_same_nanoseconds() {
    agree("equal");
}

#[test]
fn main_completes_at_the_same_nanoseconds() {
    agree("main");
}

#[test]
fn tlc_completes_at_the_same_nanoseconds() {
    agree("tlc");
}

#[test]
fn open_completes_at_the_same_nanoseconds() {
    agree("open");
}
