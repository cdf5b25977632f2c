//! The generator `kv-cache`: prompts, and what a tier of flash has to do for them.

use reprieve_base::{Dur, Op, Request};
use reprieve_trace::{
    KvChats, KvConfig, KvLookup, KvPlan, KvPrompts, KvStore, KvTier, KvTierConfig, Prompt, Served,
    Workload, WorkloadConfig,
};

use crate::compression::zstd;
use crate::files::TestFile;

/// Blocks of 4 tokens and 4 KiB, each of two requests that the throttle sends 500 µs apart; DRAM
/// has room for two blocks.
fn tier() -> KvTierConfig {
    KvTierConfig {
        bytes_per_token: 1024,
        block_tokens: 4,
        request_bytes: 2048,
        dram_bytes: 2 * 4096,
        store: KvStore::Evicted,
        store_bytes_per_s: Some(4_096_000),
    }
}

fn prompt(at_us: u64, tokens: u64, blocks: &[u64]) -> Prompt {
    Prompt { at_ns: at_us * 1000, tokens, blocks: blocks.to_vec() }
}

/// Computed tokens, blocks in DRAM and in flash, stored and dropped; then requests as µs, R or W,
/// and first sector.
fn serve(tier: &mut KvTier, prompt: &Prompt) -> ([u64; 5], Vec<(u64, char, u64)>) {
    let mut requests = Vec::new();
    let KvLookup { computed_tokens, dram_blocks, flash_blocks, stored_blocks, dropped_blocks } =
        tier.serve(prompt, &mut requests);
    let shown = |request: &Request| {
        assert_eq!(request.bytes, 2048);
        let letter = if request.op == Op::Read { 'R' } else { 'W' };
        (request.arrival.ns() / 1000, letter, request.lba)
    };
    let counts = [computed_tokens, dram_blocks, flash_blocks, stored_blocks, dropped_blocks];
    (counts, requests.iter().map(shown).collect())
}

#[test]
fn seven_prompts_by_hand_to_the_sector_and_the_microsecond() {
    let mut tier = KvTier::new(tier(), 3 * 4096).expect("three slots");
    let mut next = |at_us, tokens, blocks: &[u64]| serve(&mut tier, &prompt(at_us, tokens, blocks));
    // Of three whole blocks the last leaves DRAM first; the partial one is nowhere.
    let first = next(0, 14, &[1, 2, 3, 9]);
    assert_eq!(first, ([14, 0, 0, 1, 0], vec![(0, 'W', 0), (500, 'W', 4)]));
    // The last token is computed, and with it its block.
    assert_eq!(next(600, 8, &[1, 2]), ([4, 1, 0, 0, 0], vec![]));
    let loaded = next(700, 13, &[1, 2, 3, 4]);
    assert_eq!(loaded, ([1, 2, 1, 0, 0], vec![(700, 'R', 0), (700, 'R', 4)]));
    // Blocks 2 and 1 leave DRAM, and wait for the throttle, which is free at 1000 µs.
    let writes = vec![(1000, 'W', 8), (1500, 'W', 12), (2000, 'W', 16), (2500, 'W', 20)];
    assert_eq!(next(800, 8, &[5, 6]), ([8, 0, 0, 2, 0], writes));
    // 2.1 ms of writes wait, 8,601 bytes, and DRAM has 8,192: neither 6 nor 5 is stored.
    assert_eq!(next(900, 8, &[7, 8]), ([8, 0, 0, 0, 2], vec![]));
    // Block 2 is stored; 8 takes the slot of 3, which has gone unused for longest.
    let replaced = vec![(1600, 'R', 8), (1600, 'R', 12), (3000, 'W', 0), (3500, 'W', 4)];
    assert_eq!(next(1600, 5, &[2, 10]), ([1, 0, 1, 1, 0], replaced));
    // Of block 1 the last write has not been sent: it is still in DRAM.
    let staged = next(1700, 5, &[1]);
    assert_eq!(staged.0[..3], [1, 1, 0]);
}

