// Scenarios as text, and the values that the page lets one change.

/** What the page begins with: small enough that a change is answered at once. */
export const DEFAULT_SCENARIO = `device = "fast12-mlc"
policy = "pes-ips"

[geometry]
blocks_per_plane = 32

[ftl]
precondition = "steady"

[workload]
generator = "mixed"
requests = 20000
read_fraction = 0.7
request_bytes = 4096
arrivals = "closed"
queue_depth = 16
`;

const number = (key, label, unit, low, high, step, log = false) => ({
  key, label, unit, low, high, step, log,
});

/** Sliders, in groups. */
export const GROUPS = [
  ["Part", [
    number("timing.t_read_us", "Array read", "µs", 5, 100, 1),
    number("timing.t_program_pulse_us", "Program pulse", "µs", 5, 100, 1),
    number("timing.program_iterations", "Program iterations", "", 1, 40, 1),
    number("timing.t_erase_us", "Erase pulse", "µs", 500, 10000, 100),
    number("timing.t_bus_us", "Transfer of a page", "µs", 1, 100, 1),
  ]],
  ["Geometry", [
    number("geometry.channels", "Channels", "", 1, 16, 1),
    number("geometry.dies_per_channel", "Dies a channel", "", 1, 4, 1),
    number("ftl.over_provisioning", "Over-provisioning", "", 0.1, 0.6, 0.01),
  ]],
  ["Load", [
    number("workload.read_fraction", "Share of reads", "", 0, 1, 0.05),
    number("workload.queue_depth", "Queue depth", "", 1, 128, 1, true),
    number("workload.requests", "Requests", "", 5000, 200000, 5000),
  ]],
  ["Limits", [
    number("suspension.max_per_operation", "Suspensions an operation", "", 0, 32, 1),
    number("suspension.min_remaining_us", "Least remaining time", "µs", 0, 500, 10),
  ]],
];

/** Policies of suspension, from none to all. */
export const POLICIES = [
  ["fifo", "FIFO: in order of arrival"],
  ["rps", "RPS: reads first, nothing suspended"],
  ["pes-ips", "PES-IPS: programs and erases suspended at safe points"],
  ["pes-ipc", "PES-IPC: programs cancelled within a phase, erases suspended"],
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
    const row = line.match(/^([\w-]+)\s*=\s*(.*?)\s*(?:#.*)?$/);
    if (row) values.set(section + row[1], row[2].replace(/^"(.*)"$/, "$1"));
  }
  return values;
}

/** Overrides as `--set` has them. */
export function setsOf(changed) {
  return [...changed].map(([key, value]) => `${key}=${value}`);
}

/** A position from 0 to 1 and its value, along a slider. */
export function valueAt({ low, high, step, log }, position) {
  const value = log ? low * (high / low) ** position : low + position * (high - low);
  const whole = Math.round(value / step) * step;
  return Number(Math.min(high, Math.max(low, whole)).toFixed(4));
}

export function positionOf({ low, high, log }, value) {
  const inside = Math.min(high, Math.max(low, value));
  return log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
}
