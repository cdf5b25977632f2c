//! The cache of an LLM server from Python: prompt by prompt, or as a scenario's load has it.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use reprieve_base::{Op, SECTOR_BYTES, UserError};
use reprieve_ssd::scenario::{self, Sources};
use reprieve_trace::{self as trace, KvLookup, KvPlan, KvTierConfig, Prompt, WorkloadConfig};

use crate::{loaded, need_numpy, raise};

/// The keyword arguments of `KvCache`, in their ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct KvChoices {
    bytes_per_token: u64,
    block_tokens: u64,
    request_bytes: u32,
    dram_bytes: u64,
    store: String,
    store_bytes_per_s: Option<u64>,
}

/// Computed tokens, and blocks in DRAM, in flash, stored and dropped.
type Lookup = (u64, u64, u64, u64, u64);

/// A request of the drive: whether it writes, first byte, length and arrival in ns.
type Transfer = (bool, u64, u64, u64);

fn tuple(found: KvLookup) -> Lookup {
    let KvLookup { computed_tokens, dram_blocks, flash_blocks, stored_blocks, dropped_blocks } =
        found;
    (computed_tokens, dram_blocks, flash_blocks, stored_blocks, dropped_blocks)
}

/// Blocks of tokens in DRAM and on a drive.
#[pyclass(module = "reprieve._native")]
pub struct KvTier {
    tier: trace::KvTier,
    last_ns: u64,
}

#[pymethods]
impl KvTier {
    #[new]
    fn new(choices: KvChoices, capacity_bytes: u64) -> PyResult<KvTier> {
        let store = match choices.store.as_str() {
            "evicted" => Ok(trace::KvStore::Evicted),
            "computed" => Ok(trace::KvStore::Computed),
            other => Err(format!("store = {other:?}: must be one of \"evicted\", \"computed\"")),
        };
        let config = KvTierConfig {
            bytes_per_token: choices.bytes_per_token,
            block_tokens: choices.block_tokens,
            request_bytes: choices.request_bytes,
            dram_bytes: choices.dram_bytes,
            store: store.map_err(|what| raise(UserError::new(what)))?,
            store_bytes_per_s: choices.store_bytes_per_s,
        };
        let tier = trace::KvTier::new(config, capacity_bytes).map_err(raise)?;
        Ok(KvTier { tier, last_ns: 0 })
    }

    /// Serves a prompt: where its blocks are, and what the drive has to do.
    fn serve(
        &mut self,
        at_ns: u64,
        tokens: u64,
        blocks: Vec<u64>,
    ) -> PyResult<(Lookup, Vec<Transfer>)> {
        if at_ns < self.last_ns {
            let last_ns = self.last_ns;
            let what = format!("at_ns = {at_ns}: must not be before the last prompt, {last_ns}");
            return Err(raise(UserError::new(what)));
        }
        self.last_ns = at_ns;
        let mut requests = Vec::new();
        let found = self.tier.serve(&Prompt { at_ns, tokens, blocks }, &mut requests);
        let transfers = requests.iter().map(|request| {
            let is_write = request.op == Op::Write;
            (is_write, request.lba * SECTOR_BYTES, request.bytes.into(), request.arrival.ns())
        });
        Ok((tuple(found), transfers.collect()))
    }
}

/// The prompts of a scenario's load: arrival in ns, tokens, and where their blocks were; and the
/// number of the prompt of each request of the drive, in order of arrival.
type Plan<'py> = (Vec<(u64, u64, Lookup)>, Bound<'py, PyArray1<u64>>);

/// Plans the load of a scenario with the generator `kv-cache`.
#[pyfunction]
pub fn kv_plan<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    sets: Vec<String>,
) -> PyResult<Plan<'py>> {
    need_numpy(py)?;
    let scenario = loaded(py, &Sources { text, path, sets: &sets }, scenario::load)?;
    let Some(WorkloadConfig::Kv(config)) = &scenario.workload else {
        let what = "workload.generator: must be \"kv-cache\", whose prompts these are";
        return Err(raise(UserError::new(what).at(path)));
    };
    let plan = || {
        let mut plan = KvPlan::open(config, scenario.capacity_bytes(), scenario.seed)?;
        let mut numbers = Vec::new();
        while let Some((_, number)) = plan.next_request()? {
            numbers.push(number);
        }
        Ok((plan.take_served(), numbers))
    };
    let (served, numbers) = py.detach(plan).map_err(raise)?;
    let rows = served.iter().map(|one| (one.at_ns, one.tokens, tuple(one.lookup)));
    Ok((rows.collect(), numbers.into_pyarray(py)))
}