#[test]
fn computed_blocks_are_stored_at_once_and_read_back_when_nothing_is_in_dram() {
    let config =
        KvTierConfig { dram_bytes: 0, store: KvStore::Computed, store_bytes_per_s: None, ..tier() };
    let mut tier = KvTier::new(config, 2 * 4096 + 4095).expect("two slots");
    let written = serve(&mut tier, &prompt(5, 9, &[1, 2, 3]));
    let writes = vec![(5, 'W', 0), (5, 'W', 4), (5, 'W', 8), (5, 'W', 12)];
    assert_eq!(written, ([9, 0, 0, 2, 0], writes));
    let read = serve(&mut tier, &prompt(6, 9, &[1, 2, 3]));
    assert_eq!(read.0, [1, 0, 2, 0, 0]);
    // 4 takes the slot of 1, without which 2 is no prefix; then 1 that of 2, and 2 that of 4.
    assert_eq!(serve(&mut tier, &prompt(7, 4, &[4])).1, [(7, 'W', 0), (7, 'W', 4)]);
    let again = vec![(8, 'W', 8), (8, 'W', 12), (8, 'W', 0), (8, 'W', 4)];
    assert_eq!(serve(&mut tier, &prompt(8, 9, &[1, 2, 3])), ([9, 0, 0, 2, 0], again));
}

#[test]
fn a_block_must_fit_into_the_drive() {
    let error = KvTier::new(tier(), 4095).expect_err("no slot").to_string();
    assert_eq!(
        error,
        "workload.kv_block_tokens = 4: a block of 4096 bytes is longer than the drive of 4095; \
         must be fewer tokens"
    );
}

fn config(prompts: KvPrompts) -> KvConfig {
    KvConfig { prompts_max: u64::MAX, prompts, time_scale: 0.5, tier: tier() }
}

fn trace(content: &[u8]) -> (TestFile, KvConfig) {
    let file = TestFile::new("prompts", content);
    let path = file.0.to_str().expect("UTF-8").to_owned();
    (file, config(KvPrompts::Trace(path)))
}

/// The prompts served, and each request's arrival in µs, letter and prompt.
fn plan(content: &[u8]) -> (Vec<Served>, Vec<(u64, char, u64)>) {
    let (_file, config) = trace(content);
    let mut plan = KvPlan::open(&config, 1 << 20, 1).expect("a good trace");
    let mut found = Vec::new();
    while let Some((request, number)) = plan.next_request().expect("good rows") {
        let letter = if request.op == Op::Read { 'R' } else { 'W' };
        found.push((request.arrival.ns() / 1000, letter, number));
    }
    (plan.take_served(), found)
}

const MOONCAKE: &str = "\
    {\"timestamp\": 7, \"input_length\": 13, \"output_length\": 2, \"hash_ids\": [0, 1, 2, 3]}\n\
    {\"timestamp\": 8, \"input_length\": 13, \"hash_ids\": [0, 1, 2, 4]}\n";

#[test]
fn the_requests_of_a_trace_of_mooncake_come_in_order_of_arrival() {
    // Scaled by a half: the second prompt arrives at 500 µs, with the second write of the first.
    let (served, requests) = plan(MOONCAKE.as_bytes());
    assert_eq!(requests, [(0, 'W', 0), (500, 'W', 0), (500, 'R', 1), (500, 'R', 1)]);
    let found: Vec<_> = served.iter().map(|one| (one.at_ns, one.tokens)).collect();
    assert_eq!(found, [(0, 13), (500_000, 13)]);
    assert_eq!(plan(&zstd(MOONCAKE)), (served, requests));
}

#[test]
fn no_prompt_of_a_trace_of_azure_shares_a_block() {
    // 2024 is a leap year: 48 hours from the 28th of February to the 1st of March.
    let rows = b"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-28 23:59:59.5000000,9,1\r\n\
        2024-03-01 23:59:59.500001+00:00,9,44\n";
    let (served, requests) = plan(rows);
    assert_eq!(served[1].at_ns, (48 * 3600 * 1_000_000_000 + 1000) / 2);
    assert!(served.iter().all(|one| one.lookup.computed_tokens == 9));
    // Four whole blocks, of which two are in DRAM at the end.
    assert!(requests.len() == 4 && requests.iter().all(|request| request.1 == 'W'));
}

/// The error of a trace, without its path.
fn error_of(content: &[u8]) -> String {
    let (file, config) = trace(content);
    let read = || -> Result<(), reprieve_base::UserError> {
        let mut workload = Workload::open(&WorkloadConfig::Kv(Box::new(config)), 1 << 20, 1)?;
        while workload.next_request()?.is_some() {}
        Ok(())
    };
    let error = read().expect_err("the trace is wrong").to_string();
    error.replace(file.0.to_str().expect("UTF-8"), "FILE")
}

