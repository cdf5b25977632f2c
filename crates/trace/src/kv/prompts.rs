//! Prompts of a trace of Mooncake or Azure, or of generated conversations.
//!
//! Mooncake's traces (`conversation_trace.jsonl` and others) have a JSON object a line: `timestamp`
//! in ms, `input_length` in tokens, and `hash_ids`, a number for each block of the prompt. Azure's
//! (`AzureLLMInferenceTrace_*.csv`) have the heading `TIMESTAMP,ContextTokens,GeneratedTokens`, and
//! do not show shared tokens: each block there is distinct.

use std::fmt;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;
use serde::Deserialize;

use super::chats::Chats;
use super::{KvConfig, KvPrompts, Prompt};
use crate::formats::fields::{decimal, integer};
use crate::source::{Lines, show};

const AZURE_HEADING: &[u8] = b"TIMESTAMP,ContextTokens,GeneratedTokens";
const MOONCAKE_ROW: &str = "must be a JSON object with timestamp in ms, input_length in tokens, \
    from 1 to 16777216, and hash_ids, a whole number for each block";
const AZURE_ROW: &str = "must be a time such as 2023-11-16 18:17:03.9799600, context tokens from 1 \
    to 16777216, and generated tokens";
/// The longest prompt of a trace, far above any model's.
const TOKENS_MAX: u64 = 1 << 24;

/// Prompts in order of arrival.
#[derive(Debug)]
pub(crate) enum Prompts {
    Trace(Box<PromptTrace>),
    Chats(Box<Chats>),
}

impl Prompts {
    pub(crate) fn open(config: &KvConfig, seed: u64) -> Result<Prompts, UserError> {
        let block_tokens = config.tier.block_tokens;
        Ok(match &config.prompts {
            KvPrompts::Trace(path) => {
                Prompts::Trace(Box::new(PromptTrace::open(Path::new(path), block_tokens)?))
            }
            KvPrompts::Chats(chats) => {
                Prompts::Chats(Box::new(Chats::new(chats.clone(), block_tokens, seed)))
            }
        })
    }

    /// Returns the next prompt, or `None` after the last of a trace.
    pub(crate) fn next(&mut self) -> Result<Option<Prompt>, UserError> {
        match self {
            Prompts::Trace(trace) => trace.next(),
            Prompts::Chats(chats) => Ok(Some(chats.next())),
        }
    }
}

/// A trace whose format follows from its first line.
pub(crate) struct PromptTrace {
    path: PathBuf,
    lines: Lines,
    block_tokens: u64,
    is_azure: bool,
    first_ns: Option<u64>,
    last_ns: u64,
    next_block: u64,
}

impl fmt::Debug for PromptTrace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PromptTrace({}:{})", self.path.display(), self.lines.number())
    }
}

/// A row of Mooncake's.
#[derive(Deserialize)]
struct MooncakeRow {
    timestamp: f64,
    input_length: u64,
    hash_ids: Vec<u64>,
}

impl PromptTrace {
    fn open(path: &Path, block_tokens: u64) -> Result<PromptTrace, UserError> {
        let lines = Lines::open(path)?;
        let path = path.to_owned();
        let (is_azure, first_ns, last_ns, next_block) = (false, None, 0, 0);
        Ok(PromptTrace { path, lines, block_tokens, is_azure, first_ns, last_ns, next_block })
    }

    fn next(&mut self) -> Result<Option<Prompt>, UserError> {
        loop {
            let line = self.lines.next_line().map_err(|error| {
                let what = format!("is cut short or damaged: {error}");
                UserError::new(what).at(self.path.display())
            })?;
            let Some(line) = line else { break };
            let text = line.trim_ascii().to_owned();
            if text == AZURE_HEADING && self.lines.number() == 1 {
                self.is_azure = true;
            } else if !text.is_empty() {
                return self.prompt(&text).map(Some).map_err(|what| {
                    let place = format!("{}:{}", self.path.display(), self.lines.number());
                    UserError::new(format!("`{}`: {what}", show(&text))).at(place)
                });
            }
        }
        if self.first_ns.is_none() {
            let what = format!("has no prompt; {MOONCAKE_ROW}");
            return Err(UserError::new(what).at(self.path.display()));
        }
        Ok(None)
    }

    /// The prompt of a row, in the time of the run; errors with what would be right.
    fn prompt(&mut self, text: &[u8]) -> Result<Prompt, String> {
        let (stamp_ns, tokens, blocks) = if self.is_azure {
            let (stamp_ns, tokens) = azure(text).ok_or(AZURE_ROW)?;
            let first = self.next_block;
            self.next_block += tokens / self.block_tokens;
            (stamp_ns, tokens, (first..self.next_block).collect())
        } else {
            self.mooncake(text)?
        };
        let first_ns = *self.first_ns.get_or_insert(stamp_ns);
        if stamp_ns < self.last_ns.max(first_ns) {
            return Err("is earlier than the row before; rows must be in order of time".into());
        }
        self.last_ns = stamp_ns;
        Ok(Prompt { at_ns: stamp_ns - first_ns, tokens, blocks })
    }

    fn mooncake(&self, text: &[u8]) -> Result<(u64, u64, Vec<u64>), String> {
        let row = serde_json::from_slice(text).ok();
        let row = row.filter(|row: &MooncakeRow| {
            row.timestamp >= 0.0 && (1..=TOKENS_MAX).contains(&row.input_length)
        });
        let row = row.ok_or_else(|| match self.lines.number() {
            1 => format!("{MOONCAKE_ROW}; or the heading {}", show(AZURE_HEADING)),
            _ => MOONCAKE_ROW.to_owned(),
        })?;
        let (tokens, blocks) = (row.input_length, row.hash_ids);
        let (least, most) = (tokens / self.block_tokens, tokens.div_ceil(self.block_tokens));
        if !(least..=most).contains(&(blocks.len() as u64)) {
            return Err(format!(
                "has {} hash_ids, and {tokens} tokens are {most} blocks of \
                 workload.kv_block_tokens = {}; must be as many (Mooncake's blocks have 512)",
                blocks.len(),
                self.block_tokens
            ));
        }
        Ok(((row.timestamp * 1e6) as u64, tokens, blocks))
    }
}

/// Time in ns since 1970 and tokens of a row of Azure's.
fn azure(text: &[u8]) -> Option<(u64, u64)> {
    let fields: Vec<&[u8]> = text.split(|&byte| byte == b',').collect();
    let [stamp, context, generated] = fields[..] else { return None };
    integer(generated)?;
    let tokens = integer(context).filter(|tokens| (1..=TOKENS_MAX).contains(tokens))?;
    // The later traces are in UTC by name.
    let stamp = stamp.strip_suffix(b"+00:00").unwrap_or(stamp);
    let (date, time) = (stamp.get(..10)?, stamp.get(11..)?);
    let whole = |bytes: Option<&[u8]>| bytes.and_then(integer);
    let (year, month, day) = (whole(date.get(..4))?, whole(date.get(5..7))?, whole(date.get(8..))?);
    let (hour, minute) = (whole(time.get(..2))?, whole(time.get(3..5))?);
    let second_ns = decimal(time.get(6..)?, 9)?;
    let is_time = (1970..2500).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60;
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute;
    is_time.then(|| (minutes * 60 * 1_000_000_000 + second_ns, tokens))
}

/// Days of the Gregorian calendar; years are counted from March, so that a leap day ends one.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469
}
