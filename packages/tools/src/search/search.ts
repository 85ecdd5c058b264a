// code.search (CODE-3): the lines of files that match a regular expression or hold a text. Of a directory
// the sensitive and restricted files are omitted and counted; one that is named on its own is judged on its own.

import {
  type HandlerResult,
  type InferOutput,
  type Roots,
  type ToolContext,
  defineTool,
  toolResult,
} from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { fields, flag, integer, text } from "../input/fields.ts";
import { shownPath, targetPath } from "../path/index.ts";
import { quotePath } from "./line-text.ts";
import { parsePathGlob } from "./path-glob.ts";
import { restrictedFilesBelow } from "./restricted-files.ts";
import { locateRipgrep, RipgrepStalled } from "./ripgrep.ts";
import { searchPlainly } from "./search-plain.ts";
import type { FoundLine, SearchRequest } from "./search-request.ts";
import { searchWithRipgrep } from "./search-ripgrep.ts";
import { judgedPlace, type Place } from "./walk.ts";

export interface SearchToolOptions {
  /** Where ripgrep is. Undefined: nowhere, and a slower walk of our own serves. */
  readonly locateRipgrep?: (roots: Roots) => Promise<string | undefined>;
}

const DEFAULT_LIMIT = 100;
const MOST_MATCHES = 1000;
const MOST_CONTEXT = 20;
const LONGEST_QUERY = 5000;

const INPUT = fields(
  {
    query: text("A regular expression, or with literal a plain text.", {
      minLength: 1,
      maxLength: LONGEST_QUERY,
    }),
    literal: flag("Take the query as it is written; default false.", { default: false }),
    path: text("A file or directory, relative to the project or absolute; default: the project.", {
      minLength: 1,
      default: ".",
    }),
    glob: text(
      'Only these files: "*.ts" by name, "src/**/*.ts" by path below the directory, "*.{js,ts}" either, ' +
        '"!*.map" all but these.',
      { minLength: 1 },
    ),
    limit: integer(`How many matching lines at the most; default ${DEFAULT_LIMIT}.`, {
      minimum: 1,
      maximum: MOST_MATCHES,
      default: DEFAULT_LIMIT,
    }),
    context_lines: integer("How many lines to show before and after each; default none.", {
      minimum: 0,
      maximum: MOST_CONTEXT,
      default: 0,
    }),
    case_sensitive: flag("Whether upper and lower case differ; default true.", {
      default: true,
    }),
    hidden: flag("Also files and directories that begin with a dot; default false.", {
      default: false,
    }),
    ignored: flag("Also what .gitignore excludes; default false.", { default: false }),
  },
  "query",
);

type SearchInput = InferOutput<typeof INPUT>;

export function searchTool(options: SearchToolOptions = {}) {
  return defineTool({
    name: "code.search",
    title: "Search in files",
    description:
      `Find lines that match a regular expression (Rust syntax, within one line) in a file or in all files of ` +
      `a directory. Matches come by path and line; column counts characters from 1. Omitted: binary files, ` +
      `links, and, unless asked for, hidden files and what .gitignore excludes. Sensitive files, and those a ` +
      `rule restricts, are omitted, too, and counted.`,
    input_schema: INPUT,
    permission: "readonly",
    tags: ["code", "readonly", "filesystem"],
    search_hint: "grep search find text regex occurrences in files code",
    concurrency_safe: true,
    destructive: false,
    open_world: false,
    interrupt_behavior: "cancel",
    redaction: "known_values",
    targets(input, context) {
      const { path = ".", glob, query } = input;
      if (glob !== undefined) parsePathGlob(glob);
      refuseUnsearchable(query);
      return targetPath("search", path, context);
    },
    handler: (input, context) => search(input, context, options),
  });
}

