// The schema module: what a schema is, whether a value fits it, and how to say so. It owns reading schemas
// from any library, lowering them into the core subset, checking values and arguments within bounds,
// and the linear-time regex engine for patterns from outside. It imports nothing of ours.

export { canonicalJson } from "./canonical-json.ts";
export { compileSchema, type CheckResult, type SchemaCheck } from "./compile-schema.ts";
export {
  isJsonObject,
  isPlainRecord,
  asJson,
  asRecord,
  isRecord,
  omitUndefined,
  sameJson,
  type JsonObject,
  type JsonPrimitive,
  type JsonSchema,
  type JsonType,
  type JsonValue,
} from "./json.ts";
export { describeSchema } from "./describe-schema.ts";
export { lowerSchema, type LoweredSchema } from "./lower-schema.ts";
export {
  DEFAULT_ARGUMENT_LIMITS,
  nestsDeeper,
  parseArguments,
  type ArgumentLimits,
  type ParsedArguments,
} from "./parse-arguments.ts";
export { editDistance, nearestName } from "./nearest-name.ts";
export { readSchema, type OwnCheck, type ReadSchema } from "./read-schema.ts";
export { createRegex, type LinearRegex, type RegexMatch, type RegexResult } from "./regex.ts";
export { isTaken, relaxSchema, type RelaxedSchema, type SchemaTerms } from "./relax-schema.ts";
export { repairSchema, type RepairedSchema } from "./repair-schema.ts";
export { isSensitive, sensitivePaths, type SensitivePath } from "./sensitive-paths.ts";
export {
  type InferInput,
  type InferOutput,
  type SchemaLike,
  type StandardIssue,
  type StandardResult,
  type StandardSchemaLike,
} from "./standard-schema.ts";
export {
  collapseSpace,
  firstChars,
  isHighSurrogate,
  isLowSurrogate,
  oneLine,
  shorten,
  utf8Length,
} from "./text.ts";
export { formatIssues, type ValidationIssue } from "./validation-issues.ts";
export { forEachSchema, listKeywords, type SchemaProblem } from "./vocabulary.ts";
