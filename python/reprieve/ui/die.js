// One die under each policy: a program, an erase, and reads that can be moved.

import { axis, html, microseconds, strip } from "./draw.js";
import { POLICIES, SUSPENSION, setsOf } from "./scenario.js";

const STEP_NS = 10_000;
const LATEST_NS = 20_000_000;
const READS_MAX = 12;
const HEIGHT = 30;
const BASE = "pes-ips";

/** The rows: policies, then PES-IPS under each other policy of suspension. */
function rowsOf(suspension) {
  const rows = POLICIES.filter(([name]) => name !== "pe0").map(([name, title, doc]) => ({
    title, doc, sets: [`policy=${name}`],
  }));
  const [, base] = POLICIES.find(([name]) => name === BASE);
  for (const { name, doc } of suspension) {
    if (name === "always" || SUSPENSION[name] === undefined) continue;
    const sets = [`policy=${BASE}`, `suspension.policy=${name}`];
    const own = Object.entries(SUSPENSION[name]);
    const values = own.map(([key, value]) => `${key.split(".").pop()} = ${value}`).join(", ");
    rows.push({
      title: `${base}, ${name}`, doc: `suspends ${doc} (${values})`,
      sets: [...sets, ...setsOf(own)],
    });
  }
  return rows;
}

/** The picture, with what arrives. */
export class DiePicture {
  /**
   * `ask` gets questions to the rig, and a function for the answers; `changed` is called when an
   * arrival was moved.
   */
  constructor(place, suspension, ask, changed) {
    Object.assign(this, { place, ask, changed, rows: rowsOf(suspension), answers: [] });
    this.until_ns = 5_500_000;
    this.handles = html("div", { class: "handles" });
    this.strips = html("div", { class: "strips" });
    const add = html("button", { type: "button" }, "Add a read");
    const remove = html("button", { type: "button" }, "Remove a read");
    add.onclick = () => this.add();
    remove.onclick = () => this.remove();
    place.replaceChildren(this.handles, this.strips, html("p", {}, add, " ", remove));
  }

  /** Block 0 is programmed, block 2 erased, and reads are of block 1: none waits for its data. */
  questions() {
    const blocks = { program: 0, read: 1, erase: 2 };
    const ordered = [...this.arrivals].sort((a, b) => a.at_ns - b.at_ns);
    const commands = ["arrival_ns,op,plane,block,page",
      ...ordered.map(({ op, at_ns }) => `${at_ns},${op},0,${blocks[op]},0`)].join("\n");
    const text = `device = "${this.die.device}"\n`;
    return this.rows.map(({ sets }) => ({ text, sets, commands }));
  }

  /** Shows a die: `{ device, arrivals }`, which moved arrivals change. */
  show(die) {
    this.die = die;
    this.answers = [];
    this.refresh();
  }

  get arrivals() {
    return this.die.arrivals;
  }

  refresh() {
    this.changed();
    this.placeHandles();
    this.ask(this.questions(), (answers) => {
      this.answers = answers;
      this.draw();
    });
  }

  add() {
    const reads = this.arrivals.filter(({ op }) => op === "read");
    if (reads.length >= READS_MAX) return;
    const last_ns = Math.max(0, ...reads.map(({ at_ns }) => at_ns));
    this.arrivals.push({ op: "read", at_ns: Math.min(last_ns + 300_000, LATEST_NS) });
    this.refresh();
  }

  remove() {
    const last = this.arrivals.findLastIndex(({ op }) => op === "read");
    if (last >= 0) this.arrivals.splice(last, 1);
    this.refresh();
  }

  /** The latencies of the reads, and when all is done. */
  outcome(tracks) {
    const requests = tracks.filter(({ name }) => name === "requests");
    const all = requests.flatMap(({ slices }) => slices);
    const reads = all.filter(({ name }) => name === "read");
    reads.sort((a, b) => a.begin_ns - b.begin_ns);
    return {
      reads_ns: reads.map(({ begin_ns, end_ns }) => end_ns - begin_ns),
      last_ns: Math.max(0, ...all.map(({ end_ns }) => end_ns ?? 0)),
    };
  }

