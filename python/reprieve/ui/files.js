// Files that are dropped on the page: scenarios, job files and results of fio, traces.

import { withLoad } from "./scenario.js";

/** Where the core finds a dropped file; the name alone would need a current folder. */
const place = (name) => name.replace(/[^\w.-]/g, "_").replace(/\.+$/, "");
const REQUESTS_MAX = 100_000;
const DIRECTIONS = { read: 1, write: 0, randread: 1, randwrite: 0, rw: null, readwrite: null,
  randrw: null };
const UNKNOWN = ["bsrange", "bssplit", "percentage_random", "zonemode", "rate", "rate_iops",
  "thinktime", "rwmixwrite"];

/**
 * What to do with a file: `text`, the scenario now; `file`, with the bytes for the core; `measured`,
 * points of curves by kind of request; `told`, a sentence. Throws an error with a sentence.
 */
export async function taken(given, text) {
  const bytes = await given.arrayBuffer();
  const content = () => new TextDecoder().decode(bytes);
  const name = place(given.name);
  if (given.name.endsWith(".toml")) return { text: content(), told: `${given.name} is open.` };
  if (given.name.endsWith(".fio")) {
    const rows = `fio = "${name}"`;
    return { text: withLoad(text, rows), file: { name, bytes },
      told: `The jobs of ${given.name} are the load.` };
  }
  if (new Uint8Array(bytes, 0, Math.min(1, bytes.byteLength))[0] === 0x7b) {
    return fioResult(JSON.parse(content()), given.name, text);
  }
  const rows = `trace = "${name}"\nmax_requests = ${REQUESTS_MAX}`;
  return { text: withLoad(text, rows), file: { name, bytes },
    told: `${given.name} is the load: its first ${REQUESTS_MAX.toLocaleString("en")} requests, ` +
      "wrapped around where it exceeds the drive." };
}

/** The load of a fio result, and what was measured. */
function fioResult(result, file, text) {
  const jobs = result.jobs;
  if (!Array.isArray(jobs) || jobs.length === 0 || typeof result["fio version"] !== "string") {
    throw new Error(`${file} is JSON, but not a result of fio --output-format=json`);
  }
  const [first, ...others] = jobs.map((job) => optionsOf(result, job, file));
  for (const each of others) {
    for (const key of ["rw", "bs", "iodepth", "rwmixread"]) {
      if (each[key] !== first[key]) {
        throw new Error(`${file}: the jobs differ in ${key} (${first[key]}, ${each[key]}); give ` +
          "a result whose jobs are alike, or use reprieve calibrate");
      }
    }
  }
  const isGrouped = first.group_reporting !== undefined;
  const workers = isGrouped ? Number(first.numjobs ?? 1) : jobs.length;
  const depth = Number(first.iodepth ?? 1) * workers;
  const readFraction = DIRECTIONS[first.rw] ?? Number(first.rwmixread ?? 50) / 100;
  const rows = ['generator = "mixed"', `requests = 40000`, `read_fraction = ${readFraction}`,
    `request_bytes = ${bytesOf(first.bs ?? "4k", file)}`,
    `addresses = "${first.rw.startsWith("rand") ? "uniform" : "sequential"}"`,
    'arrivals = "closed"', `queue_depth = ${depth}`].join("\n");
  const measured = jobs.length > 1 ? {} :
    Object.fromEntries(["read", "write"].map((kind) => [kind, measuredOf(jobs[0][kind])]));
  const points = jobs.length > 1 ?
    "its jobs are reported apart, and percentiles of several do not add up to one" :
    "its percentiles are the dots";
  return { text: withLoad(text, rows), measured,
    told: `${file}: ${first.rw} of ${first.bs ?? "4k"} at depth ${depth} is the load, and ${points}.` };
}

function optionsOf(result, job, file) {
  const options = { ...result["global options"], ...job["job options"] };
  options.rw ??= "read";
  const odd = UNKNOWN.find((key) => options[key] !== undefined);
  if (odd !== undefined) {
    throw new Error(`${file}: the page has no load for fio's ${odd}; use reprieve calibrate`);
  }
  if (!(options.rw in DIRECTIONS)) {
    throw new Error(`${file}: rw=${options.rw} is no load of reads and writes`);
  }
  return options;
}

function bytesOf(written, file) {
  const [, number, unit] = String(written).toLowerCase().match(/^(\d+)([kmg]?)i?b?$/) ?? [];
  if (number === undefined) throw new Error(`${file}: bs=${written} is not one size of requests`);
  return Number(number) * 1024 ** ["", "k", "m", "g"].indexOf(unit);
}

function measuredOf(part) {
  const percentiles = part?.lat_ns?.percentile ?? part?.clat_ns?.percentile ?? {};
  return Object.entries(percentiles)
    .map(([percent, ns]) => ({ nines: -Math.log10(1 - Number(percent) / 100), ns }))
    .filter(({ nines, ns }) => Number.isFinite(nines) && ns > 0);
}
