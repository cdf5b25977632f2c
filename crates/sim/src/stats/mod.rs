//! What a run counts: latencies, where their time went, the request log, the summary.

mod latency;
mod log;
mod summary;

pub use latency::Latency;
pub use log::{LogBatch, LogRow};
pub use summary::{Facts, Totals};