  draw() {
    const outcomes = this.answers.map(({ tracks }) => tracks && this.outcome(tracks));
    const ends = outcomes.flatMap((outcome) => (outcome ? [outcome.last_ns] : []));
    this.until_ns = Math.max(...ends, ...this.arrivals.map(({ at_ns }) => at_ns), 1) * 1.02;
    this.placeHandles();
    const drawn = this.rows.map(({ title, doc }, row) => {
      const { tracks, error } = this.answers[row];
      const head = html("p", { class: "policy" }, html("b", {}, title), ` ${doc}. `);
      if (error) {
        head.append(html("span", { class: "error" }, error));
        return html("div", {}, head);
      }
      const { reads_ns, last_ns } = outcomes[row];
      const reads = reads_ns.map(microseconds).join(", ");
      head.append(html("span", { class: "outcome" },
        reads_ns.length > 0 ? `Reads take ${reads} µs; ` : "",
        `all is done at ${microseconds(last_ns)} µs.`));
      const dies = tracks.filter(({ name }) => name.startsWith("die"));
      const picture = html("div", { class: "strip" });
      picture.append(strip(dies, 0, this.until_ns, HEIGHT, true), ...this.lines());
      return html("div", {}, head, picture);
    });
    this.strips.replaceChildren(...drawn, axis(0, this.until_ns));
  }

  left(at_ns) {
    return `${(100 * Math.min(at_ns, this.until_ns)) / this.until_ns}%`;
  }

  lines() {
    return this.arrivals.map(({ op, at_ns }) => {
      const line = html("span", { class: `arrival ${op}` });
      line.style.left = this.left(at_ns);
      return line;
    });
  }

  /** Handles stay the same elements, so that what is dragged or in focus stays so. */
  placeHandles() {
    while (this.handles.children.length > this.arrivals.length) this.handles.lastChild.remove();
    this.arrivals.forEach((arrival, number) => {
      const handle = this.handles.children[number] ?? this.makeHandle(number);
      const { op, at_ns } = arrival;
      const before = this.arrivals.slice(0, number).filter((each) => each.op === op).length;
      const name = op === "read" ? `read ${before + 1}` : op;
      handle.className = `handle ${op}`;
      handle.textContent = op === "read" ? "R" : op === "program" ? "P" : "E";
      handle.title = `${name} arrives at ${microseconds(at_ns)} µs`;
      handle.setAttribute("aria-label", `Arrival of ${name}`);
      handle.setAttribute("aria-valuemax", LATEST_NS / 1000);
      handle.setAttribute("aria-valuenow", at_ns / 1000);
      handle.setAttribute("aria-valuetext", `${microseconds(at_ns)} µs`);
      handle.style.left = this.left(at_ns);
    });
  }

  makeHandle(number) {
    const handle = html("div", { role: "slider", tabindex: 0, "aria-valuemin": 0 });
    const move = (to_ns) => {
      const whole_ns = Math.round(to_ns / STEP_NS) * STEP_NS;
      this.arrivals[number].at_ns = Math.min(Math.max(whole_ns, 0), LATEST_NS);
      this.refresh();
    };
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
        PageDown: -10, PageUp: 10 }[event.key];
      if (steps === undefined && event.key !== "Home") return;
      event.preventDefault();
      move(event.key === "Home" ? 0 : this.arrivals[number].at_ns + steps * STEP_NS);
    });
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
      const { left, width } = this.handles.getBoundingClientRect();
      const scale = this.until_ns / width;
      handle.onpointermove = ({ clientX }) => move((clientX - left) * scale);
      handle.onpointerup = handle.onpointercancel = () => {
        handle.onpointermove = null;
      };
    });
    this.handles.append(handle);
    return handle;
  }
}

/** The legend of colours. */
export function legend() {
  const names = [["read", "read"], ["program", "program"], ["erase", "erase"],
    ["transfer", "transfer over the channel"], ["phase", "pulse or sensing"],
    ["verify", "verify"], ["entry", "entry into suspension"], ["resume", "resuming"],
    ["gc-read", "read of garbage collection"], ["gc-program", "its program"]];
  return html("ul", { class: "legend" }, ...names.map(([kind, name]) => {
    const swatch = html("span", { class: `swatch ${kind}`, "aria-hidden": "true" });
    return html("li", {}, swatch, name);
  }));
}
