// The core: questions to the WebAssembly module, and what it answers.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const GOES_ON = 0;
const REFUSED = 2;

/** A mistake of the user's: one sentence. */
export class Refusal extends Error {}

/** A mistake of Reprieve's. */
export class Fault extends Error {}

/** One simulated drive. */
export class Core {
  /** From the bytes of the module, or a compiled module. */
  static async from(module) {
    const made = await WebAssembly.instantiate(module, {});
    return new Core((made.instance ?? made).exports);
  }

  constructor(exports) {
    this.exports = exports;
    exports.begin();
  }

  #bytes(at, length) {
    return new Uint8Array(this.exports.memory.buffer, at, length).slice();
  }

  #call(name, question, ...numbers) {
    const { exports } = this;
    if (question !== null) {
      const bytes = ENCODER.encode(JSON.stringify(question));
      const at = exports.question_at(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    }
    let status;
    try {
      status = exports[name](...numbers);
    } catch (error) {
      const fault = this.#bytes(exports.fault_at(), exports.fault_bytes());
      throw new Fault(DECODER.decode(fault) || String(error));
    }
    const answer = this.#bytes(exports.answer_at(), exports.answer_bytes());
    if (status === REFUSED) throw new Refusal(DECODER.decode(answer));
    return { answer, goesOn: status === GOES_ON };
  }

  /** Opens the drive of a scenario; returns the scenario with every value. */
  open(text, sets = [], timeline_ns = 0) {
    return DECODER.decode(this.#call("open", { text, sets, timeline_ns }).answer);
  }

  /** Lets so many requests more complete; returns a glance, and whether the load goes on. */
  step(requests) {
    const { answer, goesOn } = this.#call("step", null, requests);
    return { glance: JSON.parse(DECODER.decode(answer)), goesOn };
  }

  /** The summary as text, and what the slowest reads waited behind. */
  summary() {
    return DECODER.decode(this.#call("summary", null).answer);
  }

  /** The bytes of the timeline since the last call. */
  timeline() {
    return this.#call("timeline", null).answer;
  }

  /** The timeline of one die with raw commands. */
  rig(text, sets, commands) {
    return this.#call("rig", { text, sets, commands }).answer;
  }

  /** Devices and policies. */
  choices() {
    return JSON.parse(DECODER.decode(this.#call("choices", null).answer));
  }
}
