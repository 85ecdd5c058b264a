// One page of an artifact as redacted text. It begins and ends on whole characters and never inside a
// secret, so pages read one after the other lose nothing and give nothing away.

import type { ArtifactRef, ToolContext } from "@soong/core";
import { decodeWindow } from "./decoded-window.ts";
import { MARGIN, safeBorder } from "./safe-border.ts";

export type Page =
  | { readonly kind: "text"; readonly text: string; readonly offset: number; readonly end: number }
  | { readonly kind: "binary" };

/** Bytes a margin of characters may take. */
const MARGIN_BYTES = 4 * MARGIN;

export async function readPage(
  context: Pick<ToolContext, "artifacts" | "redact">,
  artifact: ArtifactRef,
  range: { readonly offset: number; readonly length: number },
): Promise<Page> {
  const { artifact_id, size } = artifact;
  const from = Math.max(0, range.offset - MARGIN_BYTES);
  const to = Math.min(size, range.offset + range.length + MARGIN_BYTES);
  const read = await context.artifacts.read(artifact_id, { offset: from, length: to - from });
  const bytes = Buffer.from(read ?? []);
  if (bytes.includes(0)) return { kind: "binary" };

  const window = decodeWindow(bytes, from, { first: from === 0, last: to === size });
  const { text } = window;
  const start = safeBorder(text, window.positionOf(range.offset), context.redact);
  const wanted = window.positionOf(range.offset + range.length);
  const border = wanted === text.length ? wanted : safeBorder(text, wanted, context.redact);
  // A secret as long as the page: it is shown, hidden, with all there is of the window.
  const end = border > start ? border : text.length;
  return {
    kind: "text",
    text: context.redact(text.slice(start, end)),
    offset: window.offsetOf(start),
    end: window.offsetOf(end),
  };
}
