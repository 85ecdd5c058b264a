// @soong/inspector: a local page on the journal and the live runtimes, and the small server that feeds it.

export * from "./server/index.ts";
export type * from "./wire/index.ts";
