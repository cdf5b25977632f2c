//! The log of requests as a table: a row for each, in order of completion.

use std::sync::{Arc, LazyLock};

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, Int64Array, StringArray};
use pyo3::prelude::*;
use reprieve_base::Op;
use reprieve_ssd::causes::CAUSE_NAMES;
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::txn::PART_NAMES;

use crate::table::Table;

/// The names of the operations, by their number in a log; shared by all tables.
static OPS: LazyLock<ArrayRef> =
    LazyLock::new(|| Arc::new(StringArray::from(Op::ALL.map(Op::name).to_vec())));

/// A log without requests: the columns that each log has.
#[pyfunction]
pub fn empty_log() -> Table {
    table(LogBatch::default())
}

/// The requests of a batch; columns of whole numbers are handed over without copying.
pub fn table(batch: LogBatch) -> Table {
    let op = Int8Array::from_iter_values(batch.op.iter().map(|op| *op as i8));
    let op: DictionaryArray<Int8Type> =
        DictionaryArray::try_new(op, OPS.clone()).expect("each operation has a name");
    let integers = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", integers(batch.id)),
        ("op", Arc::new(op)),
        ("lba", integers(batch.lba)),
        ("bytes", integers(batch.bytes)),
        ("arrival_ns", integers(batch.arrival_ns)),
        ("completion_ns", integers(batch.completion_ns)),
    ];
    columns.extend(PART_NAMES.into_iter().zip(batch.parts_ns.map(integers)));
    for (cause, name) in CAUSE_NAMES.into_iter().enumerate() {
        let column = batch.causes.iter().map(|row| row.0[cause] as i64).collect();
        columns.push((name, integers(column)));
    }
    let die: Int64Array = batch.die.iter().map(|die| die.map(i64::from)).collect();
    columns.push(("die", Arc::new(die)));
    columns.push(("flow", integers(batch.flow)));
    columns.push(("uncorrectable_pages", integers(batch.uncorrectable_pages)));
    let columns = columns.into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
    Table::of(columns).expect("the columns of a log are of one length")
}
