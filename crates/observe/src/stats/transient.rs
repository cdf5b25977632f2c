//! End of the transient of a run: MSER-5 on the latencies of reads and writes and on the WAF.
//!
//! White, An effective truncation heuristic for bias reduction in simulation output, Simulation
//! 69(6), 1997; with batches of five observations: White, Cobb and Spratt, A comparison of five
//! steady-state truncation heuristics for simulation, Winter Simulation Conference 2000; its
//! objective: Franklin and White, Stationarity tests and MSER-5, Winter Simulation Conference 2008.

use reprieve_base::Op;

/// Observations of a batch.
const BATCH: u64 = 5;
/// Batches at the end of a run that are never all that remains, as their variance has no meaning
/// (Hoad, Robinson and Davies, Journal of the Operational Research Society 61(9), 2010).
const LAST: usize = 5;
/// Fewest batches of a series that counts: as many as an interval needs.
const FEWEST: usize = 10;

const NAMES: [&str; 3] = ["read latency", "write latency", "WAF"];

/// Batches of one series, and the requests that had arrived at the end of each.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Transients {
    means: Vec<f64>,
    arrived: Vec<u64>,
}

impl Transients {
    fn push(&mut self, mean: f64, arrived: u64) {
        self.means.push(mean);
        self.arrived.push(arrived);
    }
}

/// Observations of a run that looks for the end of its transient.
///
/// They take 3.2 bytes for each read and 6.4 for each write.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Transient {
    /// Reads, writes, WAF.
    series: [Transients; 3],
    /// Observations and latencies of the current batches of reads and writes.
    open: [(u64, u128); 2],
    /// Bytes of the five writes of the current batch, and programmed before it.
    written_bytes: u64,
    programmed_bytes: u64,
}

/// Length of a run's transient.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Found {
    /// The first request that arrives after the transient; 0 if the run is too short.
    pub from_request: u64,
    /// A sentence for the user.
    pub reason: String,
    /// The run is too short to decide.
    pub is_too_short: bool,
}

impl Transient {
    /// Adds a completed request, after these arrivals and programmed bytes.
    pub fn completed(
        &mut self,
        op: Op,
        latency_ns: u64,
        bytes: u32,
        arrived: u64,
        programmed_bytes: u64,
    ) {
        let kind = match op {
            Op::Read => 0,
            Op::Write | Op::Append => 1,
            _ => return,
        };
        let (count, sum_ns) = &mut self.open[kind];
        *count += 1;
        *sum_ns += u128::from(latency_ns);
        self.written_bytes += if kind == 1 { u64::from(bytes) } else { 0 };
        if *count < BATCH {
            return;
        }
        let mean = *sum_ns as f64 / BATCH as f64;
        (*count, *sum_ns) = (0, 0);
        self.series[kind].push(mean, arrived);
        if kind == 1 {
            let programmed = programmed_bytes - self.programmed_bytes;
            self.series[2].push(programmed as f64 / self.written_bytes as f64, arrived);
            (self.written_bytes, self.programmed_bytes) = (0, programmed_bytes);
        }
    }

    /// Returns the transient that a run of `requests` requests has found.
    pub fn found(&self, requests: u64) -> Found {
        let too_short = |why: String| Found {
            from_request: 0,
            reason: format!(
                "warmup = \"auto\": the run is too short to tell where its transient ends, and \
                 nothing is excluded: {why}"
            ),
            is_too_short: true,
        };
        let told = NAMES.iter().zip(&self.series).filter(|(_, it)| it.means.len() >= FEWEST);
        let mut last = (0, None);
        for (name, series) in told.clone() {
            let batches = series.means.len();
            let cut = mser(&series.means);
            let from = if cut == 0 { 0 } else { series.arrived[cut - 1] };
            if 2 * cut > batches || 2 * from > requests {
                return too_short(format!(
                    "MSER-5 on {name} cuts {cut} of {batches} batches of {BATCH}, up to request \
                     {from} of {requests}, which is more than half"
                ));
            }
            if from > last.0 {
                last = (from, Some(name));
            }
        }
        if told.count() == 0 {
            let fewest = FEWEST as u64 * BATCH;
            return too_short(format!("it has fewer than {fewest} reads and as few writes"));
        }
        let reason = match last {
            (from_request, Some(name)) => format!(
                "warmup = \"auto\": by MSER-5 the transient ends latest in the {name}, before \
                 request {from_request} of {requests}"
            ),
            _ => "warmup = \"auto\": by MSER-5 the run has no transient".to_string(),
        };
        Found { from_request: last.0, reason, is_too_short: false }
    }
}

/// Returns how many batches to cut so that the mean of the rest has the smallest standard error, as
/// if they were independent; the fewest among equals.
fn mser(means: &[f64]) -> usize {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, value) in means.iter().enumerate().rev() {
        // Welford: squares of the deviations from the mean of the rest.
        count += 1.0;
        let before = value - mean;
        mean += before / count;
        squares += before * (value - mean);
        if means.len() - cut >= LAST {
            let error = squares / (count * count);
            if error <= best.0 {
                best = (error, cut);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests;
