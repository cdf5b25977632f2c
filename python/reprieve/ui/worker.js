// Simulates beside the page, one piece at a time, so that the page stays alive meanwhile.

import { Core, Fault } from "./core.js";
import { tracksOf } from "./timeline.js";

const REQUESTS_FIRST = 250;
const REQUESTS_MAX = 20_000;
// How often the page gets something to draw.
const SHOW_MS = 50;
const NO_MODULE =
  "reprieve.wasm, the simulator, is not there: build it with `make ui` in the sources of Reprieve";

let core = null;
let newest = 0;

async function coreOf() {
  if (core === null) {
    const answer = await fetch(new URL("reprieve.wasm", import.meta.url));
    if (!answer.ok) throw new Error(NO_MODULE);
    core = await Core.from(await answer.arrayBuffer());
  }
  return core;
}

const pause = () => new Promise((resume) => setTimeout(resume));

async function run(number, { text, sets, timeline_ns }) {
  const drive = await coreOf();
  const began_ms = performance.now();
  postMessage({ number, kind: "opened", printed: drive.open(text, sets, timeline_ns) });
  let shown_ms = began_ms;
  let requests = REQUESTS_FIRST;
  let seen, goesOn = true;
  while (goesOn) {
    const step_ms = performance.now();
    ({ seen, goesOn } = drive.step(requests));
    const now_ms = performance.now();
    if (seen.is_ready && now_ms - step_ms < SHOW_MS / 4) {
      requests = Math.min(2 * requests, REQUESTS_MAX);
    }
    if (now_ms - shown_ms > SHOW_MS) {
      shown_ms = now_ms;
      postMessage({ number, kind: "seen", seen });
      await pause();
      // A newer question has the drive by now.
      if (number !== newest) return;
    }
  }
  const summary = drive.summary();
  const wall_ms = performance.now() - began_ms;
  const tracks = await tracksOf(drive.timeline());
  postMessage({ number, kind: "done", seen, summary, tracks, wall_ms });
}

async function rigs(number, { questions }) {
  const die = await coreOf();
  const answers = [];
  for (const { text, sets, commands } of questions) {
    try {
      answers.push({ tracks: await tracksOf(die.rig(text, sets, commands)) });
    } catch (error) {
      if (error instanceof Fault) throw error;
      answers.push({ error: error.message });
    }
  }
  postMessage({ number, kind: "rigs", answers });
}

onmessage = async ({ data }) => {
  const { number, kind } = data;
  newest = number;
  // Of questions that came close together only the last is answered.
  await pause();
  if (number !== newest) return;
  try {
    if (kind === "rigs") await rigs(number, data);
    else if (kind === "choices") {
      postMessage({ number, kind: "choices", choices: (await coreOf()).choices() });
    } else await run(number, data);
  } catch (error) {
    if (error instanceof Fault) core = null;
    postMessage({ number, kind: "error", sentence: error.message });
  }
};
