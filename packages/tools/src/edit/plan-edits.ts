// Plans old/new edits of one file over its bytes (EDIT-2, EDIT-4): every edit is looked up in the same
// text before, all of them apply or none does, and nothing outside the places found is touched.

import {
  ambiguous,
  cannotHold,
  emptyOld,
  failed,
  missingFile,
  MOST_COUNTED,
  MOST_LISTED,
  noChange,
  notWellFormed,
  sameText,
  type EditError,
} from "./edit-errors.ts";
import { explainMiss } from "./explain-miss.ts";
import { fileText, type FileText } from "./file-text.ts";
import { findPlaces, searchedFile, type SearchedFile } from "./find-places.ts";
import { writerFor } from "./line-breaks.ts";
import { linesAt } from "./line-numbers.ts";
import { applySpans, type PlanError, type PlannedText, type Span } from "./planned-text.ts";
import type { TextEdit } from "./text-edit.ts";

export function planEdits(
  before: Uint8Array | undefined,
  edits: readonly TextEdit[],
  options: { create: boolean },
): PlannedText {
  const [first] = edits;
  if (first === undefined) {
    return failed("invalid_edits", "The list of edits is empty. Give at least one {old, new}.");
  }
  const malformed = firstError(edits, notWellFormed);
  if (malformed) return { ok: false, error: malformed };
  const empty = edits.findIndex((edit) => edit.old === "");
  if (empty !== -1) {
    return options.create ? planNewFile(before, edits, first) : emptyOld(before, empty);
  }
  if (before === undefined) return missingFile(options.create);
  const unchanging = firstError(edits, sameText);
  if (unchanging) return { ok: false, error: unchanging };
  const file = fileText(before);
  if (file.format.encoding === "binary") {
    return failed(
      "binary_file",
      "The file is binary (it holds NUL or control bytes), so text edits of it are refused.",
    );
  }
  return planInFile(searchedFile(file), edits);
}

/** How many places one call may replace; each is kept in memory and shown in the diff. */
const MOST_PLACES = 100_000;

function tooManyPlaces(index: number): PlannedText {
  return failed(
    "invalid_edits",
    `With edits[${index}] more than ${MOST_PLACES} places would change, too many for one call. ` +
      "Use a longer old, or fewer edits with replace_all.",
    { edit: index },
  );
}

function planInFile(searched: SearchedFile, edits: readonly TextEdit[]): PlannedText {
  const { file } = searched;
  const spans: EditSpan[] = [];
  const errors: EditError[] = [];
  for (const [index, edit] of edits.entries()) {
    const planned = planOne(searched, edit, index);
    if ("code" in planned) errors.push(planned);
    else for (const span of planned) spans.push(span);
    if (spans.length > MOST_PLACES) return tooManyPlaces(index);
  }
  const [error] = errors;
  if (error) return { ok: false, error: reported(searched, edits, error, errors) };
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  const overlap = firstOverlap(file, spans);
  if (overlap) return { ok: false, error: overlap };
  const changing = spans.filter((span) => changes(file, span)).map(withoutIndex);
  const after = applySpans(file.bytes, changing);
  if (file.unit === 2 && !file.bytes.subarray(0, 2).equals(after.subarray(0, 2))) {
    return failed(
      "invalid_edits",
      "The edits would remove the byte order mark of a UTF-16 file, which would make it unreadable. " +
        "Leave U+FEFF out of old, or keep it at the start of new.",
    );
  }
  return { ok: true, after, spans: changing };
}

interface EditSpan extends Span {
  index: number;
}

