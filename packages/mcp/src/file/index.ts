// The file room: small files of the user's home that several processes read and write. Whole at any moment,
// readable by their owner alone, and changed by one at a time.

export { withFileLock } from "./file-lock.ts";
export { readJsonFile } from "./read-json-file.ts";
export { writeWholeFile } from "./write-whole-file.ts";
