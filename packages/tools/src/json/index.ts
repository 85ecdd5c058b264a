// The json room: JSON files a person wrote, read strictly and only where nobody else could have changed
// them, with the line and column of everything in them, so that a mistake can be found.

export {
  fieldProblems,
  isObject,
  listOf,
  nonEmptyText,
  oneOf,
  wholeNumber,
} from "./field-rules.ts";
export type { FieldCheck, FieldRules } from "./field-rules.ts";
export { describeFileProblem, problemAt } from "./file-problem.ts";
export type { FileProblem } from "./file-problem.ts";
export { readJsonFile } from "./read-json-file.ts";
export type { JsonDocument, JsonPath } from "./parse-json.ts";
export { directoryTrustProblem, fileTrustProblem } from "./trusted-path.ts";
