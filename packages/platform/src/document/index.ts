// The document module: every file a user writes, read with the position of everything in it and checked against a
// shape. All mistakes are reported at once, each with its place, what is expected and the nearest name.

export { checkDocument, checkValue, problemAt, readDocument } from "./check-document.ts";
export type { CheckedDocument } from "./check-document.ts";
export { controlCharacter } from "./plain-text.ts";
export { parseDocument } from "./parse-document.ts";
export { positionFinder } from "./parsed-text.ts";
export type { ParsedDocument, UserDocument } from "./parse-document.ts";
export type { Place, Shape, ShapeValue, ValueProblem } from "./place.ts";
export { describeProblem, fieldName, shorten, sortProblems } from "./problem.ts";
export type { DocumentPath, DocumentPosition, Problem } from "./problem.ts";
export * as shape from "./shape.ts";
