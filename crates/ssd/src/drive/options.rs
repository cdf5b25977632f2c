//! Options of a run beyond its scenario.

use std::path::PathBuf;
use std::sync::Arc;

use reprieve_observe::timeline::Window;
use reprieve_state::Store;

/// Options of a run beyond its scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep a row for each request and, unless the drive is served, the causes of its waits.
    pub log_requests: bool,
    /// Leave the causes out of the rows, to measure their cost.
    pub without_attribution: bool,
    /// Keep a time series.
    pub series: bool,
    /// Start from this saved state, without preconditioning.
    pub from_state: Option<PathBuf>,
    /// Check all invariants during the run, and panic at a violation, with this command as the one
    /// that repeats the run.
    pub check: Option<String>,
    /// The drive gets its requests one by one, without a workload.
    pub served: bool,
    /// As `served`, with requests before their arrival, and completions that are kept until they
    /// are taken.
    pub handed_over: bool,
    /// Draw a timeline of this.
    pub timeline: Option<Window>,
    /// Store of prepared states; `None`: that of the process.
    pub states: Option<Arc<Store>>,
}
