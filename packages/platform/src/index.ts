// @soong/platform: what several packages use beside the kernel: processes, files that several
// processes change, a clock, and documents that users write.

export * from "./clock/in-time.ts";
export * from "./clock/lease-margin.ts";
export * from "./clock/machine-clock.ts";
export * from "./document/index.ts";
export * from "./file/disk.ts";
export * from "./file/file-lock.ts";
export * from "./file/lock-directory.ts";
export * from "./file/lock-file.ts";
export { checkLife, isHolder, thisHolder, type LockHolder } from "./file/lock-holder.ts";
export * from "./network/database-address.ts";
export * from "./network/end-pool.ts";
export * from "./network/private-address.ts";
export * from "./process/index.ts";
export * from "./sandbox/index.ts";
