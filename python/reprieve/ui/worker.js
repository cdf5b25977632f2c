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
const files = new Map();
// A page that is one file sends the simulator's bytes; another has them beside it.
let receiveBytes;
const bytesInside = new Promise((resolve) => {
  receiveBytes = resolve;
});

async function coreBytes() {
  if (location.protocol === "blob:") return bytesInside;
  const answer = await fetch(new URL("reprieve.wasm", location));
  if (!answer.ok) throw new Error(NO_MODULE);
  return answer.arrayBuffer();
}

async function coreOf() {
  if (core === null) {
    core = await Core.from(await coreBytes());
    for (const [name, bytes] of files) core.hold(name, bytes);
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

/** The first of some scenarios, with or without a load, that is accepted; else the last error. */
function resolved(drive, texts) {
  for (const [number_of_text, text] of texts.entries()) {
    try {
      const hasLoad = text.includes("[workload]");
      return { number_of_text, printed: hasLoad ? drive.open(text) : drive.resolve(text) };
    } catch (error) {
      if (error instanceof Fault || number_of_text === texts.length - 1) throw error;
    }
  }
  return null;
}

onmessage = async ({ data }) => {
  const { number, kind } = data;
  if (kind === "core") {
    receiveBytes(data.bytes);
    return;
  }
  if (kind === "hold") {
    files.set(data.name, data.bytes);
    core?.hold(data.name, data.bytes);
    return;
  }
  newest = number;
  // Of questions that came close together only the last is answered.
  await pause();
  if (number !== newest) return;
  try {
    if (kind === "rigs") await rigs(number, data);
    else if (kind === "choices") {
      postMessage({ number, kind, choices: (await coreOf()).choices() });
    } else if (kind === "resolve") {
      postMessage({ number, kind, ...resolved(await coreOf(), data.texts) });
    } else await run(number, data);
  } catch (error) {
    if (error instanceof Fault) core = null;
    postMessage({ number, kind: "error", sentence: error.message });
  }
};
