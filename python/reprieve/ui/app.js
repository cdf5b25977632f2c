// The page: one die above, two settings of a drive below, and the two compared.

import { Asker } from "./asker.js";
import { DiePicture, legend } from "./die.js";
import { grouped, html, microseconds, table } from "./draw.js";
import { Panel } from "./panel.js";

const byId = (id) => document.getElementById(id);

/** What is compared: its name, where it is found while the run goes on, and how it is written. */
const MEASURES = [
  ["read p50, µs", ({ read_ns }) => read_ns[0], microseconds],
  ["read p99, µs", ({ read_ns }) => read_ns[1], microseconds],
  ["read p99.9, µs", ({ read_ns }) => read_ns[2], microseconds],
  ["write p50, µs", ({ write_ns }) => write_ns[0], microseconds],
  ["write p99.9, µs", ({ write_ns }) => write_ns[2], microseconds],
  ["requests a second", ({ requests, simulated_ns }) => (1e9 * requests) / simulated_ns, grouped],
];

function compare(panels) {
  const [one, other] = panels.map(({ seen }) => seen);
  if (!one?.simulated_ns || !other?.simulated_ns) return;
  const rows = MEASURES.map(([name, of, written]) => {
    const [a, b] = [of(one), of(other)];
    return [name, written(a), written(b), a > 0 ? (b / a).toPrecision(3) : "–"];
  });
  byId("comparison").replaceChildren(table("Side by side", ["A", "B", "B / A"], rows));
}

function start(asker, choices) {
  byId("version").textContent = choices.version;
  const rigs = (questions, receive) =>
    asker.ask({ kind: "rigs", questions }, ({ answers }) => receive(answers));
  const die = new DiePicture(byId("die"), choices.suspension_policies, rigs);
  const device = byId("die-device");
  choices.devices.forEach((name) => device.append(html("option", { value: name }, name)));
  device.value = die.device;
  device.onchange = () => {
    die.device = device.value;
    die.refresh();
  };
  byId("legend").append(legend());
  die.refresh();
  const panels = [];
  const showed = () => compare(panels);
  panels.push(new Panel("A", byId("panel-A"), choices, [["policy", '"rps"']], showed));
  panels.push(new Panel("B", byId("panel-B"), choices, [], showed));
}

const asker = new Asker((sentence) => {
  byId("trouble").textContent = sentence;
});
asker.ask({ kind: "choices" }, ({ choices }) => start(asker, choices));
