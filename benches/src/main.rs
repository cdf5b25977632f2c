//! Fixed loads for `make bench`: how fast the simulator is, and how its cost grows with the drive.
//!
//! Each load runs on one core. Times are of whole windows of requests after a warm-up, and the
//! minimum, median and maximum over the windows are printed: a shared machine is noisy.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../../crates/ssd/tests/robust/features.rs"]
mod features;
mod load;
mod pairs;
#[path = "../rivals/mod.rs"]
mod rivals;
mod table;

use std::process::ExitCode;

use lexopt::prelude::*;
use load::{FIXED, Load, Sample};
use reprieve_ssd::Options;
use rivals::race::Rivalled;

const USAGE: &str = "usage: reprieve-bench [all [--record FILE] | main | others | dies | \
                     capacity | precondition | pairs | refusals | LOAD REQUESTS [KEY=VALUE]… \
                     [--log [--leave-out-causes]] | {product | rival} LOAD REQUESTS [KEY=VALUE]…]\n\
                     where LOAD is main, open, equal, tlc or everything, which has no rival";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reprieve-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    let mut record = None;
    let mut options = Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("record") => record = Some(parser.value()?),
            Long("log") => options.log_requests = true,
            Long("leave-out-causes") => options.without_attribution = true,
            Value(word) => words.push(word.string()?),
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    match words.first().map(String::as_str) {
        None | Some("all") => {
            let results = serde_json::json!({
                "command": "make bench",
                "unit": "ns of wall time a page transaction, one core",
                "version": env!("CARGO_PKG_VERSION"),
                "main": table::main_load()?,
                "others": table::others()?,
                "dies": table::dies()?,
                "capacity_gib": table::capacity()?,
                "precondition": table::precondition()?,
            });
            if let Some(path) = record {
                std::fs::write(path, format!("{results:#}\n"))?;
            }
        }
        Some("others") => drop(table::others()?),
        Some("dies") => drop(table::dies()?),
        Some("capacity") => drop(table::capacity()?),
        Some("precondition") => drop(table::precondition()?),
        Some("pairs") => println!("{:#}", pairs::document()),
        Some("refusals") => pairs::refusals(),
        Some("main") if words.len() == 1 => drop(table::main_load()?),
        Some("product" | "rival") => print(&race(&words)?),
        Some(name) => return one(name, &words[1..], &options),
    }
    Ok(())
}

/// Runs one of the fixed loads and prints its summary: under callgrind, and in turn with others.
fn one(name: &str, rest: &[String], options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let fixed = FIXED.iter().find(|fixed| fixed.name == name).ok_or(USAGE)?;
    let requests = rest.first().ok_or(USAGE)?.parse()?;
    let mut load = Load::fixed(fixed, &rest[1..], requests, options)?;
    let sample = load.window(requests)?;
    print(&sample);
    println!("{:#}", load.summary());
    Ok(())
}

/// Runs the product or its rival with a load that has one, in the form in which it has it.
fn race(words: &[String]) -> Result<Sample, Box<dyn std::error::Error>> {
    let [who, name, requests, sets @ ..] = words else { return Err(USAGE.into()) };
    let (load, requests) = (Rivalled::named(name).ok_or(USAGE)?, requests.parse()?);
    if who == "rival" {
        return Ok(load.race(sets, requests)?);
    }
    Ok(load.product(sets, requests, &Options::default())?.window(requests)?)
}

fn print(sample: &Sample) {
    println!(
        "{} page transactions, {} requests, {:.1} ns a transaction, {:.1} ns a request",
        sample.transactions,
        sample.requests,
        sample.ns_per_transaction(),
        sample.seconds * 1e9 / sample.requests as f64
    );
}
