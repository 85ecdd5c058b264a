// Reads one JSON file within a bound. Whatever can be wrong with it comes back as problems, never thrown.

import { ToolFailure } from "@soong/core";
import { parseDocument, type ParsedDocument } from "@soong/platform";
import { readWholeFile } from "../path/index.ts";
import { fileTrustProblem } from "./trusted-path.ts";

/** `file` is canonical but for its last segment, which may not be a link. */
export async function readJsonFile(
  file: string,
  { maxBytes }: { maxBytes: number },
): Promise<ParsedDocument> {
  const refused = (message: string): ParsedDocument => ({
    ok: false,
    problems: [{ file, message }],
  });
  try {
    const untrusted = await fileTrustProblem(file);
    if (untrusted !== undefined) return refused(untrusted);
    const read = await readWholeFile(file, { maxBytes });
    if (read === undefined) return refused("is not there any more");
    const decoded = decode(read.bytes);
    if (typeof decoded === "string") return refused(decoded);
    return parseDocument(decoded.text, file, "json");
  } catch (error) {
    return refused(unreadable(error, maxBytes));
  }
}

/** UTF-8 with or without its mark; the text, or why there is none. */
function decode(bytes: Buffer): { text: string } | string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return "is UTF-16; save it as UTF-8";
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return "is not UTF-8; save it as UTF-8";
  }
}

function unreadable(error: unknown, maxBytes: number): string {
  const code = error instanceof ToolFailure ? error.error.code : (error as { code?: unknown }).code;
  switch (code) {
    case "file_too_large":
      return `is larger than ${maxBytes} bytes`;
    case "ENOENT":
      return "is not there";
    case "access_denied":
    case "EACCES":
    case "EPERM":
      return "cannot be read: you have no right to";
    default:
      return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
