// The state of the page as text, so that its address reproduces it.

import { STORIES, storyOf } from "./stories.js";

/** Settings of a drive: A and B. */
export const NAMES = ["A", "B"];

const LETTERS = { P: "program", E: "erase", R: "read" };
const DIE_DEVICE = "fast12-mlc";
const DIE_ARRIVALS = "P0,R120,R420,E1000,R1500,R2400";

/**
 * What is on display: `text` is the scenario that both settings begin with, `shared` changes both,
 * `own` one of them. `file` is a dropped file, which no address can hold.
 */
export class State {
  constructor(story = STORIES[0]) {
    this.die = { device: DIE_DEVICE, arrivals: arrivalsOf(DIE_ARRIVALS) };
    this.begin(story);
  }

  /** Begins with a story, or with a scenario: its text, without differences between A and B. */
  begin({ name = null, text, a = [], b = [] }) {
    Object.assign(this, { story: name, text, file: null, isUnlocked: false });
    this.shared = new Map();
    this.own = { A: new Map(a), B: new Map(b) };
  }

  /** Every change of one setting. */
  setsOf(name) {
    return [...this.shared, ...this.own[name]].map(([key, value]) => `${key}=${value}`);
  }

  /** Lets A and B differ in everything, or makes B what A is but for its policies. */
  unlock(isUnlocked) {
    this.isUnlocked = isUnlocked;
    if (isUnlocked) {
      for (const name of NAMES) this.own[name] = new Map([...this.shared, ...this.own[name]]);
      this.shared = new Map();
      return;
    }
    for (const name of NAMES) {
      for (const [key, value] of [...this.own[name]]) {
        if (isOwn(key)) continue;
        this.own[name].delete(key);
        if (name === "A") this.shared.set(key, value);
      }
    }
  }

  /** The state as the part of an address behind its `#`. */
  address(version) {
    const parts = new URLSearchParams();
    if (this.story === null) parts.set("text", this.text);
    else parts.set("story", this.story);
    for (const [part, changes] of [["set", this.shared], ["a", this.own.A], ["b", this.own.B]]) {
      for (const [key, value] of changes) parts.append(part, `${key}=${value}`);
    }
    if (this.isUnlocked) parts.set("unlocked", "");
    const arrivals = writtenArrivals(this.die.arrivals);
    if (this.die.device !== DIE_DEVICE) parts.set("die", this.die.device);
    if (arrivals !== DIE_ARRIVALS) parts.set("arrivals", arrivals);
    parts.set("version", version);
    return parts.toString();
  }

  /** The state of an address; throws an error with a sentence if it is not one of ours. */
  static from(address) {
    const parts = new URLSearchParams(address);
    const state = new State();
    if ([...parts.keys()].length === 0) return state;
    const name = parts.get("story");
    if (name !== null) {
      const story = storyOf(name);
      if (story === undefined) throw new Error(`the address names a story ${name}; there is none`);
      state.begin(story);
    } else if (parts.has("text")) {
      state.begin({ text: parts.get("text") });
    }
    const changes = (part) => new Map(parts.getAll(part).map((written) => {
      const [, key, value] = written.match(/^([^=]+)=(.*)$/s) ?? [];
      if (key === undefined) throw new Error(`the address has ${part}=${written}: not KEY=VALUE`);
      return [key, value];
    }));
    // A short link names a story alone, and means it as it is.
    if (["a", "b", "set", "version"].some((part) => parts.has(part))) {
      state.shared = changes("set");
      state.own = { A: changes("a"), B: changes("b") };
    }
    state.isUnlocked = parts.has("unlocked");
    const { die } = state;
    die.device = parts.get("die") ?? die.device;
    if (parts.has("arrivals")) die.arrivals = arrivalsOf(parts.get("arrivals"));
    state.version = parts.get("version");
    return state;
  }
}

/** Whether A and B differ in a key while load and part are shared. */
export function isOwn(key) {
  return /^(policy$|suspension\.|scheduling\.|parallelism\.)/.test(key);
}

function arrivalsOf(written) {
  return written.split(",").map((each) => {
    const [, letter, us] = each.match(/^([PER])(\d+)$/) ?? [];
    if (letter === undefined) throw new Error(`the address has an arrival ${each}: not as in R120`);
    return { op: LETTERS[letter], at_ns: 1000 * Number(us) };
  });
}

function writtenArrivals(arrivals) {
  const letter = (op) => Object.keys(LETTERS).find((each) => LETTERS[each] === op);
  return arrivals.map(({ op, at_ns }) => `${letter(op)}${at_ns / 1000}`).join(",");
}
