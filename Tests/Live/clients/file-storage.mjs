// A storage in a file, for the tests of throng.js in Node: a line for each update, which is there when the process is killed
// behind it.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { library } from "./library.mjs";

const { MemoryStorage, Storage, StorageError } = await import(new URL("throng-storage.js", library));

const header = '{"format":"throng-test-storage"}';

export class FileStorage extends Storage {
  #directory;
  #rows = new MemoryStorage();
  #path;

  constructor(directory) {
    super();
    this.#directory = directory;
  }

  async open(name) {
    this.#path = join(this.#directory, `${encodeURIComponent(name)}.jsonl`);
    this.#rows = new MemoryStorage();
    if (!existsSync(this.#path)) return this.#begin([]);
    const lines = readFileSync(this.#path, "utf8").split("\n");
    if (lines[0] !== header) throw new StorageError("Corrupt", "the file does not begin as one of this storage");
    // An update that was cut has not been.
    for (const line of lines.slice(1, -1)) await this.#rows.update([], () => JSON.parse(line));
  }

  #begin(changes) {
    const lines = [header, ...(changes.length > 0 ? [JSON.stringify(changes)] : []), ""];
    writeFileSync(`${this.#path}.new`, lines.join("\n"));
    renameSync(`${this.#path}.new`, this.#path);
  }

  get(key) {
    return this.#rows.get(key);
  }

  scan(range) {
    return this.#rows.scan(range);
  }

  async update(keys, decide) {
    if (!this.#path) throw new StorageError("Refused", "it is closed");
    await this.#rows.update(keys, (values) => {
      const changes = decide(values);
      if (changes.length > 0) appendFileSync(this.#path, `${JSON.stringify(changes)}\n`);
      return changes;
    });
  }

  async close() {
    if (!this.#path) return;
    const rows = await this.#rows.scan({ from: "", to: "~" });
    this.#begin(rows.map(([put, value]) => ({ put, value })));
    this.#path = undefined;
  }

  async destroy() {
    rmSync(this.#path, { force: true });
    this.#path = undefined;
    this.#rows = new MemoryStorage();
  }
}

/** A storage that cannot be opened. */
export class RefusedStorage extends Storage {
  async open() {
    throw new StorageError("Refused");
  }

  async close() {}

  async destroy() {}
}

/** One whose updates find no room from the given one on. */
export class FullStorage extends FileStorage {
  #left;

  constructor(directory, last) {
    super(directory);
    this.#left = last - 1;
  }

  async update(keys, decide) {
    this.#left -= 1;
    if (this.#left < 0) throw new StorageError("Full");
    return super.update(keys, decide);
  }
}