#[test]
fn wrong_rows_are_named_with_what_would_be_right() {
    let row = "must be a JSON object with timestamp in ms, input_length in tokens, from 1 to \
        16777216, and hash_ids, a whole number for each block";
    let cut = format!("{MOONCAKE}{{\"timestamp\": 9, \"input_length\": 13, \"hash_i");
    assert_eq!(
        error_of(cut.as_bytes()),
        format!("FILE:3: `{{\"timestamp\": 9, \"input_length\": 13, \"hash_i`: {row}")
    );
    assert_eq!(
        error_of(b"time,tokens\n"),
        format!(
            "FILE:1: `time,tokens`: {row}; or the heading TIMESTAMP,ContextTokens,GeneratedTokens"
        )
    );
    assert_eq!(error_of(b"\n"), format!("FILE: has no prompt; {row}"));
    let back = b"{\"timestamp\": 7, \"input_length\": 3, \"hash_ids\": [0]}\n\
        {\"timestamp\": 6.5, \"input_length\": 3, \"hash_ids\": [0]}\n";
    assert_eq!(
        error_of(back),
        "FILE:2: `{\"timestamp\": 6.5, \"input_length\": 3, \"hash_ids\": [0]}`: is earlier than \
         the row before; rows must be in order of time"
    );
    assert_eq!(
        error_of(b"{\"timestamp\": 7, \"input_length\": 1024, \"hash_ids\": [0, 1]}"),
        "FILE:1: `{\"timestamp\": 7, \"input_length\": 1024, \"hash_ids\": [0, 1]}`: has 2 \
         hash_ids, and 1024 tokens are 256 blocks of workload.kv_block_tokens = 4; must be as \
         many (Mooncake's blocks have 512)"
    );
    let azure = b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 25:17:03.9799600,4808,10\n";
    assert_eq!(
        error_of(azure),
        "FILE:2: `2023-11-16 25:17:03.9799600,4808,10`: must be a time such as 2023-11-16 \
         18:17:03.9799600, context tokens from 1 to 16777216, and generated tokens"
    );
}

#[test]
fn conversations_have_the_means_that_their_keys_say() {
    let chats = KvChats {
        rate_per_s: 50.0,
        turns: 4.0,
        prompt_tokens: 10_000.0,
        turn_tokens: 100.0,
        think: Dur::from_us(2000),
    };
    let mut config = KvConfig { prompts_max: 20_000, ..config(KvPrompts::Chats(chats)) };
    (config.time_scale, config.tier.block_tokens, config.tier.dram_bytes) = (1.0, 100, 1 << 50);
    let mut plan = KvPlan::open(&config, 1 << 40, 3).expect("conversations");
    while plan.next_request().expect("no trace").is_some() {}
    let served = plan.take_served();
    let count = served.len() as f64;
    assert!(count == 20_000.0);
    let span_s = served[served.len() - 1].at_ns as f64 / 1e9;
    // Within four standard errors: the number of prompts of a conversation, of which there are
    // 5,000, has a mean of 4 and a variance of 12.
    let (turns, conversations): (f64, f64) = (4.0, 5e3);
    let relative = ((12.0 + turns * turns) / conversations).sqrt() / turns;
    assert!((count / span_s / 50.0 - 1.0).abs() < 4.0 * relative, "{span_s} s");
    // A conversation shares only its first block with others; few prompts have no other.
    let begins = |one: &&Served| one.lookup.dram_blocks <= 1;
    let first: Vec<f64> = served.iter().filter(begins).map(|one| one.tokens as f64).collect();
    let mean = count / first.len() as f64;
    assert!((mean - turns).abs() < 4.0 * (12.0 / conversations).sqrt(), "{mean}");
    // The lognormal distribution of σ = 1.26 has a deviation of 1.97 means, and its median is
    // exp(-σ²/2) of the mean.
    let deviations = 4.0 / (first.len() as f64).sqrt();
    let mean = first.iter().sum::<f64>() / first.len() as f64;
    assert!((mean / 10_000.0 - 1.0).abs() < 1.97 * deviations, "{mean}");
    let below = first.iter().filter(|tokens| **tokens <= 4521.0).count() as f64;
    let share = below / first.len() as f64;
    assert!((share - 0.5).abs() < 0.5 * deviations, "{share}");
}
