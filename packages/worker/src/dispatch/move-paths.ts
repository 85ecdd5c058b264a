// Moves paths from the project of the dispatch to the project of the worker; all other paths stay as they are. Used for the rules
// of a ceiling and for grants.

import type { ToolGrant } from "@soong/core";
import { foldCase, joined, type GrantScope, type PatternPlaces } from "@soong/core/internal";

/** The project directories of the two machines. */
export interface Projects {
  /** Of the dispatch. */
  readonly there: string;
  /** Of the worker. */
  readonly here: string;
}

export function movePath(path: string, { there, here }: Projects): string {
  if (path === there) return here;
  const below = there === "/" ? there : `${there}/`;
  return path.startsWith(below) ? joined(here, path.slice(below.length)) : path;
}

/** How the disk of the project compares names. */
export function chooseFold({ caseInsensitive }: PatternPlaces): (name: string) => string {
  return caseInsensitive === true ? foldCase : (name) => name.normalize("NFC");
}

/** Omits scopes that would mean something else in the worker's project. */
export function moveGrant(grant: ToolGrant, projects: Projects): ToolGrant {
  return { ...grant, scopes: grant.scopes.flatMap((scope) => moveScope(scope, projects) ?? []) };
}

function moveScope(scope: GrantScope, projects: Projects): GrantScope | undefined {
  const move = (path: string): string => movePath(path, projects);
  switch (scope.kind) {
    case "directory":
    case "path":
      return { ...scope, path: move(scope.path) };
    case "executable":
      return { ...scope, executable: move(scope.executable), cwd: move(scope.cwd) };
    case "argv":
    case "argv_prefix": {
      const { executable, cwd, argv } = scope;
      // In another directory, `..` leads elsewhere.
      const isElsewhere = move(cwd) !== cwd || argv.some((word) => move(word) !== word);
      if (isElsewhere && argv.some((word) => word.includes(".."))) return undefined;
      return { ...scope, executable: move(executable), cwd: move(cwd), argv: argv.map(move) };
    }
    case "host":
    case "server_tool":
    case "input":
      return scope;
  }
}
