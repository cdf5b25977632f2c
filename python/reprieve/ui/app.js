// The page: a story, two settings of a drive and what they differ in, and one die below.

import { Asker } from "./asker.js";
import { Controls } from "./controls.js";
import { copyButton, downloadButton } from "./copying.js";
import { asFile, curves, pointsOf } from "./curve.js";
import { DiePicture, legend } from "./die.js";
import { html } from "./draw.js";
import { taken } from "./files.js";
import { Panel, deviceChoice } from "./panel.js";
import { REQUEST_SIZES, SHARED_GROUPS, loadOf, reducedDevice, valuesOf } from "./scenario.js";
import { NAMES, State } from "./state.js";
import { STORIES, storyOf } from "./stories.js";
import { attribution, comparison, headline } from "./words.js";

const byId = (id) => document.getElementById(id);
const ADDRESS_AFTER_MS = 150;
const BOUNDS = ["pe0", "per"];
const isBound = ({ values }) => BOUNDS.includes(values?.get("scheduling.policy"));

class Page {
  constructor(asker, choices) {
    Object.assign(this, { asker, choices, measured: {} });
    byId("version").textContent = choices.version;
    const hooks = {
      state: () => this.state,
      changed: (names) => this.run(names),
      showed: (panel, isNew) => this.showed(panel, isNew),
    };
    this.panels = NAMES.map((name) => new Panel(name, byId(`panel-${name}`), choices, hooks));
    this.shared = new Controls("shared", byId("shared-controls"), (key, value) => {
      this.state.shared.set(key, value);
      this.run(NAMES);
    });
    this.makeStories();
    this.makeButtons();
    this.makeDie();
    this.openAddress();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== this.address) this.openAddress();
    });
  }

  makeStories() {
    const list = byId("story");
    for (const { name, title } of STORIES) list.append(html("option", { value: name }, title));
    list.append(html("option", { value: "", disabled: "", hidden: "" }, "your own"));
    list.onchange = () => {
      this.state.begin(storyOf(list.value));
      this.begin(storyOf(list.value).told);
    };
  }

  makeButtons() {
    byId("link").append(copyButton("Copy the link", () => {
      this.writeAddress();
      return location.href;
    }));
    byId("result-buttons").append(
      downloadButton("Save the picture", "reprieve-latencies.svg", () => this.pictureFile(),
        "image/svg+xml"),
      copyButton("Copy the command", () => this.command()),
    );
    byId("unlock").onchange = ({ target }) => {
      this.state.unlock(target.checked);
      this.begin();
    };
    const file = byId("file");
    file.onchange = async () => {
      if (file.files.length > 0) await this.take(file.files[0]);
      // The same file may be opened again, after it was changed.
      file.value = "";
    };
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length > 0) this.take(event.dataTransfer.files[0]);
    });
  }

  makeDie() {
    const rigs = (questions, receive) =>
      this.asker.ask({ kind: "rigs", questions }, ({ answers }) => receive(answers));
    this.die = new DiePicture(byId("die"), this.choices.suspension_policies, rigs,
      () => this.keepAddress());
    const device = byId("die-device");
    this.choices.devices.forEach((name) => device.append(html("option", { value: name }, name)));
    device.onchange = () => {
      this.state.die.device = device.value;
      this.die.refresh();
      this.keepAddress();
    };
    byId("legend").append(legend());
  }

  /** Shows what the address says. */
  openAddress() {
    this.address = location.hash.slice(1);
    byId("trouble").textContent = "";
    try {
      this.state = State.from(this.address);
    } catch (error) {
      this.state = new State();
      byId("trouble").textContent = `${error.message}; this is what the page begins with.`;
    }
    const { version } = this.state;
    if (version && version !== this.choices.version) {
      byId("trouble").textContent = `This link was made with Reprieve ${version}; this page is ` +
        `${this.choices.version}, and its numbers may differ.`;
    }
    byId("die-device").value = this.state.die.device;
    this.die.show(this.state.die);
    this.begin();
  }

  /** Begins anew with the state, as another scenario or another device is on display. */
  begin(told = storyOf(this.state.story)?.told ?? "") {
    this.measured = {};
    byId("told").textContent = told;
    byId("story").value = this.state.story ?? "";
    byId("unlock").checked = this.state.isUnlocked;
    for (const panel of this.panels) panel.values = null;
    this.run(NAMES);
  }

  run(names) {
    const now_ms = performance.now();
    for (const panel of this.panels) if (names.includes(panel.name)) panel.run(now_ms);
    this.keepAddress();
  }

  keepAddress() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeAddress(), ADDRESS_AFTER_MS);
  }

  /** Unlike `history`, this works in pages that are opened from a folder. */
  writeAddress() {
    this.address = this.state.address(this.choices.version);
    location.replace(`#${this.address}`);
  }

  showed(panel, isNew) {
    if (isNew && panel.name === "A") this.control();
    this.draw();
  }

  /** Draws the controls of both settings. */
  control() {
    const { shared, state } = this;
    byId("shared").hidden = state.isUnlocked;
    shared.values = new Map(this.panels[0].values);
    const sizes = shared.value("workload.request_bytes") === "" ? null :
      shared.choice("Size of requests", "workload.request_bytes", REQUEST_SIZES);
    const [load, ...others] = SHARED_GROUPS;
    shared.draw([deviceChoice(shared, this.choices, state.text, (name) => this.changeDevice(name))],
      [[...load, sizes], ...others]);
  }

  /** Another device keeps the load; what was changed of the part means nothing on it. */
  changeDevice(name) {
    const device = `seed = 1\ndevice = "${name}"\n`;
    this.asker.ask({ kind: "resolve", texts: [device] }, ({ printed }) => {
      const values = valuesOf(printed);
      const cuts = reducedDevice(values);
      const rest = `\n[ftl]\nprecondition = "steady"\n\n[workload]\n${loadOf(this.state.text)}`;
      const texts = cuts.map(({ tables }) => device + tables + rest);
      this.asker.ask({ kind: "resolve", texts }, ({ number_of_text }) => {
        const { told } = cuts[number_of_text];
        this.beginDevice(texts[number_of_text], values.get("suspension.program") !== "none", told);
      });
    });
  }

  beginDevice(text, suspends, told) {
    const kept = [...this.state.shared].filter(([key]) => key.startsWith("workload."));
    const b = suspends ? [] : [["policy", '"pes-ips"']];
    this.state.begin({ text, a: [["policy", '"rps"']], b });
    this.state.shared = new Map(kept);
    const given = suspends ? "B suspends as the device does" :
      "B suspends programs and erases (PES-IPS); the device itself suspends nothing";
    this.begin(`${told} A serves reads first and suspends nothing. ${given}.`);
  }

  async take(file) {
    try {
      const { text, file: held, measured, told } = await taken(file, this.state.text);
      const { own } = this.state;
      this.state.begin({ text, a: own.A, b: own.B });
      if (held !== undefined) for (const { asker } of this.panels) asker.hold(held);
      this.begin(`${told} Nothing left your machine${held === undefined ? "" :
        "; the address names the file, but does not hold it"}.`);
      this.measured = measured ?? {};
    } catch (error) {
      byId("trouble").textContent = error instanceof SyntaxError ?
        `${file.name} begins like JSON and is not: ${error.message}` : error.message;
    }
  }

  draw() {
    const seen = this.panels.map((panel) => panel.seen);
    if (seen.every((each) => each?.is_ready)) this.drawCurves(seen);
    const [a, b] = this.panels.map(({ summary }) => summary);
    if (this.panels.some(({ place }) => place.hasAttribute("aria-busy"))) return;
    if (!a || !b) {
      byId("headline").textContent = "";
      for (const id of ["curves", "comparison", "attribution"]) byId(id).replaceChildren();
      return;
    }
    const bounds = this.panels.filter(isBound);
    byId("headline").textContent = headline(a, b, bounds.map(({ name }) => name));
    byId("comparison").replaceChildren(comparison(a, b));
    byId("attribution").replaceChildren(attribution("read", a, b), attribution("write", a, b));
  }

  drawCurves(seen) {
    const pictures = ["read", "write"].map((kind, place) => {
      const bounds = this.panels.filter(isBound).map(({ name }) => name);
      const all = NAMES.map((name, which) => ({
        name: bounds.includes(name) ? `${name} (bound)` : name,
        dashes: bounds.includes(name) ? "1 3" : name === "B" ? "7 3" : undefined,
        points: pointsOf(seen[which][`${kind}_ns`], seen[which].completed[place]),
      }));
      const measured = this.measured[kind] ?? [];
      if (measured.length > 0) all.push({ name: "measured", points: measured });
      const title = `${kind === "read" ? "Reads" : "Writes"}: share complete within a time`;
      return curves(title, all, `${title}, for settings A and B; the table has the numbers`);
    });
    byId("curves").replaceChildren(...pictures);
  }

  pictureFile() {
    return asFile([...byId("curves").children], byId("headline").textContent);
  }

  /** A script for a shell that gives the numbers on display. */
  command() {
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const runs = NAMES.map((name) => {
      const sets = this.state.setsOf(name).map((set) => ` --set ${quoted(set)}`).join("");
      return `reprieve run "$scenario"${sets} --requests --out out/explorer/${name}`;
    });
    // In quotes, as a link may have brought the text: a shell must not run any line of it.
    return `scenario=$(mktemp --suffix=.toml)\nprintf '%s\\n' ` +
      `${quoted(this.state.text.trimEnd())} > "$scenario"\n${runs.join("\n")}\n`;
  }
}

const asker = new Asker((sentence) => {
  byId("trouble").textContent = sentence;
});
asker.ask({ kind: "choices" }, ({ choices }) => new Page(asker, choices));
