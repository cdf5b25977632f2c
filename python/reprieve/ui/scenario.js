// Scenarios as text: what the page begins with, and the values that it lets one change.

/** Small enough that a change is answered at once. */
export const DEFAULT_SCENARIO = `# A small drive in its steady state under a mixed load.
seed = 1
device = "fast12-mlc"
policy = "pes-ips"

[geometry]
channels = 8
dies_per_channel = 1
chips_per_channel = 1
blocks_per_plane = 32
pages_per_block = 48

[ftl]
over_provisioning = 0.3
precondition = "steady"

[workload]
generator = "mixed"
requests = 20000
read_fraction = 0.7
request_bytes = 4096
addresses = "uniform"
arrivals = "closed"
queue_depth = 16
`;

/** Sizes of requests. */
export const REQUEST_SIZES = [4, 8, 16, 32, 64, 128].map((kib) => [`${1024 * kib}`, `${kib} KiB`]);

/** What `policy` can be: the name, its short name, and what it does. */
export const POLICIES = [
  ["fifo", "FIFO", "in order of arrival, nothing suspended"],
  ["rps", "RPS", "reads first, nothing suspended"],
  ["pes-ips", "PES-IPS", "reads first; suspends between two phases"],
  ["pes-ipc", "PES-IPC", "reads first; cancels the phase"],
  ["pe0", "PE0", "reads first; programs and erases take no time"],
];

/** Policies of suspension, with the keys that each needs and what they begin with. */
export const SUSPENSION = {
  always: {},
  batch: { "suspension.batch.reads": 2, "suspension.batch.oldest_us": 300 },
  deadline: { "suspension.deadline.read_slo_us": 400 },
  threshold: { "suspension.min_remaining_us": 100, "suspension.max_suspended_us": 1000 },
};

const slider = (key, label, unit, low, high, step, more = {}) => ({
  key, label, unit, low, high, step, ...more,
});
const LOG = { log: true };
// At the left end of its slider such a key is absent.
const ABSENT = { absent: "no limit" };
const of = (policy) => ({ suspension: policy });

/** Sliders in groups; which of them are shown depends on the keys that the scenario has. */
export const GROUPS = [
  ["Part", [
    slider("timing.t_read_us", "Array read", "µs", 3, 200, 1, LOG),
    slider("timing.t_program_pulse_us", "Program pulse", "µs", 2, 200, 1, LOG),
    slider("timing.t_verify_us", "Program verify", "µs", 2, 100, 1, LOG),
    slider("timing.program_iterations", "Program iterations", "", 1, 40, 1),
    slider("timing.t_erase_us", "Erase", "µs", 500, 20000, 100, LOG),
    slider("timing.t_voltage_reset_us", "Voltage reset", "µs", 0, 100, 1),
    slider("timing.t_bus_us", "Transfer of a page", "µs", 1, 100, 1, LOG),
  ]],
  ["Geometry", [
    slider("geometry.channels", "Channels", "", 1, 32, 1),
    slider("geometry.dies_per_channel", "Dies a channel", "", 1, 8, 1),
    slider("geometry.blocks_per_plane", "Blocks a plane", "", 24, 512, 8, LOG),
    slider("ftl.over_provisioning", "Over-provisioning", "", 0.05, 0.6, 0.01),
  ]],
  ["Load", [
    slider("workload.read_fraction", "Share of reads", "", 0, 1, 0.05),
    slider("workload.queue_depth", "Queue depth", "", 1, 128, 1, LOG),
    slider("workload.rate_iops", "Requests a second", "", 100, 200000, 100, LOG),
    slider("workload.requests", "Requests in all", "", 1000, 200000, 1000, LOG),
  ]],
  ["Limits of suspension", [
    slider("suspension.max_per_operation", "Suspensions, each", "", 1, 40, 1, ABSENT),
    slider("suspension.min_progress_us", "Least progress", "µs", 0, 500, 10),
    slider("suspension.batch.reads", "Reads that wait", "", 1, 16, 1, of("batch")),
    slider("suspension.batch.oldest_us", "or oldest waits", "µs", 10, 5000, 10,
      { ...LOG, ...of("batch") }),
    slider("suspension.deadline.read_slo_us", "Reads within", "µs", 100, 5000, 10,
      { ...LOG, ...of("deadline") }),
    slider("suspension.min_remaining_us", "Not if left", "µs", 0, 1000, 10, of("threshold")),
    slider("suspension.max_suspended_us", "Suspended at most", "µs", 100, 10000, 100,
      { ...LOG, ...of("threshold") }),
    slider("scheduling.write_queue_limit", "Writes a queue", "", 1, 128, 1, ABSENT),
  ]],
];

/** The values of a printed scenario by dotted key; texts without their quotes. */
export function valuesOf(printed) {
  const values = new Map();
  let section = "";
  for (const line of printed.split("\n")) {
    const head = line.match(/^\[+([^\]]+)\]+/);
    if (head) {
      section = `${head[1]}.`;
      continue;
    }
    const row = line.match(/^([\w-]+)\s*=\s*(".*?"|[^#]*?)\s*(?:#.*)?$/);
    if (row) values.set(section + row[1], row[2].replace(/^"(.*)"$/, "$1"));
  }
  return values;
}

/** Overrides as `--set` has them. */
export function setsOf(changed) {
  return [...changed].map(([key, value]) => `${key}=${value}`);
}

/** The value at a position from 0 to 1 of a slider; null: absent. */
export function valueAt({ low, high, step, log, absent }, position) {
  if (absent && position <= 0) return null;
  const value = log ? low * (high / low) ** position : low + position * (high - low);
  const whole = Math.round(value / step) * step;
  return Number(Math.min(high, Math.max(low, whole)).toFixed(4));
}

/** The position of a value. */
export function shareOf({ low, high, log }, value) {
  if (value === null) return 0;
  const inside = Math.min(high, Math.max(low, value));
  return log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
}
