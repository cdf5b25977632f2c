// What the page can begin with: one question each, a scenario and two settings of it.

const workload = (rows) => `
[workload]
generator = "mixed"
requests = 40000
${rows}
`;

/** Of drives of 2012: few and short blocks. */
const SMALL = `
[geometry]
channels = 8
dies_per_channel = 1
blocks_per_plane = 32
pages_per_block = 48

[ftl]
over_provisioning = 0.3
precondition = "steady"
`;

/** Of the drives of papers in 3D flash: suspension between iterations, collection, NVMe. */
const drive3d = ({ over_provisioning, moves_per_write, buffer_bytes, command_us }) => `
[suspension]
program = "iteration"
erase = true
host_read_suspends = ["program", "gc_program", "erase"]

[scheduling]
policy = "rps"

[ftl]
over_provisioning = ${over_provisioning}
placement = "dynamic"
gc_background = false
gc_start_free_share = 0.1
gc_rate_pages_per_write = ${moves_per_write}
wordline_timeout_us = 1000000
precondition = "steady"

[buffer]
bytes = ${buffer_bytes}
acknowledge = "back"

[host]
interface = "nvme"
t_command_us = ${command_us}
pcie_generation = 3
pcie_lanes = 4
`;

const FIRST = `# A small drive in its steady state under a mixed load.
seed = 1
device = "fast12-mlc"
policy = "pes-ips"
${SMALL}${workload(`read_fraction = 0.7
addresses = "uniform"
arrivals = "closed"
queue_depth = 16`)}`;

const TAIL = `# 3D TLC of 2021 on 8 channels; blocks and buffer are small, so that a page can simulate them.
seed = 1
device = "tlc3d-1tb"

[geometry]
blocks_per_plane = 32
pages_per_block = 48

[ftl]
over_provisioning = 0.28
precondition = "steady"

[buffer]
bytes = 2097152

[suspension]
program = "iteration"
erase = false
${workload(`read_fraction = 0.75
addresses = "uniform"
arrivals = "poisson"
rate_iops = 10000`)}`;

const FAST12 = `# The MLC drive of Wu and He (FAST 2012), smaller, under a generated load.
seed = 1
device = "fast12-mlc"
${SMALL}
[buffer]
bytes = 262144
${workload(`read_fraction = 0.7
addresses = "zipf"
zipf_theta = 0.9
arrivals = "poisson"
rate_iops = 4000`)}`;

const ZAMBELLI = `# The drive of Zambelli et al. (2021) with a quarter of its dies and short blocks.
seed = 1
part = "tlc3d-zambelli"

[geometry]
channels = 16
dies_per_channel = 4
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 20
pages_per_block = 128
page_bytes = 4096

[timing]
t_bus_us = 10.24
wordline_pages = 4
t_load_gap_us = 0
${drive3d({
    over_provisioning: 0.3, moves_per_write: 1.4, buffer_bytes: 4194304, command_us: 3,
  })}${workload(`read_fraction = 0.75
addresses = "uniform"
arrivals = "closed"
queue_depth = 16`)}`;

const MBM = `# The drive of the MBM paper with a write buffer of 64 KiB and short blocks.
seed = 1
device = "mbm"

[geometry]
blocks_per_plane = 64
pages_per_block = 32

[ftl]
over_provisioning = 0.3
precondition = "steady"
twin_blocks = true

[buffer]
bytes = 65536
acknowledge = "back"
${workload(`request_bytes = 16384
read_fraction = 0.8
addresses = "zipf"
zipf_theta = 0.9
arrivals = "poisson"
rate_iops = 2000`)}`;

const STARBLAZE = `# A drive as in Starblaze's slides of 2017, which name none: 64 dies, short blocks.
seed = 1
part = "tlc3d-starblaze"

[geometry]
channels = 8
dies_per_channel = 8
planes_per_die = 1
blocks_per_plane = 24
pages_per_block = 192
page_bytes = 4096

[timing]
t_bus_us = 10.24
wordline_pages = 16
${drive3d({
    over_provisioning: 0.5, moves_per_write: 2.0, buffer_bytes: 8388608, command_us: 15,
  })}${workload(`read_fraction = 0.6
addresses = "uniform"
arrivals = "poisson"
rate_iops = 40000`)}`;

