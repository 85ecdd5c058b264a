// The json module: JSON files that grant rights, read only where no one else could have changed them.

export { readJsonFile } from "./read-json-file.ts";
export { directoryTrustProblem, fileTrustProblem } from "./trusted-path.ts";
