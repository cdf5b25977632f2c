// One setting of a drive: its controls, its run in a worker, and what comes out.

import { Asker } from "./asker.js";
import { blameBars, busyDies, dieStrips, grouped, html, microseconds, percentiles } from "./draw.js";
import {
  DEFAULT_SCENARIO, GROUPS, POLICIES, REQUEST_SIZES, SUSPENSION, shareOf, setsOf, valueAt,
  valuesOf,
} from "./scenario.js";

const STRIP_NS = 4_000_000;
const SLIDER_STEPS = 200;

export class Panel {
  /** `showed` is called whenever there is something new to see. */
  constructor(name, place, choices, changed, showed) {
    Object.assign(this, { name, place, choices, showed });
    this.text = DEFAULT_SCENARIO;
    this.changed = new Map(changed);
    this.seen = this.summary = null;
    this.asker = new Asker((sentence) => this.fail(sentence));
    this.build();
    this.run();
  }

  build() {
    const { name } = this;
    this.controls = html("div", { class: "controls" });
    this.sentence = html("p", { role: "alert", class: "error" });
    this.bar = html("progress", { max: 1, value: 0, "aria-label": `Progress of setting ${name}` });
    this.figures = html("p", { class: "figures" });
    this.time = html("p", { class: "time", role: "status" });
    this.table = html("div", { class: "percentiles" });
    this.busy = html("div");
    this.blame = html("div");
    this.strips = html("div");
    const save = html("button", { type: "button" }, "Download this scenario");
    save.onclick = () => this.download();
    const file = html("input", { type: "file", accept: ".toml,text/plain", id: `open-${name}` });
    file.onchange = () => this.openFile(file);
    const open = html("label", { for: file.id, class: "button" }, "Open a scenario");
    this.place.append(
      html("h3", {}, `Setting ${name}`), this.controls,
      html("p", { class: "files" }, save, html("span", { class: "opener" }, file, open)),
      this.sentence, this.bar, this.table, this.time, this.figures,
      html("h4", {}, "How busy each die is"), this.busy, this.blame, this.strips,
    );
  }

  value(key) {
    return String(this.changed.get(key) ?? this.values.get(key) ?? "").replaceAll('"', "");
  }

  choice(label, key, options, onchange) {
    const select = html("select", { id: `${this.name}-${key}` });
    const now = this.value(key);
    if (!options.some(([value]) => value === now)) {
      options = [[now, now || "as in the scenario"], ...options];
    }
    for (const [value, text] of options) select.append(html("option", { value }, text));
    select.value = now;
    select.onchange = () => onchange(select.value);
    return html("label", { for: select.id }, html("span", {}, label), select);
  }

