// A worker of one's own that is asked one thing after another.

/** Answers that are out of date are dropped; `fail` gets the sentence of what goes wrong. */
export class Asker {
  constructor(fail) {
    this.number = 0;
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.number !== this.number) return;
      if (data.kind === "error") fail(data.sentence);
      else this.receive(data);
    };
    this.worker.onerror = () => fail("the simulation could not be started");
  }

  /** Asks, in place of whatever was asked before; `receive` gets each answer. */
  ask(question, receive) {
    this.number += 1;
    this.receive = receive;
    this.worker.postMessage({ number: this.number, ...question });
  }
}
