// One die under each policy: a program, an erase, and reads that can be moved.

import { axis, html, microseconds, slices, svg } from "./draw.js";
import { POLICIES } from "./scenario.js";

const WIDTH = 900, LEFT = 0, ROW = 30, GAP = 22, HANDLES = 26;
const STEP_NS = 10_000;

/** The picture, with its reads. */
export class DiePicture {
  /** `ask` gets questions to the rig, and calls back with the answers. */
  constructor(place, ask) {
    this.place = place;
    this.ask = ask;
    this.device = "fast12-mlc";
    this.reads_ns = [120_000, 420_000, 1_500_000, 2_400_000];
    this.erase_ns = 1_000_000;
    this.until_ns = 5_500_000;
    this.answers = [];
  }

  questions() {
    const rows = [[0, "program", 0], [this.erase_ns, "erase", 2]];
    this.reads_ns.forEach((at) => rows.push([at, "read", 1]));
    rows.sort((a, b) => a[0] - b[0]);
    const commands = ["arrival_ns,op,plane,block,page",
      ...rows.map(([at, op, block]) => `${at},${op},0,${block},0`)].join("\n");
    return POLICIES.map(([policy]) => ({
      text: `device = "${this.device}"\npolicy = "${policy}"\n`, sets: [], commands,
    }));
  }

  refresh() {
    this.ask(this.questions(), (answers) => {
      this.answers = answers;
      this.draw();
    });
  }

  /** How long the reads of an answer take together. */
  waited(tracks) {
    const requests = tracks.filter(({ name }) => name === "requests");
    const reads = requests.flatMap(({ slices: all }) => all).filter(({ name }) => name === "read");
    const last = requests.flatMap(({ slices: all }) => all).map(({ end_ns }) => end_ns ?? 0);
    const longest = Math.max(...reads.map(({ begin_ns, end_ns }) => end_ns - begin_ns));
    return { longest, last: Math.max(...last) };
  }

  draw() {
    const ends = this.answers.flatMap(({ tracks }) => (tracks ? [this.waited(tracks).last] : []));
    this.until_ns = Math.max(...ends, ...this.reads_ns, 1) * 1.02;
    const height = HANDLES + POLICIES.length * (ROW + GAP) + 22;
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "die" });
    const label = "A program, an erase and reads on one die under each policy";
    picture.append(svg("title", {}, label));
    const x = (ns) => LEFT + (ns / this.until_ns) * (WIDTH - LEFT);
    this.reads_ns.forEach((at) => picture.append(svg("line", {
      class: "arrival", x1: x(at), x2: x(at), y1: HANDLES - 6, y2: height - 22,
    })));
    POLICIES.forEach(([policy, doc], row) => {
      const top = HANDLES + row * (ROW + GAP);
      const { tracks, error } = this.answers[row] ?? {};
      let said = doc;
      if (error) said += `: ${error}`;
      if (tracks) {
        const { longest, last } = this.waited(tracks);
        said += ` – longest read ${microseconds(longest)} µs, all done at ${microseconds(last)} µs`;
        const dies = tracks.filter(({ name }) => name.startsWith("die"));
        picture.append(...slices(dies, 0, this.until_ns, WIDTH, top + 16, ROW));
      }
      picture.append(svg("text", { class: "policy", x: 0, y: top + 11 }, said));
    });
    picture.append(...axis(0, this.until_ns, WIDTH, height - 20));
    this.reads_ns.forEach((at, number) => picture.append(this.handle(picture, x(at), number)));
    const focused = document.activeElement?.dataset?.read;
    this.place.replaceChildren(picture);
    if (focused !== undefined) this.place.querySelector(`[data-read="${focused}"]`)?.focus();
  }

  /** A triangle above the picture, which is dragged, or moved by arrow keys. */
  handle(picture, x, number) {
    const at = this.reads_ns[number];
    const shape = svg("path", {
      class: "handle", d: `M${x - 9},2 h18 l-9,16 z`, tabindex: 0, role: "slider",
      "data-read": number, "aria-label": `Arrival of read ${number + 1}`,
      "aria-valuemin": 0, "aria-valuemax": Math.round(this.until_ns / 1000),
      "aria-valuenow": at / 1000, "aria-valuetext": `${microseconds(at)} µs`,
    });
    shape.append(svg("title", {}, `Read ${number + 1} arrives at ${microseconds(at)} µs: drag it`));
    const move = (to_ns) => {
      const whole = Math.round(to_ns / STEP_NS) * STEP_NS;
      this.reads_ns[number] = Math.min(Math.max(whole, 0), 10_000_000);
      this.refresh();
    };
    shape.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      move(this.reads_ns[number] + steps * STEP_NS);
    });
    shape.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const box = picture.getBoundingClientRect();
      const until_ns = this.until_ns;
      const drag = ({ clientX }) => move(((clientX - box.left) / box.width) * until_ns);
      const drop = () => {
        removeEventListener("pointermove", drag);
        removeEventListener("pointerup", drop);
      };
      addEventListener("pointermove", drag);
      addEventListener("pointerup", drop);
    });
    return shape;
  }
}

/** The legend of colours. */
export function legend() {
  const names = [["read", "read"], ["program", "program"], ["erase", "erase"],
    ["gc-read", "read of collection"], ["gc-program", "program of collection"],
    ["overhead", "into and out of suspension"]];
  const entries = names.map(([kind, name]) =>
    html("li", {}, html("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), name));
  return html("ul", { class: "legend" }, ...entries);
}
