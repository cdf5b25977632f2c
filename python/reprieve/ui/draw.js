// Drawings of the page: timelines of dies, bars and tables, as SVG and HTML.

const SVG = "http://www.w3.org/2000/svg";

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

/** The class, and so the colour, of a slice. */
export function classOf(name) {
  if (/^(host )?read|^read/.test(name)) return "read";
  if (/gc read/.test(name)) return "gc-read";
  if (/gc program|gc copy/.test(name)) return "gc-program";
  if (/erase/.test(name)) return "erase";
  if (/program/.test(name)) return "program";
  if (/suspen|restore|reset|set-up/.test(name)) return "overhead";
  return "other";
}

const OVERHEAD = /suspension point|restore|voltage reset|set-up|suspend/;

/** µs for what people read. */
export function microseconds(ns) {
  const us = ns / 1000;
  const digits = us >= 100 ? 0 : us >= 10 ? 1 : 2;
  return us.toLocaleString("en", { maximumFractionDigits: digits });
}

/** The slices of a die between two times, as rectangles over `width` of a picture. */
export function slices(tracks, from_ns, to_ns, width, top, height) {
  const shapes = [];
  const scale = width / (to_ns - from_ns);
  for (const { slices: all } of tracks) {
    for (const { name, begin_ns, end_ns, depth } of all) {
      const end = Math.min(end_ns ?? to_ns, to_ns);
      const begin = Math.max(begin_ns, from_ns);
      if (begin >= end || (depth > 0 && !OVERHEAD.test(name))) continue;
      const shape = svg("rect", {
        class: depth > 0 ? "overhead" : classOf(name),
        x: ((begin - from_ns) * scale).toFixed(2),
        y: top,
        width: Math.max((end - begin) * scale, 0.4).toFixed(2),
        height,
      });
      const length = microseconds((end_ns ?? to_ns) - begin_ns);
      shape.append(svg("title", {}, `${name}: ${microseconds(begin_ns)} µs, for ${length} µs`));
      shapes.push(shape);
    }
  }
  return shapes;
}

/** The axis of time below a picture. */
export function axis(from_ns, to_ns, width, top) {
  const marks = [];
  const range = to_ns - from_ns;
  const rough = range / 6;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * scale).find((each) => each >= rough);
  for (let at = Math.ceil(from_ns / step) * step; at <= to_ns; at += step) {
    const x = ((at - from_ns) / range) * width;
    const anchor = x < 12 ? "start" : x > width - 30 ? "end" : "middle";
    marks.push(svg("line", { class: "tick", x1: x, x2: x, y1: top, y2: top + 4 }));
    marks.push(svg("text", { class: "tick", x, y: top + 16, "text-anchor": anchor },
      `${microseconds(at)}${at === 0 ? " µs" : ""}`));
  }
  return marks;
}

/** A strip of dies: what each does over the first moments of the load. */
export function dieStrip(tracks, length_ns) {
  const dies = tracks.filter(({ name }) => /^die \d+/.test(name));
  const row = 9, width = 600;
  const height = dies.length * row;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height + 20}`, role: "img",
    "aria-label": `What ${dies.length} dies do in the first ${microseconds(length_ns)} µs`,
  });
  dies.forEach((die, number) => {
    picture.append(...slices([die], 0, length_ns, width, number * row, row - 1));
  });
  picture.append(...axis(0, length_ns, width, height));
  return picture;
}

const CAUSES = {
  host_read: "reads of the host", host_program: "programs of the host",
  gc_read: "reads of collection", gc_program: "programs of collection", erase: "erases",
  map: "the mapping", channel: "the channel", suspend_entry: "way into suspension",
  same_block: "page held by the operation", limit: "limit of suspensions",
  budget: "budget of suspensions", power: "budget of power", other: "other",
};

/** Bars: what the slowest reads waited behind. */
export function blameBars({ waited, requests }) {
  const rows = Object.entries(waited).map(([key, ns]) => [key.slice(3, -3), ns]);
  const all = rows.reduce((sum, [, ns]) => sum + ns, 0);
  const list = html("ul", { class: "bars" });
  for (const [cause, ns] of rows.filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1])) {
    const share = `${((100 * ns) / all).toFixed(0)} %`;
    const bar = html("span", { class: `bar ${cause.replace("_", "-")}`, "aria-hidden": "true" });
    bar.style.width = `${(100 * ns) / all}%`;
    list.append(html("li", {}, html("span", { class: "cause" }, CAUSES[cause] ?? cause),
      html("span", { class: "track" }, bar), html("span", { class: "share" }, share)));
  }
  const head = html("h4", {}, `What the slowest ${requests} reads waited behind`);
  return html("div", {}, head, all > 0 ? list : html("p", {}, "Nothing: no read waited."));
}

/** The table of percentiles of a glance. */
export function percentileTable({ read_ns, write_ns, completed }) {
  const table = html("table", {}, html("caption", {}, "Latency, µs"));
  const head = html("tr", {}, html("td"));
  for (const name of ["p50", "p99", "p99.9", "p99.99"]) {
    head.append(html("th", { scope: "col" }, name));
  }
  table.append(html("thead", {}, head));
  const body = html("tbody");
  [["reads", read_ns, completed[0]], ["writes", write_ns, completed[1]]].forEach(([name, row, n]) => {
    const cells = row.map((ns) => html("td", {}, n > 0 ? microseconds(ns) : "–"));
    body.append(html("tr", {}, html("th", { scope: "row" }, name), ...cells));
  });
  table.append(body);
  return table;
}
