// Scenarios as text, and the values that the page lets one change.

/** Sizes of requests. */
export const REQUEST_SIZES = [4, 8, 16, 32, 64, 128].map((kib) => [`${1024 * kib}`, `${kib} KiB`]);

/** What `policy` can be: the name, its short name, what it does, and the keys it stands for. */
export const POLICIES = [
  ["fifo", "FIFO", "in order of arrival, nothing suspended", ["fifo", "none", "false"]],
  ["rps", "RPS", "reads first, nothing suspended", ["rps", "none", "false"]],
  ["pes-ips", "PES-IPS", "reads first; suspends between two phases", ["rps", "ips", "true"]],
  ["pes-ipc", "PES-IPC", "reads first; cancels the phase", ["rps", "ipc", "true"]],
  ["pe0", "PE0", "a bound: programs and erases take no time", ["pe0", "none", "false"]],
];
export const POLICY_KEYS = ["scheduling.policy", "suspension.program", "suspension.erase"];

/** How programs are suspended. */
export const PROGRAM_MODES = [
  ["none", "not at all"], ["ips", "between two phases"], ["ipc", "at once: the phase is lost"],
  ["iteration", "between two iterations"],
];
export const ERASE_MODES = [["false", "not at all"], ["true", "yes"]];

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
const OF_TRACES = { needs: "workload.trace" };

/** Sliders of the drive and its load; those are shown whose keys the scenario has. */
export const SHARED_GROUPS = [
  ["Load", [
    slider("workload.read_fraction", "Share of reads", "", 0, 1, 0.05),
    slider("workload.queue_depth", "Queue depth", "", 1, 256, 1, LOG),
    slider("workload.rate_iops", "Requests a second", "", 100, 400000, 100, LOG),
    slider("workload.requests", "Requests in all", "", 1000, 400000, 1000, LOG),
    slider("workload.time_scale", "Times of the trace ×", "", 0.001, 10, 0.001,
      { ...LOG, ...OF_TRACES }),
    slider("workload.max_requests", "Requests at most", "", 1000, 1000000, 1000,
      { ...LOG, ...OF_TRACES }),
  ]],
  ["Part", [
    slider("timing.t_read_us", "Array read", "µs", 3, 200, 1, LOG),
    slider("timing.t_program_pulse_us", "Program pulse", "µs", 2, 200, 1, LOG),
    slider("timing.t_verify_us", "Program verify", "µs", 2, 100, 1, LOG),
    slider("timing.program_iterations", "Program iterations", "", 1, 100, 1),
    slider("timing.t_erase_us", "Erase", "µs", 500, 20000, 100, LOG),
    slider("timing.t_voltage_reset_us", "Voltage reset", "µs", 0, 100, 1),
    slider("timing.t_bus_us", "Transfer of a page", "µs", 1, 100, 1, LOG),
  ]],
  ["Geometry", [
    slider("geometry.channels", "Channels", "", 1, 32, 1),
    slider("geometry.dies_per_channel", "Dies a channel", "", 1, 16, 1),
    slider("geometry.blocks_per_plane", "Blocks a plane", "", 20, 512, 4, LOG),
    slider("ftl.over_provisioning", "Over-provisioning", "", 0.05, 0.6, 0.01),
  ]],
];

