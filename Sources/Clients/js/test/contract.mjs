// What every storage does (Clients.md, "Memory"). It runs in Node and, for IndexedDB, in a browser: no test runner is in it.

const equal = (found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);
};
const put = (key, value = key) => ({ put: key, value });
const everything = { from: "", to: "~" };

/** The tests by name; each takes a function that makes a storage of the kind, which is not open yet. */
export const contract = {
  async "keys are in the order of their bytes"(make) {
    const storage = make();
    await storage.open("order");
    await storage.update([], () => ["b", "a/2", "A", "a/10", "a%", "a_", "a"].map((key) => put(key)));
    equal((await storage.scan(everything)).map(([key]) => key), ["A", "a", "a%", "a/10", "a/2", "a_", "b"]);
    equal(await storage.scan({ from: "a/", to: "a/~" }), [["a/10", "a/10"], ["a/2", "a/2"]]);
    equal((await storage.scan({ ...everything, limit: 2 })).map(([key]) => key), ["A", "a"]);
    equal((await storage.scan({ ...everything, limit: 2, isDescending: true })).map(([key]) => key), ["b", "a_"]);
    equal(await storage.scan({ from: "a", to: "a" }), []);
    equal([await storage.get("a/2"), (await storage.get("c")) ?? null], ["a/2", null]);
    await storage.destroy();
  },

  async "an update reads, decides once and changes"(make) {
    const storage = make();
    await storage.open("update");
    await storage.update([], () => [put("a", "1"), put("b", "2"), put("m/1"), put("m/2"), put("n")]);
    let times = 0;
    await storage.update(["a", "b", "c"], (values) => {
      times += 1;
      equal([...values].sort(), [["a", "1"], ["b", "2"]]);
      return [put("a", "3"), { delete: "b" }, { delete: "c" }, { deleteFrom: "m/", to: "m/~" }, { deleteFrom: "n", to: "n" }, put("m/3")];
    });
    equal(times, 1);
    equal(await storage.scan(everything), [["a", "3"], ["m/3", "m/3"], ["n", "n"]]);
    await storage.destroy();
  },

  async "an update that throws has not been"(make) {
    const storage = make();
    await storage.open("throws");
    await storage.update([], () => [put("a", "1")]);
    const fault = await storage.update(["a"], () => {
      throw new Error("no");
    }).then(() => "none", (error) => error.message);
    equal(fault, "no");
    equal(await storage.scan(everything), [["a", "1"]]);
    await storage.destroy();
  },

  async "updates come one behind the other"(make) {
    const storage = make();
    await storage.open("counter");
    const add = (values) => [put("count", String(Number(values.get("count") ?? 0) + 1))];
    await Promise.all(Array.from({ length: 50 }, () => storage.update(["count"], add)));
    equal(await storage.get("count"), "50");
    await storage.destroy();
  },

  async "a store that is destroyed is empty the next time, and another is not"(make) {
    const [one, other] = [make(), make()];
    await one.open("ws://host/ws|ann");
    await other.open("ws://host/ws|ännä");
    for (const storage of [one, other]) await storage.update([], () => [put("a", "1")]);
    await one.destroy();
    const again = make();
    await again.open("ws://host/ws|ann");
    equal(await again.scan(everything), []);
    equal(await other.get("a"), "1");
    await again.destroy();
    await other.destroy();
  },
};

/** What storages do beside that outlive the process. */
export const durable = {
  async "what was stored is there the next time"(make) {
    const [one, next] = [make(), make()];
    await one.open("next");
    await one.open("next");
    await one.update([], () => [put("o/1", "é😀"), put("a", "1")]);
    await one.close();
    await next.open("next");
    equal(await next.scan(everything), [["a", "1"], ["o/1", "é😀"]]);
    await next.destroy();
  },
};
