// The document module: every file a user writes, read with the position of everything in it and checked against a
// shape. All mistakes are reported at once, each with its place, what is expected and the nearest name.

export { checkDocument, checkValue, parseDocument, problemAt, readDocument } from "./document.ts";
export type { CheckedDocument, ParsedDocument, UserDocument } from "./document.ts";
export { editJson } from "./edit-json.ts";
export { editTomlTable, writeTomlValue, type TomlTableChange } from "./edit-toml.ts";
export { describeProblem, fieldName, positionFinder, shorten, sortProblems } from "./problem.ts";
export type { DocumentPath, DocumentPosition, Problem } from "./problem.ts";
export * as shape from "./shape.ts";
export { controlCharacter } from "./shape.ts";
export type { Place, Shape, ShapeValue, ValueProblem } from "./shape.ts";
