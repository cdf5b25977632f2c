//! Requests that continue one of several sequential streams, or repeat an earlier request.

use std::collections::VecDeque;

use reprieve_base::{Op, Stream};

use super::probability::fixed_point;
use crate::config::MixedConfig;

/// State of earlier reads and writes.
#[derive(Debug)]
pub(super) struct Locality<S> {
    stream: Stream,
    repeat_below: u64,
    streams: usize,
    window: usize,
    reads: Earlier<S>,
    writes: Earlier<S>,
}

/// The requests of one operation so far.
#[derive(Debug)]
struct Earlier<S> {
    /// A draw of 53 bits below this continues a stream.
    sequential_below: u64,
    /// The next place of each stream, and the size of its requests; the one used last at the back.
    ends: VecDeque<(u64, S)>,
    /// The last requests, the latest at the back.
    requests: VecDeque<(u64, S)>,
}

impl<S: Copy> Locality<S> {
    /// `None` if there is one stream and nothing is repeated.
    pub(super) fn new(config: &MixedConfig, seed: u64) -> Option<Locality<S>> {
        if config.sequential_streams == 1 && config.repeat_fraction == 0.0 {
            return None;
        }
        let (streams, window) = (config.sequential_streams as usize, config.repeat_window as usize);
        let earlier = |fraction| Earlier {
            sequential_below: fixed_point(fraction),
            ends: VecDeque::with_capacity(streams + 1),
            requests: VecDeque::with_capacity(window + 1),
        };
        Some(Locality {
            stream: Stream::new(seed, "workload.run", 0),
            repeat_below: fixed_point(config.repeat_fraction),
            streams,
            window,
            reads: earlier(config.read_sequential_fraction),
            writes: earlier(config.write_sequential_fraction),
        })
    }

    /// Address and size of this request, if an earlier one decides them. The stream is random; the
    /// distance of a repeated request is log-uniform.
    pub(super) fn next(&mut self, op: Op) -> Option<(u64, S)> {
        let draw = self.stream.next_u64() >> 11;
        let which = self.stream.unit();
        let repeat_below = self.repeat_below;
        let earlier = self.of(op)?;
        if draw < earlier.sequential_below {
            let stream = (which * earlier.ends.len() as f64) as usize;
            return earlier.ends.remove(stream);
        }
        if draw - earlier.sequential_below < repeat_below {
            let most = earlier.requests.len();
            let back = libm::pow(most as f64, which) as usize;
            return earlier.requests.get(most.checked_sub(back.max(1))?).copied();
        }
        None
    }

    /// Records a request, and its end.
    pub(super) fn handed_out(&mut self, op: Op, lba: u64, next_sector: u64, size: S) {
        let (streams, window) = (self.streams, self.window);
        let Some(earlier) = self.of(op) else { return };
        earlier.ends.push_back((next_sector, size));
        if earlier.ends.len() > streams {
            earlier.ends.pop_front();
        }
        earlier.requests.push_back((lba, size));
        if earlier.requests.len() > window {
            earlier.requests.pop_front();
        }
    }

    fn of(&mut self, op: Op) -> Option<&mut Earlier<S>> {
        match op {
            Op::Read => Some(&mut self.reads),
            Op::Write => Some(&mut self.writes),
            Op::Trim | Op::Flush => None,
        }
    }
}
