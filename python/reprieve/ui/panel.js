// One setting of a drive: its sliders, its run in a worker, and what comes out.

import { blameBars, dieStrip, html, microseconds, percentileTable } from "./draw.js";
import { DEFAULT_SCENARIO, GROUPS, POLICIES, positionOf, setsOf, valueAt, valuesOf } from "./scenario.js";

const STRIP_NS = 4_000_000;
const SLIDER_STEPS = 200;

export class Panel {
  constructor(name, place, choices, changed = []) {
    Object.assign(this, { name, place, choices, number: 0 });
    this.text = DEFAULT_SCENARIO;
    this.changed = new Map(changed);
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.number === this.number) this.hear(data);
    };
    this.build();
    this.run();
  }

  build() {
    this.controls = html("div", { class: "controls" });
    this.sentence = html("p", { role: "alert", class: "error" });
    this.figures = html("p", { class: "figures" });
    this.bar = html("progress", { max: 1, value: 0, "aria-label": `Run of setting ${this.name}` });
    this.table = html("div");
    this.blame = html("div");
    this.strip = html("div", { class: "strip" });
    const save = html("button", { type: "button" }, "Download this scenario");
    save.onclick = () => this.download();
    const file = html("input", { type: "file", accept: ".toml", id: `open-${this.name}` });
    file.onchange = () => this.openFile(file.files[0]);
    const open = html("label", { for: file.id, class: "button" }, "Open a scenario");
    this.place.append(
      html("h3", {}, `Setting ${this.name}`), this.controls, this.sentence, this.bar,
      this.figures, this.table, this.blame, this.strip, html("p", {}, save, " ", open, file),
    );
  }

  choice(label, key, options) {
    const select = html("select", { id: `${this.name}-${key}` });
    const now = String(this.changed.get(key) ?? this.values?.get(key) ?? "").replaceAll('"', "");
    if (!options.some(([value]) => value === now)) {
      options = [[now, now || "as the scenario has it"], ...options];
    }
    for (const [value, text] of options) select.append(html("option", { value }, text));
    select.value = now;
    select.onchange = () => {
      if (select.value !== "") this.change(key, `"${select.value}"`);
    };
    return html("label", { for: select.id }, html("span", {}, label), select);
  }

  slider(spec) {
    const { key, label, unit } = spec;
    const value = Number(this.changed.get(key) ?? this.values.get(key));
    if (!Number.isFinite(value)) return null;
    const input = html("input", {
      type: "range", id: `${this.name}-${key}`, min: 0, max: SLIDER_STEPS, title: key,
    });
    const shown = html("output", { for: input.id }, `${value} ${unit}`);
    input.value = Math.round(positionOf(spec, value) * SLIDER_STEPS);
    const tell = (now) => {
      shown.textContent = `${now} ${unit}`;
      input.setAttribute("aria-valuetext", `${now} ${unit}`);
    };
    tell(value);
    input.oninput = () => {
      const now = valueAt(spec, input.value / SLIDER_STEPS);
      tell(now);
      this.change(key, now);
    };
    return html("label", { for: input.id }, html("span", {}, label), input, shown);
  }

  /** The controls, with the values that the scenario has. */
  control() {
    const devices = this.choices.devices.map((name) => [name, name]);
    this.controls.replaceChildren(
      this.choice("Device", "device", devices), this.choice("Policy", "policy", POLICIES),
    );
    GROUPS.forEach(([group, specs], place) => {
      const sliders = specs.map((spec) => this.slider(spec)).filter((each) => each !== null);
      if (sliders.length === 0) return;
      const box = html("details", place === 2 ? { open: "" } : {},
        html("summary", {}, group), ...sliders);
      this.controls.append(box);
    });
  }

  change(key, value) {
    this.changed.set(key, value);
    if (key === "device") {
      // What was changed of one part means nothing on another.
      for (const each of [...this.changed.keys()]) {
        if (/^(timing|geometry)\./.test(each)) this.changed.delete(each);
      }
      this.values = undefined;
    }
    this.run();
  }

  run() {
    this.number += 1;
    this.sentence.textContent = "";
    this.worker.postMessage({
      number: this.number, kind: "run", text: this.text, sets: setsOf(this.changed),
      timeline_ns: STRIP_NS,
    });
  }

  hear(data) {
    if (data.kind === "error") {
      this.sentence.textContent = data.sentence;
      this.place.removeAttribute("aria-busy");
      return;
    }
    if (data.kind === "opened") {
      this.printed = data.printed;
      this.place.setAttribute("aria-busy", "true");
      if (this.values === undefined) {
        // Device and policy stand for many values: they are in what was asked alone.
        this.values = new Map([...valuesOf(data.printed), ...valuesOf(this.text)]);
        this.control();
      }
      return;
    }
    this.bar.value = data.glance.is_ready ? (data.glance.share ?? 0) : 0;
    this.table.replaceChildren(percentileTable(data.glance));
    this.tell(data.glance, data.elapsed_ms, data.kind === "done");
    if (data.kind !== "done") return;
    this.place.removeAttribute("aria-busy");
    this.summary = data.summary.summary;
    this.place.dataset.summary = JSON.stringify(this.summary);
    this.blame.replaceChildren(blameBars(data.summary.slowest_reads));
    this.strip.replaceChildren(
      html("h4", {}, `The dies in the first ${STRIP_NS / 1e6} ms`), dieStrip(data.tracks, STRIP_NS),
    );
  }

  tell(glance, elapsed_ms, isDone) {
    const [programs, erases] = glance.suspensions;
    const seconds = glance.simulated_ns / 1e9;
    const rate = seconds > 0 ? Math.round(glance.requests / seconds).toLocaleString("en") : "–";
    const busy = glance.die_busy_ns.reduce((sum, ns) => sum + ns, 0);
    const share = seconds > 0 ? busy / glance.die_busy_ns.length / glance.simulated_ns : 0;
    const state = !glance.is_ready ? "Preconditioning …" : isDone ? "" : "Running …";
    this.figures.textContent =
      `${state} ${glance.requests.toLocaleString("en")} requests, ${rate} a second; ` +
      `${programs.toLocaleString("en")} suspensions of programs, ` +
      `${erases.toLocaleString("en")} of erases; dies busy ${(100 * share).toFixed(0)} %; ` +
      `simulated ${microseconds(glance.simulated_ns)} µs in ${Math.round(elapsed_ms)} ms`;
  }

  download() {
    const url = URL.createObjectURL(new Blob([this.printed ?? this.text], { type: "text/plain" }));
    const link = html("a", { href: url, download: `scenario-${this.name.toLowerCase()}.toml` });
    link.click();
    URL.revokeObjectURL(url);
  }

  async openFile(file) {
    if (file === undefined) return;
    this.text = await file.text();
    this.changed.clear();
    this.values = undefined;
    this.run();
  }
}
