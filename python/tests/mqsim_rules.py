"""A second simulation of MQSim, from the table of docs/model/against-mqsim.md alone.

One die a chip, one plane a die, no cache, no garbage collection, suspension or multi-plane command.
Times are in nanoseconds.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

CHANNELS, CHIPS = 8, 4
SECTOR_BYTES = 512
READ_COMMAND_NS, SENSE_NS = 290, 75_020
PROGRAM_COMMAND_NS, PROGRAM_NS = 361, 750_000
BYTE_NS = 3  # 6 ns for two bytes
# Messages of the link: doorbell, request for an entry or for data, entry, completion.
DOORBELL_NS, ASK_NS, ENTRY_NS, COMPLETION_NS = 8, 8, 25, 11
PACKET_BYTES, PACKET_MORE_BYTES, LINK_BYTES_PER_NS = 128, 28, 4


@dataclass
class Request:
    """A request of the host: where, how long, and how far it has come."""

    is_read: bool
    sector: int
    sectors: int
    arrival: int = 0
    #: When the drive asked for it.
    fetched: int = 0
    completion: int = 0
    pages_left: int = 0


@dataclass
class Page:
    """A page of a request, or the old page that a write has to read first."""

    request: Request
    bytes: int
    #: The write that waits for this read.
    reads_for: Page | None = None
    #: Write: its old page is read, or there is nothing to read.
    ready: bool = True


@dataclass
class Chip:
    """Queue of a chip, and whether it is busy."""

    reads: deque[Page] = field(default_factory=deque)
    writes: list[Page] = field(default_factory=list)
    busy: bool = False


@dataclass
class Channel:
    """Its chips, the pages that are sensed, and which chip's turn it is."""

    chips: list[Chip] = field(default_factory=lambda: [Chip() for _ in range(CHIPS)])
    leaving: deque[tuple[int, Page]] = field(default_factory=deque)
    turn: int = 0
    busy: bool = False


