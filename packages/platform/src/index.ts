// @soong/platform: Node plumbing that several packages use. So far: processes.

export * from "./process/index.ts";
