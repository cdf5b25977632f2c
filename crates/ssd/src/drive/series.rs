//! How the run goes over time, where someone asks for it.

use reprieve_base::Time;
use reprieve_observe::stats::{AGES, Finished, Sample};

use super::Ssd;

/// How a run went over time, and over the parts of the drive.
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
    /// How many blocks have had so many erases since the first request; fewest erases first.
    pub erases: Vec<(u32, u64)>,
}

impl Ssd {
    /// The instant `now` has come, and nothing of it has happened.
    #[inline(never)]
    pub(super) fn series_instant(&mut self) {
        let mut series = self.stats.series.take().expect("the caller has seen it");
        series.advance(self.now, self.host.requests.len() as u64, |then| self.sample(then));
        self.stats.series = Some(series);
    }

    /// A request is complete.
    #[inline(never)]
    pub(super) fn series_completed(&mut self, id: u32) {
        let request = &self.host.requests[id];
        let series = self.stats.series.as_mut().expect("the caller has seen it");
        let latency_ns = (self.now - request.arrival).ns();
        series.record(request.op, request.bytes, latency_ns, &request.parts);
    }

    /// What has been counted; at `then`, since which nothing has happened.
    pub(super) fn sample(&self, then: Time) -> Sample {
        let counts = &self.flash.counts;
        let (die_busy_ns, channel_busy_ns) = self.flash.busy_ns(then);
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

    /// How the run went so far; `None` if nobody asked for it, or before it begins.
    pub fn course(&self) -> Option<TimeSeries> {
        let mut series = self.stats.series.clone()?;
        let ages = self.measured_ages()?;
        // The power may have failed after the last instant.
        series.advance(self.now, self.host.requests.len() as u64, |then| self.sample(then));
        let (die_busy_ns, channel_busy_ns) = self.measured_busy_ns();
        Some(TimeSeries {
            series: series.finish(&self.sample(self.now)),
            ages,
            die_busy_ns,
            channel_busy_ns,
            erases: self.ftl.wear_spread(),
        })
    }
}
