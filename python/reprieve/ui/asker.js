// A worker of one's own that is asked one thing after another.

/** In a page that is one file, the worker and the simulator are elements of it. */
const inside = (id) => document.getElementById(id)?.textContent;

async function coreInside() {
  const packed = Uint8Array.from(atob(inside("core")), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function startWorker() {
  const code = inside("worker");
  if (code === undefined) {
    return new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  }
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  coreInside().then((bytes) => worker.postMessage({ kind: "core", bytes }));
  return worker;
}

/** Answers that are out of date are dropped; `fail` gets the sentence of what goes wrong. */
export class Asker {
  constructor(fail) {
    this.number = 0;
    this.worker = startWorker();
    this.worker.onmessage = ({ data }) => {
      if (data.number !== this.number) return;
      if (data.kind === "error") fail(data.sentence);
      else this.receive(data);
    };
    this.worker.onerror = () => fail("the simulation could not be started");
  }

  /** Gives the worker a file, which scenarios may name from now on. */
  hold(file) {
    this.worker.postMessage({ kind: "hold", ...file });
  }

  /** Asks, in place of whatever was asked before; `receive` gets each answer. */
  ask(question, receive) {
    this.number += 1;
    this.receive = receive;
    this.worker.postMessage({ number: this.number, ...question });
  }
}
