//! Fixed loads for `make bench`: how fast the simulator is, and how its cost grows with the drive.
//!
//! Each load runs on one core. Times are of whole windows of requests after a warm-up, and the
//! minimum, median and maximum over the windows are printed: a shared machine is noisy.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod load;
mod table;

use std::process::ExitCode;

use lexopt::prelude::*;
use load::Load;

const USAGE: &str =
    "usage: reprieve-bench [all | main | dies | capacity | one REQUESTS [KEY=VALUE]…]";

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
    while let Some(arg) = parser.next()? {
        match arg {
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
            table::main_load()?;
            table::dies()?;
            table::capacity()?;
        }
        Some("main") => table::main_load()?,
        Some("dies") => table::dies()?,
        Some("capacity") => table::capacity()?,
        Some("one") => {
            let requests = words.get(1).ok_or(USAGE)?.parse()?;
            let mut load = Load::new(&words[2..], requests)?;
            let sample = load.window(requests)?;
            println!("{} page transactions", sample.transactions);
            println!("{:#}", load.summary());
        }
        Some(_) => return Err(USAGE.into()),
    }
    Ok(())
}
