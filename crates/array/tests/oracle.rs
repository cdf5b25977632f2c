//! An array beside a second method: traces of single drives, made anew until nothing changes.
//!
//! Here no drive waits for another. Each runs its operations as a trace from the beginning; their
//! completions say when writes and hedges follow, which makes the next traces.

use std::collections::BTreeMap;

use reprieve_array::{Array, Options, Read, Request};
use reprieve_base::{Op, Stream, Time};
use reprieve_embed::{Ask, Drive};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 40\npages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.4\nprecondition = \"sequential\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";
const PAGE: u64 = 2048;
const CONTROLLER_NS: u64 = 700;
const HEDGE_NS: u64 = 60_000;
/// Data chunks of a stripe; parity is one more.
const DATA: usize = 4;

/// An operation by its request, chunk of the request, step, and number within the step.
type Key = (usize, usize, usize, usize);

/// Operations with their drives, arrivals, and the order of those that arrive together: writes by
/// the drive of the last read, then hedges, then operations of new requests; and pages.
type Plan = BTreeMap<Key, (usize, u64, usize, Op, u64)>;

const OF_HEDGE: usize = 100;
const OF_ARRIVAL: usize = 200;

/// The drive of a column of a stripe; column 4 is parity, which goes down from the last drive.
fn drive_of(stripe: u64, column: usize) -> usize {
    let parity = (DATA + 1) - 1 - (stripe as usize) % (DATA + 1);
    (parity + if column == DATA { 0 } else { column + 1 }) % (DATA + 1)
}

/// Requests of whole pages in one stripe, at different times.
fn load(seed: u64, stripes: u64) -> Vec<Request> {
    let mut stream = Stream::new(seed, "test.oracle", 0);
    let mut at_ns = 0;
    let of = |_| {
        at_ns += 1 + stream.below(130_000);
        let first = stream.below(DATA as u64);
        Request {
            arrival: Time::from_ns(at_ns),
            op: [Op::Write, Op::Read][stream.below(2) as usize],
            offset: (stream.below(stripes) * DATA as u64 + first) * PAGE,
            bytes: (1 + stream.below(DATA as u64 - first)) * PAGE,
        }
    };
    (0..120).map(of).collect()
}

/// The completions of all operations, each drive by itself.
fn simulated(fresh: &mut [Drive], plan: &Plan) -> BTreeMap<Key, u64> {
    let mut done = BTreeMap::new();
    for (number, fresh) in fresh.iter_mut().enumerate() {
        let mut drive = fresh.try_clone().expect("there is memory");
        let mut keys: Vec<&Key> = plan.keys().filter(|key| plan[key].0 == number).collect();
        keys.sort_by_key(|key| (plan[key].1, plan[key].2));
        for (tag, key) in keys.iter().enumerate() {
            let (_, at_ns, _, op, page) = plan[key];
            let ask = Ask { tag: tag as u64, op, lba: page * 4, bytes: PAGE as u32, fua: false };
            drive.submit(Time::from_ns(at_ns), ask).expect("a good request");
        }
        if keys.is_empty() {
            continue;
        }
        drive.run(Time::from_ns(1 << 50), keys.len()).expect("the drive lasts");
        while let Some(completion) = drive.poll() {
            done.insert(*keys[completion.tag as usize], completion.completion.ns());
        }
    }
    done
}

