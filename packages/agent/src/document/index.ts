// The document room: texts that people write for us, in YAML or with YAML before them, with the place of every mistake.

export { checkedDocument } from "./checked-document.ts";
export {
  describeDocumentProblem,
  shortened,
  type DocumentProblem,
  type FieldPath,
} from "./document-problem.ts";
export {
  exactlyOne,
  isMapping,
  kindOf,
  listOf,
  mapping,
  nonEmptyText,
  oneOf,
  text,
  textUpTo,
  wholeNumber,
  type FieldCheck,
} from "./field-checks.ts";
export { splitFrontMatter } from "./front-matter.ts";
export { controlCharacter } from "./plain-text.ts";
export { readTextFile } from "./text-file.ts";
