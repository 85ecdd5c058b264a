// @soong/core: the kernel, from a tool's definition to a call's terminal result.

export * from "./call/index.ts";
export * from "./hook/index.ts";
export * from "./journal/index.ts";
export * from "./kernel.ts";
export * from "./permission/index.ts";
export * from "./registry/index.ts";
export * from "./result/index.ts";
export type { Run, RunOptions } from "./run.ts";
export { RunRefused } from "./run.ts";
export * from "./schema/index.ts";
export type { Session, SessionOptions } from "./session.ts";
export * from "./surface/index.ts";
export * from "./tool/index.ts";
