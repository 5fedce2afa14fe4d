// SPDX-License-Identifier: Apache-2.0
//
// The types of throng-storage.js.

import type { Storage as StoragePort, StorageChange, StorageFailure, StorageLimits, StorageRange } from "./throng.js";

export type { StorageChange, StorageFailure, StorageLimits, StorageRange } from "./throng.js";

/** A storage that failed. It never reaches a call of the application: the event `storageFailed` tells of it. */
export declare class StorageError extends Error {
  constructor(reason: StorageFailure, detail?: string);
  readonly reason: StorageFailure;
}

/** What an application's own storage extends. Its keys are ASCII; whatever fails in it is a StorageError. */
export declare abstract class Storage implements StoragePort {
  /** true, unless a class says otherwise. */
  get isDurable(): boolean;
  makeStore(name: string, limits: StorageLimits | undefined, client: object): object;
  abstract open(name: string): Promise<void>;
  abstract get(key: string): Promise<string | undefined>;
  abstract scan(range: StorageRange): Promise<[key: string, value: string][]>;
  abstract update(keys: string[], decide: (values: Map<string, string>) => StorageChange[]): Promise<void>;
  abstract close(): Promise<void>;
  abstract destroy(): Promise<void>;
}

/** A storage that ends with the process: for tests, and for who wants conversations() without a trace. */
export declare class MemoryStorage extends Storage {
  open(name: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  scan(range: StorageRange): Promise<[key: string, value: string][]>;
  update(keys: string[], decide: (values: Map<string, string>) => StorageChange[]): Promise<void>;
  close(): Promise<void>;
  destroy(): Promise<void>;
}

/** The storage of a browser: a database of IndexedDB for each user of each server. Several tabs share it. */
export declare class IndexedDBStorage extends Storage {
  open(name: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  scan(range: StorageRange): Promise<[key: string, value: string][]>;
  update(keys: string[], decide: (values: Map<string, string>) => StorageChange[]): Promise<void>;
  close(): Promise<void>;
  destroy(): Promise<void>;
}
