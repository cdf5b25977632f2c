//! Statistics of a run: latencies and their components, the request log, the series, the summary.

mod batches;
mod beginning;
mod confidence;
mod distribution;
mod flash_counts;
mod flows;
mod ftl_counts;
mod histogram;
mod latencies;
mod latency;
mod log;
mod pairs;
mod pieces;
mod reliability;
mod requests;
mod series;
mod summary;
mod transient;

pub use distribution::Distribution;
pub use flash_counts::{FlashCounts, SuspendedOperations};
pub use flows::FlowStats;
pub use ftl_counts::{BadBlocks, MapCounts, WearCounts};
pub use histogram::Histogram;
pub use latencies::Latencies;
pub use latency::Latency;
pub use log::{LogBatch, LogRow};
pub use reliability::{DecodeCounts, ErrorCounts, Lifetime, WearFacts};
pub use requests::latency_ns;
pub use series::{
    AGES, Ages, BINS, BUCKETS, Bin, Completed, Finished, SAMPLED, Sample, Series, SeriesClass,
    upper_end,
};
pub use summary::{Facts, Measured, ReadCacheCounts, Totals};
pub use transient::{Found, Transient};
