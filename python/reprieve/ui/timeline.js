// Reads the timelines that Reprieve draws for Perfetto: slices by track.

// Numbers of fields, as in protos/perfetto/trace of the Perfetto project.
const PACKET = 1;
const TIMESTAMP = 8, SEQUENCE = 10, EVENT = 11, INTERNED = 12, COMPRESSED = 50, DESCRIPTOR = 60;
const DEFAULTS = 59, DEFAULTS_EVENT = 11;
const EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11;
const BEGIN = 1, END = 2;

/** The fields of a message: number and value, a number or bytes. */
function* fields(bytes) {
  let at = 0;
  const number = () => {
    let value = 0, scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  while (at < bytes.length) {
    const key = number();
    const field = Math.floor(key / 8);
    switch (key % 8) {
      case 0: yield [field, number()]; break;
      case 1: at += 8; break;
      case 2: {
        const length = number();
        yield [field, bytes.subarray(at, at + length)];
        at += length;
        break;
      }
      case 5: at += 4; break;
      default: throw new Error("a timeline of another format");
    }
  }
}

const message = (bytes) => new Map(fields(bytes));
const text = (bytes) => new TextDecoder().decode(bytes);

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function* packets(bytes) {
  for (const [field, value] of fields(bytes)) {
    if (field !== PACKET) continue;
    const packed = message(value).get(COMPRESSED);
    if (packed === undefined) yield value;
    else yield* packets(await inflate(packed));
  }
}

/** What the packets of one sequence leave to the next. */
class Sequence {
  now = 0;
  track = null;
  names = new Map();
}

/**
 * Reads a timeline: of each track its name and its slices, each with name, begin and end in ns
 * (null: it does not end) and depth, 0 for those that lie in no other.
 */
export async function tracksOf(bytes) {
  const tracks = new Map();
  const open = new Map();
  const sequences = new Map();
  for await (const packet of packets(bytes)) {
    const parts = message(packet);
    const number = parts.get(SEQUENCE) ?? 0;
    if (!sequences.has(number)) sequences.set(number, new Sequence());
    const sequence = sequences.get(number);
    if (parts.has(DESCRIPTOR)) {
      const told = message(parts.get(DESCRIPTOR));
      const track = { name: text(told.get(2) ?? new Uint8Array()), above: told.get(5), slices: [] };
      tracks.set(told.get(1), track);
    }
    if (parts.has(DEFAULTS)) {
      const event = message(parts.get(DEFAULTS)).get(DEFAULTS_EVENT);
      sequence.track = event === undefined ? null : message(event).get(EVENT_TRACK);
    }
    for (const [field, value] of parts.has(INTERNED) ? fields(parts.get(INTERNED)) : []) {
      const entry = message(value);
      if (field === 2) sequence.names.set(entry.get(1), text(entry.get(2)));
    }
    // Sequences that draw count from packet to packet.
    sequence.now += parts.get(TIMESTAMP) ?? 0;
    if (!parts.has(EVENT)) continue;
    const event = message(parts.get(EVENT));
    const place = event.get(EVENT_TRACK) ?? sequence.track;
    const stack = open.get(place) ?? [];
    open.set(place, stack);
    if (event.get(EVENT_TYPE) === BEGIN) {
      const name = sequence.names.get(event.get(EVENT_NAME)) ?? "";
      const slice = { name, begin_ns: sequence.now, end_ns: null, depth: stack.length };
      stack.push(slice);
      tracks.get(place)?.slices.push(slice);
    } else if (event.get(EVENT_TYPE) === END && stack.length > 0) {
      stack.pop().end_ns = sequence.now;
    }
  }
  return [...tracks.values()].filter((track) => track.slices.length > 0);
}
