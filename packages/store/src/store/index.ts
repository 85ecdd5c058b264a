// The store module: the front door to the SQLite store.

export { openStore, type StoreOptions } from "./open-store.ts";
