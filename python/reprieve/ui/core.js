// The simulator: questions to the WebAssembly module, and its answers.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
// What the core says of a file that it is to read.
const NO_FILES = /operation not supported on this platform$/;
const NO_FILES_HERE = "this page has no such file; drop it here, or use a built-in device";
const GOES_ON = 0;
const REFUSED = 2;

/** A mistake in a scenario: one sentence. */
export class Refusal extends Error {}

/** A fault of Reprieve; the instance cannot be used any more. */
export class Fault extends Error {}

const NO_WORDS = "the simulation stopped, probably for lack of memory; try a smaller drive";

/** One simulated drive. */
export class Core {
  /** From the bytes of the module, or a compiled module. */
  static async from(module) {
    const made = await WebAssembly.instantiate(module, {});
    return new Core((made.instance ?? made).exports);
  }

  constructor(exports) {
    this.exports = exports;
    exports.explorer_begin();
  }

  #bytes(at, length) {
    return new Uint8Array(this.exports.memory.buffer, at, length).slice();
  }

  #call(name, question = null, ...numbers) {
    const { exports } = this;
    let status;
    try {
      if (question !== null) {
        const bytes = question instanceof Uint8Array ? question :
          ENCODER.encode(JSON.stringify(question));
        const at = exports.explorer_question(bytes.length);
        new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      }
      status = exports[`explorer_${name}`](...numbers);
    } catch (error) {
      throw new Fault(this.#fault(error));
    }
    const answer = this.#bytes(exports.explorer_answer(), exports.explorer_answer_bytes());
    if (status === REFUSED) {
      throw new Refusal(DECODER.decode(answer).replace(NO_FILES, NO_FILES_HERE));
    }
    return { answer, goesOn: status === GOES_ON };
  }

  #fault(error) {
    const { exports } = this;
    const text = this.#bytes(exports.explorer_fault(), exports.explorer_fault_bytes());
    if (text.length === 0) return `${NO_WORDS} (${error.message})`;
    return `internal fault, please report it: ${DECODER.decode(text)}`;
  }

  /** Opens the drive of a scenario; returns the scenario with every value. */
  open(text, sets = [], timeline_ns = 0) {
    return DECODER.decode(this.#call("open", { text, sets, timeline_ns }).answer);
  }

  /** Simulates about so many requests more; returns what there is to see, and if there is more. */
  step(requests) {
    const { answer, goesOn } = this.#call("step", null, requests);
    return { seen: JSON.parse(DECODER.decode(answer)), goesOn };
  }

  /** The summary as JSON text. */
  summary() {
    return DECODER.decode(this.#call("summary").answer);
  }

  /** The bytes of the drive's timeline since the last call. */
  timeline() {
    return this.#call("timeline").answer;
  }

  /** Holds a file, so that scenarios can name it. */
  hold(name, content) {
    const head = ENCODER.encode(`${name}\n`);
    const file = new Uint8Array(head.length + content.byteLength);
    file.set(head);
    file.set(new Uint8Array(content), head.length);
    this.#call("hold", file);
  }

  /** The timeline of one die with raw commands. */
  rig(text, sets, commands) {
    return this.#call("rig", { text, sets, commands }).answer;
  }

  /** A scenario that may have no load, with every value. */
  resolve(text, sets = []) {
    return DECODER.decode(this.#call("resolve", { text, sets }).answer);
  }

  /** Devices and policies, and the version. */
  choices() {
    return JSON.parse(DECODER.decode(this.#call("choices").answer));
  }
}
