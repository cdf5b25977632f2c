//! Where the blocks of prompts lie, and what a drive reads and writes for each prompt.

use reprieve_base::{Op, Request, SECTOR_BYTES, Time, UserError};

use super::lru::Lru;
use super::{KvStore, KvTierConfig, Prompt};

/// Nanoseconds in a second.
const S: u128 = 1_000_000_000;

/// Two tiers of blocks, DRAM over flash, each with the blocks used last.
#[derive(Clone, Debug)]
pub struct KvTier {
    config: KvTierConfig,
    dram: Lru<()>,
    flash: Lru<Slot>,
    /// Blocks for which the drive has room.
    slots: u64,
    /// The time from which the next store may be sent.
    store_from_ns: u64,
}

/// The place of a block on the drive.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: u64,
    /// The last write of its store is sent then; until then it is in DRAM, too.
    stored_ns: u64,
}

/// Where the blocks of a prompt were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KvLookup {
    /// Tokens whose keys and values must be computed, at least 1.
    pub computed_tokens: u64,
    /// Blocks of the reused prefix in DRAM.
    pub dram_blocks: u64,
    /// Blocks of the reused prefix that are loaded from flash.
    pub flash_blocks: u64,
    /// Blocks to be stored for this prompt.
    pub stored_blocks: u64,
    /// Blocks that were not stored, as those that wait for the throttle fill their share of DRAM.
    pub dropped_blocks: u64,
}

impl KvTier {
    /// Returns empty tiers over a drive of `capacity_bytes`; errors if no block fits into it.
    pub fn new(config: KvTierConfig, capacity_bytes: u64) -> Result<KvTier, UserError> {
        let block_bytes = config.block_bytes();
        let slots = capacity_bytes / block_bytes;
        if slots == 0 {
            let what = format!(
                "a block of {block_bytes} bytes is longer than the drive of {capacity_bytes}; must \
                 be fewer tokens"
            );
            return Err(crate::wrong("kv_block_tokens", config.block_tokens, &what));
        }
        let (dram, flash) = (Lru::new(), Lru::new());
        Ok(KvTier { config, dram, flash, slots, store_from_ns: 0 })
    }

    /// Serves a prompt, which arrives no earlier than those before: appends what the drive has to
    /// do, first all reads at the arrival, then the writes in order of time.
    ///
    /// The longest prefix of whole blocks that are in DRAM or flash is reused, but for the last
    /// token, and all whole blocks are in DRAM afterwards as far as they fit.
    pub fn serve(&mut self, prompt: &Prompt, into: &mut Vec<Request>) -> KvLookup {
        let Prompt { at_ns, tokens, ref blocks } = *prompt;
        let block_tokens = self.config.block_tokens;
        let whole = blocks.len().min((tokens / block_tokens) as usize);
        let reusable = whole.min((tokens.saturating_sub(1) / block_tokens) as usize);
        let mut found = KvLookup::default();
        for &block in &blocks[..reusable] {
            let slot = self.flash.get(block);
            if self.dram.get(block).is_some() || slot.is_some_and(|slot| at_ns < slot.stored_ns) {
                found.dram_blocks += 1;
            } else if let Some(slot) = slot {
                found.flash_blocks += 1;
                self.flash.put(block, slot);
                self.transfer(slot.number, Op::Read, |_| at_ns, into);
            } else {
                break;
            }
        }
        let reused = found.dram_blocks + found.flash_blocks;
        found.computed_tokens = tokens - reused * block_tokens;
        if self.config.store == KvStore::Computed {
            for &block in &blocks[reused as usize..whole] {
                self.store(block, at_ns, &mut found, into);
            }
        }
        // From the last to the first, so that the end of a prefix leaves before its beginning.
        for &block in blocks[..whole].iter().rev() {
            self.dram.put(block, ());
        }
        while self.dram.len() as u64 * self.config.block_bytes() > self.config.dram_bytes {
            let Some((block, ())) = self.dram.pop() else { break };
            self.store(block, at_ns, &mut found, into);
        }
        found
    }

    /// Stores a block in place of the one that has gone unused for longest, unless it is there.
    fn store(&mut self, block: u64, at_ns: u64, found: &mut KvLookup, into: &mut Vec<Request>) {
        if self.flash.get(block).is_some() {
            return;
        }
        let rate = self.config.store_bytes_per_s.map(u128::from);
        let mut next_ns = self.store_from_ns.max(at_ns);
        let waiting_bytes = rate.map_or(0, |rate| u128::from(next_ns - at_ns) * rate / S);
        if waiting_bytes > u128::from(self.config.dram_bytes) {
            found.dropped_blocks += 1;
            return;
        }
        let used = self.flash.len() as u64;
        let number = if used < self.slots {
            used
        } else {
            self.flash.pop().expect("there is a slot").1.number
        };
        let mut stored_ns = next_ns;
        let sent_at = |bytes| {
            stored_ns = next_ns;
            next_ns += rate.map_or(0, |rate| (u128::from(bytes) * S).div_ceil(rate) as u64);
            stored_ns
        };
        self.transfer(number, Op::Write, sent_at, into);
        self.store_from_ns = next_ns;
        self.flash.put(block, Slot { number, stored_ns });
        found.stored_blocks += 1;
    }

    /// Appends the requests of a block; `at_ns` returns the arrival of each by its length.
    fn transfer(
        &self,
        slot: u64,
        op: Op,
        mut at_ns: impl FnMut(u32) -> u64,
        into: &mut Vec<Request>,
    ) {
        let block_bytes = self.config.block_bytes();
        let mut done_bytes = 0;
        while done_bytes < block_bytes {
            let rest_bytes = block_bytes - done_bytes;
            let bytes = rest_bytes.min(self.config.request_bytes.into()) as u32;
            let lba = (slot * block_bytes + done_bytes) / SECTOR_BYTES;
            let arrival = Time::from_ns(at_ns(bytes));
            into.push(Request { arrival, op, lba, bytes, fua: false });
            done_bytes += u64::from(bytes);
        }
    }
}
