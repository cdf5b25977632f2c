"""The cache of an LLM server: its planner beside a second one, runs, devices, the example."""

from __future__ import annotations

import importlib.util
import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve._native import kv_plan
from reprieve.cli import main
from reprieve.kv_cache import Loaded

ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {
    "device": "fast12-slc",
    "geometry": {"channels": 2, "dies_per_channel": 1, "planes_per_die": 2,
                 "blocks_per_plane": 24, "pages_per_block": 16},
    "ftl": {"over_provisioning": 0.4},
}  # fmt: skip
# 1,000 tokens of 8 bytes are 2 blocks of 512 tokens and 4,096 bytes.
SIZES: dict[str, Any] = {"bytes_per_token": 8, "dram_bytes": 5 * 4096, "request_bytes": 4096}


class Second:
    """The two tiers again, from their description: blocks by last use, nothing throttled."""

    def __init__(self, dram: int, slots: int, computed: bool) -> None:
        self.dram = OrderedDict[int, None]()
        self.flash = OrderedDict[int, int]()
        self.sizes = dram, slots
        self.computed = computed

    def store(self, block: int) -> list[tuple[str, int]]:
        if block in self.flash:
            return []
        slot = len(self.flash)
        if slot == self.sizes[1]:
            slot = self.flash.popitem(last=False)[1]
        self.flash[block] = slot
        return [("write", slot)]

    def serve(self, tokens: int, blocks: list[int]) -> tuple[int, list[tuple[str, int]]]:
        """Return the tokens to compute, and the reads and writes of slots."""
        whole = blocks[: tokens // 512]
        done = list[tuple[str, int]]()
        reused = 0
        for block in whole[: (tokens - 1) // 512]:
            if block not in self.dram and block not in self.flash:
                break
            if block not in self.dram:
                self.flash.move_to_end(block)
                done.append(("read", self.flash[block]))
            reused += 1
        for block in whole[reused:] if self.computed else []:
            done += self.store(block)
        for block in reversed(whole):
            self.dram[block] = None
            self.dram.move_to_end(block)
        while len(self.dram) > self.sizes[0]:
            done += self.store(self.dram.popitem(last=False)[0])
        return tokens - 512 * reused, done


@pytest.mark.parametrize("store", ["evicted", "computed"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_load_is_planned_as_by_a_second_program(
    tmp_path: Path, store: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    drive = rp.Drive(SMALL)
    slots = drive.capacity_bytes // 4096
    second = Second(5, slots, store == "computed")
    rows, expected, computed = list[dict[str, Any]](), [], []
    for number in range(400):
        # Prefixes of a tree: the child of a block has a number that its parents settle.
        blocks, block = [], 0
        for _ in range(int(random.integers(1, 12))):
            block = 1 + (block * 3 + int(random.integers(3))) % 2000
            blocks.append(block)
        tokens = 512 * len(blocks) - int(random.integers(2)) * 100
        rows.append({"timestamp": number, "input_length": tokens, "hash_ids": blocks})
        to_compute, done = second.serve(tokens, blocks)
        computed.append(to_compute)
        expected += [(number * 1_000_000, op, slot * 8, 4096) for op, slot in done]
    assert sum(one[1] == "write" for one in expected) > slots, "the drive must evict"
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    load = {"generator": "kv-cache", "requests": 1000, "kv_prompts": "trace", "kv_store": store}
    load |= {"kv_trace": str(trace), **{f"kv_{name}": value for name, value in SIZES.items()}}
    result = rp.run({**SMALL, "workload": load}, requests=True)
    order = np.argsort(result.column("id"))
    columns = (result.column(name)[order] for name in ("arrival_ns", "op", "lba", "bytes"))
    assert [tuple(row) for row in zip(*(c.tolist() for c in columns), strict=True)] == expected
    prompts = rp.Prompts.of(result)
    assert prompts.computed_tokens.tolist() == computed
    # And the class on a drive, prompt by prompt.
    cache = rp.KvCache(drive, **{**SIZES, "store": store})
    for number, row in enumerate(rows):
        found = cache.request(number * 1_000_000, row["input_length"], row["hash_ids"])
        assert found.computed_tokens == computed[number]
    again = cache.run()
    for name in vars(prompts):
        assert (getattr(again, name) == getattr(prompts, name)).all(), name


def test_three_prompts_by_hand_to_the_nanosecond() -> None:
    """A page of 2 KiB is sensed in 8 us, and crosses the bus in 20.48 and the link in 1.024.

    The drive's test has 32,048 ns for two pages on two channels; blocks here have two pages.
    """
    drive = rp.Drive({"device": "fast12-slc"})
    cache = rp.KvCache(drive, dram_bytes=4096, bytes_per_token=8, request_bytes=4096)
    assert cache.request(0, 1100, [1, 2]) == (0, 1100, 0, 0, 1, 0)
    assert cache.poll() == [Loaded(0, 0)]
    # Block 2 went to flash, 1 is in DRAM.
    assert cache.request(1_000_000, 1100, [1, 2]) == (1, 76, 1, 1, 0, 0)
    assert cache.poll() == []
    while (at_ns := drive.next()) is not None:
        drive.advance(at_ns)
    assert cache.poll() == [Loaded(1, 1_032_048)]
    assert cache.request(2_000_000, 600, [7]) == (2, 600, 0, 0, 1, 0)
    prompts = cache.run()
    assert prompts.load_ns().tolist() == [32_048]
    # At 1 GHz a token takes 1 ns; a server of a token in 10 us is still at the first prompt.
    assert prompts.first_token_ns(1e9).tolist() == [1100, 32_124, 600]
    slow = [11_000_000, 11_760_000 - 1_000_000, 17_760_000 - 2_000_000]
    assert prompts.first_token_ns(1e5).tolist() == slow
    two = [11_000_000, 32_048 + 760_000, 6_000_000]
    assert prompts.first_token_ns(1e5, servers=2).tolist() == two
    assert prompts.first_token_ns(1e5, servers=None).tolist() == two


def test_an_array_loads_what_a_drive_does_and_sooner() -> None:
    array = rp.Array(SMALL, drives=4, chunk_bytes=4096)
    single = rp.Array(SMALL, drives=1, chunk_bytes=4096)
    found = []
    for device in (array, single, rp.Drive(SMALL)):
        cache = rp.KvCache(device, **{**SIZES, "dram_bytes": 0})
        cache.request(0, 5000, range(9))
        cache.request(50_000_000, 5000, range(9))
        found.append(cache.run())
    assert [prompts.flash_blocks.tolist() for prompts in found] == [[0, 9]] * 3
    assert found[0].load_ns()[0] < found[1].load_ns()[0]
    assert (found[1].load_ns() == found[2].load_ns()).all()


def test_conversations_are_those_of_their_seed() -> None:
    load = {"generator": "kv-cache", "requests": 30, "kv_dram_bytes": 1 << 20}
    scenario = rp.Scenario(device="fast12-slc", workload=load)
    plans = [kv_plan(scenario.replace(seed=seed).resolve().to_toml(), "", []) for seed in (1, 1, 2)]
    assert plans[0][0] == plans[1][0] != plans[2][0]
    assert len(plans[0][0]) == 30


def test_a_truncated_trace_is_an_error_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"timestamp": 0, "input_length": 5, "hash_ids": [1]}\n{"timestamp": 3, "inp')
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'device = "fast12-slc"\n[workload]\ngenerator = "kv-cache"\nrequests = 9\n'
        'kv_prompts = "trace"\nkv_trace = "trace.jsonl"\nkv_dram_bytes = 0\n'
    )
    assert main(["run", str(scenario), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert f'{trace}:2: `{{"timestamp": 3, "inp`: must be a JSON object with timestamp in' in told


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ({"dram_bytes": -1}, "dram_bytes = -1: must be from 0 to 1152921504606846976"),
        ({"dram_bytes": "1 GiB"}, "dram_bytes = '1 GiB': must be a whole number"),
        ({"store_bytes_per_s": 1.5}, "store_bytes_per_s = 1.5: must be a whole number"),
        ({"request_bytes": 700}, "request_bytes = 700: must be a multiple of 512"),
        ({"store": "never"}, 'store = "never": must be one of "evicted", "computed"'),
        ({"block_tokens": 1 << 20, "bytes_per_token": 1 << 30}, "block_tokens = 1048576: a block"),
        ({"dram_bytes": 0, "bytes_per_token": 1 << 30}, "block_tokens = "),
    ],
)
def test_wrong_arguments_are_named(call: dict[str, Any], sentence: str) -> None:
    with pytest.raises(rp.UserError) as caught:
        rp.KvCache(rp.Drive(SMALL), **{**SIZES, **call})
    assert str(caught.value).startswith(sentence)


def test_prompts_out_of_order_and_other_runs_are_refused() -> None:
    cache = rp.KvCache(rp.Drive(SMALL), **SIZES)
    cache.request(5, 600, [1])
    with pytest.raises(rp.UserError, match="at_ns = 4: must not be before the last prompt, 5"):
        cache.request(4, 600, [1])
    with pytest.raises(rp.UserError, match="tokens = 0: must be from 1"):
        cache.request(9, 0)
    for block, what in ((-3, "must be from 0 to 18446744073709551615"), (0.5, "must be a whole")):
        with pytest.raises(rp.UserError, match=f"a block = {block}: {what}"):
            cache.request(9, 600, [block])  # type: ignore[list-item]
    # A prompt without blocks never reaches the drive, which refuses such a time.
    with pytest.raises(rp.UserError, match=f"at_ns = {1 << 63}: must be from 0 to"):
        cache.request(1 << 63, 5)
    prompts = cache.run()
    with pytest.raises(rp.UserError, match=r"tokens_per_s = 0.0, servers = 1: must be a positive"):
        prompts.first_token_ns(0)
    with pytest.raises(rp.UserError, match="tokens_per_s = 1e-300: must be more"):
        prompts.first_token_ns(1e-300)
    with pytest.raises(rp.UserError, match=r"servers = 1.5: must be a whole number"):
        prompts.first_token_ns(1e9, servers=1.5)  # type: ignore[arg-type]
    mixed = {"generator": "mixed", "requests": 9, "read_fraction": 1, "queue_depth": 1}
    with pytest.raises(rp.UserError, match='generator: must be "kv-cache"'):
        rp.Prompts.of(rp.run({**SMALL, "workload": mixed}, requests=True))


def test_the_example_serves_as_the_formula_of_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("llm_server", ROOT / "examples/llm_server.py")
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    monkeypatch.setattr(program, "BYTES_PER_TOKEN", 256)
    first_token_ns, prompts = program.serve("fast12-slc")
    assert prompts.flash_blocks.sum() > 100
    # The example rounds each computation down, and the formula to the nearest.
    late_ns = prompts.first_token_ns(program.TOKENS_PER_S) - first_token_ns
    assert np.abs(late_ns).max() <= program.PROMPTS
