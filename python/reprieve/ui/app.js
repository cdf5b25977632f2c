// The page: one die above, two settings of a drive below.

import { DiePicture, legend } from "./die.js";
import { html } from "./draw.js";
import { Panel } from "./panel.js";

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let asked = 0;

/** Asks the worker of the die; answers that are out of date are dropped. */
function ask(question, heard) {
  asked += 1;
  waiting.clear();
  waiting.set(asked, heard);
  worker.postMessage({ number: asked, ...question });
}

worker.onmessage = ({ data }) => {
  const heard = waiting.get(data.number);
  if (data.kind === "error") document.getElementById("trouble").textContent = data.sentence;
  else heard?.(data);
};

ask({ kind: "choices" }, ({ choices }) => {
  document.getElementById("version").textContent = choices.version;
  const rigs = (questions, heard) =>
    ask({ kind: "rigs", questions }, ({ answers }) => heard(answers));
  const die = new DiePicture(document.getElementById("die"), rigs);
  const device = document.getElementById("die-device");
  choices.devices.forEach((name) => device.append(html("option", { value: name }, name)));
  device.value = die.device;
  device.onchange = () => {
    die.device = device.value;
    die.refresh();
  };
  document.getElementById("legend").append(legend());
  die.refresh();
  const [one, other] = ["A", "B"].map((name) => document.getElementById(`panel-${name}`));
  new Panel("A", one, choices, [["policy", '"fifo"']]);
  new Panel("B", other, choices);
});
