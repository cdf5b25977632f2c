// One setting of a drive: its controls, its run in a worker, and its dies.

import { Asker } from "./asker.js";
import { Controls } from "./controls.js";
import { copyButton, downloadButton } from "./copying.js";
import { busyDies, dieStrips, grouped, html, microseconds } from "./draw.js";
import {
  ERASE_MODES, OWN_GROUPS, POLICIES, POLICY_KEYS, PROGRAM_MODES, SHARED_GROUPS, SUSPENSION,
  valuesOf,
} from "./scenario.js";

const STRIP_NS = 4_000_000;

export class Panel {
  /**
   * `state` is asked for the scenario; `changed` is called after a change, `showed` whenever there
   * is something new to see.
   */
  constructor(name, place, choices, { state, changed, showed }) {
    Object.assign(this, { name, place, choices, state, changed, showed });
    this.seen = this.summary = this.values = null;
    this.asker = new Asker((sentence) => this.fail(sentence));
    this.build();
  }

  build() {
    const { name } = this;
    this.controls = new Controls(name, html("div", { class: "controls" }),
      (key, value) => this.change(key, value));
    this.sentence = html("p", { role: "alert", class: "error" });
    this.bar = html("progress", { max: 1, value: 0, "aria-label": `Progress of setting ${name}` });
    this.figures = html("p", { class: "figures" });
    this.time = html("p", { class: "time", role: "status" });
    this.busy = html("div");
    this.strips = html("div");
    const scenario = () => this.printed ?? this.state().text;
    this.place.replaceChildren(
      html("h3", { class: `is-${name}` }, `Setting ${name}`), this.controls.place,
      html("p", { class: "buttons" },
        copyButton("Copy the scenario", scenario),
        downloadButton("Save the scenario", `scenario-${name.toLowerCase()}.toml`, scenario)),
      this.sentence, this.bar, this.time, this.figures,
      html("details", { "data-group": "dies" }, html("summary", {}, "The dies"),
        html("h4", {}, "How busy each die is"), this.busy, this.strips),
    );
  }

  get own() {
    return this.state().own[this.name];
  }

  /** Draws the controls with the values that the scenario has. */
  control() {
    const { controls } = this;
    controls.values = this.values;
    const keysOf = POLICY_KEYS.map((key) => controls.value(key)).join();
    const now = POLICIES.find(([, , , keys]) => keys.join() === keysOf)?.[0] ?? "custom";
    controls.values.set("policy", now);
    const policies = POLICIES.map(([name, title, doc]) => [name, `${title}: ${doc}`]);
    if (now === "custom") policies.unshift(["custom", "as set below"]);
    const suspension = this.choices.suspension_policies
      .filter(({ name }) => SUSPENSION[name] !== undefined)
      .map(({ name, doc }) => [name, `${name}: ${doc}`]);
    const { isUnlocked } = this.state();
    controls.draw([
      ...(isUnlocked ? [deviceChoice(controls, this.choices, this.state().text)] : []),
      controls.choice("Policy", "policy", policies, (name) => this.changePolicy(name)),
      controls.choice("Suspend programs", "suspension.program", PROGRAM_MODES,
        (mode) => this.changeMode("suspension.program", `"${mode}"`)),
      controls.choice("Suspend erases", "suspension.erase", ERASE_MODES,
        (mode) => this.changeMode("suspension.erase", mode)),
      controls.choice("When to suspend", "suspension.policy", suspension,
        (name) => this.changeSuspension(name)),
    ], isUnlocked ? [...OWN_GROUPS, ...SHARED_GROUPS] : OWN_GROUPS);
  }

  change(key, value, redraws = false) {
    this.own.set(key, value);
    if (redraws) this.values = null;
    this.changed([this.name]);
  }

  /** A policy by name stands for three keys. */
  changePolicy(name) {
    for (const key of POLICY_KEYS) this.own.delete(key);
    this.change("policy", `"${name}"`, true);
  }

