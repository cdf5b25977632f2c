//! An array of drives from C, against that of Rust.

use std::fmt::Write as _;

use reprieve_array::{Array, Options, Read, Request};
use reprieve_base::{Op, Time};

use super::programs::{SHARED, run};
use super::same::Draws;

const SCENARIO: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\nseed = 11\n\
    [geometry]\nchannels = 1\nblocks_per_plane = 64\n";

#[test]
fn an_array_does_from_c_what_it_does_from_rust() {
    let options = Options {
        drives: 5,
        parity: 2,
        chunk_bytes: 8192,
        read: Read::Hedged,
        hedge_after_us: Some(150.0),
        threads: Some(1),
        ..Options::default()
    };
    let mut array = Array::open(SCENARIO, "test.toml", &[], &options).expect("an array");
    let (sectors, mut draws, mut at_ns) = (array.capacity_bytes() / 512, Draws(7), 0);
    let requests: Vec<Request> = (0..600)
        .map(|_| {
            at_ns += draws.below(100_000);
            let bytes = 512 * (1 + draws.below(64));
            let offset = 512 * draws.below(sectors - 64);
            let (arrival, op) = (Time::from_ns(at_ns), Op::ALL[draws.below(3) as usize]);
            Request { arrival, op, offset, bytes }
        })
        .collect();
    array.submit(requests).expect("they are right");
    let mut expected = String::new();
    let rows = array.run().expect("no drive fails");
    for row in &rows {
        let (end_ns, of) = (row.completion.ns(), row);
        writeln!(
            expected,
            "{end_ns} {} {} {} {}",
            of.reads, of.writes, of.reconstructed, of.hedged
        )
        .expect("a string takes any text");
    }
    writeln!(expected, "{}\n{}", array.now().ns(), array.summary()).expect("a string takes all");
    assert!(rows.iter().any(|row| row.hedged > 0) && rows.iter().any(|row| row.writes > 2));
    assert_eq!(run(&["cc", "-std=c11"], "tests/c/array.c", &SHARED), expected);
}
