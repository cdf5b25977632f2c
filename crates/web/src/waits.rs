//! Causes of waits of reads and writes, from the log of requests: section `blame` of a summary.

use std::cmp::Reverse;

use reprieve_base::Op;
use reprieve_ssd::causes::CAUSE_NAMES;
use reprieve_ssd::stats::LogBatch;
use serde_json::{Map, Value, json};

/// Kinds of requests, in the order of their sections.
const KINDS: [(&str, Op); 2] = [("read", Op::Read), ("write", Op::Write)];
/// Parts of the requests, and how many requests there are for one of them.
const PARTS: [(&str, u64); 4] =
    [("all", 1), ("slowest_1", 100), ("slowest_0_1", 1_000), ("slowest_0_01", 10_000)];

/// The waits of one request.
#[derive(Clone, Copy)]
struct Row {
    latency_ns: i64,
    id: i64,
    by_ns: [u64; CAUSE_NAMES.len()],
}

/// Waits by kind of request.
#[derive(Default)]
pub struct Waits([Vec<Row>; KINDS.len()]);

impl Waits {
    /// Adds a piece of the log.
    pub fn add(&mut self, log: &LogBatch) {
        for row in 0..log.id.len() {
            let kind = KINDS.iter().position(|(_, op)| log.op[row] == *op as u8);
            let Some(kind) = kind else { continue };
            let latency_ns = log.completion_ns[row] - log.arrival_ns[row];
            self.0[kind].push(Row { latency_ns, id: log.id[row], by_ns: log.causes[row].0 });
        }
    }

    /// Returns the section, as in `reprieve run --requests`; `counts` of reads and writes.
    pub fn section(&mut self, counts: [u64; KINDS.len()]) -> Value {
        let mut section = Map::new();
        for (((name, _), rows), count) in KINDS.iter().zip(&mut self.0).zip(counts) {
            rows.sort_unstable_by_key(|row| (Reverse(row.latency_ns), row.id));
            let part = |(part, one_of): &(&str, u64)| {
                let requests = count.div_ceil(*one_of);
                let slowest = &rows[..rows.len().min(requests as usize)];
                ((*part).to_string(), told(requests, slowest))
            };
            section.insert((*name).to_string(), PARTS.iter().map(part).collect());
        }
        section.into()
    }
}

fn told(requests: u64, rows: &[Row]) -> Value {
    let latency_ns: i64 = rows.iter().map(|row| row.latency_ns).sum();
    let mut told = json!({"requests": requests, "latency_ns": latency_ns});
    for (cause, name) in CAUSE_NAMES.iter().enumerate() {
        told[*name] = rows.iter().map(|row| row.by_ns[cause]).sum::<u64>().into();
    }
    told
}
