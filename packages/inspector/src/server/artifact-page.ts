// A page of an artifact: text in whole characters, its secrets hidden; or, where the bytes are no text, as they are.

import { isUtf8 } from "node:buffer";
import type { ArtifactPage } from "../wire/index.ts";
import type { ArtifactBytes } from "./artifact-bytes.ts";
import { bad } from "./asked.ts";
import { MARGIN, safeCut, safeCutAfter, type Redact } from "./safe-cut.ts";

/** A character may take four bytes. */
const MARGIN_BYTES = 4 * MARGIN;

export async function readArtifactPage(
  artifact: ArtifactBytes,
  asked: { readonly offset: number; readonly length: number },
  redact: Redact,
): Promise<Omit<ArtifactPage, "line">> {
  const { record } = artifact;
  const { size } = record;
  if (asked.offset > size) {
    throw bad(`offset is past the end of the artifact, which has ${size} bytes.`);
  }
  const first = Math.max(0, asked.offset - MARGIN_BYTES);
  const bytes = await artifact.read(first, asked.offset + asked.length + MARGIN_BYTES);
  const from = characterStart(bytes, asked.offset - first);
  const wanted = Math.min(bytes.length, asked.offset - first + asked.length);
  // Less than a character is no page.
  const to = Math.max(
    characterStart(bytes, wanted),
    Math.min(bytes.length, characterEnd(bytes, from)),
  );
  const page = bytes.subarray(from, to);
  if (page.includes(0) || !isUtf8(page)) {
    const raw = bytes.subarray(asked.offset - first, wanted);
    return {
      artifact: record,
      offset: asked.offset,
      ...next(asked.offset + raw.length),
      hex: raw.toString("hex"),
    };
  }

  const before = textOf(bytes.subarray(characterStart(bytes, 0, "after"), from));
  const after = bytes.subarray(to).toString("utf8");
  const text = before + page.toString("utf8") + after;
  const start = safeCut(text, before.length, redact);
  const pageEnd = text.length - after.length;
  const cut = first + to >= size ? pageEnd : safeCut(text, pageEnd, redact);
  // A secret as long as the page: it is shown, hidden, and the page is longer than was asked for.
  const end = cut > before.length ? cut : safeCutAfter(text, pageEnd, redact);
  const shown = text.slice(start, end);
  const offset = first + from - Buffer.byteLength(text.slice(start, before.length));
  return {
    artifact: record,
    offset,
    ...next(offset + Buffer.byteLength(shown)),
    text: redact(shown),
  };

  function next(at: number): { next_offset?: number } {
    return at < size ? { next_offset: at } : {};
  }
}

/** Where the character begins that the byte at `at` belongs to; or, `after`, the next one that begins. */
function characterStart(bytes: Buffer, at: number, which: "before" | "after" = "before"): number {
  const step = which === "before" ? -1 : 1;
  let start = at;
  for (let i = 0; i < 3 && isContinuation(bytes[start]) && start + step >= 0; i += 1) start += step;
  return isContinuation(bytes[start]) ? at : start;
}

function characterEnd(bytes: Buffer, start: number): number {
  const lead = bytes[start] ?? 0;
  return start + (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** What comes before a page matters only where it is text like the page itself. */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString("utf8") : "";
}
