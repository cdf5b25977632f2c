// Drawings of the page: strips of dies, axes, bars and tables, as SVG and HTML.

const SVG = "http://www.w3.org/2000/svg";
/** Width of a strip in its own units; it is stretched to the width of the page. */
export const STRIP = 1000;

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** An HTML element with attributes and children. */
export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A time in µs for people. */
export function microseconds(ns) {
  const us = ns / 1000;
  return us.toLocaleString("en", { maximumFractionDigits: us >= 100 ? 0 : us >= 10 ? 1 : 2 });
}

/** A number with its thousands apart. */
export const grouped = (number) => Math.round(number).toLocaleString("en");

const OPERATIONS = {
  read: "read", "rmw read": "read", "scan read": "other",
  "map read": "other", "map update read": "other",
  "gc read": "gc-read", program: "program", "gc program": "gc-program",
  "gc copyback": "gc-program", "map program": "other", erase: "erase",
};
const PHASES = {
  sense: "phase", "program pulse": "phase", "erase pulse": "phase",
  "program verify": "verify", "erase verify": "verify", "data in": "transfer",
  "data out": "transfer", "to suspension point": "entry", "voltage reset": "entry",
  restore: "resume", "set-up": "resume",
};
const COSTS = ["entry", "resume"];

/** A picture of what a die does between two times; `phases`: with all that is inside. */
export function strip(tracks, from_ns, to_ns, height, phases) {
  const picture = svg("svg", {
    viewBox: `0 0 ${STRIP} ${height}`, preserveAspectRatio: "none", style: `height: ${height}px`,
    "aria-hidden": "true",
  });
  const scale = STRIP / (to_ns - from_ns);
  for (const { slices } of tracks) {
    for (const { name, begin_ns, end_ns, depth } of slices) {
      const begin = Math.max(begin_ns, from_ns);
      const end = Math.min(end_ns ?? to_ns, to_ns);
      const kind = depth === 0 ? OPERATIONS[name] ?? "other" : PHASES[name];
      const isCost = COSTS.includes(kind);
      if (begin >= end || kind === undefined || (depth > 0 && !phases && !isCost)) continue;
      const isBand = depth > 0 && !isCost;
      const shape = svg("rect", {
        class: kind,
        x: ((begin - from_ns) * scale).toFixed(2),
        y: isBand ? height * 0.55 : 0,
        width: Math.max((end - begin) * scale, 0.3).toFixed(2),
        height: isBand ? height * 0.45 : height,
      });
      const length = microseconds((end_ns ?? to_ns) - begin_ns);
      shape.append(svg("title", {}, `${name}: from ${microseconds(begin_ns)} µs, ${length} µs`));
      picture.append(shape);
    }
  }
  return picture;
}

/** The axis of time below strips. */
export function axis(from_ns, to_ns) {
  const line = html("div", { class: "axis", "aria-hidden": "true" });
  const range = to_ns - from_ns;
  const rough = range / 5;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * scale).find((each) => each >= rough);
  for (let at = Math.ceil(from_ns / step) * step; at <= to_ns - step * 0.4; at += step) {
    const mark = html("span", {}, `${microseconds(at)}${at === 0 ? " µs" : ""}`);
    mark.style.left = `${(100 * (at - from_ns)) / range}%`;
    line.append(mark);
  }
  return line;
}

/** Strips of all dies over the first moments of a run. */
export function dieStrips(tracks, length_ns) {
  const dies = new Map();
  for (const track of tracks) {
    const name = track.name.match(/^die (\d+)/);
    if (!name) continue;
    dies.set(name[1], [...(dies.get(name[1]) ?? []), track]);
  }
  const height = dies.size > 32 ? 5 : 9;
  const told = `Operations of each of ${dies.size} dies in the first ${microseconds(length_ns)} µs`;
  const rows = html("div", { class: "dies", role: "img", "aria-label": told });
  for (const own of dies.values()) rows.append(strip(own, 0, length_ns, height, false));
  return html("div", {}, rows, axis(0, length_ns));
}

/** How busy each die is while the run goes on: a column a die. */
export function busyDies(shares) {
  const percent = (share) => `${Math.round(100 * share)} %`;
  const said = shares.length === 0 ? "" :
    `, from ${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}`;
  const all = html("div", {
    class: "busy", role: "img", "aria-label": `How busy each of ${shares.length} dies is${said}`,
  });
  shares.forEach((share, die) => {
    const level = html("span", { title: `die ${die}: busy ${percent(share)}` });
    level.style.height = `${Math.min(100, 100 * share)}%`;
    all.append(html("span", {}, level));
  });
  return all;
}

/** A table with a caption; `rows`: their names and texts. */
export function table(caption, columns, rows) {
  const head = html("tr", {}, html("td"));
  for (const name of columns) head.append(html("th", { scope: "col" }, name));
  const body = html("tbody");
  for (const [name, ...cells] of rows) {
    const row = html("tr", {}, html("th", { scope: "row" }, name));
    for (const cell of cells) row.append(html("td", {}, cell));
    body.append(row);
  }
  return html("table", {}, html("caption", {}, caption), html("thead", {}, head), body);
}
