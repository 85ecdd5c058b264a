// The errors of old/new edits that do not depend on searching for near misses: each says what is wrong
// with which edit and what to give instead.

import type { FileText } from "./file-text.ts";
import type { Place } from "./find-places.ts";
import { linesAt } from "./line-numbers.ts";
import type { PlanError, PlannedText } from "./planned-text.ts";
import type { TextEdit } from "./text-edit.ts";

/** Of one edit of the list. */
export interface EditError extends PlanError {
  index: number;
}

/** From here on the places of an ambiguous text are no longer counted. */
export const MOST_COUNTED = 1000;
/** Lines, or further failing edits, named in one message. */
export const MOST_LISTED = 20;

export function ambiguous(file: FileText, index: number, places: readonly Place[]): EditError {
  const listed = places.slice(0, MOST_LISTED).map(({ start }) => start);
  const lines = [...new Set(linesAt(file, listed))];
  const more = places.length > MOST_LISTED;
  const count =
    places.length === MOST_COUNTED ? `${MOST_COUNTED} times or more` : `${places.length} times`;
  return {
    index,
    code: "ambiguous_edit",
    message:
      `edits[${index}].old occurs ${count}, at line ${lines.join(", ")}${more ? " and further down" : ""}. ` +
      "Add lines around it until it is unique, or set replace_all to change every place.",
    details: { edit: index, lines, places: places.length, lines_truncated: more },
  };
}

export function cannotHold({ format }: FileText, index: number): EditError {
  const problem = format.valid
    ? `The file is in ${format.encoding}, which cannot hold every character of edits[${index}].new.`
    : `The file has bytes that are not ${format.encoding}, so how to write the characters of edits[${index}].new beyond ASCII is unknown.`;
  return {
    index,
    code: "undecodable_text",
    message: `${problem} Use only ASCII in new, or convert the file first.`,
    details: { edit: index, encoding: format.encoding },
  };
}

export function emptyOld(before: Uint8Array | undefined, index: number): PlannedText {
  if (before === undefined) return missingFile(false);
  return failed(
    "invalid_edits",
    `edits[${index}].old is empty. Give the text to replace; to insert, give the text next to it and ` +
      "repeat that in new. Only a missing or empty file takes an empty old, with create_if_missing.",
    { edit: index },
  );
}

export function missingFile(create: boolean): PlannedText {
  return failed(
    "file_not_found",
    create
      ? "The file does not exist. To create it give exactly one edit with an empty old."
      : "The file does not exist. Check the path, or create it with create_if_missing and an empty old.",
  );
}

export function notWellFormed(edit: TextEdit, index: number): PlanError | undefined {
  const field = LONE_SURROGATE.test(edit.old) ? "old" : LONE_SURROGATE.test(edit.new) ? "new" : "";
  if (field === "") return undefined;
  return {
    code: "invalid_edits",
    message: `edits[${index}].${field} holds half of a surrogate pair, which no file can hold. Give whole characters.`,
    details: { edit: index },
  };
}

const LONE_SURROGATE = /\p{Surrogate}/u;

export function sameText(edit: TextEdit, index: number): PlanError | undefined {
  return edit.old === edit.new ? noChange(index) : undefined;
}

export function noChange(index: number): PlanError {
  return {
    code: "no_change",
    message: `edits[${index}] changes nothing: new is what the file has already. Leave the edit out or give another new.`,
    details: { edit: index },
  };
}

export function failed(code: string, message: string, details?: PlanError["details"]): PlannedText {
  return { ok: false, error: { code, message, details } };
}