/// The operations of a request, as far as these completions say, and its own completion.
fn follow(
    number: usize,
    request: &Request,
    hedged: bool,
    done: &BTreeMap<Key, u64>,
    plan: &mut Plan,
) -> u64 {
    let at_ns = request.arrival.ns();
    let page = request.offset / PAGE;
    let (stripe, first) = (page / DATA as u64, (page % DATA as u64) as usize);
    let touched: Vec<usize> = (first..first + (request.bytes / PAGE) as usize).collect();
    let mut add = |key: Key, column: usize, at_ns, order, op| {
        plan.insert(key, (drive_of(stripe, column), at_ns, order, op, stripe));
        done.get(&key).copied()
    };
    if request.op == Op::Write {
        let others: Vec<usize> = (0..DATA).filter(|column| !touched.contains(column)).collect();
        let written: Vec<usize> = touched.iter().copied().chain([DATA]).collect();
        let read = if others.len() <= written.len() { &others } else { &written };
        let reads = read.iter().enumerate().map(|(place, column)| {
            add((number, 0, 0, place), *column, at_ns, OF_ARRIVAL, Op::Read)
                .map(|at| (at, drive_of(stripe, *column)))
        });
        let Some(reads) = reads.collect::<Option<Vec<_>>>() else { return u64::MAX };
        let last = reads.into_iter().max();
        let (from_ns, order) =
            last.map_or((at_ns, OF_ARRIVAL), |(last, drive)| (last + CONTROLLER_NS, drive));
        let writes = written
            .iter()
            .enumerate()
            .map(|(place, column)| add((number, 0, 1, place), *column, from_ns, order, Op::Write));
        let writes: Vec<_> = writes.collect();
        return writes.into_iter().map(|at| at.unwrap_or(u64::MAX)).max().expect("it writes");
    }
    let mut last_ns = 0;
    for (chunk, column) in touched.into_iter().enumerate() {
        let answer = add((number, chunk, 0, 0), column, at_ns, OF_ARRIVAL, Op::Read);
        let mut answer_ns = answer.unwrap_or(u64::MAX);
        if hedged && answer.is_some_and(|answer_ns| answer_ns >= at_ns + HEDGE_NS) {
            let others = (0..=DATA).filter(|other| *other != column);
            let others: Vec<_> = others
                .enumerate()
                .map(|(place, other)| {
                    add((number, chunk, 1, place), other, at_ns + HEDGE_NS, OF_HEDGE, Op::Read)
                })
                .collect();
            let around = others.into_iter().map(|at| at.unwrap_or(u64::MAX)).max();
            answer_ns = answer_ns.min(around.expect("there are others"));
        }
        last_ns = last_ns.max(answer_ns);
    }
    last_ns
}

#[test]
fn drives_do_what_their_traces_say() {
    let (mut hedges, mut won) = (0, 0);
    for (seed, hedged) in [(1, false), (2, false), (3, true), (4, true)] {
        let options = Options {
            drives: DATA + 1,
            parity: 1,
            chunk_bytes: PAGE,
            read: if hedged { Read::Hedged } else { Read::Direct },
            hedge_after_us: hedged.then_some(HEDGE_NS as f64 / 1e3),
            controller_ns: CONTROLLER_NS,
            threads: Some(2),
            ..Options::default()
        };
        // With suspension few reads wait long enough for a hedge.
        let sets = if hedged { vec!["policy=\"fifo\"".to_owned()] } else { Vec::new() };
        let mut array = Array::open(DRIVE, "test.toml", &sets, &options).expect("an array");
        let load = load(seed, array.capacity_bytes() / PAGE / DATA as u64);
        array.submit(load.iter().copied()).expect("good requests");
        let rows = array.run().expect("drives last");
        let mut fresh =
            Drive::open_many(DRIVE, "test.toml", |_| sets.clone(), DATA + 1).expect("drives");
        let (mut done, mut before) = (BTreeMap::new(), Plan::new());
        for round in 0.. {
            assert!(round < 1000, "traces go on changing");
            let mut plan = Plan::new();
            let each = load.iter().enumerate();
            let ends =
                each.map(|(number, request)| follow(number, request, hedged, &done, &mut plan));
            let ends: Vec<u64> = ends.collect();
            if plan == before {
                assert!(rows.iter().map(|row| row.completion.ns()).eq(ends), "seed {seed}");
                break;
            }
            done = simulated(&mut fresh, &plan);
            before = plan;
        }
        let sent = before.keys().filter(|key| load[key.0].op == Op::Read && key.2 == 1);
        assert_eq!(sent.count(), DATA * rows.iter().map(|row| row.hedged as usize).sum::<usize>());
        hedges += rows.iter().map(|row| row.hedged).sum::<u32>();
        let summary: serde_json::Value = serde_json::from_str(&array.summary()).expect("JSON");
        won += summary["hedges_won"].as_u64().expect("a count");
    }
    assert!(hedges > 20 && won > 0, "{hedges} hedges, {won} won");
}
