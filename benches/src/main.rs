//! Fixed loads for `make bench`: how fast the simulator is, and what a transaction costs.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use reprieve_sim::scenario::{self, Sources};
use reprieve_sim::{Ssd, registries};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let requests: u64 = args.first().map_or(2_000_000, |n| n.parse().expect("a number"));
    let text = format!(
        "device = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n[ftl]\nprecondition = \"steady\"\n[workload]\n\
         generator = \"mixed\"\nrequests = {requests}\nread_fraction = 0.7\nrequest_bytes = 4096\n\
         arrivals = \"closed\"\nqueue_depth = 64\n"
    );
    let sources = Sources { text: &text, path: "bench", sets: &args[1.min(args.len())..] };
    let scenario = scenario::load(&sources, registries()).expect("a valid scenario");
    let start = Instant::now();
    let mut ssd = Ssd::new(scenario, false).expect("a drive that fits");
    println!("precondition {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    while ssd.step(100_000).expect("a generator has no bad rows") {}
    let s = start.elapsed().as_secs_f64();
    let n = ssd.page_transactions();
    println!("{n} page transactions in {s:.3} s: {:.3} M/s", n as f64 / s / 1e6);
    println!("{:#}", ssd.summary());
}
