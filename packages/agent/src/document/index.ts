// The document module: text files that users write, and Markdown with YAML front matter (agent definitions, skills, memories).

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { messageOf } from "@soong/core";
import { readDocument, type Problem, type Shape } from "@soong/platform";

export type TextFile =
  | { readonly ok: true; readonly text: string }
  /** As a clause about the file. */
  | { readonly ok: false; readonly message: string };

export async function readTextFile(file: string, maxBytes: number): Promise<TextFile> {
  let bytes: Uint8Array;
  try {
    // A pipe without a writer would be waited for otherwise.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return rejectFile("is not a regular file");
      if (stats.size > maxBytes)
        return rejectFile(`is larger than ${formatSize(maxBytes)}, the most it may have`);
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return rejectFile(`cannot be read: ${describeReadError(error)}`);
  }
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return rejectFile("is not UTF-8 text");
  }
}

function rejectFile(message: string): TextFile {
  return { ok: false, message };
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

export type FrontMatter =
  | {
      readonly ok: true;
      /** Its lines are those of the file. */
      readonly yaml: string;
      readonly body: string;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** One problem with a whole file. */
export function rejectDocument(
  file: string,
  message: string,
  line = 1,
): { readonly ok: false; readonly problems: readonly Problem[] } {
  return { ok: false, problems: [{ file, line, column: 1, message }] };
}

/** `purpose`: what the text below the front matter is; it must not be empty, nor longer than `maxChars`. */
export function readMarkdown<Value>(
  text: string,
  file: string,
  shape: Shape<Value>,
  { purpose, maxChars, advice = "" }: { purpose: string; maxChars: number; advice?: string },
) {
  const split = splitFrontMatter(text);
  if (!split.ok) return rejectDocument(file, split.message, split.line);
  const { yaml, body } = split;
  const checked = readDocument(yaml, file, "yaml", shape);
  if (!checked.ok) return checked;
  if (body === "") {
    return rejectDocument(file, `has no text below its front matter; that is ${purpose}`);
  }
  if (body.length > maxChars) {
    const chars = `${body.length} characters below its front matter`;
    return rejectDocument(file, `has ${chars}; ${maxChars} are the most${advice}`);
  }
  return { ...checked, body };
}

export function splitFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (!isFence(lines[0])) {
    const message =
      'does not begin with its front matter: a line "---", YAML, another line "---", then the text';
    return { ok: false, line: 1, message };
  }
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  if (end === -1) {
    return { ok: false, line: 1, message: 'has front matter without an end: a second line "---"' };
  }
  return {
    ok: true,
    yaml: ["", ...lines.slice(1, end), ""].join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}
