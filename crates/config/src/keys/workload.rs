//! Keys of the workload, a trace, a generator or a fio file; and of the measured part of a run.

use reprieve_base::Op;
use reprieve_trace::{
    AddressPolicy, Addresses, Arrivals, BlktraceAction, EtwTime, Footprint, IologWait, KvChats,
    KvConfig, KvPrompts, KvStore, MixedConfig, SameSecond, TraceClock, TraceConfig, WorkloadConfig,
    ZeroLength,
};

use crate::row::*;
use crate::types::*;

const BURSTS: &[Need] = &[is("workload.arrivals", &["hyperexponential"])];
const CHATS: &[Need] = &[is("workload.kv_prompts", &["conversations"])];
const KV: &[Need] = &[is("workload.generator", &["kv-cache"])];
const MIXED: &[Need] = &[is("workload.generator", &["mixed"])];
const NVME: &[Need] = &[is("host.interface", &["nvme"])];
const OPEN: &[&str] = &["poisson", "fixed", "hyperexponential", "trains"];
const PLACED: &[Need] = &[is("workload.addresses", &["uniform", "zipf", "hot-cold"])];
const RUNS: &[Need] = &[given("workload.size_run_fraction")];
const TRAINS: &[Need] = &[is("workload.arrivals", &["trains"])];
const TRACE: &[Need] = &[given("workload.trace")];
const MOONCAKE: &str = "fitted to conversation_trace.jsonl of Mooncake, FAST 2025";
const AUTO: Entry = Entry { name: "auto", doc: "Found out from the content." };

