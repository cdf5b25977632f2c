//! Sequential runs among other addresses: a request that begins where the last of its kind ended.

use reprieve_base::{Op, Stream};

use super::probability::fixed_point;
use crate::config::MixedConfig;

/// Where reads and writes would go on, and how often they do.
#[derive(Debug)]
pub(super) struct Runs {
    stream: Stream,
    reads: Run,
    writes: Run,
}

#[derive(Debug)]
struct Run {
    /// A draw of 53 bits below this goes on.
    below: u64,
    /// First aligned sector behind the last request; `None` before the first.
    next_sector: Option<u64>,
}

impl Runs {
    /// `None` if every address is drawn by itself.
    pub(super) fn new(config: &MixedConfig, seed: u64) -> Option<Runs> {
        let (read, write) = (config.read_sequential_fraction, config.write_sequential_fraction);
        let run = |fraction| Run { below: fixed_point(fraction), next_sector: None };
        (read > 0.0 || write > 0.0).then(|| Runs {
            stream: Stream::new(seed, "workload.run", 0),
            reads: run(read),
            writes: run(write),
        })
    }

    /// Where this request goes if it goes on from the last; not past `end_sector`.
    #[inline]
    pub(super) fn next_lba(&mut self, op: Op, sectors: u64, end_sector: u64) -> Option<u64> {
        let draw = self.stream.next_u64() >> 11;
        let run = self.of(op)?;
        run.next_sector.filter(|lba| draw < run.below && lba + sectors <= end_sector)
    }

    /// Takes note of where a request ended.
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
