// Canonical paths as strings (the judging half of PATH-1): absolute, `/` between segments, nothing
// left to resolve. A caller that knows the disk resolves links first; what is not canonical is not judged.

import { visibleJson } from "../result/visible.ts";

/** Says why a path cannot be compared segment by segment; undefined when it can. */
export function pathProblem(path: unknown): string | undefined {
  if (typeof path !== "string") return "is not a string";
  if (path.charCodeAt(0) !== SLASH) return "is not absolute";
  if (path.includes("\0")) return "contains a NUL character";
  if (path === "/") return undefined;
  if (path.charCodeAt(path.length - 1) === SLASH) return "ends in a slash";
  if (path.includes("//")) return "has an empty segment";
  if (!path.includes("/.")) return undefined;
  const dots = path.split("/").find((segment) => segment === "." || segment === "..");
  return dots === undefined ? undefined : `has the segment "${dots}"`;
}

/** At `root` or below it, by whole segments: `/p` does not cover `/pp`. Both are canonical. */
export function isWithin(root: string, path: string): boolean {
  if (root === "/") return true;
  if (!path.startsWith(root)) return false;
  return path.length === root.length || path.charCodeAt(root.length) === SLASH;
}

/** A relative path or glob below a canonical directory; a leading `./` says nothing. */
export function joined(directory: string, relative: string): string {
  const below = relative.startsWith("./") ? relative.slice(2) : relative;
  return directory === "/" ? `/${below}` : `${directory}/${below}`;
}

export function findParent(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

export function baseName(path = ""): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** One spelling for all spellings that a case-insensitive disk takes for the same name. */
export function foldCase(path: string): string {
  if (ASCII.test(path)) return path.toLowerCase();
  // Upper case first: "ſ" has no lower-case form of its own, yet such disks take it for "s".
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}

const SLASH = 47;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Text from outside inside our own sentences. A path or a host may hold line breaks, terminal escapes or direction marks; in a question
 * to the user none of them may take effect.
 */
export function quote(text: string): string {
  return visibleJson(text);
}
