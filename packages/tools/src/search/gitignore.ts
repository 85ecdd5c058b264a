// The rules of one ignore file, as git reads them. Pure: it is given the text.

import { compileWildcard, type Wildcard } from "./wildcard.ts";

export interface IgnoreFile {
  /** What the last rule that fits says; undefined where none does. `path` is relative to the file's directory. */
  verdict(name: string, path: () => string, isDirectory: boolean): "ignored" | "kept" | undefined;
}

export function parseIgnoreFile(text: string): IgnoreFile | undefined {
  const rules = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map(readRule)
    .filter((rule) => rule !== undefined)
    .toReversed();
  if (rules.length === 0) return undefined;
  return {
    verdict(name, path, isDirectory) {
      for (const rule of rules) {
        if (rule.directoriesOnly && !isDirectory) continue;
        if (rule.test(rule.anchored ? path() : name)) return rule.says;
      }
      return undefined;
    },
  };
}

interface Rule {
  readonly says: "ignored" | "kept";
  readonly directoriesOnly: boolean;
  /** About the path from the file's directory, not about a name at any depth. */
  readonly anchored: boolean;
  readonly test: Wildcard;
}

function readRule(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  const negated = line.startsWith("!");
  let pattern = withoutTrailingSpaces(negated ? line.slice(1) : line);
  const directoriesOnly = pattern.endsWith("/");
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  if (pattern === "") return undefined;
  const test = compileWildcard(pattern);
  // A pattern that means nothing matches nothing; git reads on, too.
  if (test === undefined) return undefined;
  return { says: negated ? "kept" : "ignored", directoriesOnly, anchored, test };
}

function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === " " && !isQuoted(text, end - 1)) end -= 1;
  return text.slice(0, end);
}

function isQuoted(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