  /** One of the three keys: the others stay as they are. */
  changeMode(key, value) {
    const policy = this.own.get("policy")?.replaceAll('"', "");
    const stands = POLICIES.find(([name]) => name === policy);
    this.own.delete("policy");
    stands?.[3].forEach((each, place) => {
      const written = POLICY_KEYS[place] === "suspension.erase" ? each : `"${each}"`;
      this.own.set(POLICY_KEYS[place], written);
    });
    this.change(key, value, true);
  }

  changeSuspension(name) {
    for (const keys of Object.values(SUSPENSION)) {
      for (const key of Object.keys(keys)) this.own.delete(key);
    }
    for (const [key, value] of Object.entries(SUSPENSION[name])) this.own.set(key, String(value));
    this.change("suspension.policy", `"${name}"`, true);
  }

  /** Runs the scenario as it is now; `changed_ms`: when a user changed something. */
  run(changed_ms) {
    this.changed_ms = changed_ms;
    this.sentence.textContent = "";
    this.place.setAttribute("aria-busy", "true");
    delete this.place.dataset.done;
    this.before = null;
    const { text, file } = this.state();
    const sets = this.state().setsOf(this.name);
    this.asker.ask({ kind: "run", text, sets, file, timeline_ns: STRIP_NS },
      (data) => this.receive(data));
  }

  receive(data) {
    if (data.kind === "opened") {
      this.printed = data.printed;
      const isNew = this.values === null;
      this.values = valuesOf(data.printed);
      if (isNew) this.control();
      this.showed(this, isNew);
    } else {
      this.show(data.seen);
      if (data.kind === "done") this.finish(data);
    }
  }

  fail(sentence) {
    this.sentence.textContent = sentence;
    this.place.removeAttribute("aria-busy");
    this.seen = this.summary = null;
    this.values ??= valuesOf(this.state().text);
    this.control();
    this.showed(this, true);
  }

  show(seen) {
    this.seen = seen;
    this.bar.value = seen.share ?? 0;
    const seconds = seen.simulated_ns / 1e9;
    const rate = seconds > 0 ? grouped(seen.requests / seconds) : "–";
    const [programs, erases] = seen.suspensions;
    this.figures.textContent = !seen.is_ready ? "The drive is brought into its steady state …" :
      `${rate} requests a second over ${seconds.toFixed(3)} s simulated; suspensions: ` +
      `${grouped(programs)} of programs, ${grouped(erases)} of erases`;
    this.busy.replaceChildren(busyDies(this.busySince(seen)));
    this.showed(this, false);
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
    const head = html("h4", {}, `The first ${microseconds(STRIP_NS)} µs`);
    this.strips.replaceChildren(head, dieStrips(tracks, STRIP_NS));
    this.place.removeAttribute("aria-busy");
    this.showed(this, false);
    const { number } = this.asker;
    requestAnimationFrame(() => {
      // Another run may have begun since.
      if (number === this.asker.number) this.sayTime(wall_ms, summary);
    });
  }

  /** Says how long it took, once it is drawn; tests find the summary in the page. */
  sayTime(wall_ms, summary) {
    const since_ms = performance.now() - this.changed_ms;
    const drawn = since_ms > 0 ? `; drawn ${grouped(since_ms)} ms after the change` : "";
    this.time.textContent = `Simulated in ${grouped(wall_ms)} ms${drawn}.`;
    this.place.dataset.summary = summary;
    this.place.dataset.done = this.asker.number;
  }
}

/** The list of devices; one stands in a scenario by name only. */
export function deviceChoice(controls, choices, text, onchange) {
  const named = controls.value("device") || (text.match(/^device\s*=\s*"(.*?)"/m)?.[1] ?? "");
  controls.values.set("device", named);
  const devices = choices.devices.map((name) => [name, name]);
  if (named === "") devices.unshift(["", "as in the scenario"]);
  return controls.choice("Device", "device", devices,
    onchange ?? ((name) => controls.change("device", `"${name}"`)));
}
