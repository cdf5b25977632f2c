//! A source of requests, recorded or generated.

use std::fmt;

use reprieve_base::{Op, Request, UserError};

use crate::counts::Counts;

/// Requests in order of arrival.
pub(crate) trait RequestSource: fmt::Debug + Send {
    /// Returns the next request, or `None` after the last.
    fn next_request(&mut self) -> Result<Option<Request>, UserError>;

    /// Appends requests moved by `first_sector`; here, because a call for each would copy it again.
    fn fill(
        &mut self,
        into: &mut Vec<Request>,
        most: usize,
        first_sector: u64,
    ) -> Result<(), UserError> {
        for _ in 0..most {
            let Some(request) = self.next_request()? else { break };
            into.push(placed(request, first_sector));
        }
        Ok(())
    }

    /// Returns the requests outstanding in a closed loop.
    fn queue_depth(&self) -> Option<u32> {
        None
    }

    /// Returns the share of the work issued, if its total is known.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// Returns the counts so far.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Returns the time of the first request in a trace's own reckoning, if it has one.
    fn run_zero_ns(&self) -> Option<u64> {
        None
    }

    /// Shifts the arrivals of a trace so that its time `zero_ns` is the start of the run.
    fn begin_at(&mut self, _zero_ns: u64) -> Result<(), UserError> {
        Ok(())
    }
}

/// Returns the request moved into a part of a drive; a flush has no address.
#[inline]
pub(crate) fn placed(request: Request, first_sector: u64) -> Request {
    match request.op {
        Op::Flush => request,
        _ => Request { lba: request.lba + first_sector, ..request },
    }
}
