// The file module: files that several processes of this user read and write. One writer at a time, and whole at any moment.

export { readErrno, isSameNode, readFully, readJsonFile, writeWholeFile } from "./disk.ts";
export { withFileLock } from "./file-lock.ts";
export type { FileLockOptions } from "./file-lock.ts";
export { defaultLockDirectory } from "./lock-directory.ts";
export { readLock } from "./lock-file.ts";
export type { HeldLock } from "./lock-file.ts";