  slider(spec) {
    const { key, label, unit, absent, suspension } = spec;
    if (suspension && this.value("suspension.policy") !== suspension) return null;
    const text = this.value(key);
    let value = text === "" ? NaN : Number(text);
    if (absent && (text === "" || text === "none")) value = null;
    if (Number.isNaN(value)) return null;
    const input = html("input", {
      type: "range", id: `${this.name}-${key}`, min: 0, max: SLIDER_STEPS, title: key,
    });
    const output = html("output", { for: input.id });
    const show = (now) => {
      output.textContent = now === null ? absent : `${now.toLocaleString("en")} ${unit}`;
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.value = Math.round(shareOf(spec, value) * SLIDER_STEPS);
    show(value);
    input.oninput = () => {
      const now = valueAt(spec, input.value / SLIDER_STEPS);
      show(now);
      this.change(key, now ?? '"none"');
    };
    return html("label", { for: input.id }, html("span", {}, label), input, output);
  }

  /** Makes the controls, with the values that the scenario has. */
  control() {
    const open = [...this.controls.querySelectorAll("details")].map((each) => each.open);
    const devices = this.choices.devices.map((name) => [name, name]);
    const policies = POLICIES.map(([name, title, doc]) => [name, `${title}: ${doc}`]);
    const suspension = this.choices.suspension_policies
      .filter(({ name }) => SUSPENSION[name] !== undefined)
      .map(({ name, doc }) => [name, `${name}: ${doc}`]);
    this.controls.replaceChildren(
      this.choice("Device", "device", devices, (name) => this.changeDevice(name)),
      this.choice("Policy", "policy", policies, (name) => this.change("policy", `"${name}"`)),
      this.choice("When to suspend", "suspension.policy", suspension,
        (name) => this.changeSuspension(name)),
    );
    GROUPS.forEach(([group, specs], place) => {
      const sliders = specs.map((spec) => this.slider(spec)).filter((each) => each !== null);
      if (group === "Load" && this.value("workload.request_bytes") !== "") {
        sliders.push(this.choice("Size of requests", "workload.request_bytes", REQUEST_SIZES,
          (size) => this.change("workload.request_bytes", size)));
      }
      if (sliders.length === 0) return;
      const box = html("details", {}, html("summary", {}, group), ...sliders);
      box.open = open[place] ?? group === "Load";
      this.controls.append(box);
    });
  }

  change(key, value) {
    this.changed_ms = performance.now();
    this.changed.set(key, value);
    this.run();
  }

  /** What was changed of one part means nothing on another. */
  changeDevice(name) {
    for (const key of [...this.changed.keys()]) {
      if (/^(timing|geometry|ftl)\./.test(key)) this.changed.delete(key);
    }
    this.values = undefined;
    this.change("device", `"${name}"`);
  }

  changeSuspension(name) {
    for (const own of Object.values(SUSPENSION)) {
      for (const key of Object.keys(own)) this.changed.delete(key);
    }
    for (const [key, value] of Object.entries(SUSPENSION[name])) this.changed.set(key, value);
    this.change("suspension.policy", `"${name}"`);
    this.control();
  }

  run() {
    this.sentence.textContent = "";
    this.place.setAttribute("aria-busy", "true");
    delete this.place.dataset.done;
    this.before = null;
    const sets = setsOf(this.changed);
    this.asker.ask({ kind: "run", text: this.text, sets, timeline_ns: STRIP_NS },
      (data) => this.receive(data));
  }

  receive(data) {
    if (data.kind === "opened") {
      this.printed = data.printed;
      if (this.values === undefined) {
        // Device and policy stand for many values: only the scenario as written names them.
        this.values = new Map([...valuesOf(data.printed), ...valuesOf(this.text)]);
        this.control();
      }
    } else {
      this.show(data.seen);
      if (data.kind === "done") this.finish(data);
    }
  }

  fail(sentence) {
    this.sentence.textContent = sentence;
    this.place.removeAttribute("aria-busy");
    if (this.values === undefined) {
      this.values = valuesOf(this.text);
      this.control();
    }
  }

  show(seen) {
    this.seen = seen;
    this.bar.value = seen.share ?? 0;
    this.table.replaceChildren(percentiles(seen));
    const seconds = seen.simulated_ns / 1e9;
    const rate = seconds > 0 ? grouped(seen.requests / seconds) : "–";
    const [programs, erases] = seen.suspensions;
    this.figures.textContent = !seen.is_ready ? "The drive is brought into its steady state …" :
      `${rate} requests a second over ${seconds.toFixed(3)} s simulated; suspensions: ` +
      `${grouped(programs)} of programs, ${grouped(erases)} of erases`;
    this.busy.replaceChildren(busyDies(this.busySince(seen)));
    this.showed(this);
  }

  /** The share of time that each die was busy since it was last shown. */
  busySince({ simulated_ns, die_busy_ns }) {
    const before = this.before ?? { simulated_ns: 0, die_busy_ns: die_busy_ns.map(() => 0) };
    const passed_ns = simulated_ns - before.simulated_ns;
    if (passed_ns > 0) {
      this.shares = die_busy_ns.map((ns, die) => (ns - before.die_busy_ns[die]) / passed_ns);
      this.before = { simulated_ns, die_busy_ns };
    }
    return this.shares ?? die_busy_ns.map(() => 0);
  }

  finish({ seen, summary, tracks, wall_ms }) {
    this.summary = JSON.parse(summary);
    const { simulated_ns, die_busy_ns } = seen;
    this.shares = die_busy_ns.map((ns) => ns / Math.max(simulated_ns, 1));
    this.busy.replaceChildren(busyDies(this.shares));
    this.blame.replaceChildren(
      blameBars("read", this.summary.blame.read.slowest_1),
      blameBars("write", this.summary.blame.write.slowest_1),
    );
    const head = html("h4", {}, `The dies in the first ${microseconds(STRIP_NS)} µs`);
    this.strips.replaceChildren(head, dieStrips(tracks, STRIP_NS));
    this.place.removeAttribute("aria-busy");
    this.showed(this);
    const { number } = this.asker;
    requestAnimationFrame(() => {
      // Another run may have begun since.
      if (number === this.asker.number) this.sayTime(wall_ms, summary);
    });
  }

  /** Says how long it took, once it is drawn; tests find the summary in the page. */
  sayTime(wall_ms, summary) {
    const since_ms = performance.now() - (this.changed_ms ?? performance.now());
    const drawn = since_ms > 0 ? `; p99.9 drawn ${grouped(since_ms)} ms after the change` : "";
    this.time.textContent = `Simulated in ${grouped(wall_ms)} ms${drawn}.`;
    this.place.dataset.summary = summary;
    this.place.dataset.done = this.asker.number;
  }

  download() {
    const url = URL.createObjectURL(new Blob([this.printed ?? this.text], { type: "text/plain" }));
    html("a", { href: url, download: `scenario-${this.name.toLowerCase()}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async openFile(file) {
    if (file.files.length === 0) return;
    this.open(await file.files[0].text());
    // The same file may be opened again, after it was changed.
    file.value = "";
  }

  open(text) {
    this.text = text;
    this.changed.clear();
    this.values = undefined;
    this.changed_ms = performance.now();
    this.run();
  }
}
