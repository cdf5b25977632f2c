"""Keys of `[ftl]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Ftl(Keys):
    """Keys of `[ftl]`.

    Mapping, placement and garbage collection.
    """

    _section = "ftl"

    over_provisioning: float
    """Share of the raw pages kept from the user.

    Value: a number above 0 and below 1. It must be given.
    """
    placement: Literal[
        "cwdp",
        "cwpd",
        "cdwp",
        "cdpw",
        "cpwd",
        "cpdw",
        "wcdp",
        "wcpd",
        "wdcp",
        "wdpc",
        "wpcd",
        "wpdc",
        "dcwp",
        "dcpw",
        "dwcp",
        "dwpc",
        "dpcw",
        "dpwc",
        "pcwd",
        "pcdw",
        "pwcd",
        "pwdc",
        "pdcw",
        "pdwc",
        "dynamic",
        "aligned",
    ]
    """In which plane a page is written.

    Default: `"cwdp"`. `cwdp`: stripes over channels first, then chips, dies, planes. `cwpd`:
    stripes over channels first, then chips, planes, dies. `cdwp`: stripes over channels first, then
    dies, chips, planes. `cdpw`: stripes over channels first, then dies, planes, chips. `cpwd`:
    stripes over channels first, then planes, chips, dies. `cpdw`: stripes over channels first, then
    planes, dies, chips. `wcdp`: stripes over chips first, then channels, dies, planes. `wcpd`:
    stripes over chips first, then channels, planes, dies. `wdcp`: stripes over chips first, then
    dies, channels, planes. `wdpc`: stripes over chips first, then dies, planes, channels. `wpcd`:
    stripes over chips first, then planes, channels, dies. `wpdc`: stripes over chips first, then
    planes, dies, channels. `dcwp`: stripes over dies first, then channels, chips, planes. `dcpw`:
    stripes over dies first, then channels, planes, chips. `dwcp`: stripes over dies first, then
    chips, channels, planes. `dwpc`: stripes over dies first, then chips, planes, channels. `dpcw`:
    stripes over dies first, then planes, channels, chips. `dpwc`: stripes over dies first, then
    planes, chips, channels. `pcwd`: stripes over planes first, then channels, chips, dies. `pcdw`:
    stripes over planes first, then channels, dies, chips. `pwcd`: stripes over planes first, then
    chips, channels, dies. `pwdc`: stripes over planes first, then chips, dies, channels. `pdcw`:
    stripes over planes first, then dies, channels, chips. `pdwc`: stripes over planes first, then
    dies, chips, channels. `dynamic`: the next plane in the order cwdp whose die is idle, else the
    next; none that is full. `aligned`: by turns all planes of a die, then the next die: open blocks
    fill alike, as multi-plane programs want it.
    """
    gc_victim: Literal["greedy", "d-choices", "random", "fifo", "windowed-greedy", "cost-benefit"]
    """Which block garbage collection empties.

    Default: `"greedy"`. `greedy`: the full block with the fewest valid pages. `d-choices`: the
    emptiest of gc_choices full blocks drawn at random. `random`: a full block drawn at random: one
    choice. `fifo`: the full block that was filled longest ago. `windowed-greedy`: the emptiest of
    the gc_window_blocks full blocks that were filled longest ago. `cost-benefit`: the full block
    with the greatest (1 - u) age / (1 + u), u being its share of valid pages.
    """
    gc_choices: int
    """Full blocks drawn at random, of which the emptiest is the victim.

    Value: an integer from 1 to 65536. Default: `10`. Only while ftl.gc_victim is d-choices. Source:
    Van Houdt, SIGMETRICS 2013: d = 10 comes close to greedy.
    """
    gc_window_blocks: int
    """Blocks filled longest ago, of which the emptiest is the victim.

    Value: an integer from 1 to 65536. Default: `64`. Only while ftl.gc_victim is windowed-greedy.
    Source: Hu et al., SYSTOR 2009, for the policy; the number is ours.
    """
    gc_start_free_share: float
    """Background collection of a plane runs while fewer of its blocks than this are free.

    Value: a number at least 0 and below 1. Default: `0.05`.
    """
    gc_hard_free_blocks: int
    """With so few free blocks a plane takes host writes only into its open block.

    Value: an integer from 1 to 65536. Default: `2`.
    """
    gc_background: bool
    """Whether collection uses idle time, or only runs when it is forced.

    Value: true or false. Default: `true`.
    """
    partial_write: Literal["read_modify_write", "track_sectors", "pad"]
    """What a write of part of a page does about the rest of the page.

    Default: `"read_modify_write"`. Source: MQSim 7ec40e3, for "track_sectors". `read_modify_write`:
    The rest of the page is read first. `track_sectors`: The rest is read first only if the page
    holds sectors that the write leaves. `pad`: Nothing is read: the program carries padding in
    place of the rest.
    """
    gc_preemptible: bool
    """Whether the host gets in between the steps of collecting a block.

    Value: true or false. Default: `true`.
    """
    gc_rate_pages_per_write: float | None
    """Pages moved for each page the host writes while few blocks are free; absent: idle time only.

    Value: a number above 0 and at most 65536, or "none". Default: absent.
    """
    gc_dies_max: int | None
    """Dies that collect at a time while none has to; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent.
    """
    gc_parallel_planes: bool
    """Whether planes of a die collect side by side, with commands that take several where they fit.

    Value: true or false. Default: `false`. Source: Shahidi et al., SC 2016: parallel garbage
    collection.
    """
    stream: Literal["single", "hot-cold"]
    """Which of the open blocks of a plane takes a page of the host.

    Default: `"single"`. `single`: one open block for all pages. `hot-cold`: one for pages rewritten
    within hot_window_share, one for others.
    """
    hot_window_share: float
    """A page is hot that is rewritten within so many writes, as a share of the logical pages.

    Value: a number above 0 and at most 1000. Default: `0.5`. Only while ftl.stream is hot-cold.
    """
    gc_stream: Literal["shared", "separate"]
    """Where garbage collection writes the pages that it moves.

    Default: `"shared"`. `shared`: Moved pages go into the open block of their stream. `separate`:
    Moved pages have an open block of their own in each plane.
    """
    free_block: Literal["oldest", "least-worn"]
    """Which free block is written next.

    Default: `"oldest"`. `oldest`: The one that was erased longest ago. `least-worn`: The one with
    the fewest erases.
    """
    static_wear_spread: int | None
    """Erases by which a block may be ahead of the least worn before that is moved; absent: never.

    Value: an integer from 2 to 4294967295, or "none". Default: absent.
    """
    count_erases: bool
    """Whether the summary has the erases of a block: mean, extremes and deviation.

    Value: true or false. Default: `false`.
    """
    factory_bad_share: float
    """Probability with which a block is bad from the start.

    Value: a number at least 0 and below 1. Default: `0`.
    """
    mapping: Literal["flat", "demand"]
    """Where the mapping of logical to physical pages is kept.

    Default: `"flat"`. Source: Gupta, Kim and Urgaonkar, ASPLOS 2009: DFTL. `flat`: All of it is in
    memory. `demand`: In flash, with a cache of entries in memory.
    """
    map_cache_bytes: int
    """Memory for cached entries of the mapping, 8 bytes each.

    Value: a multiple of 8 from 64 to 34359738368. Default: `1048576`. Only while ftl.mapping is
    demand.
    """
    map_cache_policy: Literal["segmented", "lru"]
    """Which entry leaves a full cache.

    Default: `"segmented"`. Only while ftl.mapping is demand. Source: Gupta, Kim and Urgaonkar,
    ASPLOS 2009: segmented LRU. `segmented`: Least recently used, half of it kept for entries used
    twice. `lru`: Least recently used.
    """
    wordline_timeout_us: float
    """How long a host page waits for the others of its wordline before it is padded.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `1000`.
    """
    twin_blocks: bool
    """Whether blocks of one number on all planes of a die are filled, collected and erased as one.

    Value: true or false. Default: `false`. Source: Tavakkol, Mehrvarzy and Sarbazi-Azad, IEEE CAL
    2016: TBM, as reported by others.
    """
    copyback: bool
    """Whether collection moves pages within their plane without the channel.

    Value: true or false. Default: `false`.
    """
    precondition: Literal["none", "sequential", "steady"]
    """State of the drive before the first request.

    Default: `"none"`. `none`: Nothing written. `sequential`: Every logical page written once, in
    order. `steady`: Sequential, then random overwrites to the steady state.
    """
