//! Requests that continue one of several sequential streams, or repeat an earlier request.

use std::collections::VecDeque;

use reprieve_base::{Op, Stream};

use super::probability::fixed_point;
use crate::config::MixedConfig;

/// Earlier requests of one kind, with a note on each.
#[derive(Debug)]
pub(super) struct History<N> {
    /// A draw of 53 bits below this continues a stream, one that exceeds it by less than
    /// `repeat_below` repeats a request.
    sequential_below: u64,
    repeat_below: u64,
    streams: usize,
    window: usize,
    /// The next place of each stream; the one used last at the back.
    ends: VecDeque<(u64, N)>,
    /// The last requests, the latest at the back.
    requests: VecDeque<(u64, N)>,
}

impl<N: Copy> History<N> {
    pub(super) fn new(config: &MixedConfig, sequential: f64, repeat: f64) -> History<N> {
        History {
            sequential_below: fixed_point(sequential),
            repeat_below: fixed_point(repeat),
            streams: config.sequential_streams as usize,
            window: if repeat > 0.0 { config.repeat_window as usize } else { 0 },
            ends: VecDeque::new(),
            requests: VecDeque::new(),
        }
    }

    /// Returns the place that a draw of 53 bits continues or repeats, if any. `which`, in [0, 1),
    /// chooses a stream evenly, and the distance of a repeated request log-uniformly.
    #[inline]
    pub(super) fn next(&mut self, draw: u64, which: f64) -> Option<(u64, N)> {
        if draw < self.sequential_below {
            let stream = (which * self.ends.len() as f64) as usize;
            return self.ends.remove(stream);
        }
        if draw - self.sequential_below < self.repeat_below {
            let most = self.requests.len();
            let back = libm::pow(most as f64, which) as usize;
            return self.requests.get(most.checked_sub(back.max(1))?).copied();
        }
        None
    }

    /// Records a request and the first aligned sector behind it.
    #[inline]
    pub(super) fn record(&mut self, lba: u64, next_sector: u64, note: N) {
        if self.ends.len() == self.streams {
            self.ends.pop_front();
        }
        self.ends.push_back((next_sector, note));
        if self.window > 0 {
            if self.requests.len() == self.window {
                self.requests.pop_front();
            }
            self.requests.push_back((lba, note));
        }
    }
}

/// Earlier reads and writes with their sizes.
#[derive(Debug)]
pub(super) struct Locality<S> {
    stream: Stream,
    /// One stream and no repeats: one draw a request, and each keeps its own size.
    is_single: bool,
    reads: History<S>,
    writes: History<S>,
}

impl<S: Copy> Locality<S> {
    /// Returns `None` if every address is drawn independently.
    pub(super) fn new(config: &MixedConfig, seed: u64) -> Option<Locality<S>> {
        let (read, write) = (config.read_sequential_fraction, config.write_sequential_fraction);
        let repeat = config.repeat_fraction;
        (read > 0.0 || write > 0.0 || repeat > 0.0).then(|| Locality {
            stream: Stream::new(seed, "workload.run", 0),
            is_single: config.sequential_streams == 1 && repeat == 0.0,
            reads: History::new(config, read, repeat),
            writes: History::new(config, write, repeat),
        })
    }

    /// Returns address and size of this request, if an earlier one decides them.
    #[inline]
    pub(super) fn next(&mut self, op: Op, size: S) -> Option<(u64, S)> {
        let draw = self.stream.next_u64() >> 11;
        let is_single = self.is_single;
        let which = if is_single { 0.0 } else { self.stream.unit() };
        let (lba, known) = self.of(op)?.next(draw, which)?;
        Some((lba, if is_single { size } else { known }))
    }

    /// Records a request, and its end.
    #[inline]
    pub(super) fn record(&mut self, op: Op, lba: u64, next_sector: u64, size: S) {
        if let Some(history) = self.of(op) {
            history.record(lba, next_sector, size);
        }
    }

    fn of(&mut self, op: Op) -> Option<&mut History<S>> {
        match op {
            Op::Read => Some(&mut self.reads),
            Op::Write => Some(&mut self.writes),
            _ => None,
        }
    }
}