const DEADLINE = `# SLC of 2012 at a load that keeps its dies busy.
seed = 1
device = "fast12-slc"
policy = "pes-ips"
${SMALL}${workload(`read_fraction = 0.7
addresses = "uniform"
arrivals = "poisson"
rate_iops = 12000`)}`;

const PM9A3 = `# The device fitted to a Samsung PM9A3, with few and short blocks.
seed = 1
device = "pm9a3"

[geometry]
blocks_per_plane = 48
pages_per_block = 144

[ftl]
precondition = "steady"

[buffer]
bytes = 1048576
${workload(`read_fraction = 0.7
addresses = "uniform"
arrivals = "poisson"
rate_iops = 60000`)}`;

/**
 * Stories: a question, and in three sentences the drive, what A and B differ in, and where to look.
 * `a`, `b`: the changes of each setting.
 */
export const STORIES = [
  {
    name: "first", title: "A read behind a program", text: FIRST,
    told: "On this drive an array read takes 25 µs, a program 660 and an erase 3,300, and a read " +
      "that arrives behind one of them waits. A serves reads first but lets each operation end; " +
      "B suspends it between two of its phases. A's slowest reads wait for erases, B's for each " +
      "other: see the bars below the curves.",
    a: [["policy", '"rps"']], b: [],
  },
  {
    name: "tail", title: "Why is p99.9 more than 3 ms?", text: TAIL,
    told: "Both settings suspend programs for reads, so that the median is that of a quiet " +
      "drive. A lets erases end, and its slowest reads wait for one; B suspends erases too. The " +
      "write buffer hides what that costs, until it is full.",
    a: [], b: [["suspension.erase", "true"]],
  },
  {
    name: "pm9a3", title: "A real drive: Samsung PM9A3", text: PM9A3,
    told: "The times and limits of this device were fitted to measurements of a Samsung PM9A3 " +
      "(SSD-iq, 2025), and the fit finds suspension, with limits. A is that drive without " +
      "suspension, B the drive as fitted. B's slowest reads wait for those limits: move " +
      "“Suspensions a program” and see what they cost.",
    a: [["suspension.program", '"none"'], ["suspension.erase", "false"]], b: [],
  },
  {
    name: "fast12", title: "Wu and He, FAST 2012", text: FAST12,
    told: "The paper that proposed suspension compares its policies with RPS, read priority " +
      "alone. A is RPS; B is PES_IPC, which cancels the phase of a program that runs. The load " +
      "is generated: reprieve reproduce fast12 runs counterparts of the paper's traces.",
    a: [["policy", '"rps"']], b: [["policy", '"pes-ipc"']],
  },
  {
    name: "zambelli21", title: "Zambelli et al., 2021", text: ZAMBELLI,
    told: "This paper limits how often a program may be suspended. A allows it once, B seven " +
      "times, which fits the paper's figures best. A's slowest reads wait for the limit, and " +
      "B's far less: see the bars below the curves.",
    a: [["suspension.max_per_program", "1"]], b: [["suspension.max_per_program", "7"]],
  },
  {
    name: "mbm", title: "MBM: whose gain is it?", text: MBM,
    told: "MBM schedules writes over the whole drive, and it suspends; it is compared with TBM, " +
      "which does neither. A is TBM; B is TBM with suspension, and nothing of MBM. In our " +
      "reproduction this alone shortens reads as much as MBM does.",
    a: [["policy", '"rps"']], b: [["policy", '"pes-ipc"']],
  },
  {
    name: "starblaze", title: "Starblaze's slides, 2017", text: STARBLAZE,
    told: "These slides show reads before and after suspension on a drive that they do not " +
      "name. A suspends nothing; B suspends programs and erases for reads. Dies and spare " +
      "blocks are fitted to the slides, so trust the shape of the curves rather than the µs.",
    a: [["suspension.program", '"none"'], ["suspension.erase", "false"]], b: [],
  },
  {
    name: "deadline", title: "Fewer suspensions, reads in time", text: DEADLINE,
    told: "Suppose that reads may take 400 µs. A suspends for every read; B suspends only where " +
      "a read would otherwise be later than that. B's reads are slower and still in time, with " +
      "a fraction of A's suspensions.",
    a: [], b: [["suspension.policy", '"deadline"'], ["suspension.deadline.read_slo_us", "400"]],
  },
];

/** The story of a name. */
export const storyOf = (name) => STORIES.find((story) => story.name === name);
