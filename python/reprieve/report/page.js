// Draws the report's charts, and lets a reader choose runs, lines, a period and the colours.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const boxes = [...document.querySelectorAll(".runs input")];
  const all = (name) => [...document.querySelectorAll(`input[data-figure="${name}"]`)];
  const charts = new Map();
  const times = Object.values(specs).flatMap((spec) => spec.usermeta?.time ?? []);
  const end = times[0]?.end ?? 0;
  const period = { begin: 0, end };

  // Columns, with words by index, as the rows that Vega wants.
  const inflate = ({ columns, rows }) => {
    const cells = Object.entries(columns).map(([name, column]) => {
      const at = Array.isArray(column) ? (row) => column[row] : (row) => column.words[column.at[row]];
      return [name, at];
    });
    return Array.from({ length: rows }, (_, row) =>
      Object.fromEntries(cells.map(([name, at]) => [name, at(row)])));
  };
  const words = (value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return value;
    return value.toLocaleString("en", { maximumSignificantDigits: 5 });
  };

  const shownRuns = () => (boxes.length ? boxes.filter((box) => box.checked).map((box) => box.value) : null);
  const picked = (name) => all(name).filter((input) => input.checked).map((input) => input.value);
  const signal = (chart, values) => {
    for (const [name, value] of Object.entries(values)) chart.view.signal(name, value);
    return chart.view.runAsync();
  };

  const visible = (chart) => {
    const { picks, time } = chart.spec.usermeta;
    const runs = picks === "run" ? picked(chart.name) : shownRuns();
    const lines = picks && picks !== "run" ? picked(chart.name) : null;
    return chart.rows.filter((row) =>
      (!runs || !("run" in row) || runs.includes(row.run)) &&
      (!lines || lines.includes(row[picks])) &&
      (!time || (row.time >= period.begin && row.time <= period.end)));
  };

  // A table of what a chart shows, made when someone opens it.
  const fill = (chart) => {
    const place = document.querySelector(`#table-${chart.name} .scroll`);
    const details = document.getElementById(`table-${chart.name}`);
    if (!place || !details.open) return;
    const table = document.createElement("table");
    const caption = table.createCaption();
    caption.textContent = details.dataset.caption;
    const columns = Object.entries(chart.spec.usermeta.columns);
    const head = table.createTHead().insertRow();
    for (const [, title] of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of visible(chart)) {
      const line = body.insertRow();
      for (const [name] of columns) line.insertCell().textContent = words(row[name]);
    }
    place.replaceChildren(table);
  };

  const overTime = () => [...charts.values()].filter((chart) => chart.spec.usermeta?.time);
  const output = document.getElementById("period");
  const setPeriod = (begin, until) => {
    const length = Math.min(Math.max(until - begin, end / 1e5), end);
    period.begin = Math.min(Math.max(begin, 0), end - length);
    period.end = period.begin + length;
    const { unit } = times[0];
    output.textContent = `${words(period.begin)} to ${words(period.end)} ${unit}`;
    for (const chart of overTime()) {
      signal(chart, { begin: period.begin, end: period.end });
      fill(chart);
    }
  };
  const moves = {
    "in": () => setPeriod((3 * period.begin + period.end) / 4, (period.begin + 3 * period.end) / 4),
    out: () => setPeriod((3 * period.begin - period.end) / 2, (3 * period.end - period.begin) / 2),
    earlier: () => setPeriod(period.begin - (period.end - period.begin) / 2, period.end - (period.end - period.begin) / 2),
    later: () => setPeriod(period.begin + (period.end - period.begin) / 2, period.end + (period.end - period.begin) / 2),
    whole: () => setPeriod(0, end),
  };
  for (const button of document.querySelectorAll("button[data-move]")) {
    button.addEventListener("click", () => moves[button.dataset.move]());
  }

  // What the lines are at the time that the reader points at.
  const point = (chart, time) => {
    chart.at = time;
    const nearest = new Map();
    for (const row of visible(chart)) {
      const key = boxes.length ? row.run : row.series;
      const before = nearest.get(key);
      if (!before || Math.abs(row.time - time) < Math.abs(before.time - time)) nearest.set(key, row);
    }
    const { unit } = chart.spec.usermeta.time;
    const values = [...nearest].map(([key, row]) => `${key} ${words(row.value)}`);
    chart.output.textContent = values.length ? `${words(time)} ${unit}: ${values.join(", ")}` : "";
    signal(chart, { cursor: time });
  };
  const unpoint = (chart) => {
    chart.output.textContent = "";
    signal(chart, { cursor: -1 });
  };

  const watchTime = (chart) => {
    const { element, view } = chart;
    chart.output = document.getElementById(`at-${chart.name}`);
    const timeOf = (event) => {
      const svg = element.querySelector("svg");
      const { left, width } = svg.getBoundingClientRect();
      const scale = width / svg.width.baseVal.value;
      const x = (event.clientX - left) / scale - view.origin()[0] - view.padding().left;
      const time = view.scale("x").invert(x);
      return Math.min(Math.max(time, period.begin), period.end);
    };
    const mark = document.createElement("div");
    mark.className = "brush";
    let from = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { time: timeOf(event), x: event.clientX };
      element.setPointerCapture(event.pointerId);
      element.append(mark);
      mark.style.width = "0";
    });
    element.addEventListener("pointermove", (event) => {
      if (from) {
        const { left } = element.getBoundingClientRect();
        mark.style.left = `${Math.min(from.x, event.clientX) - left}px`;
        mark.style.width = `${Math.abs(event.clientX - from.x)}px`;
      }
      point(chart, timeOf(event));
    });
    element.addEventListener("pointerup", (event) => {
      const until = timeOf(event);
      if (from && Math.abs(event.clientX - from.x) > 4) {
        setPeriod(Math.min(from.time, until), Math.max(from.time, until));
      }
      from = null;
      mark.remove();
    });
    element.addEventListener("pointercancel", () => { from = null; mark.remove(); });
    element.addEventListener("pointerleave", () => unpoint(chart));
    element.addEventListener("dblclick", moves.whole);
    element.addEventListener("blur", () => unpoint(chart));
    const step = (direction) => {
      const length = period.end - period.begin;
      const at = chart.at >= period.begin && chart.at <= period.end ? chart.at : period.begin;
      point(chart, Math.min(Math.max(at + (direction * length) / 64, period.begin), period.end));
    };
    const keys = {
      "+": moves.in, "-": moves.out, "0": moves.whole, Escape: moves.whole,
      ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      PageUp: moves.earlier, PageDown: moves.later,
    };
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
  };

  const drawn = Object.entries(specs).map(async ([name, spec]) => {
    for (const [key, data] of Object.entries(spec.datasets ?? {})) {
      if (!Array.isArray(data)) spec.datasets[key] = inflate(data);
    }
    const rows = Object.values(spec.datasets ?? {}).sort((a, b) => b.length - a.length)[0] ?? [];
    const element = document.getElementById(`chart-${name}`);
    const { view } = await window.vegaEmbed(element, spec, { actions: false, renderer: "svg" });
    const chart = { name, spec, rows, element, view, at: -1 };
    charts.set(name, chart);
    if (spec.usermeta?.time) watchTime(chart);
    const details = document.getElementById(`table-${name}`);
    details?.addEventListener("toggle", () => fill(chart));
    for (const input of all(name)) {
      input.addEventListener("change", () => {
        signal(chart, { picked: picked(name) });
        fill(chart);
      });
    }
  });
  for (const box of boxes) {
    box.addEventListener("change", () => {
      for (const chart of charts.values()) {
        if (chart.spec.usermeta) signal(chart, { shown: shownRuns() });
        fill(chart);
      }
    });
  }

  const scheme = document.getElementById("scheme");
  const isDark = () => getComputedStyle(document.body).colorScheme === "dark" ||
    (!document.documentElement.dataset.scheme && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { scheme.textContent = isDark() ? "Light page" : "Dark page"; };
  scheme.addEventListener("click", () => {
    document.documentElement.dataset.scheme = isDark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  Promise.all(drawn).then(() => { document.documentElement.dataset.drawn = String(charts.size); });
})();
