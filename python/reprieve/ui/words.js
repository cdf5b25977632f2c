// Comparisons of two runs in words and numbers, by the intervals of their summaries.

import { grouped, html, microseconds, table } from "./draw.js";
import { BEYOND_MIN } from "./curve.js";

const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99, p99_9: 0.999, p99_99: 0.9999 };
const written = (percentile) => percentile.replace("_", ".");
/** From this factor on a difference is said as a multiple, below it in percent. */
const MULTIPLE = 1.5;
const TIMES_MOST = 1000;

const intervalOf = ({ confidence }, name) => confidence?.[name] ?? null;
const apart = ([low, high], [otherLow, otherHigh]) => high < otherLow || otherHigh < low;

/** Whether two runs differ in a percentile: true, false, or null if neither is known. */
function differ(one, other, name) {
  const [a, b] = [intervalOf(one, name), intervalOf(other, name)];
  if (a !== null && b !== null) return apart(a, b);
  return null;
}

/** How many times as many requests would part two intervals, if both means stay as they are. */
function timesMore(one, other, name) {
  const [[low, high], [otherLow, otherHigh]] = [intervalOf(one, name), intervalOf(other, name)];
  const [width, between] = [high - low + otherHigh - otherLow,
    one.latency_ns[name] - other.latency_ns[name]];
  if (between === 0) return "";
  const times = (width / 2 / between) ** 2;
  if (!(times <= TIMES_MOST)) return "; a thousand times as many requests would not part them";
  return `; about ${Math.max(times, 1.1).toPrecision(2)} × as many requests would, if they stay so`;
}

function times(one_ns, other_ns, better, worse) {
  const [factor, word] = other_ns <= one_ns ? [one_ns / other_ns, better] :
    [other_ns / one_ns, worse];
  if (!Number.isFinite(factor)) return word;
  if (factor >= MULTIPLE) return `${factor >= 10 ? factor.toFixed(0) : factor.toFixed(1)} × ${word}`;
  const percent = 100 * (other_ns <= one_ns ? 1 - other_ns / one_ns : other_ns / one_ns - 1);
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} % ${word}`;
}

function clause(kind, one, other, candidates) {
  const name = candidates.find((each) => differ(one, other, each) !== null);
  if (one.count === 0 || other.count === 0) return `there are no ${kind}s to compare`;
  if (name === undefined) return `there are too few ${kind}s to compare`;
  const [a_ns, b_ns] = [one.latency_ns[name], other.latency_ns[name]];
  const both = `${microseconds(a_ns)} → ${microseconds(b_ns)} µs`;
  const at = `at ${written(name)} (${both})`;
  if (!differ(one, other, name)) {
    return `${kind}s do not differ significantly ${at}${timesMore(one, other, name)}`;
  }
  return `${kind}s are ${times(a_ns, b_ns, "faster", "slower")} ${at}`;
}

/** The difference of two summaries in a sentence; `bounds`: policies that no drive can have. */
export function headline(one, other, bounds) {
  const [a, b] = [one.requests, other.requests];
  const reads = clause("read", a.read, b.read, ["p99_9", "p99", "p95", "p50"]);
  const writes = clause("write", a.write, b.write, ["p50"]);
  const bound = bounds.length === 0 ? "" :
    ` ${bounds.join(" and ")} is a bound: no drive programs in no time.`;
  return `Under B, ${reads}; ${writes}.${bound}`;
}

/** Reads and writes of both side by side, with marks as `reprieve compare` has them. */
export function comparison(one, other) {
  const marks = new Set();
  const rows = [];
  for (const kind of ["read", "write"]) {
    const [a, b] = [one.requests[kind], other.requests[kind]];
    for (const name of ["mean", "p50", "p99", "p99_9", "p99_99"]) {
      const beyond = Math.min(a.count, b.count) * (1 - (SHARES[name] ?? 0));
      const label = `${kind} ${written(name)}, µs`;
      if (beyond < BEYOND_MIN) {
        rows.push([label, "too few", "too few", ""]);
        continue;
      }
      const [a_ns, b_ns] = [a.latency_ns[name], b.latency_ns[name]];
      const isApart = differ(a, b, name);
      const mark = isApart === null ? "?" : isApart ? "" : "~";
      marks.add(mark);
      const ratio = a_ns > 0 ? `${mark}${(b_ns / a_ns).toPrecision(3)}` : "–";
      rows.push([label, microseconds(a_ns), microseconds(b_ns), ratio]);
    }
  }
  const told = [
    marks.has("~") ? "~ not significant: the 95 % intervals of A and B overlap." : "",
    marks.has("?") ? "? too few requests for an interval." : "",
  ].filter((each) => each !== "").join(" ");
  return html("div", {}, table("Latencies", ["A", "B", "B / A"], rows),
    html("p", { class: "marks" }, told));
}

const CAUSES = {
  host_read: "other reads", host_program: "programs of the host", gc_read: "reads of collection",
  gc_program: "programs of collection", erase: "erases", map: "the mapping",
  channel: "the channel", suspend_entry: "entry into suspension",
  same_block: "the wordline being programmed", limit: "limits of suspension",
  budget: "the budget of suspensions", power: "the power budget", other: "something else",
};
const OWN_WORK = "their own work";

/** Bars: what the slowest requests of both waited behind, in µs a request. */
export function attribution(kind, one, other) {
  const parts = [one, other].map(({ blame }) => blame[kind].slowest_1);
  const meansOf = ({ requests, latency_ns, ...waited }) => {
    const means = new Map(Object.entries(waited)
      .map(([key, ns]) => [key.slice(3, -3), ns / Math.max(requests, 1)]));
    const sum = [...means.values()].reduce((total, ns) => total + ns, 0);
    return means.set("own", Math.max(0, latency_ns / Math.max(requests, 1) - sum));
  };
  const [a, b] = parts.map(meansOf);
  const largest = Math.max(...a.values(), ...b.values(), 1);
  const shown = [...a.keys()].filter((cause) => Math.max(a.get(cause), b.get(cause)) > largest / 500);
  shown.sort((x, y) => Math.max(a.get(y), b.get(y)) - Math.max(a.get(x), b.get(x)));
  const list = html("ul", { class: "bars" });
  for (const cause of shown) {
    const pair = html("span", { class: "pair" });
    for (const [name, means] of [["A", a], ["B", b]]) {
      const level = html("span", { class: `level is-${name}` });
      level.style.width = `${(100 * means.get(cause)) / largest}%`;
      pair.append(html("span", { class: "one" }, html("span", { class: "bar" }, level),
        html("span", { class: "share" }, `${name} ${grouped(means.get(cause) / 1000)} µs`)));
    }
    list.append(html("li", {},
      html("span", { class: "cause" }, cause === "own" ? OWN_WORK : CAUSES[cause] ?? cause), pair));
  }
  const none = html("p", {}, `There were no ${kind}s.`);
  const head = `Where the time of the slowest 1 % of ${kind}s goes, mean µs each`;
  return html("div", {}, html("h3", {}, head), parts[0].requests > 0 ? list : none);
}