section! {
    /// The load of the drive: a trace, a generator, or a fio file. Tables `[flow.NAME]` define
    /// several loads at once; each has the keys that differ from these.
    WORKLOAD "workload"

    /// The trace to replay, plain, .gz or .zst: a file, a folder, a tar archive, or a pattern with
    /// `*`.
    trace (
        |s| match &s.workload {
            Some(WorkloadConfig::Trace(trace)) => {
                Some(Value::from(trace.path.to_str().expect("a path of a scenario is UTF-8")))
            }
            _ => None,
        },
        |s, value, _| {
            let trace = TraceConfig::new(of::<String>(value), "auto");
            s.workload = Some(WorkloadConfig::Trace(trace));
        }
    ) path(), absent();
    /// The generator of requests, in place of a trace.
    generator (
        |s| match s.workload {
            Some(WorkloadConfig::Mixed(_)) => Some(Value::from("mixed")),
            Some(WorkloadConfig::Kv(_)) => Some(Value::from("kv-cache")),
            _ => None,
        },
        |s, value, _| match &*of::<String>(value) {
            "mixed" => s.workload = Some(WorkloadConfig::Mixed(MixedConfig::default())),
            "kv-cache" => s.workload = Some(WorkloadConfig::Kv(Box::<KvConfig>::default())),
            other => panic!("generator {other} is registered and no workload is built for it"),
        }
    ) registered(|all| all.generators.into()), absent();
    /// A job file of fio, in place of trace and generator; each of its jobs is a flow.
    fio [fio] path(), absent();
    /// The cost of a read of a page that was never written.
    unwritten [host.unwritten_costs_read] one_of {
        "flash" = true, "Like any page: a flash read.";
        "zero" = false, "Answered without a flash read.";
    }, or("'flash'");
    /// Submission queues that the requests go to by turns; absent: all, or a flow's own.
    queues [queues] counts(0, 65_534), absent(), when(NVME);
    /// The placement handle of what is written, below ftl.placement_handles.
    placement [handle] count(0, 15), or("0"), when(&[is("ftl.stream", &["placement"])]),
        from("NVMe TP4146, Flexible Data Placement: the placement identifier of a write");
    /// Channels on which the pages of this flow are placed; absent: all. Flows have the same dies,
    /// or none in common: each set of dies has its share of the logical space, of spare blocks and
    /// of garbage collection to itself.
    channels [channels] counts(0, 65_534), absent();
    /// Dies that hold the pages of a flow, counted over the drive, channel by channel; absent: all.
    dies [dies] counts(0, 65_534), absent();
    /// Latency objective of reads of this load, from their arrival at the die;
    /// absent: suspension.deadline.read_slo_us.
    read_slo_us [read_slo] us(), absent(), when(&[is("suspension.policy", &["deadline"])]);
    /// Format of the trace.
    format [trace: reading.format] registered(|all| [&[AUTO], all.trace_formats].concat()),
        or("'auto'"), when(TRACE);
    /// The columns of a trace of format columns, such as "time_s,device,sector,bytes,op".
    columns [trace: reading.options.columns] text(), absent(), when(TRACE);
    /// Unit of addresses, where a format leaves it open; absent: the format's own, mostly 512.
    sector_bytes [trace: reading.options.sector_bytes] count(1, 1 << 20), absent(), when(TRACE);
    /// Which events of blktrace or ftrace are the requests; absent: "queue", and of ftrace the only
    /// kind that there is.
    blktrace_action [trace: reading.options.blktrace_action] one_of {
        "queue" = Some(BlktraceAction::Queue),
            "Events Q: queued by the host, before the block layer merges.";
        "insert" = Some(BlktraceAction::Insert), "Events I: inserted into a scheduler of the host.";
        "issue" = Some(BlktraceAction::Issue), "Events D: issued to the device.";
    }, absent(), when(TRACE);
    /// When a request of an ETW trace arrives; absent: "begin".
    etw_time [trace: reading.options.etw_time] one_of {
        "begin" = Some(EtwTime::Begin), "A request arrives its elapsed time before the timestamp.";
        "end" = Some(EtwTime::End), "It arrives at the timestamp, which is that of its completion.";
    }, absent(), when(TRACE);
    /// Meaning of `wait` in a log of fio of version 2; absent: "relative-us".
    iolog_wait [trace: reading.options.iolog_wait] one_of {
        "relative-us" = Some(IologWait::RelativeUs),
            "Microseconds since the last wait, as fio's manual says.";
        "absolute-ms" = Some(IologWait::AbsoluteMs),
            "Milliseconds since the start, as fio 3.33 does.";
    }, absent(), when(TRACE);
    /// Where the rows of one second lie if the trace's clock has whole ones; absent: "spread".
    same_second [trace: reading.options.same_second] one_of {
        "spread" = Some(SameSecond::Spread),
            "At equal distances within it, in the order of the file.";
        "as-written" = Some(SameSecond::AsWritten), "All at its beginning.";
    }, absent(), when(TRACE);
    /// The operation of every row of a trace that has no column for it.
    row_op [trace: reading.options.row_op] one_of {
        "read" = Some(Op::Read), "Every row reads.";
        "write" = Some(Op::Write), "Every row writes.";
    }, absent(), when(TRACE);
    /// The time from row to row of a trace that has none.
    row_interval_us [trace: reading.options.row_interval] us(), absent(), when(TRACE);
    /// Handling of rows of no length; absent: "drop".
    zero_length [trace: reading.options.zero_length] one_of {
        "drop" = Some(ZeroLength::Drop), "Such rows are left out and counted.";
        "error" = Some(ZeroLength::Error), "The run ends and names the row.";
    }, absent(), when(TRACE);
    /// When a request of the trace reaches the drive.
    replay [trace: queue_depth] variant_of {
        "open" = None => None, "When the trace says, whatever the drive does.";
        "closed" = Some(_) => Some(0), "When one completes: queue_depth outstanding, times unused.";
    }, or("'open'"), when(TRACE);
    /// The clock of the trace's times, where several flows have traces; absent: "shared", if
    /// its first row is within a day of the earliest.
    clock [trace: clock] one_of {
        "shared" = Some(TraceClock::Shared),
            "That of all flows: it begins with the earliest first row of their traces.";
        "own" = Some(TraceClock::Own), "Its own, which begins with its first row.";
    }, absent(), when(&[is("workload.replay", &["open"])]);
    /// Earlier rows are left out; in trace time.
    start_s [trace: start] s(), or("0"), when(TRACE);
    /// Rows from this long after the start are left out.
    duration_s [trace: duration] s(), absent(), when(TRACE);
    /// How often the trace, or the part of it, is replayed. Each pass begins one mean gap between
    /// its requests after the last request of the pass before.
    repeat [trace: repeat] count(1, 1 << 40), or("1"), when(TRACE);
    /// The run ends after this many requests of all passes.
    max_requests [trace: max_requests] count(1, u64::MAX), absent(), when(TRACE);
    /// Each device of the trace gets its own range, or all share one, or only these count.
    devices [trace: devices] devices(), or("'concatenate'"), when(TRACE);
    /// Handling of an address past the end of the drive.
    address [trace: address] one_of {
        "modulo" = AddressPolicy::Modulo, "Wrap around the end of the drive.";
        "scale" = AddressPolicy::Scale, "Map the extent of the trace onto the drive, linearly.";
        "clamp" = AddressPolicy::Clamp, "The last address at which the request fits.";
        "drop" = AddressPolicy::Drop, "Leave the request out and count it.";
        "error" = AddressPolicy::Error, "Stop, naming the row.";
    }, or("'modulo'"), when(TRACE);
    /// A row that repeats another within this time is dropped; absent: none is.
    drop_duplicates_within_us [trace: drop_duplicates_within] us(), absent(), when(TRACE);
    /// Rows within which a time that runs back is sorted into place; 0: it is an error.
    sort_window_requests [trace: sort_window_requests] count(0, 1 << 24), or("0"), when(TRACE);
    /// Number of requests; of the generator kv-cache the number of prompts, at most those of its
    /// trace.
    requests (
        |s| match s.workload.as_ref()? {
            WorkloadConfig::Mixed(mixed) => mixed.requests.value(),
            WorkloadConfig::Kv(kv) => kv.prompts_max.value(),
            _ => None,
        },
        |s, value, _| match &mut s.workload {
            Some(WorkloadConfig::Mixed(mixed)) => mixed.requests = of(value),
            Some(WorkloadConfig::Kv(kv)) => kv.prompts_max = of(value),
            _ => {}
        }
    ) count(1, u64::MAX), when(&[is("workload.generator", &["mixed", "kv-cache"])]);
    /// Share of reads.
    read_fraction [mixed: read_fraction] closed(0.0, 1.0), when(MIXED);
    /// Share of trims.
    trim_fraction [mixed: trim_fraction] closed(0.0, 1.0), or("0.0"), when(MIXED);
    /// One in this many requests is a flush; absent: none is.
    flush_every_requests [mixed: flush_every_requests] count(2, u64::MAX), absent(), when(MIXED);
    /// Share of the writes that are acknowledged only when they are programmed (FUA).
    fua_fraction [mixed: fua_fraction] closed(0.0, 1.0), or("0.0"), when(MIXED);
    /// Size of a request.
    request_bytes [mixed: sizes] sizes(), or("4096"), when(MIXED);
    /// Size of a read; absent: that of any request.
    read_request_bytes [mixed: read_sizes] sizes(), absent(), when(MIXED);
    /// Size of a write; absent: that of any request.
    write_request_bytes [mixed: write_sizes] sizes(), absent(), when(MIXED);
    /// Every address is a multiple of this.
    align_bytes [mixed: align_bytes] sectors(1 << 30), same_as("ftl.mapping_bytes"), when(MIXED);
    /// Distribution of addresses over the space.
    addresses [mixed: addresses] variant_of {
        "uniform" = Addresses::Uniform => Addresses::Uniform, "Every place alike.";
        "sequential" = Addresses::Sequential => Addresses::Sequential,
            "One after the other, from the start again at the end.";
        "zipf" = Addresses::Zipf { .. } => Addresses::Zipf { theta: 0.0, unit_bytes: None },
            "The place of rank r with a frequency of r^-zipf_theta.";
        "hot-cold" = Addresses::HotCold { .. } =>
            Addresses::HotCold { hot_share: 0.0, hot_fraction: 0.0 },
            "hot_fraction of the requests go to hot_share of the space.";
    }, or("'uniform'"), when(MIXED);
    /// Exponent of the Zipf law.
    zipf_theta [mixed: addresses as Addresses::Zipf{theta}] above(0.0, 10.0),
        when(&[is("workload.addresses", &["zipf"])]);
    /// Length of a place of the Zipf law; absent: the alignment, at least 4096.
    zipf_unit_bytes [mixed: addresses as Addresses::Zipf{unit_bytes}] sectors(1 << 30), absent(),
        when(&[is("workload.addresses", &["zipf"])]);
    /// Share of the space that is hot.
    hot_share [mixed: addresses as Addresses::HotCold{hot_share}] open(0.0, 1.0),
        when(&[is("workload.addresses", &["hot-cold"])]);
    /// Share of requests to the hot space.
    hot_fraction [mixed: addresses as Addresses::HotCold{hot_fraction}] closed(0.0, 1.0),
        when(&[is("workload.addresses", &["hot-cold"])]);
    /// Share of the reads that begin where the last read ended, or aligned just behind.
    read_sequential_fraction [mixed: read_sequential_fraction] closed(0.0, 1.0), or("0.0"),
        when(PLACED);
    /// Share of the writes that begin where the last write ended, or aligned just behind.
    write_sequential_fraction [mixed: write_sequential_fraction] closed(0.0, 1.0), or("0.0"),
        when(PLACED);
    /// Streams of the reads, and of the writes, that such requests continue, each with its size.
    sequential_streams [mixed: sequential_streams] count(1, 1 << 16), or("1"), when(PLACED);
    /// Share of the requests that repeat address and size of an earlier one of the same operation.
    repeat_fraction [mixed: repeat_fraction] closed(0.0, 1.0), or("0.0"), when(PLACED);
    /// How many requests back that one is at most; the logarithm of the distance is uniform.
    repeat_window_requests [mixed: repeat_window] count(1, 1 << 20), or("1024"), when(PLACED);
    /// Chance that a request keeps the size of the one before of its operation: one for each size
    /// of request_bytes, or one for all; shares of sizes are unchanged. Continuations and repeats
    /// then refer to requests of the same size. Absent: each size is drawn.
    size_run_fraction [mixed: size_run_fraction] one_or_more(below(0.0, 1.0)), absent(),
        when(PLACED);
    /// Share of the requests of each size that begin where one of that size ended, or one for all
    /// sizes; absent: that of the operation.
    sequential_by_size [mixed: sequential_by_size] one_or_more(closed(0.0, 1.0)), absent(),
        when(RUNS);
    /// Share of the requests of each size that repeat the address of an earlier one of that size,
    /// or one for all sizes; absent: repeat_fraction.
    repeat_by_size [mixed: repeat_by_size] one_or_more(closed(0.0, 1.0)), absent(), when(RUNS);
    /// The first address; a multiple of the alignment.
    footprint_start_bytes [mixed: footprint_start_bytes] multiple(512, 0, 1 << 60), or("0"),
        when(MIXED);
    /// Footprint in bytes, from the first address on.
    footprint_bytes (
        |s| path!(@ref [s] mixed: footprint as Footprint::Bytes).value(),
        |s, value, _| set_footprint(s, Footprint::Bytes(of(value)))
    ) sectors(1 << 60), absent(), when(MIXED);
    /// Footprint as a share of the capacity behind the first address; without either, all of it.
    footprint_share (
        |s| path!(@ref [s] mixed: footprint as Footprint::Share).value(),
        |s, value, _| set_footprint(s, Footprint::Share(of(value)))
    ) above(0.0, 1.0), absent(), when(MIXED);
    /// When a request reaches the drive.
    arrivals [mixed: arrivals] variant_of {
        "closed" = Arrivals::Closed { .. } => Arrivals::Closed { queue_depth: 0 },
            "A new request when one completes: queue_depth outstanding.";
        "poisson" = Arrivals::Poisson { .. } => Arrivals::Poisson { rate_iops: 0.0 },
            "At random, rate_iops a second on average.";
        "fixed" = Arrivals::Fixed { .. } => Arrivals::Fixed { rate_iops: 0.0 },
            "At equal distances, rate_iops a second.";
        "hyperexponential" = Arrivals::Hyperexponential(_) =>
            Arrivals::Hyperexponential(Default::default()),
            "In bursts: gaps of a short and of a long phase.";
        "trains" = Arrivals::Trains(_) => Arrivals::Trains(Default::default()),
            "In trains, whose starts cluster on all scales of time.";
    }, or("'closed'"), when(MIXED);
    /// Requests kept outstanding.
    queue_depth (
        |s| match s.workload.as_ref()? {
            WorkloadConfig::Trace(trace) => trace.queue_depth.value(),
            WorkloadConfig::Mixed(MixedConfig {
                arrivals: Arrivals::Closed { queue_depth }, ..
            }) => queue_depth.value(),
            _ => None,
        },
        |s, value, _| match &mut s.workload {
            Some(WorkloadConfig::Trace(trace)) => trace.queue_depth = of(value),
            Some(WorkloadConfig::Mixed(mixed)) => {
                mixed.arrivals = Arrivals::Closed { queue_depth: of(value) };
            }
            _ => {}
        }
    ) count(1, 1 << 16),
        when(&[is("workload.replay", &["closed"]), is("workload.arrivals", &["closed"])]);
    /// Requests a second.
    rate_iops (|s| path!(@ref [s] mixed: arrivals).rate_iops().value(), |s, value, _| {
        if let Some(rate) = mixed_mut(s).and_then(|mixed| mixed.arrivals.rate_iops_mut()) {
            *rate = of(value);
        }
    }) above(0.0, 1e9), when(&[is("workload.arrivals", OPEN)]);
    /// Share of the requests that arrive together with the one before.
    simultaneous_fraction [mixed: arrivals as Arrivals::Hyperexponential.simultaneous_fraction]
        below(0.0, 1.0),
        or("0.0"), when(BURSTS);
    /// Share of the other gaps that are of the short phase.
    burst_fraction [mixed: arrivals as Arrivals::Hyperexponential.burst_fraction] open(0.0, 1.0),
        when(BURSTS),
        from("Wajahat et al., Performance Evaluation 142, 2020: two phases fit traces best");
    /// Mean of the short phase; the rate and the rest settle that of the long one.
    burst_gap_us [mixed: arrivals as Arrivals::Hyperexponential.burst_gap] us(), when(BURSTS);
    /// Mean number of short gaps in a row; absent: each gap is drawn anew.
    burst_length [mixed: arrivals as Arrivals::Hyperexponential.burst_length] closed(1.0, 1e9),
        absent(), when(BURSTS);
    /// Mean number of requests of a train; the number is geometric.
    train_requests [mixed: arrivals as Arrivals::Trains.requests] closed(1.0, 1e6), when(TRAINS);
    /// Mean of the gaps of a train that take time; they are exponential.
    train_gap_us [mixed: arrivals as Arrivals::Trains.gap] us(), when(TRAINS);
    /// Share of the gaps of a train that take none.
    train_simultaneous_fraction [mixed: arrivals as Arrivals::Trains.simultaneous_fraction]
        closed(0.0, 1.0), or("0.0"), when(TRAINS);
    /// Share of the trains of an interval that start in the busier one of its halves; 0.5: no
    /// bursts. A list has a share for each halving from train_span_s on, the last one for all
    /// further halvings.
    train_bias [mixed: arrivals as Arrivals::Trains.bias] one_or_more(closed(0.5, 0.99)),
        when(TRAINS),
        from("the b-model of Wang et al., ICDE 2002");
    /// The longest interval that is halved; such intervals follow each other.
    train_span_s [mixed: arrivals as Arrivals::Trains.span] s(), when(TRAINS);
    /// Starts of trains within this time are random, and do not cluster.
    train_independent_s [mixed: arrivals as Arrivals::Trains.independent] s(), or("0"),
        when(TRAINS);
    /// The tick of the clock; trains that start within it start together.
    train_tick_us [mixed: arrivals as Arrivals::Trains.tick] us(), when(TRAINS);
    /// Multiplies the times between arrivals: 0.1 is ten times the load.
    time_scale (
        |s| match s.workload.as_ref()? {
            WorkloadConfig::Trace(trace) => trace.time_scale.value(),
            WorkloadConfig::Mixed(mixed) => mixed.time_scale.value(),
            WorkloadConfig::Kv(kv) => kv.time_scale.value(),
            WorkloadConfig::Fio(_) | WorkloadConfig::Cyclic(_) => None,
        },
        |s, value, _| match &mut s.workload {
            Some(WorkloadConfig::Trace(trace)) => trace.time_scale = of(value),
            Some(WorkloadConfig::Mixed(mixed)) => mixed.time_scale = of(value),
            Some(WorkloadConfig::Kv(kv)) => kv.time_scale = of(value),
            _ => {}
        }
    ) above(0.0, 1e9), or("1.0"),
        when(&[
            given("workload.trace"),
            is("workload.generator", &["kv-cache"]),
            is("workload.arrivals", OPEN),
        ]);
    /// The source of the prompts to an LLM server, whose loads and stores these are.
    kv_prompts [kv: prompts] variant_of {
        "conversations" = KvPrompts::Chats(_) => KvPrompts::Chats(KvChats::default()),
            "Generated conversations, like those of Mooncake's trace.";
        "trace" = KvPrompts::Trace(_) => KvPrompts::Trace(String::new()), "Those of kv_trace.";
    }, or("'conversations'"), when(KV);
    /// A trace of prompts, of Mooncake or of Azure, plain, .gz or .zst.
    kv_trace [kv: prompts as KvPrompts::Trace] path(),
        when(&[is("workload.kv_prompts", &["trace"])]);
    /// Prompts a second of all conversations.
    kv_rate_per_s [kv: prompts as KvPrompts::Chats.rate_per_s] above(0.0, 1e6), or("3.4"),
        when(CHATS), from(MOONCAKE);
    /// Mean number of prompts of a conversation; the number is geometric.
    kv_turns [kv: prompts as KvPrompts::Chats.turns] closed(1.0, 1e6), or("1.63"),
        when(CHATS), from(MOONCAKE);
    /// Mean tokens of the first prompt of a conversation; lognormal.
    kv_prompt_tokens [kv: prompts as KvPrompts::Chats.prompt_tokens] closed(1.0, 131072.0),
        or("10765"), when(CHATS), from(MOONCAKE);
    /// Mean tokens by which each further prompt is longer; exponential.
    kv_turn_tokens [kv: prompts as KvPrompts::Chats.turn_tokens] closed(1.0, 131072.0),
        or("1239"), when(CHATS), from(MOONCAKE);
    /// Mean time between prompts of a conversation; exponential.
    kv_think_s [kv: prompts as KvPrompts::Chats.think] s(), or("215"), when(CHATS), from(MOONCAKE);
    /// Keys and values of a token: 2 × layers × key-value heads × dimension of a head × bytes of an
    /// element.
    kv_bytes_per_token [kv: tier.bytes_per_token] count(1, 1 << 30), or("131072"), when(KV),
        from("Llama 3 8B: 2 × 32 × 8 × 128 × 2, arXiv 2407.21783, Table 3");
    /// Tokens of a block, the unit of reuse; a block is padded to 4 KiB.
    kv_block_tokens [kv: tier.block_tokens] count(1, 1 << 20), or("512"), when(KV),
        from("Qin et al., Mooncake, FAST 2025");
    /// Length of the drive's requests, into which a block is split.
    kv_request_bytes [kv: tier.request_bytes] sectors(1 << 30), or("131072"), when(KV);
    /// Size of the tier in DRAM, which keeps the blocks used last.
    kv_dram_bytes [kv: tier.dram_bytes] count(0, 1 << 60), when(KV);
    /// When a block is written to the drive, in place of the one that has gone unused for longest.
    kv_store [kv: tier.store] one_of {
        "evicted" = KvStore::Evicted, "When it leaves DRAM, unless it is on the drive.";
        "computed" = KvStore::Computed, "Also as soon as the prompt that computes it arrives.";
    }, or("'evicted'"), when(KV);
    /// Bytes a second at which blocks are written; absent: all at once. Those that wait take up at
    /// most kv_dram_bytes, others are not written.
    kv_store_bytes_per_s [kv: tier.store_bytes_per_s] count(1, 1 << 50), absent(), when(KV);
}

section! {
    /// The measured part of a run; requests before it are simulated and not counted.
    MEASURE "measure"

    /// Requests with a lower number in order of arrival are excluded.
    from_request [measure.from_request] count(0, u64::MAX >> 1), or("0");
    /// Requests that arrive earlier in simulated time are excluded.
    from_s [measure.from] s(), or("0");
    /// Detection of the end of the transient.
    warmup [measure.warmup] choice(Warmup::WORDS), or("'none'"),
        from(
            "auto: MSER-5; White, Simulation 69(6), 1997; White, Cobb and Spratt, Winter \
             Simulation Conference 2000"
        );
}

fn mixed_mut(scenario: &mut Scenario) -> Option<&mut MixedConfig> {
    match scenario.workload.as_mut()? {
        WorkloadConfig::Mixed(mixed) => Some(mixed),
        _ => None,
    }
}

fn set_footprint(scenario: &mut Scenario, footprint: Footprint) {
    if let Some(mixed) = mixed_mut(scenario) {
        mixed.footprint = footprint;
    }
}
