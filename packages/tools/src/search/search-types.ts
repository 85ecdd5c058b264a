// What both ways of searching, ripgrep and the plain walk, are asked and what they answer.

import type { Place } from "./planned-place.ts";
import type { PathGlob } from "./path-glob.ts";
import type { ReasonLeftOut, RestrictedFiles } from "./restricted-files.ts";

export interface SearchRequest {
  readonly place: Place;
  readonly query: string;
  readonly literal: boolean;
  readonly caseSensitive: boolean;
  readonly glob: PathGlob | undefined;
  readonly limit: number;
  readonly contextLines: number;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly restricted: RestrictedFiles;
  /** Hides what must not leave, before a line is cut. */
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

export interface FoundLine {
  /** Relative to the searched directory; empty when a single file was searched. */
  readonly path: string;
  readonly line: number;
  /** Of the first match in the line, counted in characters (code points) from 1. */
  readonly column: number;
  readonly text: string;
  /** The line is longer than `text`. */
  readonly cut: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface SearchAnswer {
  /** By path, bytewise, then by line. */
  readonly lines: readonly FoundLine[];
  readonly truncated: boolean;
  readonly filesSearched: number;
  readonly filesWithMatches: number;
  readonly leftOut: LeftOut;
  readonly unreadable: number;
}

/** How many entries were left out, and why. */
export type LeftOut = Record<ReasonLeftOut, number>;
