// The errors of patches that do not come from a hunk that finds no place: each says what is wrong with
// the patch and what to give instead.

import type { PatchHeader } from "./patch-header.ts";
import type { PatchHunk } from "./patch-hunks.ts";
import { isNameOf } from "./patch-name.ts";
import type { PlanError } from "./planned-text.ts";

export function patchFailed(message: string): PlanError {
  return { code: "patch_apply_failed", message };
}

export function noHunks(): PlanError {
  return patchFailed(
    "The patch has no hunk. Give at least one: a line `@@ -<line>,<count> +<line>,<count> @@`, then the " +
      "lines, each beginning with a space (unchanged), - (removed) or + (added).",
  );
}

export function noChange(path: string): PlanError {
  return {
    code: "no_change",
    message: `The patch changes nothing: ${path} already is as it would be after it.`,
  };
}

/** The names of the header that are not this file. */
export function otherNames({ names }: PatchHeader, paths: readonly string[]): string[] {
  return names
    .filter(({ kind, name }) => kind === "file" && !isNameOf(name, paths))
    .map(({ name }) => name);
}

export function pathMismatch(path: string, names: readonly string[]): PlanError {
  return {
    code: "patch_path_mismatch",
    message:
      `The patch is for ${quoted(names[0] ?? "")}, but the call is for ${quoted(path)}. ` +
      "Give one file's patch to each call, with the same path in both.",
    details: { path, patch_paths: names.map((name) => name.slice(0, MOST_NAME)) },
  };
}

const MOST_NAME = 1000;

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, MOST_NAME));
}

export function secondHeader(): PlanError {
  return {
    code: "unsupported_patch",
    message:
      "After its hunks the patch goes on with a further header or with hunks that do not follow directly. " +
      "Put all hunks of the file one after the other under one header, in the order of their lines.",
  };
}

/** Why these hunks cannot make the missing file, or undefined if they can. */
export function cannotCreate(
  path: string,
  header: PatchHeader,
  hunks: readonly PatchHunk[],
  create: boolean,
): PlanError | undefined {
  const changesLines = hunks.some(({ before, contextLines }) => before.length + contextLines > 0);
  const creates = header.creates === "yes" || (header.creates === "guess" && hunks.length === 1);
  if (changesLines || !creates) {
    return fileNotFound(
      `${path} does not exist, and the patch is one of an existing file. Check the path; to create the ` +
        "file give one hunk of added lines under `--- /dev/null`.",
    );
  }
  if (create) return undefined;
  return fileNotFound(
    `${path} does not exist. Check the path, or let the patch create it with create_if_missing.`,
  );
}

function fileNotFound(message: string): PlanError {
  return { code: "file_not_found", message };
}

export function cannotHold(hunk: PatchHunk, encoding: string): PlanError {
  return {
    code: "undecodable_text",
    message:
      `The file is in ${encoding}, which cannot hold every character of the lines that hunk ` +
      `${hunk.number} (${hunk.header}) adds. Use only ASCII in them, or convert the file first.`,
    details: { hunk: hunk.number, header: hunk.header, encoding },
  };
}

/** Bytes marked as UTF-16 that are not: text of the patch put between them would be anything but text. */
export function notUtf16(path: string): PlanError {
  return {
    code: "undecodable_text",
    message: `${path} begins with the mark of UTF-16 but is no such text, so it cannot be patched. Check what the file is.`,
  };
}
