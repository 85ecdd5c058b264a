// A request as ripgrep's arguments: the query, and which files of a tree are looked at. No value is ever
// an argument by itself, so none can be taken for an option.

import { ToolFailure } from "@soong/core";
import { repositoryRoot } from "./ignore-rules.ts";
import { refusedQuery } from "./regex-problem.ts";
import type { RipgrepEnd } from "./ripgrep-process.ts";
import type { SearchRequest } from "./search-types.ts";

/** Of every walk: only the ignore files of git count. */
export const TREE_FLAGS = [
  "--null",
  "--color=never",
  "--no-ignore-messages",
  "--no-ignore-dot",
  "--no-ignore-global",
];

export function queryFlags({ literal, caseSensitive, query }: SearchRequest): string[] {
  return [
    // A line that ends in CR LF ends before the CR, so that `$` means the same everywhere.
    "--crlf",
    caseSensitive ? "--case-sensitive" : "--ignore-case",
    ...(literal ? ["--fixed-strings"] : []),
    `--regexp=${query}`,
  ];
}

/** The walk of a search: what is hidden, ignored or sensitive is not opened. */
export function walkFlags(request: SearchRequest): string[] {
  const excluded = (request.restricted.excluded ?? []).map((pattern) => `!${pattern}`);
  const hidden = request.hidden ? [] : ["!.*"];
  return [...treeFlags(request), ...globFlags(request, [...hidden, ...excluded, ...NEVER_ENTERED])];
}

/** What ripgrep says when it would not search at all. */
export function queryRefused(request: SearchRequest, end: RipgrepEnd): ToolFailure {
  if (/regex|the literal /i.test(end.complaint)) return refusedQuery(request.query, end.complaint);
  const said = end.complaint.trim().split("\n")[0] ?? "";
  return new ToolFailure({
    code: "ripgrep_failed",
    message: `ripgrep could not search: ${said === "" ? `it ended with ${end.exitCode}` : said}. Try a simpler query.`,
    recovery: "change_arguments",
  });
}

/** The inside of a repository's own directory, and file systems that are no files. */
const NEVER_ENTERED = ["!.git"];
const NO_FILES = ["!/proc", "!/sys", "!/dev"];

function treeFlags({ place, hidden, ignored }: SearchRequest): string[] {
  const flags = [...TREE_FLAGS];
  if (hidden) flags.push("--hidden");
  if (ignored) flags.push("--no-ignore");
  // Without a repository there is no telling how far up a rule would be meant.
  else if (repositoryRoot(place.path) === undefined) {
    flags.push("--no-require-git", "--no-ignore-parent");
  }
  return flags;
}

function globFlags({ place, restricted }: SearchRequest, globs: readonly string[]): string[] {
  const option = restricted.caseInsensitive ? "--iglob" : "--glob";
  const all = place.path === "/" ? [...globs, ...NO_FILES] : globs;
  return all.map((glob) => `${option}=${glob}`);
}
