// Plans old/new edits of one file over its bytes (EDIT-2, EDIT-4): every edit is looked up in the same
// text before, all of them apply or none does, and nothing outside the places found is touched.

import { fileText, type FileText } from "../text/file-text.ts";
import { explainMiss } from "./explain-miss.ts";
import { findPlaces, linesAt, searchedFile, writerFor, type SearchedFile } from "./find-places.ts";
import {
  applySpans,
  LONE_SURROGATE,
  refusePlan,
  type PlanError,
  type PlannedText,
  type Span,
} from "./planned-text.ts";

/** One edit as the model gives it (EDIT-1): the text to find and the text to put in its place. */
export interface TextEdit {
  old: string;
  new: string;
  /** Every place instead of the only one. */
  replace_all?: boolean;
}

export function planEdits(
  before: Uint8Array | undefined,
  edits: readonly TextEdit[],
  { create }: { create: boolean },
): PlannedText {
  const [first] = edits;
  if (first === undefined) {
    return refusePlan("invalid_edits", "The list of edits is empty. Give at least one {old, new}.");
  }
  for (const [index, edit] of edits.entries()) {
    const field = (["old", "new"] as const).find((name) => LONE_SURROGATE.test(edit[name]));
    if (field === undefined) continue;
    const says = `edits[${index}].${field} holds half of a surrogate pair, which no file can hold. Give whole characters.`;
    return refusePlan("invalid_edits", says, { edit: index });
  }
  const empty = edits.findIndex((edit) => edit.old === "");
  if (empty !== -1 && create) return planNewFile(before, edits, first);
  if (before === undefined) {
    const says = "The file does not exist.";
    return refusePlan(
      "file_not_found",
      create
        ? `${says} To create it give exactly one edit with an empty old.`
        : `${says} Check the path, or create it with create_if_missing and an empty old.`,
    );
  }
  if (empty !== -1) {
    return refusePlan(
      "invalid_edits",
      `edits[${empty}].old is empty. Give the text to replace; to insert, give the text next to it and ` +
        "repeat that in new. Only a missing or empty file takes an empty old, with create_if_missing.",
      { edit: empty },
    );
  }
  const unchanging = edits.findIndex((edit) => edit.old === edit.new);
  if (unchanging !== -1) return { ok: false, error: noChange(unchanging) };
  const file = fileText(before);
  if (file.format.encoding !== "binary") return planInFile(searchedFile(file), edits);
  const says =
    "The file is binary (it holds NUL or control bytes), so text edits of it are refused.";
  return refusePlan("binary_file", says);
}

/** An empty old text means "all of a file that has nothing in it yet", and nothing else. */
function planNewFile(
  before: Uint8Array | undefined,
  edits: readonly TextEdit[],
  edit: TextEdit,
): PlannedText {
  if (edits.length > 1) {
    const says =
      "To create a file give exactly one edit, with an empty old and the whole text as new.";
    return refusePlan("invalid_edits", says);
  }
  if (before !== undefined && before.length > 0) {
    return refusePlan(
      "path_conflict",
      "The file exists and is not empty, so an empty old cannot create it. Put the text to replace in old.",
    );
  }
  if (before !== undefined && edit.new === "") return { ok: false, error: noChange(0) };
  const text = Buffer.from(edit.new);
  return { ok: true, after: text, spans: text.length === 0 ? [] : [{ start: 0, end: 0, text }] };
}

/** How many places one call may replace; each is kept in memory and shown in the diff. */
const MOST_PLACES = 100_000;
/** From here on the places of an ambiguous text are no longer counted. */
const MOST_COUNTED = 1000;
/** Lines, or further failing edits, named in one message. */
const MOST_LISTED = 20;

interface EditSpan extends Span {
  index: number;
}

/** Of one edit of the list. */
interface EditError extends PlanError {
  index: number;
}

