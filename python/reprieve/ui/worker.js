// Simulates one drive beside the page, a piece at a time, and tells how it goes.

import { Core } from "./core.js";
import { tracksOf } from "./timeline.js";

const REQUESTS_STEP = 2000;
// As often as a page can be redrawn.
const TOLD_MS = 50;

let core = null;
let newest = 0;

async function coreOf() {
  if (core === null) {
    const answer = await fetch(new URL("reprieve.wasm", import.meta.url));
    if (!answer.ok) throw new Error(`reprieve.wasm: ${answer.status} ${answer.statusText}`);
    core = await Core.from(await WebAssembly.compile(await answer.arrayBuffer()));
  }
  return core;
}

const pause = () => new Promise((goOn) => setTimeout(goOn));

async function run(number, { text, sets, timeline_ns }) {
  const drive = await coreOf();
  const since = performance.now();
  postMessage({ number, kind: "opened", printed: drive.open(text, sets, timeline_ns) });
  let told = 0;
  for (let goesOn = true; goesOn; ) {
    const { glance, goesOn: more } = drive.step(REQUESTS_STEP);
    goesOn = more;
    if (performance.now() - told > TOLD_MS) {
      told = performance.now();
      postMessage({ number, kind: "glance", glance, elapsed_ms: told - since });
      await pause();
      // What was asked since then counts.
      if (number !== newest) return;
    }
  }
  const { glance } = drive.step(0);
  const elapsed_ms = performance.now() - since;
  const summary = JSON.parse(drive.summary());
  const tracks = await tracksOf(drive.timeline());
  postMessage({ number, kind: "done", glance, summary, tracks, elapsed_ms });
}

async function rigs(number, { questions }) {
  const die = await coreOf();
  const answers = [];
  for (const { text, sets, commands } of questions) {
    try {
      answers.push({ tracks: await tracksOf(die.rig(text, sets, commands)) });
    } catch (error) {
      answers.push({ error: error.message });
    }
  }
  postMessage({ number, kind: "rigs", answers });
}

onmessage = async ({ data }) => {
  const { number, kind } = data;
  newest = number;
  try {
    if (kind === "rigs") await rigs(number, data);
    else if (kind === "choices") {
      postMessage({ number, kind: "choices", choices: (await coreOf()).choices() });
    } else await run(number, data);
  } catch (error) {
    postMessage({ number, kind: "error", sentence: error.message });
    // After a fault nothing in the module can be trusted.
    if (error.name === "RuntimeError" || error.constructor.name === "Fault") core = null;
  }
};
