// A page of an artifact: text in whole characters, its secrets hidden; or, where the bytes are no text, as they are.

import { isUtf8 } from "node:buffer";
import type { ArtifactPage } from "../wire/session-records.ts";
import { characterStart, type ArtifactBytes } from "./artifact-bytes.ts";
import { bad } from "./ports.ts";
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
  if (asked.offset > size)
    throw bad(`offset is past the end of the artifact, which has ${size} bytes.`);
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
    // A letter for each byte: secrets are found among any others. What follows may be text again, in whole characters.
    const begin = asked.offset - first;
    const stop = Math.max(characterStart(bytes, wanted), Math.min(bytes.length, begin + 1));
    const { start, end, shown } = cutPage(
      bytes.toString("latin1", 0, begin),
      bytes.toString("latin1", begin, stop),
      bytes.toString("latin1", stop),
    );
    const hex = Buffer.from(redact(shown), "latin1").toString("hex");
    return buildPage(first + start, first + end, { hex });
  }

  const before = textBefore(bytes.subarray(0, from));
  const { start, shown } = cutPage(before, page.toString("utf8"), textAfter(bytes.subarray(to)));
  const offset = first + from - Buffer.byteLength(before.slice(start));
  return buildPage(offset, offset + Buffer.byteLength(shown), { text: redact(shown) });

  /** The page, cut where no secret is cut; counted from the beginning of what is before it. */
  function cutPage(before: string, page: string, after: string) {
    const text = before + page + after;
    const start = safeCut(text, before.length, redact);
    const pageEnd = text.length - after.length;
    const cut = after === "" ? pageEnd : safeCut(text, pageEnd, redact);
    // A secret as long as the page: it is shown, hidden, and the page is longer than was asked for.
    const end = cut > before.length ? cut : safeCutAfter(text, pageEnd, redact);
    return { start, end, shown: text.slice(start, end) };
  }

  function buildPage(offset: number, next: number, content: Pick<ArtifactPage, "text" | "hex">) {
    return { artifact: record, offset, next_offset: next < size ? next : undefined, ...content };
  }
}

function characterEnd(bytes: Buffer, start: number): number {
  const lead = bytes[start] ?? 0;
  return start + (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1);
}

/** What is text right before a page: behind the last byte that is none. */
function textBefore(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.slice(text.lastIndexOf("\uFFFD") + 1);
}

function textAfter(bytes: Buffer): string {
  const [text = ""] = bytes.toString("utf8").split("\uFFFD", 1);
  return text;
}
