//! Conversations like those of Mooncake's trace: prompts that grow from turn to turn.
//!
//! Constants are fitted to `conversation_trace.jsonl` of Mooncake (FAST 2025): 12,031 prompts
//! in an hour, all of which begin with one block. The first prompts of its conversations have a
//! mean of 10,765 tokens; their logarithm has a standard deviation of 1.26.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use reprieve_base::Stream;

use super::{KvChats, Prompt};
use crate::synth::{Clock, exponential};

/// Standard deviation of the logarithm of the length of a first prompt: fitted.
const LENGTH_SIGMA: f64 = 1.26;
/// The longest prompt: the longest of the trace has 126,195 tokens.
const TOKENS_MAX: u64 = 131_072;
/// The block with which every prompt begins.
const FIRST_BLOCK: u64 = 0;

/// Conversations that begin at random.
#[derive(Debug)]
pub(crate) struct Chats {
    lengths: Stream,
    arrivals: Stream,
    ends: Stream,
    thoughts: Stream,
    begins: Clock,
    gap_ns: f64,
    next_begin_ns: u64,
    /// Open conversations, by the time of their next prompt and their number.
    going_on: BTreeMap<(u64, u64), Chat>,
    begun: u64,
    last_block: u64,
    block_tokens: u64,
    config: KvChats,
}

/// A conversation: its last prompt.
#[derive(Debug, Default)]
struct Chat {
    tokens: u64,
    blocks: Vec<u64>,
}

impl Chats {
    pub(super) fn new(config: KvChats, block_tokens: u64, seed: u64) -> Chats {
        let mut chats = Chats {
            lengths: Stream::new(seed, "workload.kv_length", 0),
            arrivals: Stream::new(seed, "workload.kv_arrival", 0),
            ends: Stream::new(seed, "workload.kv_end", 0),
            thoughts: Stream::new(seed, "workload.kv_think", 0),
            begins: Clock::default(),
            gap_ns: config.turns / config.rate_per_s * 1e9,
            next_begin_ns: 0,
            going_on: BTreeMap::new(),
            begun: 0,
            last_block: FIRST_BLOCK,
            block_tokens,
            config,
        };
        chats.next_begin_ns = chats.draw_begin();
        chats
    }

    fn draw_begin(&mut self) -> u64 {
        self.begins.advance(exponential(&mut self.arrivals) * self.gap_ns)
    }

    pub(super) fn next(&mut self) -> Prompt {
        let goes_on = self.going_on.first_entry();
        let next = goes_on.filter(|next| next.key().0 < self.next_begin_ns);
        let (at_ns, number, mut chat, tokens) = if let Some(next) = next {
            let ((at_ns, number), chat) = next.remove_entry();
            let tokens =
                chat.tokens as f64 + self.config.turn_tokens * exponential(&mut self.lengths);
            (at_ns, number, chat, tokens)
        } else {
            let at_ns = self.next_begin_ns;
            self.next_begin_ns = self.draw_begin();
            self.begun += 1;
            let chat = Chat { tokens: 0, blocks: vec![FIRST_BLOCK] };
            (at_ns, self.begun, chat, self.first_tokens())
        };
        chat.tokens = (tokens.ceil() as u64).clamp(1, TOKENS_MAX);
        while (chat.blocks.len() as u64) < chat.tokens / self.block_tokens {
            self.last_block += 1;
            chat.blocks.push(self.last_block);
        }
        let prompt = Prompt { at_ns, tokens: chat.tokens, blocks: chat.blocks.clone() };
        let is_last = self.ends.unit() * self.config.turns < 1.0;
        let think_ns = (exponential(&mut self.thoughts) * self.config.think.ns() as f64) as u64;
        if !is_last && chat.tokens < TOKENS_MAX {
            self.going_on.insert((at_ns + think_ns, number), chat);
        }
        prompt
    }

    /// A draw from the lognormal distribution, by Box and Muller.
    fn first_tokens(&mut self) -> f64 {
        let radius = (2.0 * exponential(&mut self.lengths)).sqrt();
        let normal = radius * libm::cos(TAU * self.lengths.unit());
        let log_mean = LENGTH_SIGMA * (normal - LENGTH_SIGMA / 2.0);
        self.config.prompt_tokens * libm::exp(log_mean)
    }
}
