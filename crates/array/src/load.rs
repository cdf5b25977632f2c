//! The load of a scenario as requests to an array.

use reprieve_base::{Op, SECTOR_BYTES, UserError};
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
    /// Errors besides at a load that has no arrivals, or more than reads and writes.
    pub fn open_with_load(
        text: &str,
        path: &str,
        sets: &[String],
        options: &Options,
    ) -> Result<Array, UserError> {
        let scenario = scenario::load(&Sources { text, path, sets }, registries())?;
        let Some(config) = &scenario.workload else {
            return Err(UserError::new("an array takes one load; needs [workload]"));
        };
        let own: Vec<String> =
            sets.iter().filter(|set| !set.starts_with("workload.")).cloned().collect();
        let mut array = Array::open(text, path, &own, options)?;
        let mut load = Workload::open(config, array.capacity_bytes(), scenario.seed)?;
        if load.queue_depth().is_some() {
            let what =
                "workload.arrivals: an array needs a load with arrivals, such as \"poisson\"";
            return Err(UserError::new(what));
        }
        while let Some(request) = load.next_request()? {
            let is_write = match request.op {
                Op::Read => false,
                Op::Write => true,
                other => {
                    let what =
                        format!("the load has a {}: an array reads and writes", other.name());
                    return Err(UserError::new(what));
                }
            };
            let (arrival, offset) = (request.arrival, request.lba * SECTOR_BYTES);
            let bytes = u64::from(request.bytes);
            array.submit([Request { arrival, is_write, offset, bytes }])?;
        }
        Ok(array)
    }
}
