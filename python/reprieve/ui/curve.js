// Cumulative latencies of both settings: each further nine of the percentile has the same height.

import { html, svg } from "./draw.js";

const WIDTH = 460, HEIGHT = 250;
const LEFT = 58, RIGHT = 34, TOP = 14, BOTTOM = 40;
/** Points of a curve, as the core gives them: 0, 10, …, 90, 91, …, 99, 99.1 and so on. */
const POINTS_PER_NINE = 9;
/** Of so many requests beyond it a percentile is a number. */
export const BEYOND_MIN = 10;
const LEAST_NS = 1000;
const COLOURS = { A: "var(--a)", B: "var(--b)", measured: "var(--ink)" };

/** How many nines a point of a curve has. */
function ninesAt(point) {
  const [nines, tenths] = [Math.floor(point / POINTS_PER_NINE), point % POINTS_PER_NINE];
  return nines - Math.log10(1 - tenths / 10);
}

/** The points of a curve that enough requests lie beyond. */
export function pointsOf(values_ns, count) {
  return values_ns.map((ns, point) => ({ ns, nines: ninesAt(point) }))
    .filter(({ nines }) => count * 10 ** -nines >= BEYOND_MIN);
}

function written(ns) {
  if (ns >= 1e9) return `${ns / 1e9} s`;
  return ns >= 1e6 ? `${ns / 1e6} ms` : `${ns / 1e3} µs`;
}

/** A picture of curves `{ name, points, dashes }` of reads or writes. */
export function curves(title, all, told) {
  const shown = all.filter(({ points }) => points.length > 1);
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": told, class: "curve",
    "font-family": "system-ui, sans-serif", "font-size": 12,
  });
  const text = (x, y, content, more = {}) => {
    const element = svg("text", { x, y, fill: "var(--soft)", ...more });
    element.textContent = content;
    picture.append(element);
  };
  text(LEFT, 11, title, { fill: "var(--ink)", "font-weight": 600 });
  const all_ns = shown.flatMap(({ points }) => points.map(({ ns }) => Math.max(ns, LEAST_NS)));
  if (all_ns.length === 0) {
    text(WIDTH / 2, HEIGHT / 2, "too few requests", { "text-anchor": "middle" });
    return picture;
  }
  const low = Math.floor(Math.log10(Math.min(...all_ns)) * 2) / 2;
  const high = Math.max(Math.ceil(Math.log10(Math.max(...all_ns)) * 4) / 4, low + 0.5);
  const nines = Math.max(...shown.flatMap(({ points }) => points.map((each) => each.nines)));
  const x = (ns) => LEFT +
    ((Math.log10(Math.max(ns, LEAST_NS)) - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
  const y = (at) => HEIGHT - BOTTOM - (at / nines) * (HEIGHT - BOTTOM - TOP - 6);
  const rule = (from, to, stroke) => picture.append(svg("line", {
    x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke, "stroke-width": 1,
  }));
  for (let decade = Math.ceil(low); decade <= high; decade += 1) {
    const at = x(10 ** decade);
    rule([at, y(0)], [at, y(nines)], "var(--line)");
    text(at, HEIGHT - BOTTOM + 16, written(10 ** decade), { "text-anchor": "middle" });
  }
  const marks = [["0 %", 0], ["50 %", Math.log10(2)], ["90 %", 1], ["99 %", 2], ["99.9 %", 3],
    ["99.99 %", 4], ["99.999 %", 5]];
  for (const [mark, at] of marks.filter(([, each]) => each <= nines)) {
    rule([LEFT, y(at)], [WIDTH - RIGHT, y(at)], "var(--line)");
    text(LEFT - 6, y(at) + 4, mark, { "text-anchor": "end" });
  }
  text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "latency, at most", { "text-anchor": "middle" });
  const ends = [];
  for (const { name, points, dashes } of shown) {
    const stroke = COLOURS[name];
    if (name === "measured") {
      for (const { ns, nines: at } of points) {
        picture.append(svg("circle", { cx: x(ns), cy: y(at), r: 3, fill: stroke }));
      }
    } else {
      const path = points.map(({ ns, nines: at }) => `${x(ns).toFixed(1)},${y(at).toFixed(1)}`);
      picture.append(svg("polyline", {
        points: path.join(" "), fill: "none", stroke, "stroke-width": 2.2,
        "stroke-dasharray": dashes ?? "none", "stroke-linejoin": "round",
      }));
    }
    const last = points[points.length - 1];
    const end = [x(last.ns) + 5, y(last.nines) + 4];
    // Where two curves end in one place, one name stands behind the other.
    if (ends.some(([at, up]) => Math.abs(at - end[0]) < 14 && Math.abs(up - end[1]) < 12)) {
      end[0] += 14;
    }
    ends.push(end);
    text(...end, name, { fill: stroke, "font-weight": 700 });
  }
  return picture;
}

/** The pictures side by side as one file that needs no style sheet, on white. */
export function asFile(pictures, caption) {
  const light = document.querySelector("#light");
  const values = new Map([...light.textContent.matchAll(/(--[\w-]+):\s*([^;]+);/g)]
    .map(([, name, value]) => [name, value]));
  const inner = pictures.map((picture, place) =>
    `<g transform="translate(${place * WIDTH} 24)">${picture.innerHTML}</g>`).join("");
  const escaped = html("span", {}, caption).innerHTML;
  const file = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH * pictures.length}" ` +
    `height="${HEIGHT + 24}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="#ffffff"/>` +
    `<text x="10" y="16" fill="#1d2129">${escaped}</text>${inner}</svg>\n`;
  return file.replace(/var\((--[\w-]+)\)/g, (_, name) => values.get(name) ?? "#000000");
}
