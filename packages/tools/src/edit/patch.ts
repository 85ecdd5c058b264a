// Plans a unified diff over the bytes of one file (EDIT-3, EDIT-4): all its hunks apply where
// `git apply` would put them, or none does. Lines no hunk changes are never copied through the patch, so
// they keep every byte.

import { constants } from "node:buffer";
import { encodeText } from "../text/text-format.ts";
import { fileText, type FileText } from "../text/file-text.ts";
import { findHeader, isNamed, type PatchHeader } from "./patch-header.ts";
import { readHunks, type PatchHunk } from "./patch-hunks.ts";
import { createImage, listStretches, replaceLines, type PatchImage } from "./patch-image.ts";
import { fileLines, isLine, type FileLines } from "./patch-lines.ts";
import { explainPatchMiss } from "./patch-miss.ts";
import { findPlace, fixedEnds, matchesAt, type Placing } from "./patch-place.ts";
import {
  applySpans,
  LONE_SURROGATE,
  refusePlan,
  type PlannedText,
  type RefusedPlan,
  type Span,
} from "./planned-text.ts";

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
    const changesLines = hunks.some(({ before, contextLines }) => before.length + contextLines > 0);
    const creates = header.creates === "yes" || (header.creates === "guess" && hunks.length === 1);
    if (changesLines || !creates) {
      return refusePlan(
        "file_not_found",
        `${path} does not exist, and the patch is one of an existing file. Check the path; to create the ` +
          "file give one hunk of added lines under `--- /dev/null`.",
      );
    }
    if (!create) {
      return refusePlan(
        "file_not_found",
        `${path} does not exist. Check the path, or let the patch create it with create_if_missing.`,
      );
    }
  } else if (header.creates === "yes") {
    return refusePatch(
      `The patch creates ${path}, but it exists. To change it give a patch of what it holds now, with ` +
        `\`--- a/${path}\` in place of \`--- /dev/null\`.`,
    );
  } else if (before.length > constants.MAX_STRING_LENGTH) {
    return refusePlan("file_too_large", `${path} is too large to be patched.`);
  }
  return applyHunks(before, hunks, path);
}

function refusePatch(message: string): RefusedPlan {
  return refusePlan("patch_apply_failed", message);
}

type ReadPatch = { ok: true; header: PatchHeader; hunks: PatchHunk[] } | RefusedPlan;

function readPatch(unifiedDiff: string, { path, otherPaths = [] }: PatchOptions): ReadPatch {
  if (LONE_SURROGATE.test(unifiedDiff)) {
    return refusePatch(
      "The patch holds half of a surrogate pair, which no file can hold. Give whole characters.",
    );
  }
  if (Buffer.byteLength(unifiedDiff) > constants.MAX_STRING_LENGTH) {
    return refusePatch("The patch is too large. Give it in parts.");
  }
  const patch = Buffer.from(unifiedDiff).toString("latin1");
  const paths = [path, ...otherPaths];
  const header = findHeader(patch, 0);
  if (header === undefined) return noHunks();
  if ("ok" in header) return header;
  const mismatch = refuseOtherNames(header, paths);
  if (mismatch !== undefined) return mismatch;
  const read = readHunks(patch, header.hunksAt);
  if (!read.ok) return read;
  const rest = findHeader(patch, read.end);
  if (rest === undefined) {
    return read.hunks.length > 0 ? { ok: true, header, hunks: read.hunks } : noHunks();
  }
  if ("ok" in rest) return rest;
  return (
    refuseOtherNames(rest, paths) ??
    refusePlan(
      "unsupported_patch",
      "After its hunks the patch continues with a further header or with hunks that do not follow directly. " +
        "Put all hunks of the file one after the other under one header, in the order of their lines.",
    )
  );
}

function noHunks(): RefusedPlan {
  return refusePatch(
    "The patch has no hunk. Give at least one: a line `@@ -<line>,<count> +<line>,<count> @@`, then the " +
      "lines, each beginning with a space (unchanged), - (removed) or + (added).",
  );
}

/** For names of the header that are not this file. */
function refuseOtherNames(
  { names }: PatchHeader,
  paths: readonly string[],
): RefusedPlan | undefined {
  const [path = ""] = paths;
  const others = names
    .filter(({ kind, name }) => kind === "file" && !isNamed(name, paths))
    .map(({ name }) => name.slice(0, MOST_NAME));
  const [first] = others;
  if (first === undefined) return undefined;
  return refusePlan(
    "patch_path_mismatch",
    `The patch is for ${JSON.stringify(first)}, but the call is for ${JSON.stringify(path.slice(0, MOST_NAME))}. ` +
      "Give one file's patch to each call, with the same path in both.",
    { path, patch_paths: others },
  );
}

