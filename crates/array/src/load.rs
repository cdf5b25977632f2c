//! The load of a scenario as requests to an array.

use reprieve_base::{self as base, SECTOR_BYTES, Time, UserError};
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Sources};
use reprieve_trace::Workload;

use crate::array::Array;
use crate::array_request::Request;
use crate::options::Options;

impl Array {
    /// Opens an array of the drives of a scenario, and submits the scenario's load to it, whose
    /// addresses are those of the array.
    ///
    /// Requests of a closed load follow a completion by the time of the controller. Errors besides
    /// at operations of zones.
    pub fn open_with_load(
        text: &str,
        path: &str,
        sets: &[String],
        options: &Options,
    ) -> Result<Array, UserError> {
        let scenario = scenario::load(&Sources { text, path, sets }, registries())?;
        let Some(config) = &scenario.workload else {
            let several = if scenario.fio.is_some() { "fio's jobs" } else { "the flows" };
            let what = format!("an array takes one load; needs [workload] in place of {several}");
            return Err(UserError::new(what).at(path));
        };
        let own: Vec<String> =
            sets.iter().filter(|set| !set.starts_with("workload.")).cloned().collect();
        let mut array = Array::open(text, path, &own, options)?;
        let mut load = Workload::open(config, array.capacity_bytes(), scenario.seed)?;
        if let Some(depth) = load.queue_depth() {
            array.closed_load = Some(load);
            for _ in 0..depth {
                array.follow(Time::ZERO)?;
            }
            return Ok(array);
        }
        while let Some(request) = load.next_request()? {
            array.submit([of_array(request)])?;
        }
        Ok(array)
    }

    /// Submits the next request of a closed load, which arrives at `at` or later; true if there
    /// is one.
    pub(crate) fn follow(&mut self, at: Time) -> Result<bool, UserError> {
        let Some(load) = &mut self.closed_load else { return Ok(false) };
        let Some(next) = load.next_request()? else { return Ok(false) };
        self.submit([of_array(base::Request { arrival: at.max(next.arrival), ..next })])?;
        Ok(true)
    }
}

fn of_array(request: base::Request) -> Request {
    let base::Request { arrival, op, lba, bytes, .. } = request;
    Request { arrival, op, offset: lba * SECTOR_BYTES, bytes: bytes.into() }
}
