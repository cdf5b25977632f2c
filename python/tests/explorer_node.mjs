// Runs scenarios in the WebAssembly core: a JSON list of [text, sets] comes in, summaries go out.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { Core, Fault } = await import(pathToFileURL(join(folder, "core.js")));
const module = await WebAssembly.compile(readFileSync(join(folder, "reprieve.wasm")));
const answers = [];
for (const [text, sets] of JSON.parse(readFileSync(0, "utf-8"))) {
  const core = await Core.from(module);
  try {
    core.open(text, sets);
    while (core.step(500).goesOn);
    answers.push(`{"summary": ${core.summary()}}`);
  } catch (error) {
    const kind = error instanceof Fault ? "fault" : "mistake";
    answers.push(JSON.stringify({ [kind]: error.message }));
  }
}
process.stdout.write(`[${answers.join(",\n")}]`);
