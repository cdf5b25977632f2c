"""Times to the first token of an LLM server whose cache of keys and values is on a drive.

    python examples/llm_server.py [DEVICE]

One prefill server takes prompts as their blocks are loaded, and computes the tokens that are not
cached. The drive and the server have one clock.
"""

import sys
from collections import deque

import numpy as np

import reprieve as rp

TOKENS_PER_S = 60_000
"""Rate of the prefill: a model of a billion parameters on one accelerator, assumed."""
BLOCK_TOKENS = 512
BYTES_PER_TOKEN = 32_768
TOPICS, PROMPTS, GAP_NS = 12, 150, 400_000_000


def prompt(number: int, random: np.random.Generator) -> tuple[int, list[int]]:
    """Return tokens and blocks of a prompt: a question about one of the documents."""
    topic = int(random.integers(TOPICS))
    shared = 8 + 4 * topic
    blocks = [topic * 1000 + block for block in range(shared)] + [1_000_000 + number]
    return BLOCK_TOKENS * len(blocks) + 100, blocks


def serve(device: str) -> tuple[np.ndarray, rp.Prompts]:
    """Return the times to first tokens in ns, and the prompts."""
    drive = rp.Drive({"device": device, "ftl": {"precondition": "sequential"}})
    cache = rp.KvCache(drive, dram_bytes=BYTES_PER_TOKEN << 15, bytes_per_token=BYTES_PER_TOKEN)
    random = np.random.default_rng(1)
    arrivals_ns = np.cumsum(random.exponential(GAP_NS, PROMPTS)).astype(int).tolist()
    to_compute, first_token_ns = dict[int, int](), np.zeros(PROMPTS, int)
    ready, free_ns, arrived = deque[int](), 0, 0
    while arrived < PROMPTS or to_compute:
        times = [arrivals_ns[arrived]] if arrived < PROMPTS else []
        times += [max(free_ns, drive.now_ns)] if ready else []
        # To the next arrival or free server, or until something is complete.
        now_ns = drive.run(until_ns=min(times, default=1 << 62))
        if arrived < PROMPTS and now_ns == arrivals_ns[arrived]:
            found = cache.request(now_ns, *prompt(arrived, random))
            to_compute[arrived] = found.computed_tokens
            arrived += 1
        ready.extend(loaded.number for loaded in cache.poll())
        if ready and free_ns <= now_ns:
            number = ready.popleft()
            free_ns = now_ns + to_compute.pop(number) * 1_000_000_000 // TOKENS_PER_S
            first_token_ns[number] = free_ns - arrivals_ns[number]
    return first_token_ns, cache.run()


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "pm9a3"
    first_token_ns, prompts = serve(name)
    p50, p95, p99 = np.percentile(first_token_ns, [50, 95, 99], method="inverted_cdf") / 1e6
    print(f"{name}: {prompts.flash_blocks.sum():,} blocks from flash, ", end="")
    print(f"time to first token {p50:,.0f} ms, p95 {p95:,.0f} ms, p99 {p99:,.0f} ms")