function planInFile(searched: SearchedFile, edits: readonly TextEdit[]): PlannedText {
  const { file } = searched;
  const spans: EditSpan[] = [];
  const errors: EditError[] = [];
  for (const [index, edit] of edits.entries()) {
    const planned = planOne(searched, edit, index);
    if ("code" in planned) errors.push({ index, ...planned });
    else for (const span of planned) spans.push({ index, ...span });
    if (spans.length > MOST_PLACES) {
      return refusePlan(
        "invalid_edits",
        `With edits[${index}] more than ${MOST_PLACES} places would change, too many for one call. ` +
          "Use a longer old, or fewer edits with replace_all.",
        { edit: index },
      );
    }
  }
  const [error] = errors;
  if (error) return { ok: false, error: reportErrors(file, edits, error, errors) };
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  const overlap = firstOverlap(file, spans);
  if (overlap) return { ok: false, error: overlap };
  const changing = spans
    .filter((span) => isChange(file, span))
    .map(({ start, end, text }) => ({ start, end, text }));
  const after = applySpans(file.bytes, changing);
  if (file.unit === 2 && !file.bytes.subarray(0, 2).equals(after.subarray(0, 2))) {
    return refusePlan(
      "invalid_edits",
      "The edits would remove the byte order mark of a UTF-16 file, which would make it unreadable. " +
        "Leave U+FEFF out of old, or keep it at the start of new.",
    );
  }
  return { ok: true, after, spans: changing };
}

function planOne(searched: SearchedFile, edit: TextEdit, index: number): Span[] | PlanError {
  const { file } = searched;
  const all = edit.replace_all === true;
  const { places, lineBreaksRelaxed } = findPlaces(searched, edit.old, {
    overlapping: !all,
    limit: all ? MOST_PLACES + 1 : MOST_COUNTED,
  });
  if (places.length === 0) {
    return { code: "text_not_found", message: `edits[${index}].old is not in the file.` };
  }
  if (!all && places.length > 1) {
    const starts = places.slice(0, MOST_LISTED).map(({ start }) => start);
    const lines = [...new Set(linesAt(file, starts))];
    const more = places.length > MOST_LISTED;
    const count = `${places.length} times${places.length === MOST_COUNTED ? " or more" : ""}`;
    return {
      code: "ambiguous_edit",
      message:
        `edits[${index}].old occurs ${count}, at line ${lines.join(", ")}${more ? " and further down" : ""}. ` +
        "Add lines around it until it is unique, or set replace_all to change every place.",
      details: { edit: index, lines, places: places.length, lines_truncated: more },
    };
  }
  const newText = lineBreaksRelaxed ? edit.new.replaceAll("\r\n", "\n") : edit.new;
  const write = writerFor(file, newText);
  const writeAfterMark = newText.startsWith("\ufeff") ? writerFor(file, newText.slice(1)) : write;
  if (write === undefined || writeAfterMark === undefined) {
    const { encoding, valid } = file.format;
    const problem = valid
      ? `The file is in ${encoding}, which cannot hold every character of edits[${index}].new.`
      : `The file has bytes that are not ${encoding}, so how to write the characters of edits[${index}].new beyond ASCII is unknown.`;
    return {
      code: "undecodable_text",
      message: `${problem} Use only ASCII in new, or convert the file first.`,
      details: { edit: index, encoding },
    };
  }
  const spans = places.map((place) => {
    // The file has its mark already; a second one would be a stray character.
    const afterMark = file.format.bom && place.start === file.bomBytes;
    return { ...place, text: (afterMark ? writeAfterMark : write)(place) };
  });
  return spans.some((span) => isChange(file, span)) ? spans : noChange(index);
}

/** A new text can come out the same as the old once its line breaks are those of the place. */
function isChange({ bytes }: FileText, { start, end, text }: Span): boolean {
  return !bytes.subarray(start, end).equals(text);
}

function noChange(index: number): PlanError {
  return {
    code: "no_change",
    message: `edits[${index}] changes nothing: new is what the file has already. Leave the edit out or give another new.`,
    details: { edit: index },
  };
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

/** The first error in full; the others by name, so that one more try can fix them all. */
function reportErrors(
  file: FileText,
  edits: readonly TextEdit[],
  { index, ...error }: EditError,
  errors: readonly EditError[],
): PlanError {
  const isMiss = error.code === "text_not_found";
  const miss = isMiss ? explainMiss(file, edits[index]?.old ?? "") : undefined;
  const others = errors.slice(1, 1 + MOST_LISTED).map(({ index, code }) => ({ edit: index, code }));
  const alsoFailing = others.map(({ edit, code }) => `edits[${edit}] (${code})`).join(", ");
  const rest = errors.length - 1 - others.length;
  const message = [
    error.message,
    miss?.words ?? "",
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
      ...(miss && { closest: miss.closest }),
      ...(others.length > 0 && { also_failing: others }),
    },
  };
}