def link_ns(size_bytes: int) -> int:
    """Time of so much data on the link, in packets."""
    packets = -(-size_bytes // PACKET_BYTES)
    return -(-(size_bytes + packets * PACKET_MORE_BYTES) // LINK_BYTES_PER_NS)


class Mqsim:
    """The drive and a closed loop around it, or requests that arrive at their own times."""

    def __init__(
        self, page_sectors: int, *, whole_pages_in: bool, fetch_limit: int | None = None
    ) -> None:
        self.page_sectors = page_sectors
        self.whole_pages_in = whole_pages_in
        self.channels = [Channel() for _ in range(CHANNELS)]
        self.to_drive = self.to_host = 0
        #: Of each page that was accessed, its sectors that are held, a bit each.
        self.held: dict[int, int] = {}
        self.reads_first = 0
        self.events: list[tuple[int, int, Callable[[int], None]]] = []
        self.scheduled = 0
        self.rest: Iterator[Request] = iter(())
        #: Requests that the drive has asked for at most, those it has, and those that wait.
        self.fetch_limit, self.fetched = fetch_limit, 0
        self.waiting: deque[Request] = deque()

    def run_open(self, requests: list[Request]) -> None:
        """Let all requests come at their arrivals and complete."""
        for request in requests:
            self.at(request.arrival, partial(self.arrive, request=request))
        self.go()

    def arrive(self, now: int, request: Request) -> None:
        """Have a request wait until the drive fetches it."""
        self.waiting.append(request)
        self.fetch(now)

    def fetch(self, now: int) -> None:
        while self.waiting and (self.fetch_limit is None or self.fetched < self.fetch_limit):
            self.fetched += 1
            self.send(now, self.waiting.popleft())

    def go(self) -> None:
        while self.events:
            now, _, happens = heapq.heappop(self.events)
            happens(now)

    def run(self, requests: list[Request], queue_depth: int) -> None:
        """Let all requests complete, so many at a time."""
        self.rest = iter(requests)
        for _ in range(queue_depth):
            self.send_next(0)
        self.go()

    def at(self, time: int, happens: Callable[[int], None]) -> None:
        self.scheduled += 1
        heapq.heappush(self.events, (time, self.scheduled, happens))

    def send_next(self, now: int) -> None:
        """Send the next request of a closed loop, if there is one."""
        request = next(self.rest, None)
        if request is None:
            return
        request.arrival = now
        self.send(now + DOORBELL_NS, request)

    def send(self, now: int, request: Request) -> None:
        """Send a request: entry, and the data of a write."""
        request.fetched = now
        self.to_host = max(self.to_host, now) + ASK_NS
        self.to_drive = max(self.to_drive, self.to_host) + ENTRY_NS
        if not request.is_read:
            self.to_host = max(self.to_host, self.to_drive) + ASK_NS
            data = link_ns(request.sectors * SECTOR_BYTES)
            self.to_drive = max(self.to_drive, self.to_host) + data
        self.at(self.to_drive, lambda now: self.split(now, request))

    def split(self, now: int, request: Request) -> None:
        """Cut a request at page borders and queue its pages at their chips."""
        size, end = self.page_sectors, request.sector + request.sectors
        numbers = range(request.sector // size, (end - 1) // size + 1)
        request.pages_left = len(numbers)
        for number in numbers:
            first = max(request.sector - number * size, 0)
            last = min(end - number * size, size)
            mask = (1 << last) - (1 << first)
            page = Page(request, (last - first) * SECTOR_BYTES)
            chip = self.channels[number % CHANNELS].chips[number // CHANNELS % CHIPS]
            if request.is_read:
                self.held.setdefault(number, mask)
                chip.reads.append(page)
            else:
                self.queue_write(chip, page, number, mask)
        for channel in {number % CHANNELS for number in numbers}:
            self.go_on(now, self.channels[channel])

    def queue_write(self, chip: Chip, page: Page, number: int, mask: int) -> None:
        """Queue a write, and before it the read of what the page holds and the write leaves."""
        held = self.held.get(number, 0)
        self.held[number] = held | mask
        left = held & ~mask
        if left:
            self.reads_first += 1
            page.ready = False
            size_bytes = left.bit_count() * SECTOR_BYTES
            chip.reads.append(Page(page.request, size_bytes, reads_for=page))
        chip.writes.append(page)

    def go_on(self, now: int, channel: Channel) -> None:
        """Give a free channel to a page that leaves, else to the next chip with something to do."""
        if channel.busy:
            return
        if channel.leaving:
            chip, page = channel.leaving.popleft()
            channel.busy = True
            self.at(now + page.bytes * BYTE_NS, lambda now: self.left(now, channel, chip, page))
            return
        for step in range(CHIPS):
            number = (channel.turn + step) % CHIPS
            if self.begin(now, channel, number):
                channel.turn = (number + 1) % CHIPS
                return

    def begin(self, now: int, channel: Channel, number: int) -> bool:
        """Begin a chip's next read, else its next write that is ready; false if it has none."""
        chip = channel.chips[number]
        write = next((page for page in chip.writes if page.ready), None)
        if chip.busy or not (chip.reads or write):
            return False
        chip.busy = channel.busy = True
        if chip.reads:
            read = chip.reads.popleft()
            self.at(now + READ_COMMAND_NS, lambda now: self.asked(now, channel, number, read))
        elif write:
            chip.writes.remove(write)
            page_bytes = self.page_sectors * SECTOR_BYTES
            data = page_bytes if self.whole_pages_in else write.bytes
            length = PROGRAM_COMMAND_NS + data * BYTE_NS
            self.at(now + length, lambda now: self.loaded(now, channel, chip, write))
        return True

    def asked(self, now: int, channel: Channel, number: int, page: Page) -> None:
        channel.busy = False
        self.at(now + SENSE_NS, lambda now: self.sensed(now, channel, number, page))
        self.go_on(now, channel)

    def sensed(self, now: int, channel: Channel, number: int, page: Page) -> None:
        channel.leaving.append((number, page))
        self.go_on(now, channel)

    def left(self, now: int, channel: Channel, number: int, page: Page) -> None:
        channel.busy = channel.chips[number].busy = False
        if page.reads_for is not None:
            page.reads_for.ready = True
        else:
            self.page_done(now, page.request)
        self.go_on(now, channel)

    def loaded(self, now: int, channel: Channel, chip: Chip, page: Page) -> None:
        channel.busy = False
        self.at(now + PROGRAM_NS, lambda now: self.programmed(now, channel, chip, page))
        self.go_on(now, channel)

    def programmed(self, now: int, channel: Channel, chip: Chip, page: Page) -> None:
        chip.busy = False
        self.page_done(now, page.request)
        self.go_on(now, channel)

    def page_done(self, now: int, request: Request) -> None:
        """Send the data of a read when its last page is in, and the completion."""
        request.pages_left -= 1
        if request.pages_left:
            return
        self.to_host = max(self.to_host, now)
        if request.is_read:
            self.to_host += link_ns(request.sectors * SECTOR_BYTES)
        self.to_host += COMPLETION_NS
        self.at(self.to_host, lambda now: self.done(now, request))

    def done(self, now: int, request: Request) -> None:
        request.completion = now
        self.fetched -= 1
        self.fetch(now)
        self.send_next(now)
