//! The request log: one row a request, in columns, returned in batches.

use reprieve_base::{Op, Time};
use reprieve_policy::txn::{LatencyComponents, PART_NAMES};

use crate::causes::CauseTimes;

/// One completed request.
#[derive(Clone, Copy, Debug)]
pub struct LogRow<'a> {
    /// Number of the request in order of arrival, from 0.
    pub id: u64,
    /// Operation.
    pub op: Op,
    /// First 512-byte sector.
    pub lba: u64,
    /// Length.
    pub bytes: u32,
    /// When it reached the drive.
    pub arrival: Time,
    /// When it completed.
    pub completion: Time,
    /// Components of its time, on the transaction that completed last.
    pub parts: &'a LatencyComponents,
    /// Causes of its waits, if they are kept.
    pub causes: CauseTimes,
    /// The die of the transaction that completed last, if kept, and if there was one.
    pub die: Option<u32>,
    /// Its load, by the order of their names; 0 for a single one.
    pub flow: u32,
    /// Its uncorrectable pages.
    pub uncorrectable_pages: u32,
}

/// Columns of the request log, all of one length.
#[derive(Clone, Debug, Default)]
pub struct LogBatch {
    /// Request numbers.
    pub id: Vec<i64>,
    /// 0 read, 1 write, 2 trim, 3 flush.
    pub op: Vec<u8>,
    /// First sectors.
    pub lba: Vec<i64>,
    /// Lengths in bytes.
    pub bytes: Vec<i64>,
    /// Arrivals in nanoseconds.
    pub arrival_ns: Vec<i64>,
    /// Completions in nanoseconds.
    pub completion_ns: Vec<i64>,
    /// Components of the time, in the order of [`PART_NAMES`].
    pub parts_ns: [Vec<i64>; PART_NAMES.len()],
    /// Causes of the waits: rows here, as most are 0.
    pub causes: Vec<CauseTimes>,
    /// Dies of the last transactions.
    pub die: Vec<Option<u32>>,
    /// Loads, by the order of their names.
    pub flow: Vec<i64>,
    /// Uncorrectable pages.
    pub uncorrectable_pages: Vec<i64>,
}

impl LogBatch {
    /// Empties every column, and keeps its memory.
    pub fn clear(&mut self) {
        self.op.clear();
        self.die.clear();
        let columns = [&mut self.id, &mut self.lba, &mut self.bytes, &mut self.flow];
        let more = [&mut self.arrival_ns, &mut self.completion_ns, &mut self.uncorrectable_pages];
        columns.into_iter().chain(more).chain(&mut self.parts_ns).for_each(Vec::clear);
        self.causes.clear();
    }

    /// Adds a row.
    pub fn push(&mut self, row: &LogRow) {
        self.id.push(row.id as i64);
        self.op.push(row.op as u8);
        self.lba.push(row.lba as i64);
        self.bytes.push(i64::from(row.bytes));
        self.arrival_ns.push(row.arrival.ns() as i64);
        self.completion_ns.push(row.completion.ns() as i64);
        for (column, part) in self.parts_ns.iter_mut().zip(row.parts.0) {
            column.push(part as i64);
        }
        self.causes.push(row.causes);
        self.die.push(row.die);
        self.flow.push(i64::from(row.flow));
        self.uncorrectable_pages.push(i64::from(row.uncorrectable_pages));
    }
}
