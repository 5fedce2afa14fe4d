// The vectors that the stores of all clients share (Tests/Clients).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { MemoryStorage } from "../throng-storage.js";
import { contents, stub } from "./support.mjs";

const path = new URL("../../../../Tests/Clients/store-vectors.json", import.meta.url);

for (const { name, userID, limits, before, event: [event, params], after } of JSON.parse(readFileSync(path, "utf8"))) {
  test(`vector: ${name}`, async () => {
    const storage = new MemoryStorage();
    const changes = Object.entries(before).map(([put, row]) => ({ put, value: JSON.stringify(row) }));
    await storage.update([], () => changes);
    const store = storage.makeStore("name", limits, stub({ userID: () => userID }));
    await store.open();
    store.take(event, params);
    await store.flush();
    const found = await contents(storage);
    for (const key of ["meta", "s"]) delete found[key];
    const expected = { ...before };
    for (const [key, row] of Object.entries(after)) {
      if (row === null) delete expected[key];
      else expected[key] = row === "ANY" ? found[key] : row;
    }
    assert.deepEqual(found, expected);
  });
}
