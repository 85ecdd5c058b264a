// Plans a unified diff over the bytes of one file (EDIT-3, EDIT-4): all its hunks apply where
// `git apply` would put them, or none does. Lines no hunk changes are never copied through the patch, so
// they keep every byte.

import { constants } from "node:buffer";
import {
  cannotCreate,
  cannotHold,
  noChange,
  noHunks,
  notUtf16,
  otherNames,
  patchFailed,
  pathMismatch,
  secondHeader,
} from "./patch-errors.ts";
import { findHeader, type PatchHeader } from "./patch-header.ts";
import { readHunks, type PatchHunk } from "./patch-hunks.ts";
import { imageOf, replaceLines } from "./patch-image.ts";
import { fileLines, isLine, type FileLines } from "./patch-lines.ts";
import { matchesAt } from "./patch-match.ts";
import { explainPatchMiss } from "./patch-miss.ts";
import { findPlace, fixedEnds } from "./patch-place.ts";
import type { Placing } from "./patch-search.ts";
import { addedLine, spansOf } from "./patch-spans.ts";
import { applySpans, type PlanError, type PlannedText } from "./planned-text.ts";

export interface PatchOptions {
  /** The file's name, relative to the project or absolute. */
  path: string;
  /** Other names it goes by: as the call gave it, or absolute. */
  otherPaths?: readonly string[];
  /** Whether the patch may create the file. */
  create: boolean;
}

export function planPatch(
  before: Uint8Array | undefined,
  unifiedDiff: string,
  options: PatchOptions,
): PlannedText {
  const read = readPatch(unifiedDiff, options);
  if (!read.ok) return read;
  const { header, hunks } = read;
  const { path, create } = options;
  if (before === undefined) {
    const error = cannotCreate(path, header, hunks, create);
    if (error !== undefined) return { ok: false, error };
  } else if (header.creates === "yes") {
    return failed(
      patchFailed(
        `The patch creates ${path}, but it exists. To change it give a patch of what it holds now, with ` +
          `\`--- a/${path}\` in place of \`--- /dev/null\`.`,
      ),
    );
  } else if (before.length > constants.MAX_STRING_LENGTH) {
    return failed({ code: "file_too_large", message: `${path} is too large to be patched.` });
  }
  return applyHunks(before, hunks, path);
}

type ReadPatch =
  | { ok: true; header: PatchHeader; hunks: PatchHunk[] }
  | { ok: false; error: PlanError };

function readPatch(unifiedDiff: string, { path, otherPaths = [] }: PatchOptions): ReadPatch {
  if (/\p{Surrogate}/u.test(unifiedDiff)) {
    return failed(
      patchFailed(
        "The patch holds half of a surrogate pair, which no file can hold. Give whole characters.",
      ),
    );
  }
  if (Buffer.byteLength(unifiedDiff) > constants.MAX_STRING_LENGTH) {
    return failed(patchFailed("The patch is too large. Give it in parts."));
  }
  const patch = Buffer.from(unifiedDiff).toString("latin1");
  const start = findHeader(patch, 0);
  if (start.found !== "header") return failed(start.found === "error" ? start.error : noHunks());
  const { header } = start;
  const paths = [path, ...otherPaths];
  const names = otherNames(header, paths);
  if (names.length > 0) return failed(pathMismatch(path, names));
  const read = readHunks(patch, header.hunksAt);
  if (!read.ok) return read;
  const rest = findHeader(patch, read.end);
  if (rest.found === "error") return failed(rest.error);
  if (rest.found === "header") {
    const further = otherNames(rest.header, paths);
    return failed(further.length > 0 ? pathMismatch(path, further) : secondHeader());
  }
  return read.hunks.length > 0 ? { ok: true, header, hunks: read.hunks } : failed(noHunks());
}

function failed(error: PlanError): { ok: false; error: PlanError } {
  return { ok: false, error };
}

function applyHunks(
  before: Uint8Array | undefined,
  hunks: readonly PatchHunk[],
  path: string,
): PlannedText {
  const bytes = before ?? new Uint8Array();
  const lines = fileLines(bytes, hunks.some(hasMark));
  const { encoding } = lines.file.format;
  if (encoding === "binary" && /^(?:\xff\xfe|\xfe\xff)/.test(lines.bytes)) {
    return failed(notUtf16(path));
  }
  const placing: Placing = { lines, image: imageOf(lines.count), stepsLeft: MOST_STEPS };
  const anyContext = hunks.some(({ contextLines }) => contextLines > 0);
  const added: string[] = [];
  for (const given of hunks) {
    const hunk = encodeHunk(given, lines);
    if (hunk === undefined) return failed(cannotHold(given, encoding));
    const fixed = fixedEnds(hunk, anyContext);
    const place = findPlace(placing, hunk, fixed);
    if (typeof place === "string") {
      return failed(
        explainPatchMiss({ lines, hunk, fixed, path, why: place, image: placing.image }),
      );
    }
    putHunk(placing, hunk, place.position, added);
  }
  const spans = spansOf(placing.image, lines, added);
  if (before !== undefined && spans.length === 0) return failed(noChange(path));
  return { ok: true, after: applySpans(bytes, spans), spans };
}

/** A second or so of looking at lines. */
const MOST_STEPS = 50_000_000;

function putHunk(
  { image, lines }: Placing,
  hunk: PatchHunk,
  position: number,
  added: string[],
): void {
  const { before } = hunk;
  const present: number[] = [];
  matchesAt(image, position, before.length, (line) => present.push(line) > 0);
  const replacement = hunk.after.map((line) => {
    const text = typeof line === "string" ? line : (before[line] ?? "");
    const there = typeof line === "string" ? undefined : present[line];
    if (there !== undefined && isLine(lines, there, text)) return there;
    return addedLine(added.push(text) - 1);
  });
  replaceLines(image, position, before.length, replacement);
}

/** The byte order mark, in UTF-8. */
const MARK = "\xef\xbb\xbf";

function hasMark({ before, after }: PatchHunk): boolean {
  return [...before, ...after].some((line) => typeof line === "string" && line.startsWith(MARK));
}

/** In the encoding of the file; undefined where that cannot hold an added line. */
function encodeHunk(hunk: PatchHunk, { encode }: FileLines): PatchHunk | undefined {
  const after: PatchHunk["after"] = [];
  for (const line of hunk.after) {
    const encoded = typeof line === "string" ? encode(line) : line;
    if (encoded === undefined) return undefined;
    after.push(encoded);
  }
  // A line the file cannot hold is not in it; as it is in the patch, it is not found there.
  return { ...hunk, before: hunk.before.map((line) => encode(line) ?? line), after };
}
