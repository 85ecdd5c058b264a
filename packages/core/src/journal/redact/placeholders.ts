// The placeholders of one run: how they are written and recognised, which one replaces what, the same every time, and none
// of them ever taken for a secret itself.

import { sha256Hex } from "../../tool/index.ts";
import { lastBefore, type Span } from "./spans.ts";

export class Placeholders {
  /** As they are by now. */
  readonly #secrets: () => readonly { readonly value: string }[];
  readonly #given = new Set([SENSITIVE, TOO_DEEP]);
  /** By hash: the run keeps no copy of what it found. */
  readonly #numbered = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(secrets: () => readonly { readonly value: string }[]) {
    this.#secrets = secrets;
  }

  /** What replaces this text. */
  replace({ label, known }: Span, covered: string): string {
    const placeholder = known ? this.#write(label) : this.#number(label, covered);
    this.#given.add(placeholder);
    return placeholder;
  }

  /** Without the spans that are nothing but (part of) a placeholder given out before. */
  withoutOwn(spans: readonly Span[], text: string): readonly Span[] {
    const own = placeholdersIn(text).filter(({ placeholder }) => this.#given.has(placeholder));
    if (own.length === 0) return spans;
    return spans.filter((span) => {
      const last = lastBefore(own, span.end);
      if (last === undefined) return true;
      // A key's format never reaches into a placeholder; a known value only hides inside one.
      return span.known ? span.start < last.start || span.end > last.end : span.start >= last.end;
    });
  }

  #number(label: string, covered: string): string {
    const digest = sha256Hex(covered);
    let placeholder = this.#numbered.get(digest);
    if (placeholder !== undefined) return placeholder;
    if (this.#numbered.size >= MAX_NUMBERED) return this.#write(label);
    const number = (this.#counts.get(label) ?? 0) + 1;
    this.#counts.set(label, number);
    placeholder = this.#write(`${label}#${number}`);
    this.#numbered.set(digest, placeholder);
    return placeholder;
  }

  #write(label: string): string {
    const placeholder = `${OPENING}${label}]`;
    // One secret may be called what another one is.
    const isSecret = this.#secrets().some(({ value }) => placeholder.includes(value));
    return isSecret ? `${OPENING}x]` : placeholder;
  }
}

/** More distinct keys than this in one run share a placeholder; it is a bound on memory. */
const MAX_NUMBERED = 10_000;

/** In the order in which they stand in the text. */
export function placeholdersIn(
  text: string,
): { placeholder: string; start: number; end: number }[] {
  if (!text.includes(OPENING)) return [];
  return Array.from(text.matchAll(PLACEHOLDER), ({ 0: placeholder, index }) => ({
    placeholder,
    start: index,
    end: index + placeholder.length,
  }));
}

export const OPENING = "[redacted:";
export const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.#-]{1,80}\]/g;

export const SENSITIVE = `${OPENING}sensitive]`;
export const TOO_DEEP = `${OPENING}too_deep]`;

/** Deeper than any argument or result may be (SCHEMA-8); what is below is not read but dropped. */
export const MAX_DEPTH = 500;
