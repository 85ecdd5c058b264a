// The glob a model gives to a listing or a search: which entries are meant. Without a slash it is about
// names at any depth, with one about paths below the directory; `{a,b}` matches either, a leading `!`
// for all the others.

import type { ToolFailure } from "@soong/core";
import { baseName, invalidArguments } from "@soong/core/internal";
import { shorten } from "@soong/schema";
import { compileWildcard, type Wildcard } from "./wildcard.ts";

export interface PathGlob {
  /** Can only be met below the directory itself. */
  readonly needsDepth: boolean;
  /** `exclude`: what it matches, and everything below a directory it matches, is not meant. */
  readonly kind: "include" | "exclude";
  /** Whether this very path (relative to the directory) is matched. */
  matches(path: string): boolean;
  /** Whether a file with this path is meant. */
  admits(path: string): boolean;
  /** The same as lines of an ignore file. */
  readonly ignoreLines: readonly string[];
}

export function parsePathGlob(given: string): PathGlob {
  const kind = given.startsWith("!") && given.length > 1 ? "exclude" : "include";
  const body = kind === "exclude" ? given.slice(1) : given;
  const alternatives = expandBraces(body, given).map((text) => readAlternative(text, given));
  const matches = (path: string): boolean => {
    const name = baseName(path);
    return alternatives.some(({ test, anchored }) => test(anchored ? path : name));
  };
  return {
    kind,
    needsDepth: alternatives.every(({ pattern }) => pattern.includes("/")),
    matches,
    admits: (path) => (kind === "include" ? matches(path) : !listPrefixes(path).some(matches)),
    ignoreLines:
      kind === "include"
        ? ["*", "!*/", ...alternatives.map((alternative) => `!${ignoreLine(alternative)}`)]
        : alternatives.map(ignoreLine),
  };
}

interface Alternative {
  readonly pattern: string;
  readonly anchored: boolean;
  readonly test: Wildcard;
}

const MOST_ALTERNATIVES = 100;
const LONGEST_GLOB = 1000;

function readAlternative(text: string, given: string): Alternative {
  const start = /^(?:\.?\/)+/.exec(text)?.[0] ?? "";
  const rest = text.slice(start.length);
  // A directory written with its slash means what is in it: it must not quietly match nothing.
  const pattern = rest.endsWith("/") ? `${rest}**` : rest;
  const segments = pattern.split("/");
  if (pattern === "" || segments.includes("")) throw invalidGlob(given, "it has an empty segment");
  if (segments.includes("..") || segments.includes(".")) {
    throw invalidGlob(given, "it has a segment of dots; give another path instead");
  }
  const test = compileWildcard(pattern);
  if (test === undefined) {
    throw invalidGlob(given, 'a "[" is not closed, a range is reversed, or it ends in "\\"');
  }
  return { pattern, anchored: start.endsWith("/") || pattern.includes("/"), test };
}

function ignoreLine({ pattern, anchored }: Alternative): string {
  const line = anchored ? `/${pattern}` : pattern;
  return line.replace(/^[#!]/, "\\$&").replace(/(?<!\\) $/, "\\ ");
}

/** The path itself and every directory above it. */
function listPrefixes(path: string): string[] {
  const prefixes = [path];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    prefixes.push(path.slice(0, at));
  }
  return prefixes;
}

function expandBraces(body: string, given: string): string[] {
  if (given.length > LONGEST_GLOB) {
    throw invalidGlob(given, `it is longer than ${LONGEST_GLOB} characters`);
  }
  if (/[\0\n\r]/.test(body)) throw invalidGlob(given, "it contains a line break or a NUL");
  const tokens = (body.match(TOKEN) ?? []).values();
  return expandTokens(0);

  /** Up to the end of the brace at this depth. */
  function expandTokens(depth: number): string[] {
    const alternatives: string[] = [];
    let heads = [""];
    for (const token of tokens) {
      if (token === "{") {
        const parts = expandTokens(depth + 1);
        heads = heads.flatMap((head) => parts.map((part) => head + part));
      } else if (token === "}" || (token === "," && depth > 0)) {
        alternatives.push(...heads);
        heads = [""];
      } else heads = heads.map((head) => head + token);
      const count = alternatives.length + (token === "}" ? 0 : heads.length);
      if (count > MOST_ALTERNATIVES) {
        throw invalidGlob(given, `its braces stand for more than ${MOST_ALTERNATIVES} globs`);
      }
      if (token !== "}") continue;
      if (depth > 0) return alternatives;
      throw invalidGlob(given, 'a "}" has no "{"; write "\\}" to mean the character');
    }
    if (depth === 0) return heads;
    throw invalidGlob(given, 'a "{" is not closed; write "\\{" to mean the character');
  }
}

/**
 * A quoted character, a set, a brace or comma, other text. Braces between brackets are characters; an open bracket is
 * refused later, with its own reason.
 */
const TOKEN = /\\.?|\[[!^]?(?:\\.|[^\\])?(?:\\.|[^\]\\])*\]?|[{},]|[^\\[{},]+/gsu;

function invalidGlob(glob: string, why: string): ToolFailure {
  return invalidArguments(
    "invalid_glob",
    `The glob ${JSON.stringify(shorten(glob, 100))} cannot be used: ${why}. Give another glob, or none.`,
  );
}
