// The document module: text files that users write, and Markdown with YAML front matter (agent definitions, skills, memories).

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { messageOf, type Places } from "@soong/core";
import {
  controlCharacter,
  parseDocument,
  problemAt,
  readBoundedFile,
  readDocument,
  type BoundedFile,
  type Problem,
  type Shape,
} from "@soong/platform";

export {
  mapForeignTool,
  splitToolNames,
  type ForeignProgram,
  type MappedTool,
} from "./foreign-tools.ts";

/** `message`: as a clause about the file. */
type TextFile =
  | { readonly ok: true; readonly text: string }
  | (RejectedDocument & { readonly message: string });

export interface RejectedDocument {
  readonly ok: false;
  readonly problems: readonly Problem[];
}

export async function readTextFile(file: string, maxBytes: number): Promise<TextFile> {
  const reject = (message: string): TextFile => ({ ...rejectDocument(file, message), message });
  let read: BoundedFile;
  try {
    read = await readBoundedFile(file, maxBytes);
  } catch (error) {
    return reject(`cannot be read: ${describeReadError(error)}`);
  }
  if (read.kind === "too_large") {
    return reject(`is larger than ${formatSize(maxBytes)}, the most it may have`);
  }
  if (read.kind !== "file") return reject("is not a regular file");
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(read.bytes) };
  } catch {
    return reject("is not UTF-8 text");
  }
}

/**
 * The names in a folder, in order, without hidden ones; a folder that is not there holds none. Beyond `max` none is listed,
 * which is a problem where `what` says what they are.
 */
export async function listFolder(
  folder: string,
  problems: Problem[],
  { max, what, isMeant }: { max: number; what?: string; isMeant: (entry: Dirent) => boolean },
): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") {
      problems.push(...rejectDocument(folder, `cannot be read: ${messageOf(error)}`).problems);
    }
    return [];
  }
  const meant = entries.filter((entry) => !entry.name.startsWith(".") && isMeant(entry));
  if (what !== undefined && meant.length > max) {
    const message = `holds ${meant.length} ${what}; the first ${max} by name are read`;
    problems.push(...rejectDocument(folder, message).problems);
  }
  return meant
    .map(({ name }) => name)
    .toSorted()
    .slice(0, max);
}

function formatSize(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

function describeReadError(error: unknown): string {
  const { code } = error as { code?: string };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission is denied";
  return messageOf(error);
}

/** One problem with a whole file. */
export function rejectDocument(file: string, message: string, line = 1): RejectedDocument {
  return { ok: false, problems: [{ file, line, column: 1, message }] };
}

/** Undefined for plain text. */
export function rejectControlCharacter(text: string, file: string): RejectedDocument | undefined {
  const found = controlCharacter(text);
  if (found === undefined) return undefined;
  const message = `holds the control character ${found.name}: it is not plain text`;
  return rejectDocument(file, message, found.line);
}

/** A text that keeps to a form; `form` says to which. */
export function formShape(fits: (value: unknown) => boolean, form: string): Shape<string> {
  return (value, place) => {
    if (fits(value)) return;
    const isText = typeof value === "string";
    const given = isText ? JSON.stringify(value.slice(0, 80)) : place.kindOf(value);
    place.report(`is ${given}; ${form}`);
  };
}

/** `purpose`: what the text below the front matter is; it must not be empty, nor longer than `maxChars`. */
export function readMarkdown<Value>(
  text: string,
  file: string,
  shape: Shape<Value>,
  { purpose, maxChars, advice = "" }: { purpose: string; maxChars: number; advice?: string },
) {
  const split = splitFrontMatter(text, file);
  if (!split.ok) return split;
  const { body } = split;
  const { yaml, isQuoted } = quoteDescription(split.yaml, file);
  const checked = readDocument(yaml, file, "yaml", shape);
  if (!checked.ok) return checked;
  const warnings = isQuoted
    ? [problemAt(checked.document, ["description"], UNQUOTED), ...checked.warnings]
    : checked.warnings;
  if (body === "") {
    return rejectDocument(file, `has no text below its front matter; that is ${purpose}`);
  }
  if (body.length > maxChars) {
    const chars = `${body.length} characters below its front matter`;
    return rejectDocument(file, `has ${chars}; ${maxChars} are the most${advice}`);
  }
  return { ...checked, warnings, body };
}

const UNQUOTED = 'holds ": " or " #" without quotes; it was read as one text: put it in quotes';

/** Other programs read such a line as text, and files written for them have it. YAML does not. */
function quoteDescription(yaml: string, file: string): { yaml: string; isQuoted: boolean } {
  if (parseDocument(yaml, file, "yaml").ok) return { yaml, isQuoted: false };
  const quoted = yaml.replace(
    /^(description:[ \t]+)([^\s"'[{|>&*!%@`#].*)$/m,
    (_, key: string, text: string) => key + JSON.stringify(text.trimEnd()),
  );
  const isQuoted = quoted !== yaml && parseDocument(quoted, file, "yaml").ok;
  return { yaml: isQuoted ? quoted : yaml, isQuoted };
}

/** The lines of `yaml` are those of the file. */
export function splitFrontMatter(
  text: string,
  file: string,
): { readonly ok: true; readonly yaml: string; readonly body: string } | RejectedDocument {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const isFence = (line: string): boolean => /^---[ \t]*$/.test(line);
  if (!isFence(lines[0] ?? "")) {
    const message =
      'does not begin with its front matter: a line "---", YAML, another line "---", then the text';
    return rejectDocument(file, message);
  }
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  if (end === -1) {
    return rejectDocument(file, 'has front matter without an end: a second line "---"');
  }
  const body = lines.slice(end + 1).join("\n");
  return { ok: true, yaml: ["", ...lines.slice(1, end), ""].join("\n"), body: body.trim() };
}

/** The other names of a file that a rule may name, hard links among them. */
export async function findOtherNames(path: string, places: Places): Promise<readonly string[]> {
  const given = { path, directory: "/", access: "read", mayWalk: false } as const;
  const found = await Promise.resolve(places.findPath?.(given, places)).catch(() => undefined);
  return found?.resource.also ?? [];
}
