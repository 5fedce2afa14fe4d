// The time of a page, or of throng.js in Node: it stands still but for `await testClock.pass(seconds)`.
globalThis.testClock = (() => {
  const system = { setTimeout, clearTimeout };
  const timers = new Map();
  const start = { wall: Date.now(), uptime: performance.now() };
  let [passed, stepped, lastID] = [0, 0, 0];

  function add(act, delay, interval) {
    // The system's own are above zero.
    lastID -= 1;
    timers.set(lastID, { act, interval, id: lastID, due: passed + delay });
    return lastID;
  }

  function takeNext(end) {
    const [next] = [...timers.values()].filter(({ due }) => due <= end).sort((one, other) => one.due - other.due);
    if (!next) return undefined;
    passed = next.due;
    if (next.interval) next.due += next.interval;
    else timers.delete(next.id);
    return next.act;
  }

  const stop = (id) => void (timers.delete(id) || system.clearTimeout.call(globalThis, id));
  const soon = (act) => system.setTimeout.call(globalThis, act, 0);
  return {
    // What is to be done at once is no matter of time.
    setTimeout: (act, delay = 0, ...values) => (delay > 0 ? add(() => act(...values), delay) : soon(() => act(...values))),
    setInterval: (act, interval, ...values) => add(() => act(...values), interval, interval),
    clearTimeout: stop,
    clearInterval: stop,
    Date: { now: () => start.wall + Math.floor(passed) + stepped },
    performance: { now: () => start.uptime + passed },

    /** The page's own time. */
    install() {
      const { setTimeout, setInterval, clearTimeout, clearInterval } = this;
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Date.now = this.Date.now;
      performance.now = this.performance.now;
    },

    /** Somebody sets the time of day. */
    step: (seconds) => void (stepped += seconds * 1000),

    /** Lets time pass at once: the timers that become due fire, each behind what the one before it has begun. */
    async pass(seconds) {
      const end = passed + seconds * 1000;
      for (let act = takeNext(end); act; act = takeNext(end)) {
        act();
        await new Promise(soon);
      }
      passed = end;
    },
  };
})();
