//! The cache of keys and values of an LLM server: prompts, and blocks of tokens in DRAM and flash.

mod chats;
mod lru;
mod prompts;
mod tier;

use reprieve_base::Dur;

pub(crate) use prompts::Prompts;
pub use tier::{KvLookup, KvTier};

/// One request to an LLM server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its arrival.
    pub at_ns: u64,
    /// Length of the prompt; at least 1.
    pub tokens: u64,
    /// Its blocks in order, each named by a number that equal prefixes share; a partial last one
    /// may be among them, and is not cached.
    pub blocks: Vec<u64>,
}

/// The generator `kv-cache`: prompts, and what a tier of flash has to do for them.
#[derive(Clone, Debug, PartialEq)]
pub struct KvConfig {
    /// Prompts at most; at least 1.
    pub prompts_max: u64,
    /// Their source.
    pub prompts: KvPrompts,
    /// Multiplies every arrival; above 0.
    pub time_scale: f64,
    /// Where blocks lie.
    pub tier: KvTierConfig,
}

/// The source of prompts.
#[derive(Clone, Debug, PartialEq)]
pub enum KvPrompts {
    /// Generated conversations.
    Chats(KvChats),
    /// The path of a trace of Mooncake or Azure.
    Trace(String),
}

/// Conversations with an LLM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KvChats {
    /// Prompts a second of all conversations; above 0.
    pub rate_per_s: f64,
    /// Mean prompts of a conversation; at least 1.
    pub turns: f64,
    /// Mean tokens of its first prompt; at least 1.
    pub prompt_tokens: f64,
    /// Mean tokens by which each further prompt is longer; at least 1.
    pub turn_tokens: f64,
    /// Mean time from prompt to prompt of a conversation.
    pub think: Dur,
}

/// Blocks of tokens in DRAM, and in flash.
#[derive(Clone, Debug, PartialEq)]
pub struct KvTierConfig {
    /// Keys and values of a token; at least 1.
    pub bytes_per_token: u64,
    /// Tokens of a block; at least 1.
    pub block_tokens: u64,
    /// Length of the drive's requests, a multiple of 512; the last one of a block may be shorter.
    pub request_bytes: u32,
    /// Size of the tier in DRAM.
    pub dram_bytes: u64,
    /// When a block is stored.
    pub store: KvStore,
    /// Bytes a second at which stores are sent to the drive; `None`: at once.
    pub store_bytes_per_s: Option<u64>,
}

/// When a block is written to flash, unless it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KvStore {
    /// When it leaves DRAM.
    #[default]
    Evicted,
    /// With the prompt that computes it, and when it leaves DRAM.
    Computed,
}

impl KvTierConfig {
    /// Returns the bytes of a block, whole units of 4 KiB.
    pub fn block_bytes(&self) -> u64 {
        self.block_tokens.saturating_mul(self.bytes_per_token).next_multiple_of(4096)
    }
}

/// No prompt, of a model of a byte a token; a scenario sets every value.
impl Default for KvConfig {
    fn default() -> KvConfig {
        KvConfig {
            prompts_max: 0,
            prompts: KvPrompts::Chats(KvChats::default()),
            time_scale: 1.0,
            tier: KvTierConfig {
                bytes_per_token: 1,
                block_tokens: 1,
                request_bytes: 4096,
                dram_bytes: 0,
                store: KvStore::Evicted,
                store_bytes_per_s: None,
            },
        }
    }
}