async function search(
  input: SearchInput,
  context: ToolContext,
  options: SearchToolOptions,
): Promise<HandlerResult> {
  const place = await judgedPlace(context.plan);
  const request: SearchRequest = {
    place,
    query: input.query,
    literal: input.literal ?? false,
    caseSensitive: input.case_sensitive ?? true,
    glob: input.glob === undefined ? undefined : parsePathGlob(input.glob),
    limit: input.limit ?? DEFAULT_LIMIT,
    contextLines: input.context_lines ?? 0,
    hidden: input.hidden ?? false,
    ignored: input.ignored ?? false,
    restricted: restrictedFilesBelow(place.path, "search", context),
    redact: context.redact,
    signal: context.signal,
  };
  // Ripgrep can skip and count most patterns, but not all.
  const ripgrep =
    request.restricted.excluded === undefined && place.kind === "directory"
      ? undefined
      : await (options.locateRipgrep ?? locateRipgrep)(context.roots);
  let engine: SearchData["engine"] = "plain_walk";
  const answering = (async () => {
    if (ripgrep === undefined) return searchPlainly(request);
    try {
      const found = await searchWithRipgrep(ripgrep, request);
      engine = "ripgrep";
      return found;
    } catch (error) {
      if (!(error instanceof RipgrepStalled)) throw error;
      return searchPlainly(request);
    }
  })();
  // A cancelled call waits until nothing of it runs any more.
  context.onCancel(async () => {
    await Promise.allSettled([answering]);
  });
  const answer = await answering;
  const data: SearchData = {
    matches: answer.lines.map((line) => toMatch(line, place, context.roots.project)),
    truncated: answer.truncated,
    files_searched: answer.filesSearched,
    files_with_matches: answer.filesWithMatches,
    sensitive_files_left_out: answer.leftOut.sensitive,
    restricted_files_left_out: answer.leftOut.restricted,
    unreadable: answer.unreadable,
    engine,
  };
  const files = plural(data.files_searched, "file");
  const found = `${plural(data.matches.length, "matching line")}${data.truncated ? ", and more" : ""}`;
  const summary =
    data.matches.length === 0
      ? `no match in ${files}`
      : `${found}; matches in ${data.files_with_matches} of ${files}`;
  const lines = [...matchLines(data, request.contextLines), "", ...listNotes(data, summary)];
  const text = lines.join("\n").trimStart();
  return toolResult({ content: [{ type: "text", text }], summary, data });
}

function toMatch(line: FoundLine, place: Place, project: string): SearchData["matches"][number] {
  const { line: number, column, text, cut, before, after } = line;
  const absolute =
    line.path === "" ? place.path : `${place.path === "/" ? "" : place.path}/${line.path}`;
  return {
    path: shownPath(project, absolute),
    line: number,
    column,
    text,
    ...(cut ? { text_cut: true } : {}),
    ...(before.length === 0 ? {} : { before: [...before] }),
    ...(after.length === 0 ? {} : { after: [...after] }),
  };
}

function refuseUnsearchable(query: string): void {
  const why = query.includes("\n")
    ? "it contains a line break, and a search looks at one line at a time"
    : query.includes("\0")
      ? "it contains a NUL character, and binary files are not searched"
      : undefined;
  if (why === undefined) return;
  throw invalidArguments(
    "invalid_query",
    `The query cannot be used: ${why}. Search for a part of it.`,
  );
}

interface SearchData {
  matches: {
    /** Relative to the project, absolute outside of it. */
    path: string;
    line: number;
    /** Of the first match in the line, in characters (code points) from 1. */
    column: number;
    text: string;
    text_cut?: true;
    before?: string[];
    after?: string[];
  }[];
  truncated: boolean;
  files_searched: number;
  files_with_matches: number;
  sensitive_files_left_out: number;
  /** By a rule or a guard. */
  restricted_files_left_out: number;
  /** Files and directories. */
  unreadable: number;
  engine: "ripgrep" | "plain_walk";
}

function matchLines({ matches }: SearchData, contextLines: number): string[] {
  const lines: string[] = [];
  let path: string | undefined;
  let last = 0;
  for (const match of matches) {
    if (match.path !== path) {
      lines.push(...(path === undefined ? [] : [""]), quotePath(match.path));
      path = match.path;
      last = 0;
    }
    const before = match.before ?? [];
    const first = match.line - before.length;
    if (contextLines > 0 && last > 0 && first > last + 1) lines.push("  --");
    for (const [index, text] of before.entries()) {
      if (first + index > last) lines.push(`  ${first + index}-  ${text}`);
    }
    // A neighbour of the match before may be this very line.
    if (match.line <= last) lines.splice(lines.length - (last - match.line) - 1);
    lines.push(
      `  ${match.line}:${match.column}  ${match.text}${match.text_cut === true ? " …" : ""}`,
    );
    last = match.line;
    for (const text of match.after ?? []) {
      last += 1;
      lines.push(`  ${last}-  ${text}`);
    }
  }
  return lines;
}

function listNotes(data: SearchData, summary: string): string[] {
  const { truncated, unreadable } = data;
  const { sensitive_files_left_out: sensitive, restricted_files_left_out: restricted } = data;
  const notes: [boolean, string][] = [
    [true, summary],
    [truncated, "There is more. Raise limit, or narrow the search by query, path or glob."],
    [sensitive > 0, `Sensitive files omitted: ${sensitive}. Search one directly to ask for it.`],
    [restricted > 0, `Omitted because a rule restricts them: ${restricted}.`],
    [unreadable > 0, `Could not be read: ${unreadable}.`],
  ];
  return notes.flatMap(([holds, note]) => (holds ? [`(${note})`] : []));
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
