// An id as users type it: whole, or as any unique prefix, also without the kind that ids begin with (`session_`).

import { nearestName } from "@soong/schema";
import { CommandError, UsageError, visibleLine } from "../output/index.ts";

/** What ids of one kind are about. */
export interface IdSubject<T> {
  /** What one is called. */
  readonly kind: string;
  /** What ids begin with, and users may leave out; default: as in `session_`. */
  readonly prefix?: string;
  readonly id: (one: T) => string;
  /** What tells it from others, such as title and age. */
  readonly describe?: (one: T) => string;
  /** What to do to see them, as a sentence. */
  readonly hint: string;
}

/** Exactly one, or refused with those that are meant, or with the nearest one. */
export function matchId<T>(given: string, candidates: readonly T[], subject: IdSubject<T>): T {
  const found = filterById(given, candidates, subject);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  throw only === undefined
    ? unknownId(given, candidates.map(subject.id), subject)
    : ambiguousId(given, found, subject);
}

/** The one with this id; else those whose id begins so, with or without its kind. */
export function filterById<T>(
  given: string,
  candidates: readonly T[],
  { kind, prefix = `${kind}_`, id }: Pick<IdSubject<T>, "kind" | "prefix" | "id">,
): T[] {
  if (given === "") return [];
  const exact = candidates.filter((one) => id(one) === given);
  if (exact.length > 0) return exact;
  return candidates.filter((one) =>
    [given, `${prefix}${given}`].some((beginning) => id(one).startsWith(beginning)),
  );
}

const MOST_SHOWN = 8;

export function ambiguousId<T>(
  given: string,
  found: readonly T[],
  { kind, id, describe }: Pick<IdSubject<T>, "kind" | "id" | "describe">,
): UsageError {
  const more = found.length - MOST_SHOWN;
  const lines = found.slice(0, MOST_SHOWN).map((one) => {
    const about = describe?.(one) ?? "";
    return `  ${visibleLine(id(one))}${about === "" ? "" : `  ${about}`}`;
  });
  return new UsageError(
    [
      `${visibleLine(given)} begins the ids of ${found.length} ${kind}s; give more of it:`,
      ...lines,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join("\n"),
  );
}

export function unknownId(
  given: string,
  known: readonly string[],
  { kind, hint }: Pick<IdSubject<never>, "kind" | "hint">,
): CommandError {
  const near = nearestName(given, known) ?? nearestName(`${kind}_${given}`, known);
  const meant = near === undefined ? "" : ` Did you mean ${visibleLine(near)}?`;
  return new CommandError(`There is no ${kind} ${visibleLine(given)}.${meant} ${hint}`);
}
