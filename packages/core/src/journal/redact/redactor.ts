// What may never be written down or sent on (REDACT-1, REDACT-2): known secret values in whatever
// spelling, recognised key formats, and fields a schema calls sensitive. Pure; one redactor per run.

import type { JsonValue } from "@soong/schema";
import { createFinder, type RedactionScope } from "./find-secrets.ts";
import { MIN_LENGTH, worthHiding, type KnownSecret } from "./known-secret.ts";
import { createPlaceholders } from "./placeholders.ts";
import { createValueRedactor, type SensitivePaths } from "./redact-value.ts";
import { createTrail, type Trail } from "./restore-trail.ts";
import { joinSpans, type Span } from "./span.ts";

/** Placeholders are stable as long as the redactor lives: same secret, same placeholder. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const { secrets: given = [] } = options;
  let latest = whatIsKnown(given);
  const placeholders = createPlaceholders(() => latest.secrets);
  let count = 0;
  const redactValue = createValueRedactor({
    isClean,
    redactText,
    mayBeNumber() {
      if (latest.read !== given.length) latest = whatIsKnown(given);
      return latest.mayBeNumber;
    },
    onHidden: () => {
      count += 1;
    },
  });

  return {
    text: (text, scope = "full") => redactText(text, scope),
    value: (value, { scope = "full", sensitive = [] } = {}) =>
      redactValue(value as JsonValue, scope, sensitive) as typeof value,
    finds: (text, scope = "full") => !isClean(text, scope),
    get count() {
      return count;
    },
    reversible(value, sensitive = []) {
      const trail = createTrail();
      const redacted = redactValue(value, "full", sensitive, trail);
      return { redacted, restore: (changed) => trail.restore(changed, redacted, value) };
    },
  };

  function redactText(text: string, scope: RedactionScope, trail?: Trail): string {
    trail?.noteLiterals(text);
    let current = text;
    // Again, because a boundary may appear where a value has gone; each round leaves less to find.
    for (let spans = spansIn(current, scope); spans.length > 0; spans = spansIn(current, scope)) {
      let redacted = "";
      let at = 0;
      for (const span of spans) {
        const covered = current.slice(span.start, span.end);
        const placeholder = placeholders.of(span, covered);
        trail?.noteMade(placeholder, covered);
        redacted += current.slice(at, span.start) + placeholder;
        at = span.end;
      }
      current = redacted + current.slice(at);
      count += spans.length;
    }
    return current;
  }

  function isClean(text: string, scope: RedactionScope): boolean {
    return text.length < MIN_LENGTH || spansIn(text, scope).length === 0;
  }

  function spansIn(text: string, scope: RedactionScope): readonly Span[] {
    if (text.length < MIN_LENGTH) return NOTHING;
    if (latest.read !== given.length) latest = whatIsKnown(given);
    const spans = latest.find(text, scope);
    return spans.length === 0 ? spans : joinSpans(placeholders.withoutOwn(spans, text));
  }
}

function whatIsKnown(given: readonly KnownSecret[]) {
  const secrets = worthHiding(given);
  return {
    /** How many had been given by then. */
    read: given.length,
    secrets,
    find: createFinder(secrets),
    mayBeNumber: secrets.some(({ value }) => Number.isFinite(Number(value))),
  };
}

const NOTHING: readonly Span[] = [];

export interface RedactorOptions {
  /**
   * Known values. Those shorter than six characters, and mere stand-ins, are not looked for. The list may grow
   * while the redactor lives, as when a token is renewed: what is added counts from then on.
   */
  secrets?: readonly KnownSecret[];
}

export interface Redactor {
  /** The same string when nothing was found. */
  text(text: string, scope?: RedactionScope): string;
  /** Deep, keys too. The same reference when nothing was found; what was given is never changed. */
  value<T>(value: T, options?: { scope?: RedactionScope; sensitive?: SensitivePaths }): T;
  /** Whether `text` would change anything. Counts nothing. */
  finds(text: string, scope?: RedactionScope): boolean;
  /** Replacements so far. */
  readonly count: number;
  /**
   * For one call: a copy with placeholders, and the way back for whoever hands the copy on changed.
   * What comes back unchanged in its place is always put back. Elsewhere a placeholder is put back
   * only if it was made from this very value, from one text alone, and did not stand there literally.
   */
  reversible(
    value: JsonValue,
    sensitive?: SensitivePaths,
  ): { redacted: JsonValue; restore: (value: JsonValue) => JsonValue };
}
