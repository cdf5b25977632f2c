//! The time series of a run, if recorded.

use reprieve_base::Time;
use reprieve_flash::Flash;
use reprieve_observe::stats::{AGES, Finished, Sample};

use super::Ssd;

/// Time series of a run, and totals of the drive's parts.
#[derive(Clone, Debug)]
pub struct TimeSeries {
    /// By bins of time, and by latency.
    pub series: Finished,
    /// Suspensions of programs and of erases, by how much of the operation was done.
    pub ages: [[u64; AGES]; 2],
    /// Time in use of each die.
    pub die_busy_ns: Vec<u64>,
    /// Time in use of each channel.
    pub channel_busy_ns: Vec<u64>,
    /// Blocks by erases since the first request; fewest erases first.
    pub erases: Vec<(u32, u64)>,
}

/// Returns the counters of the flash at `then`, after its last event.
pub(super) fn sample(flash: &Flash, then: Time) -> Sample {
    let counts = flash.counts();
    let (die_busy_ns, channel_busy_ns) = flash.busy_ns(then);
    let [program_suspensions, erase_suspensions] = counts.suspensions;
    [
        counts.reads(),
        counts.host_programs,
        counts.gc_programs,
        counts.map_programs,
        counts.erases,
        program_suspensions,
        erase_suspensions,
        die_busy_ns,
        channel_busy_ns,
    ]
}

impl Ssd {
    /// Returns the time series so far; `None` if not recorded, or before the start.
    pub fn course(&self) -> Option<TimeSeries> {
        let mut series = self.run.stats.series.clone()?;
        let ages = self.run.stats.measuring.ages(&self.run.pages.flash)?;
        // The power may have failed after the last instant.
        series.advance(self.run.now, self.run.host.requests.len() as u64, |then| {
            sample(&self.run.pages.flash, then)
        });
        let (die_busy_ns, channel_busy_ns) =
            self.run.stats.measuring.busy_ns(&self.run.pages.flash, self.run.now);
        Some(TimeSeries {
            series: series.finish(&sample(&self.run.pages.flash, self.run.now)),
            ages,
            die_busy_ns,
            channel_busy_ns,
            erases: self.run.pages.ftl.tables.blocks.wear.spread(),
        })
    }
}
