"""A drive or an array under the cache of an LLM server, and the time to its first tokens."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve import words
from reprieve._native import Drive, KvTier, UserError, kv_plan
from reprieve.array import Array
from reprieve.result import Result

__all__ = ["KvCache", "Loaded", "Lookup", "Prompts"]

_SECTOR_BYTES = 512
_NS = 1_000_000_000
_LONGEST_NS = 1 << 61
# Smallest and largest values, as of the keys of a scenario.
_RANGES = {
    "bytes_per_token": (1, 1 << 30),
    "block_tokens": (1, 1 << 20),
    "request_bytes": (512, 1 << 30),
    "dram_bytes": (0, 1 << 60),
    "store_bytes_per_s": (1, 1 << 50),
}

Whole = NDArray[np.int64]
"""An entry a prompt."""


class Lookup(NamedTuple):
    """Where the blocks of a prompt were found."""

    number: int
    """Number of the prompt, from 0."""
    computed_tokens: int
    """Tokens whose keys and values must be computed, at least 1."""
    dram_blocks: int
    """Blocks of the reused prefix in DRAM."""
    flash_blocks: int
    """Blocks of the reused prefix that are loaded from flash."""
    stored_blocks: int
    """Blocks to be stored for this prompt."""
    dropped_blocks: int
    """Blocks not stored, because too many wait for the throttle."""


class Loaded(NamedTuple):
    """A prompt whose blocks are all in DRAM."""

    number: int
    at_ns: int
    """Completion of its last load; without loads its arrival."""


@dataclass(frozen=True)
class Prompts:
    """The prompts of a finished run, in order of arrival; times in ns."""

    arrival_ns: Whole
    """Arrival; shape (prompts,), as all of these."""
    loaded_ns: Whole
    """Completion of the last load; without loads the arrival."""
    tokens: Whole
    """Length of the prompt."""
    computed_tokens: Whole
    """Tokens whose keys and values are computed, at least 1."""
    dram_blocks: Whole
    """Blocks of the reused prefix in DRAM."""
    flash_blocks: Whole
    """Blocks of the reused prefix that are loaded from flash."""
    stored_blocks: Whole
    """Blocks to be stored for the prompt."""
    dropped_blocks: Whole
    """Blocks not stored, because too many wait for the throttle."""

    @classmethod
    def of(cls, result: Result) -> Prompts:
        """Return those of a run with the generator `kv-cache` that kept its requests.

        Raises UserError for another run, and for one that kept no log or not all requests.

        >>> load = {"generator": "kv-cache", "requests": 20, "kv_dram_bytes": 1 << 20}
        >>> load |= {"kv_bytes_per_token": 32, "kv_think_s": 1}
        >>> scenario = {"device": "fast12-slc", "workload": load}
        >>> prompts = rp.Prompts.of(rp.run(scenario, requests=True))
        >>> len(prompts.tokens), bool((prompts.loaded_ns >= prompts.arrival_ns).all())
        (20, True)
        """
        rows, numbers = kv_plan(result.scenario, "scenario.toml", [])
        ids, ends_ns = result.column("id"), result.column("completion_ns")
        if len(ids) != len(numbers):
            raise UserError(
                f"the run kept {len(ids)} of its {len(numbers)} requests; must be whole, and "
                "without [measure]"
            )
        arrival_ns = np.array([row[0] for row in rows], np.int64)
        loaded_ns = arrival_ns.copy()
        reads = result.column("op") == "read"
        np.maximum.at(loaded_ns, numbers[ids[reads]].astype(np.int64), ends_ns[reads])
        tokens = np.array([row[1] for row in rows], np.int64)
        return cls(arrival_ns, loaded_ns, tokens, *_columns([row[2] for row in rows]))

    def first_token_ns(self, tokens_per_s: float, servers: int | None = 1) -> Whole:
        """Return the time from each arrival to the first token.

        A prompt is computed once its blocks are loaded, by the first of `servers` that is free, at
        `tokens_per_s`; prompts wait in the order in which they are loaded. `servers=None`: none
        waits for another. Shape (prompts,), in ns.

        Raises UserError for a rate or a number of servers that is not positive.

        >>> import numpy as np
        >>> one = np.array([0, 10])
        >>> prompts = rp.Prompts(one, one + 5, *[one + 100] * 2, *[one] * 4)
        >>> prompts.first_token_ns(1e9), prompts.first_token_ns(1e9, servers=None)
        (array([105, 205]), array([105, 115]))
        """
        tokens_per_s = words.real("tokens_per_s", tokens_per_s)
        servers = None if servers is None else words.whole("servers", servers)
        if not 0 < tokens_per_s < np.inf or servers == 0:
            what = "must be a positive number of tokens a second, and one server or more"
            raise UserError(f"tokens_per_s = {tokens_per_s}, servers = {servers}: {what}")
        each_ns = self.computed_tokens * (_NS / tokens_per_s)
        if each_ns.sum() > _LONGEST_NS:
            raise UserError(f"tokens_per_s = {tokens_per_s}: must be more, or it takes centuries")
        compute_ns = np.rint(each_ns).astype(np.int64)
        if servers is None:
            alone: Whole = self.loaded_ns + compute_ns - self.arrival_ns
            return alone
        found: Whole = np.empty_like(compute_ns)
        free_ns = [0] * servers
        for number in np.argsort(self.loaded_ns, kind="stable"):
            begin_ns = max(int(self.loaded_ns[number]), heapq.heappop(free_ns))
            heapq.heappush(free_ns, begin_ns + int(compute_ns[number]))
            found[number] = begin_ns + compute_ns[number] - self.arrival_ns[number]
        return found

    def load_ns(self) -> Whole:
        """Return the time from arrival to the last load of the prompts that have loads."""
        all_ns: Whole = self.loaded_ns - self.arrival_ns
        loads: Whole = all_ns[self.flash_blocks > 0]
        return loads


class KvCache:
    """The cache of an LLM server in DRAM and on a drive or an array, for an inference simulator.

    `device`: an `rp.Drive` or `rp.Array`, which nothing else uses.
    `dram_bytes`: the size of the tier in DRAM, which keeps the blocks used last.
    `bytes_per_token`: keys and values of a token; by default those of Llama 3 8B.
    `block_tokens`: the tokens of a block.
    `request_bytes`: the length of the device's requests, a multiple of 512.
    `store`: "evicted", when a block leaves DRAM, or "computed", also with the prompt that computes
    it.
    `store_bytes_per_s`: the rate at which blocks are stored; None: all at once.

    Raises UserError if an argument is wrong, and so does each method.

    >>> drive = rp.Drive({"device": "fast12-slc"})
    >>> cache = rp.KvCache(drive, dram_bytes=8192, bytes_per_token=8)
    >>> first = cache.request(0, tokens=2000, blocks=[1, 2, 3])
    >>> again = cache.request(10_000_000, tokens=2000, blocks=[1, 2, 4])
    >>> first.computed_tokens, again.computed_tokens, again.dram_blocks, again.flash_blocks
    (2000, 976, 2, 0)
    >>> third = cache.request(20_000_000, tokens=1537, blocks=[1, 2, 3])
    >>> third.flash_blocks, cache.run().load_ns()
    (1, array([32048]))
    """

    def __init__(
        self,
        device: Drive | Array,
        *,
        dram_bytes: int,
        bytes_per_token: int = 131_072,
        block_tokens: int = 512,
        request_bytes: int = 131_072,
        store: Literal["evicted", "computed"] = "evicted",
        store_bytes_per_s: int | None = None,
    ) -> None:
        whole = {
            "dram_bytes": dram_bytes,
            "bytes_per_token": bytes_per_token,
            "block_tokens": block_tokens,
            "request_bytes": request_bytes,
            "store_bytes_per_s": store_bytes_per_s,
        }
        whole = {
            name: value
            if value is None and name == "store_bytes_per_s"
            else words.whole(name, value, *_RANGES[name])
            for name, value in whole.items()
        }
        if request_bytes % _SECTOR_BYTES:
            raise UserError(f"request_bytes = {request_bytes}: must be a multiple of 512")
        if block_tokens * bytes_per_token > device.capacity_bytes:
            raise UserError(f"block_tokens = {block_tokens}: a block must fit into the device")
        self.device = device
        self._tier = KvTier({**whole, "store": store}, device.capacity_bytes)
        self._rows = list[tuple[int, int, tuple[int, ...]]]()
        self._loaded_ns = list[int]()
        self._open_loads = list[int]()
        self._new = list[Loaded]()
        # The prompts of a drive's reads by tag; of an array's requests in order of submission.
        self._tags = dict[int, int]()
        self._waiting = list[tuple[int, bool, int, int, int]]()

    def request(self, at_ns: int, tokens: int, blocks: Sequence[int] = ()) -> Lookup:
        """Take a prompt, and have the device load and store what it needs; return what is reused.

        `at_ns`: its arrival, no earlier than that of the prompt before, nor than the device's time.
        `tokens`: its length, at least 1.
        `blocks`: a number for each block of its tokens, equal for equal prefixes; a partial last
        one is not cached, nor are tokens without a block.
        """
        tokens = words.whole("tokens", tokens, 1, 1 << 40)
        if (at_ns := words.whole("at_ns", at_ns, 0, _LONGEST_NS)) < self.device.now_ns:
            now = f"the device's time, {self.device.now_ns}"
            raise UserError(f"at_ns = {at_ns}: must not be before {now}")
        blocks = [words.whole("a block", block, 0, (1 << 64) - 1) for block in blocks]
        number = len(self._rows)
        found, transfers = self._tier.serve(at_ns, tokens, blocks)
        self._rows.append((at_ns, tokens, found))
        self._loaded_ns.append(at_ns)
        self._open_loads.append(sum(not transfer[0] for transfer in transfers))
        if not self._open_loads[number]:
            self._new.append(Loaded(number, at_ns))
        for is_write, offset, length, sent_ns in transfers:
            if isinstance(self.device, Array):
                self._waiting.append((number, is_write, offset, length, sent_ns))
                continue
            op: Literal["read", "write"] = "write" if is_write else "read"
            tag = self.device.submit(op, offset // _SECTOR_BYTES, length, at_ns=sent_ns)
            if not is_write:
                self._tags[tag] = number
        return Lookup(number, *found)

    def poll(self) -> list[Loaded]:
        """Take the prompts whose blocks have been loaded since the last call.

        A drive is advanced by its `next` and `advance`, or `run`; an array only by this `run`.
        """
        if isinstance(self.device, Drive):
            for done in self.device.poll():
                if (number := self._tags.pop(done.tag, None)) is not None:
                    self._complete(number, done.completion_ns)
        new, self._new = self._new, []
        return new

    def run(self) -> Prompts:
        """Run the device until all its requests are complete; return the prompts so far."""
        if isinstance(self.device, Drive):
            self._new = self.poll()
            if self.device.open_requests:
                self.device.run(1 << 62, self.device.open_requests)
        elif self._waiting:
            numbers, writes, offsets, lengths, sent_ns = zip(*self._waiting, strict=True)
            self.device.submit(sent_ns, write=writes, offset=offsets, bytes=lengths)
            ends_ns = self.device.run().array("completion_ns").tolist()
            self._waiting = []
            for number, is_write, end_ns in zip(numbers, writes, ends_ns, strict=True):
                if not is_write:
                    self._complete(number, end_ns)
        self._new = self.poll()
        arrival_ns, tokens, found = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        times = (np.array(column, np.int64) for column in (arrival_ns, self._loaded_ns, tokens))
        return Prompts(*times, *_columns(found))

    def _complete(self, number: int, at_ns: int) -> None:
        self._loaded_ns[number] = max(self._loaded_ns[number], at_ns)
        self._open_loads[number] -= 1
        if not self._open_loads[number]:
            self._new.append(Loaded(number, self._loaded_ns[number]))


def _columns(found: Sequence[tuple[int, ...]]) -> tuple[Whole, ...]:
    """Return a column for each field of lookups, which may be none."""
    return tuple(np.array(found, np.int64).reshape(-1, len(fields(Prompts)) - 3).T)
