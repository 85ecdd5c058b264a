// code.search (CODE-3): the lines of files that match a regular expression or hold a text. Of a directory
// the sensitive and restricted files are left out and counted; one that is named by itself is judged by itself.

import {
  type HandlerResult,
  type InferOutput,
  type Roots,
  type ToolContext,
  ToolFailure,
  defineTool,
  toolResult,
} from "@soong/core";
import { shownPath } from "../path/index.ts";
import { parsePathGlob } from "./path-glob.ts";
import { judgedPlace, targetsOfPlace, type Place } from "./planned-place.ts";
import { locateRipgrep } from "./ripgrep-locator.ts";
import { RipgrepStalled } from "./ripgrep-process.ts";
import { searchPlainly } from "./search-plain.ts";
import { searchWithRipgrep } from "./search-ripgrep.ts";
import { searchText, type SearchData } from "./search-text.ts";
import type { FoundLine, SearchRequest } from "./search-types.ts";
import { restrictedFilesBelow } from "./restricted-files.ts";

export interface SearchToolOptions {
  /** Where ripgrep is. Undefined: nowhere, and a slower walk of our own serves. */
  readonly locateRipgrep?: (roots: Roots) => Promise<string | undefined>;
}

const DEFAULT_LIMIT = 100;
const MOST_MATCHES = 1000;
const MOST_CONTEXT = 20;
const LONGEST_QUERY = 5000;

const INPUT = {
  type: "object",
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: LONGEST_QUERY,
      description: "A regular expression, or with literal a plain text.",
    },
    literal: {
      type: "boolean",
      default: false,
      description: "Take the query as it is written; false if left out.",
    },
    path: {
      type: "string",
      minLength: 1,
      default: ".",
      description:
        "A file or directory, relative to the project or absolute; the project if left out.",
    },
    glob: {
      type: "string",
      minLength: 1,
      description:
        'Only these files: "*.ts" by name, "src/**/*.ts" by path below the directory, "*.{js,ts}" either, ' +
        '"!*.map" all but these.',
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MOST_MATCHES,
      default: DEFAULT_LIMIT,
      description: `How many matching lines at the most; ${DEFAULT_LIMIT} if left out.`,
    },
    context_lines: {
      type: "integer",
      minimum: 0,
      maximum: MOST_CONTEXT,
      default: 0,
      description: "How many lines to show before and after each; none if left out.",
    },
    case_sensitive: {
      type: "boolean",
      default: true,
      description: "Whether upper and lower case differ; true if left out.",
    },
    hidden: {
      type: "boolean",
      default: false,
      description: "Also files and directories that begin with a dot; false if left out.",
    },
    ignored: {
      type: "boolean",
      default: false,
      description: "Also what .gitignore leaves out; false if left out.",
    },
  },
  required: ["query"],
  additionalProperties: false,
} as const;

type SearchInput = InferOutput<typeof INPUT>;

export function searchTool(options: SearchToolOptions = {}) {
  return defineTool({
    name: "code.search",
    title: "Search in files",
    description:
      `Find lines that match a regular expression (Rust syntax, within one line) in a file or in all files of ` +
      `a directory. Matches come by path and line; column counts characters from 1. Left out: binary files, ` +
      `links, and, unless asked for, hidden files and what .gitignore leaves out. Sensitive files, and those a ` +
      `rule restricts, are left out, too, and counted.`,
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
      return targetsOfPlace("search", path, context);
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
  // Ripgrep can be told to leave most patterns unread and to count them, but not all.
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
    matches: answer.lines.map((line) => matchOf(line, place, context.roots.project)),
    truncated: answer.truncated,
    files_searched: answer.filesSearched,
    files_with_matches: answer.filesWithMatches,
    sensitive_files_left_out: answer.leftOut.sensitive,
    restricted_files_left_out: answer.leftOut.restricted,
    unreadable: answer.unreadable,
    engine,
  };
  const { all, summary } = searchText(data, request.contextLines);
  return toolResult({ content: [{ type: "text", text: all }], summary, data });
}

function matchOf(line: FoundLine, place: Place, project: string): SearchData["matches"][number] {
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
  throw new ToolFailure({
    code: "invalid_query",
    error_class: "invalid_arguments",
    message: `The query cannot be used: ${why}. Search for a part of it.`,
    recovery: "change_arguments",
  });
}
