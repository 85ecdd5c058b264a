// The result of a search as a record and as the text a model reads: the lines under the name of their
// file, then what is missing and how to get it.

import { shownPath } from "./shown-path.ts";

export interface SearchData {
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

export function searchText(
  data: SearchData,
  contextLines: number,
): { all: string; summary: string } {
  const summary = summaryOf(data);
  return {
    all: [...matchLines(data, contextLines), "", ...notesOf(data, summary)].join("\n").trimStart(),
    summary,
  };
}

function summaryOf(data: SearchData): string {
  const lines = plural(data.matches.length, "matching line");
  const more = data.truncated ? ", and more" : "";
  const files = `${data.files_with_matches} of ${plural(data.files_searched, "file")}`;
  return data.matches.length === 0
    ? `no match in ${plural(data.files_searched, "file")}`
    : `${lines}${more}; matches in ${files}`;
}

function matchLines({ matches }: SearchData, contextLines: number): string[] {
  const lines: string[] = [];
  let path: string | undefined;
  let last = 0;
  for (const match of matches) {
    if (match.path !== path) {
      lines.push(...(path === undefined ? [] : [""]), shownPath(match.path));
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

function notesOf(data: SearchData, summary: string): string[] {
  const notes = [`(${summary})`];
  if (data.truncated) {
    notes.push("(There is more. Raise limit, or narrow the search by query, path or glob.)");
  }
  if (data.sensitive_files_left_out > 0) {
    notes.push(
      `(Sensitive files left out: ${data.sensitive_files_left_out}. Search one by itself to ask for it.)`,
    );
  }
  if (data.restricted_files_left_out > 0) {
    notes.push(`(Left out because a rule restricts them: ${data.restricted_files_left_out}.)`);
  }
  if (data.unreadable > 0) notes.push(`(Could not be read: ${data.unreadable}.)`);
  return notes;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