/** Sliders of one setting. */
export const OWN_GROUPS = [
  ["Limits of suspension", [
    slider("suspension.max_per_program", "Suspensions a program", "", 1, 40, 1, ABSENT),
    slider("suspension.max_per_erase", "Suspensions an erase", "", 1, 40, 1, ABSENT),
    slider("suspension.min_progress_us", "Least progress", "µs", 0, 500, 5),
    slider("suspension.batch.reads", "Reads that wait", "", 1, 16, 1, of("batch")),
    slider("suspension.batch.oldest_us", "or oldest waits", "µs", 10, 5000, 10,
      { ...LOG, ...of("batch") }),
    slider("suspension.deadline.read_slo_us", "Reads within", "µs", 100, 5000, 10,
      { ...LOG, ...of("deadline") }),
    slider("suspension.min_remaining_us", "Not if left", "µs", 0, 1000, 5, of("threshold")),
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

/** A scenario with the table `[workload]` replaced. */
export function withLoad(text, rows) {
  const kept = text.replace(/^\[+(workload|flow)\b[^\]]*\]+[^\n]*\n(?:(?!\[).*(?:\n|$))*/gm, "");
  return `${kept.trimEnd()}\n\n[workload]\n${rows.trimEnd()}\n`;
}

/** The table `[workload]` of a scenario. */
export function loadOf(text) {
  return text.match(/^\[workload\][^\n]*\n((?:(?!\[).*(?:\n|$))*)/m)?.[1] ?? "";
}

const UNITS_MAX = 700_000;
const BLOCKS_MIN = 32;
/** Blocks that over-provisioning leaves spare at least: collection needs six. */
const SPARE_BLOCKS = 8;
const PAGES_MIN = 48;

/**
 * A device made small enough for a page: candidates `{ tables, told }`, the smallest first, as
 * collection may need more than that. `tables` of a scenario; `told`, a sentence of what is cut.
 * `values`: the device's own, as resolved.
 */
export function reducedDevice(values) {
  const of = (key) => Number(values.get(key) ?? 1) || 1;
  const pageBytes = of("geometry.page_bytes");
  const planes = of("geometry.channels") * of("geometry.dies_per_channel") *
    of("geometry.planes_per_die");
  const units = pageBytes / (of("ftl.mapping_bytes") > 1 ? of("ftl.mapping_bytes") : pageBytes);
  const own = { blocks: of("geometry.blocks_per_plane"), pages: of("geometry.pages_per_block") };
  const spare = Math.ceil(SPARE_BLOCKS / of("ftl.over_provisioning"));
  const blocks = Math.min(own.blocks, Math.max(BLOCKS_MIN, spare));
  const sizes = [own.pages];
  while (sizes[0] >= 2 * PAGES_MIN) {
    const half = sizes[0] / 2;
    sizes.unshift(Number.isInteger(half) && half % 3 === 0 ? half : Math.floor(half / 48) * 48);
  }
  const fits = sizes.findLastIndex((pages) => planes * blocks * pages * units <= UNITS_MAX);
  return sizes.slice(Math.max(fits, 0)).map((pages) =>
    reduction({ own, blocks, pages, pageBytes, buffer: Number(values.get("buffer.bytes")),
      least: 2 * planes * pageBytes * of("timing.wordline_pages") }));
}

function reduction({ own, blocks, pages, pageBytes, buffer, least }) {
  const cut = [];
  let tables = "";
  const part = (blocks * pages) / (own.blocks * own.pages);
  if (part < 1) {
    tables += `\n[geometry]\nblocks_per_plane = ${blocks}\npages_per_block = ${pages}\n`;
    cut.push(`${blocks} of ${own.blocks} blocks a plane`);
    if (pages !== own.pages) cut.push(`${pages} of ${own.pages} pages a block`);
  }
  if (buffer > 0 && part < 1) {
    // As large a part of the drive, but never too small for what its dies program at once.
    const share = Math.ceil((buffer * part) / pageBytes) * pageBytes;
    const bytes = Math.min(buffer, Math.max(least, share));
    if (bytes !== buffer) {
      tables += `\n[buffer]\nbytes = ${bytes}\n`;
      cut.push(`${Math.round(bytes / 1024)} of ${Math.round(buffer / 1024)} KiB of write buffer`);
    }
  }
  const told = cut.length === 0 ? "This is the whole device." :
    `Cut so that a page can simulate it: ${cut.join(", ")}. Dies and times are the device's own.`;
  return { tables, told };
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
