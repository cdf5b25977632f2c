//! Fixed loads for `make bench`: how fast the simulator is, and how its cost grows with the drive.
//!
//! Each load runs on one core. Times are of whole windows of requests after a warm-up, and the
//! minimum, median and maximum over the windows are printed: a shared machine is noisy.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../../crates/sim/tests/robust/features.rs"]
mod features;
mod load;
mod pairs;
mod table;

use std::process::ExitCode;

use lexopt::prelude::*;
use load::Load;

const USAGE: &str = "usage: reprieve-bench [all [--record FILE] | main | dies | capacity | \
                     precondition | timeline | one REQUESTS [KEY=VALUE]… | pairs]";

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
    while let Some(arg) = parser.next()? {
        match arg {
            Long("record") => record = Some(parser.value()?),
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
                "dies": table::dies()?,
                "capacity_gib": table::capacity()?,
                "precondition": table::precondition()?,
                "timeline": table::timeline()?,
            });
            if let Some(path) = record {
                std::fs::write(path, format!("{results:#}\n"))?;
            }
        }
        Some("main") => drop(table::main_load()?),
        Some("dies") => drop(table::dies()?),
        Some("capacity") => drop(table::capacity()?),
        Some("precondition") => drop(table::precondition()?),
        Some("timeline") => drop(table::timeline()?),
        Some("one") => {
            let requests = words.get(1).ok_or(USAGE)?.parse()?;
            let mut load = Load::new(&words[2..], requests)?;
            let sample = load.window(requests)?;
            println!("{} page transactions", sample.transactions);
            println!("{:#}", load.summary());
        }
        Some("pairs") => println!("{:#}", pairs::document()),
        Some(_) => return Err(USAGE.into()),
    }
    Ok(())
}
