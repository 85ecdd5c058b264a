// @soong/inspector: a local page on the journal and the live runtimes, and the small server that feeds it.

export * from "./server/index.ts";
export type * from "./wire/home-records.ts";
export type * from "./wire/overview-records.ts";
export type * from "./wire/policy-records.ts";
export type * from "./wire/routes.ts";
export type * from "./wire/session-records.ts";
