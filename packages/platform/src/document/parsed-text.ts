// What the parsers of all formats find, and what bounds them.

import type { DocumentPath, DocumentPosition } from "./problem.ts";

/** What the parser of a format finds. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      positionOf(path: DocumentPath, of: "key" | "value"): DocumentPosition;
      readonly repeatedKeys: readonly PlacedMessage[];
    }
  | { readonly ok: false; readonly problems: readonly PlacedMessage[] };

export interface PlacedMessage extends DocumentPosition {
  readonly path: DocumentPath;
  readonly message: string;
}

/** Deeper than anyone writes, and before a parser exhausts the stack. */
export const MAX_DEPTH = 100;

export const REPEATED = "is given a second time";
