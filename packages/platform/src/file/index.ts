// The file module: files that several processes of this user read and write. One writer at a time, and whole at any moment.

export { withFileLock } from "./file-lock.ts";
export type { FileLockOptions } from "./file-lock.ts";
export type { HeldLock } from "./lock-claim.ts";
export { defaultLockDirectory } from "./lock-directory.ts";
export { readLock } from "./lock-files.ts";
export { readJsonFile } from "./read-json-file.ts";
export { errnoOf, isSameNode } from "./system-error.ts";
export { writeWholeFile } from "./write-whole-file.ts";
