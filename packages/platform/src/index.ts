// @soong/platform: what several packages use beside the kernel: processes, files that several
// processes change, a clock, and documents that users write.

export * from "./clock/index.ts";
export * from "./document/index.ts";
export * from "./file/index.ts";
export * from "./process/index.ts";
