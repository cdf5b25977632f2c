//! Generator `kv-cache`: loads and stores of the keys and values that an LLM server caches.

use std::collections::VecDeque;

use reprieve_base::{Entry, Op, Request, UserError};

use crate::counts::Counts;
use crate::kv::{KvConfig, KvLookup, KvTier, Prompt, Prompts};
use crate::request_source::RequestSource;

/// Its entry in the registry.
pub(super) const ENTRY: Entry = Entry {
    name: "kv-cache",
    doc: "Loads and stores of an LLM server that caches blocks of tokens in DRAM and flash.",
};

/// Requests of a drive in order of arrival, each with the number of its prompt.
#[derive(Debug)]
pub struct KvPlan {
    prompts: Prompts,
    tier: KvTier,
    time_scale: f64,
    prompts_max: u64,
    read_prompts: u64,
    next: Option<Prompt>,
    loads: VecDeque<(Request, u64)>,
    stores: VecDeque<(Request, u64)>,
    served: Vec<Served>,
    handed_out: u64,
}

/// A prompt that was served: its arrival and length, and where its blocks were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its arrival in the time of the run.
    pub at_ns: u64,
    /// Its length.
    pub tokens: u64,
    /// Where its blocks were found.
    pub lookup: KvLookup,
}

impl KvPlan {
    /// Opens the trace or sets up the conversations, for a drive of `capacity_bytes`.
    pub fn open(config: &KvConfig, capacity_bytes: u64, seed: u64) -> Result<KvPlan, UserError> {
        let mut plan = KvPlan {
            prompts: Prompts::open(config, seed)?,
            tier: KvTier::new(config.tier.clone(), capacity_bytes)?,
            time_scale: config.time_scale,
            prompts_max: config.prompts_max,
            read_prompts: 0,
            next: None,
            loads: VecDeque::new(),
            stores: VecDeque::new(),
            served: Vec::new(),
            handed_out: 0,
        };
        plan.read_prompt()?;
        Ok(plan)
    }

    /// Returns the next request and the number of its prompt, from 0; `None` after the last.
    pub fn next_request(&mut self) -> Result<Option<(Request, u64)>, UserError> {
        loop {
            let at_ns = |queue: &VecDeque<(Request, u64)>| {
                queue.front().map_or(u64::MAX, |(request, _)| request.arrival.ns())
            };
            let (load_ns, store_ns) = (at_ns(&self.loads), at_ns(&self.stores));
            let waiting_ns = load_ns.min(store_ns);
            if let Some(prompt) = self.next.take_if(|prompt| prompt.at_ns < waiting_ns) {
                self.serve(&prompt);
                self.read_prompt()?;
                continue;
            }
            let queue = if load_ns <= store_ns { &mut self.loads } else { &mut self.stores };
            let next = queue.pop_front();
            self.handed_out += u64::from(next.is_some());
            return Ok(next);
        }
    }

    /// Takes the prompts served since the last call, in order.
    pub fn take_served(&mut self) -> Vec<Served> {
        std::mem::take(&mut self.served)
    }

    fn serve(&mut self, prompt: &Prompt) {
        let number = self.read_prompts - 1;
        let mut requests = Vec::new();
        let lookup = self.tier.serve(prompt, &mut requests);
        for request in requests {
            let queue = if request.op == Op::Read { &mut self.loads } else { &mut self.stores };
            queue.push_back((request, number));
        }
        self.served.push(Served { at_ns: prompt.at_ns, tokens: prompt.tokens, lookup });
    }

    fn read_prompt(&mut self) -> Result<(), UserError> {
        self.next = None;
        if self.read_prompts < self.prompts_max
            && let Some(mut prompt) = self.prompts.next().inspect_err(|_| {
                // After an error the stream is at its end.
                (self.loads, self.stores) = Default::default();
            })?
        {
            self.read_prompts += 1;
            prompt.at_ns = (prompt.at_ns as f64 * self.time_scale) as u64;
            self.next = Some(prompt);
        }
        Ok(())
    }
}

impl RequestSource for KvPlan {
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        self.served.clear();
        Ok(KvPlan::next_request(self)?.map(|(request, _)| request))
    }

    fn progress(&self) -> Option<f64> {
        Some(self.read_prompts as f64 / self.prompts_max as f64)
    }

    fn counts(&self) -> Counts {
        Counts { rows: self.read_prompts, requests: self.handed_out, ..Counts::default() }
    }
}
