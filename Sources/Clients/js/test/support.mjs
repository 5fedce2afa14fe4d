// What the tests of the package have in common.
import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../throng.js", import.meta.url), "utf8");
const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still but for `pass`. */
class Clock {
  time = 1_000;
  #timers = new Map();
  #lastID = 0;

  setTimeout = (act, delay = 0) => {
    // What is to be done at once is no matter of time.
    if (delay <= 0) return setImmediate(act);
    this.#lastID += 1;
    this.#timers.set(this.#lastID, { act, due: this.time + delay });
    return this.#lastID;
  };
  clearTimeout = (id) => {
    if (typeof id === "number") this.#timers.delete(id);
    else clearImmediate(id);
  };
  performance = { now: () => this.time };
  /** The time of day, which somebody may set. */
  wall = 1_700_000_000_000;
  Date = { now: () => this.wall };

  timerCount() {
    return this.#timers.size;
  }

  /** Lets time pass at once: the timers that become due fire, each behind what the one before it has begun. */
  async pass(seconds) {
    const end = this.time + seconds * 1000;
    for (;;) {
      const due = [...this.#timers].filter(([, timer]) => timer.due <= end).sort(([, one], [, other]) => one.due - other.due)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.time = Math.max(this.time, due[1].due);
      due[1].act();
      await soon();
    }
    this.time = end;
  }

  /** Waits, by turns of the event loop, until a condition is true. */
  async settle(condition) {
    for (let turn = 0; turn < 3; turn += 1) await soon();
    while (!condition()) await soon();
  }
}

let lastClock = 0;

/** throng.js on a clock of its own: a module apart from "../throng.js", but for its errors. */
export async function frozen() {
  lastClock += 1;
  const name = `testClock${lastClock}`;
  const clock = (globalThis[name] = new Clock());
  const text = `const { setTimeout, clearTimeout, Date, performance } = globalThis.${name};\n${source}`;
  const module = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
  return { clock, module };
}

export async function frozenClient(options) {
  const { clock, module } = await frozen();
  return { clock, module, client: new module.ThrongClient(options) };
}

/** The parameters of the next such event. */
export function next(client, name, fits = () => true) {
  return new Promise((resolve) => {
    const stop = client.on(name, (params) => {
      if (!fits(params)) return;
      stop();
      resolve(params);
    });
  });
}

/** Does something when the event that is told at the moment has been. */
export const now = (act) => setImmediate(act);

/** What a store needs of a client. */
export function stub(more = {}) {
  const told = [];
  return {
    told, emit: (name, params) => told.push([name, params]), userID: () => "ann", placeOf: () => undefined, records: () => [], adopt() {},
    ...more,
  };
}

/** All rows of a storage, parsed. */
export async function contents(storage) {
  const rows = await storage.scan({ from: "", to: "~" });
  return Object.fromEntries(rows.map(([key, text]) => [key, JSON.parse(text)]));
}
