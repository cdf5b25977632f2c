//! Several loads as one stream of requests, in order of arrival.

use reprieve_base::{Request, UserError};

use crate::workload::{Load, Workload};

/// Parallel loads; of requests that arrive together the first load's is first.
pub struct Merged {
    loads: Vec<(Workload, Option<Request>)>,
}

impl Merged {
    /// The loads as their drive sees them.
    ///
    /// Errors if one cannot be opened, or if there are several and one is a closed loop, whose
    /// arrivals depend on a drive.
    pub fn open(all: &[Load]) -> Result<Merged, UserError> {
        let mut loads = Vec::with_capacity(all.len());
        for mut load in Workload::open_all(all)? {
            if all.len() > 1 && load.queue_depth().is_some() {
                let what = "[flow]: a closed loop among several loads has no arrivals of its own; \
                            give one load as [workload], or arrivals to each";
                return Err(UserError::new(what));
            }
            let first = load.next_request()?;
            loads.push((load, first));
        }
        Ok(Merged { loads })
    }

    /// The next request of all, if one is left.
    pub fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        let waiting = self.loads.iter_mut().filter(|(_, next)| next.is_some());
        let arrival = |next: &Option<Request>| next.as_ref().map(|request| request.arrival);
        let Some((load, next)) = waiting.min_by_key(|(_, next)| arrival(next)) else {
            return Ok(None);
        };
        Ok(std::mem::replace(next, load.next_request()?))
    }

    /// The first of the loads.
    pub(crate) fn first(&self) -> Option<&Workload> {
        self.loads.first().map(|(load, _)| load)
    }
}