function planOne(searched: SearchedFile, edit: TextEdit, index: number): EditSpan[] | EditError {
  const { file } = searched;
  const all = edit.replace_all === true;
  const { places, lineBreaksRelaxed } = findPlaces(searched, edit.old, {
    overlapping: !all,
    limit: all ? MOST_PLACES + 1 : MOST_COUNTED,
  });
  if (places.length === 0) {
    return { index, code: "text_not_found", message: `edits[${index}].old is not in the file.` };
  }
  if (!all && places.length > 1) return ambiguous(file, index, places);
  const newText = lineBreaksRelaxed ? edit.new.replaceAll("\r\n", "\n") : edit.new;
  const write = writerFor(file, newText);
  const writeAfterMark = newText.startsWith("\ufeff") ? writerFor(file, newText.slice(1)) : write;
  if (write === undefined || writeAfterMark === undefined) return cannotHold(file, index);
  const spans = places.map((place) => {
    // The file has its mark already; a second one would be a stray character.
    const afterMark = file.format.bom && place.start === file.bomBytes;
    return { ...place, index, text: (afterMark ? writeAfterMark : write)(place) };
  });
  return spans.some((span) => changes(file, span)) ? spans : { index, ...noChange(index) };
}

/** A new text can come out the same as the old once its line breaks are those of the place. */
function changes({ bytes }: FileText, { start, end, text }: Span): boolean {
  return !bytes.subarray(start, end).equals(text);
}

function withoutIndex({ start, end, text }: EditSpan): Span {
  return { start, end, text };
}

function firstOverlap(file: FileText, spans: readonly EditSpan[]): PlanError | undefined {
  for (const [position, span] of spans.entries()) {
    const next = spans[position + 1];
    if (next === undefined || next.start >= span.end) continue;
    const [one = 0, other = 0] = [span.index, next.index].toSorted((a, b) => a - b);
    const [line = 1] = linesAt(file, [next.start]);
    return {
      code: "overlapping_edits",
      message:
        `edits[${one}] and edits[${other}] both change the same text at line ${line}. Every edit is ` +
        "looked up in the file as it was, so join the two into one edit.",
      details: { edits: [one, other], line },
    };
  }
  return undefined;
}

/** The first error in full; the others by name, so that one more try can mend them all. */
function reported(
  searched: SearchedFile,
  edits: readonly TextEdit[],
  { index, ...error }: EditError,
  errors: readonly EditError[],
): PlanError {
  const miss =
    error.code === "text_not_found"
      ? explainMiss(searched.file, edits[index]?.old ?? "")
      : { words: "", closest: [] };
  const others = errors.slice(1, 1 + MOST_LISTED).map(({ index, code }) => ({ edit: index, code }));
  const alsoFailing = others.map(({ edit, code }) => `edits[${edit}] (${code})`).join(", ");
  const rest = errors.length - 1 - others.length;
  const message = [
    error.message,
    miss.words,
    others.length > 0
      ? `These fail too: ${alsoFailing}${rest > 0 ? ` and ${rest} more` : ""}.`
      : "",
    "Nothing was changed.",
  ];
  return {
    code: error.code,
    message: message.filter((part) => part !== "").join(" "),
    details: {
      edit: index,
      ...error.details,
      ...(error.code === "text_not_found" ? { closest: miss.closest } : {}),
      ...(others.length > 0 ? { also_failing: others } : {}),
    },
  };
}

/** An empty old text stands for "all of a file that has nothing in it yet", and for nothing else. */
function planNewFile(
  before: Uint8Array | undefined,
  edits: readonly TextEdit[],
  edit: TextEdit,
): PlannedText {
  if (edits.length > 1) {
    return failed(
      "invalid_edits",
      "To create a file give exactly one edit, with an empty old and the whole text as new.",
    );
  }
  if (before !== undefined && before.length > 0) {
    return failed(
      "path_conflict",
      "The file exists and is not empty, so an empty old cannot create it. Put the text to replace in old.",
    );
  }
  if (before !== undefined && edit.new === "") return { ok: false, error: noChange(0) };
  const text = Buffer.from(edit.new);
  return { ok: true, after: text, spans: text.length === 0 ? [] : [{ start: 0, end: 0, text }] };
}

function firstError(
  edits: readonly TextEdit[],
  check: (edit: TextEdit, index: number) => PlanError | undefined,
): PlanError | undefined {
  for (const [index, edit] of edits.entries()) {
    const error = check(edit, index);
    if (error !== undefined) return error;
  }
  return undefined;
}
