// The places of a run: what is the project, where writing is ordinary, what is never written, what is
// sensitive (PATH-2, PATH-3, PERM-14). Plain string comparison on canonical paths.

import { escapeGlob } from "./glob.ts";
import { foldCase, isWithin } from "./path.ts";
import { patternPlaces, type PlacesInput } from "./path-pattern.ts";
import { compileSensitivePaths } from "./sensitive-paths.ts";

interface BoundaryInput extends PlacesInput {
  readonly protected_roots?: readonly string[];
  readonly sensitive_paths?: readonly string[];
  readonly tmp_dir?: string;
}

export type Boundary = ReturnType<typeof compileBoundary>;

export function compileBoundary(input: BoundaryInput) {
  const { roots, protected_roots = [], sensitive_paths: extra } = input;
  const fold = input.case_insensitive_paths === true ? foldCase : (path: string) => path;
  const project = roots && fold(roots.project);
  const writable = [project, ...(roots?.write ?? []), input.tmp_dir]
    .filter((root) => root !== undefined)
    .map(fold);
  const protectedRoots = protected_roots.map((root) => ({ root, folded: fold(root) }));
  const sensitive = compileSensitivePaths({ ...patternPlaces(input), extra });

  const rootAround = (path: string): string | undefined => {
    const folded = fold(path);
    return protectedRoots.find((entry) => isWithin(entry.folded, folded))?.root;
  };

  return Object.freeze({
    /** One spelling a path, on disks that are case-insensitive. */
    fold,
    /** The pattern that makes `path` sensitive. What no tool may write holds tokens, journals and the contents of other projects (PATH-6). */
    sensitiveBy: (path: string) => rootAround(path) ?? sensitive(path),
    /** In a protected root, not on the way to one. */
    isProtected: (path: string) => rootAround(path) !== undefined,
    /** What is sensitive beside the built-in list, as absolute globs. */
    sensitiveGlobs: [...sensitive.globs, ...protected_roots.map(escapeGlob)],
    /** Undefined when the run has no roots: then nothing is inside or outside. */
    inProject: (path: string) => project && isWithin(project, fold(path)),
    isOrdinaryWrite: (path: string) =>
      project && writable.some((root) => isWithin(root, fold(path))),
    /** The protected root a write to `path` would touch. */
    protectedRoot(path: string) {
      const folded = fold(path);
      // Replacing a directory replaces what is in it, so the way down to a protected root counts, too.
      return protectedRoots.find(
        (entry) => isWithin(entry.folded, folded) || isWithin(folded, entry.folded),
      )?.root;
    },
  });
}
