//! Sequential runs among other addresses: a request that begins at the end of the last of its kind.

use reprieve_base::{Op, Stream};

use super::probability::fixed_point;
use crate::config::MixedConfig;

/// The next sequential place of reads and writes, and the chance of taking it.
#[derive(Debug)]
pub(super) struct Runs {
    stream: Stream,
    reads: Run,
    writes: Run,
}

#[derive(Debug)]
struct Run {
    /// A draw of 53 bits below this continues.
    below: u64,
    /// First aligned sector behind the last request; `None` before the first.
    next_sector: Option<u64>,
}

impl Runs {
    /// `None` if every address is drawn independently.
    pub(super) fn new(config: &MixedConfig, seed: u64) -> Option<Runs> {
        let (read, write) = (config.read_sequential_fraction, config.write_sequential_fraction);
        let run = |fraction| Run { below: fixed_point(fraction), next_sector: None };
        (read > 0.0 || write > 0.0).then(|| Runs {
            stream: Stream::new(seed, "workload.run", 0),
            reads: run(read),
            writes: run(write),
        })
    }

    /// The place of this request, if it continues the last; not past `end_sector`.
    #[inline]
    pub(super) fn next_lba(&mut self, op: Op, sectors: u64, end_sector: u64) -> Option<u64> {
        let draw = self.stream.next_u64() >> 11;
        let run = self.of(op)?;
        run.next_sector.filter(|lba| draw < run.below && lba + sectors <= end_sector)
    }

    /// Records the end of a request.
    #[inline]
    pub(super) fn ended(&mut self, op: Op, next_sector: u64) {
        if let Some(run) = self.of(op) {
            run.next_sector = Some(next_sector);
        }
    }

    fn of(&mut self, op: Op) -> Option<&mut Run> {
        match op {
            Op::Read => Some(&mut self.reads),
            Op::Write => Some(&mut self.writes),
            Op::Trim | Op::Flush => None,
        }
    }
}
