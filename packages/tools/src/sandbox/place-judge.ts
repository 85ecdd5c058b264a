// Which paths the policy of a call closes inside the sandbox: for reading, for writing; and which of them the call was judged by.

import type { Places, Resource, RestrictedAccess, Restriction } from "@soong/core";
import { compileGlob, isWithin, literalPrefix } from "@soong/core/internal";
import type { PlaceJudge } from "./look-through.ts";

export type ProfilePlaces = Pick<Places, "restrictedBy" | "restrictedGlobs" | "sensitiveBy">;

/** What is the runtime's own is closed to every command, also to one that names it. */
export function judgedPaths(
  resources: readonly Resource[],
  { restrictedBy }: Pick<ProfilePlaces, "restrictedBy">,
): string[] {
  return resources
    .flatMap((one) => (one.kind === "path" ? [one.path, ...(one.also ?? [])] : []))
    .filter((path) => {
      const written = restrictedBy(path, "write");
      return written?.kind !== "sensitive" || written.decision !== "deny";
    });
}

export interface ProfileJudge extends PlaceJudge {
  /** The call was judged by that very path. */
  isNamed(path: string): boolean;
  /** The call was judged by that very path, or by a directory that the same restriction is about. */
  isJudged(path: string): boolean;
}

export function createJudge(
  writable: readonly string[],
  resources: readonly Resource[],
  places: ProfilePlaces,
): ProfileJudge {
  const { restrictedBy, sensitiveBy } = places;
  const touches = (glob: string): boolean => {
    const { path, rest } = literalPrefix(glob);
    if (rest === "") return false;
    return writable.some((place) => isWithin(path, place) || isWithin(place, path));
  };
  const reading = places.restrictedGlobs("read").filter(touches);
  const writing = places.restrictedGlobs("write").filter(touches);
  const isRead = createNameTest(reading);
  const isWritten = createNameTest(writing);
  const isAnywhere = (glob: string): boolean => literalPrefix(glob).path === "/";
  const judged = judgedPaths(resources, places);
  // A root in a sensitive place is the user's own choice.
  const known = [...judged, ...writable].flatMap((path) => {
    const restriction = restrictedBy(path, "read");
    const counts =
      restriction !== undefined && (judged.includes(path) || restriction.kind === "sensitive");
    return counts ? [{ path, restriction }] : [];
  });
  const isJudged = (path: string, found = restrictedBy(path, "read")): boolean =>
    judged.includes(path) ||
    (found !== undefined &&
      known.some((one) => isWithin(one.path, path) && isSameRestriction(one.restriction, found)));
  return {
    isNamed: (path) => judged.includes(path),
    isJudged: (path) => isJudged(path),
    entersInstalled: [...reading, ...writing].some((glob) => !isAnywhere(glob)),
    hides(path, name, installed) {
      const mayBe = isRead(name) || (!installed && sensitiveBy(path) !== undefined);
      if (!mayBe) return false;
      const found = restrictedBy(path, "read");
      if (found === undefined || (installed && found.kind === "sensitive")) return false;
      return !isJudged(path, found);
    },
    keeps: (path, name) => isWritten(name) && isDenied(path, places),
  };
}

/**
 * Whether a name can be the first on its way that one of these patterns fits: what is below is not looked at one by one. Most names
 * are not, and a rule costs little of the walk.
 */
export function createNameTest(globs: readonly string[]): (name: string) => boolean {
  const tests = globs.map((glob) => {
    const last = literalPrefix(glob)
      .rest.split("/")
      .findLast((segment) => segment !== "**" && segment !== "");
    return last === undefined ? () => true : compileGlob(last.toLowerCase());
  });
  if (tests.length === 0) return () => false;
  return (name) => {
    // Such a name has several forms.
    if (/[^\0-\x7f]/.test(name)) return true;
    const folded = name.toLowerCase();
    return tests.some((fits) => fits(folded));
  };
}

function isSameRestriction(one: Restriction, other: Restriction): boolean {
  return one.kind === other.kind && (one.kind === "sensitive" || one.by === other.by);
}

/** Of patterns that name one path, with all that is below it. */
export function literalPaths(
  { restrictedGlobs }: ProfilePlaces,
  access: RestrictedAccess,
): string[] {
  return restrictedGlobs(access).flatMap((glob) => {
    const { path, rest } = literalPrefix(glob);
    return path !== "/" && (rest === "" || rest === "**") ? [path] : [];
  });
}

/** Neither rule nor yes lifts it: an ask about writing closes nothing inside. */
export function isDenied(path: string, { restrictedBy }: ProfilePlaces): boolean {
  return restrictedBy(path, "write")?.decision === "deny";
}