const MOST_NAME = 1000;

function applyHunks(
  before: Uint8Array | undefined,
  given: readonly PatchHunk[],
  path: string,
): PlannedText {
  const file = fileText(before ?? new Uint8Array());
  const { bytes, format } = file;
  if (
    format.encoding === "binary" &&
    /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1", 0, 2))
  ) {
    // Bytes marked as UTF-16 that are not: text of the patch put between them would be anything but text.
    return refusePlan(
      "undecodable_text",
      `${path} begins with the mark of UTF-16 but is not such text, so it cannot be patched. Check what the file is.`,
    );
  }
  const hunks = given.map((hunk) => encodeHunk(hunk, file));
  const lines = fileLines(file, hunks, given.some(hasMark));
  const placing: Placing = { lines, image: createImage(lines.count), stepsLeft: MOST_STEPS };
  const anyContext = hunks.some(({ contextLines }) => contextLines > 0);
  for (const hunk of hunks) {
    const { number, header } = hunk;
    if (!hunk.isEncodable) {
      return refusePlan(
        "undecodable_text",
        `The file is in ${format.encoding}, which cannot hold every character of the lines that hunk ` +
          `${number} (${header}) adds. Use only ASCII in them, or convert the file first.`,
        { hunk: number, header, encoding: format.encoding },
      );
    }
    const fixed = fixedEnds(hunk, anyContext);
    const place = findPlace(placing, hunk, fixed);
    if (typeof place === "string") {
      return explainPatchMiss({ lines, hunk, fixed, path, why: place, image: placing.image });
    }
    putHunk(placing, hunk, place.position);
  }
  const spans = listSpans(placing.image, lines);
  if (before !== undefined && spans.length === 0) {
    const says = `The patch changes nothing: ${path} already is as it would be after it.`;
    return refusePlan("no_change", says);
  }
  return { ok: true, after: applySpans(bytes, spans), spans };
}

/** A second or so of looking at lines. */
const MOST_STEPS = 50_000_000;

function putHunk({ image, lines }: Placing, hunk: PatchHunk, position: number): void {
  const { before, after } = hunk;
  const present: number[] = [];
  matchesAt(image, position, before.length, (line) => present.push(line) > 0);
  const placed = after.map((line) => {
    if (typeof line === "string") return line;
    const text = before[line] ?? "";
    const there = present[line];
    return there !== undefined && isLine(lines, there, text) ? there : text;
  });
  replaceLines(image, position, before.length, placed);
}

/** What came of all hunks as spans of the file's bytes: only what is between two lines that stayed and is not as it was. */
function listSpans(image: PatchImage, { bytes, starts }: FileLines): Span[] {
  const spans: Span[] = [];
  for (const stretch of listStretches(image)) {
    let next = stretch.start;
    let pending: string[] = [];
    const closeAt = (line: number): void => {
      const start = starts[next] ?? 0;
      const end = starts[line] ?? 0;
      const text = pending.join("");
      pending = [];
      next = line + 1;
      if (text === bytes.slice(start, end)) return;
      spans.push({ start, end, text: Buffer.from(text, "latin1") });
    };
    for (const line of stretch.placed) {
      if (typeof line === "string") pending.push(line);
      else closeAt(line);
    }
    closeAt(stretch.end);
  }
  return spans;
}

/** The byte order mark, in UTF-8. */
const MARK = "\xef\xbb\xbf";

function hasMark({ before, after }: PatchHunk): boolean {
  return [...before, ...after].some((line) => typeof line === "string" && line.startsWith(MARK));
}

/**
 * In the encoding of the file. The patch is UTF-8; bytes that are no text in any known encoding are compared with
 * it as they are. A line the file cannot hold is not in it; as it is in the patch, it is not found there.
 */
function encodeHunk(hunk: PatchHunk, { format }: FileText): PatchHunk & { isEncodable: boolean } {
  const { encoding } = format;
  if (encoding === "utf-8" || encoding === "binary") return { ...hunk, isEncodable: true };
  const encode = (line: string): string | undefined => {
    const text = Buffer.from(line, "latin1").toString("utf8");
    const encoded = encodeText(text, { ...format, bom: false });
    return encoded && Buffer.from(encoded).toString("latin1");
  };
  const before = hunk.before.map((line) => encode(line) ?? line);
  const after = hunk.after.map((line) => (typeof line === "string" ? encode(line) : line));
  const isEncodable = !after.includes(undefined);
  return { ...hunk, before, after: after.map((line) => line ?? ""), isEncodable };
}
