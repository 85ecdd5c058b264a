// A listing as records and as the lines a model reads: one an entry, then what is missing and how to get it.

import type { PathGlob } from "./path-glob.ts";
import { shownPath } from "./shown-path.ts";
import type { EntryType } from "./walk.ts";

export interface ListedEntry {
  /** Relative to the listed directory; what is not UTF-8 in it is replaced. */
  path: string;
  type: EntryType;
  /** Of a file, in bytes. */
  size?: number;
  /** Of a link, as it is written. */
  target?: string;
}

export interface DirectoryListing {
  path: string;
  entries: ListedEntry[];
  truncated: boolean;
  ignored_left_out: number;
  unreadable_directories: number;
  sensitive_directories_left_out: number;
  /** Entries, with all that is in them, by a rule or a guard. */
  restricted_left_out: number;
}

export function listedText(
  listing: DirectoryListing,
  asked: { recursive: boolean; ignored: boolean; glob: PathGlob | undefined },
): { all: string; summary: string } {
  const count = listing.entries.length;
  const entries = `${count} ${count === 1 ? "entry" : "entries"}`;
  const summary = `${entries}${listing.truncated ? ", and more" : ""} in ${shownPath(listing.path)}`;
  const lines = listing.entries.map(entryLine);
  return { all: [...lines, ...notesOf(listing, asked, summary)].join("\n"), summary };
}

const MARKS: Record<EntryType, string> = {
  file: "f",
  directory: "d",
  symlink: "l",
  fifo: "p",
  socket: "s",
  device: "c",
};

function entryLine({ path, type, size, target }: ListedEntry): string {
  const mark = size === undefined ? MARKS[type] : `${MARKS[type]} ${size}`;
  const slash = type === "directory" ? "/" : "";
  const arrow = target === undefined ? "" : ` -> ${shownPath(target)}`;
  return `${mark} ${shownPath(path + slash)}${arrow}`;
}

function notesOf(
  listing: DirectoryListing,
  {
    recursive,
    ignored,
    glob,
  }: { recursive: boolean; ignored: boolean; glob: PathGlob | undefined },
  summary: string,
): string[] {
  const notes: string[] = [];
  if (listing.entries.length === 0) notes.push(`(${summary})`);
  if (listing.truncated) {
    notes.push(
      `(${summary}: the listing stops here. Raise limit, give a glob, or list a directory further down.)`,
    );
  }
  if (glob?.needsDepth === true && glob.kind === "include" && !recursive) {
    notes.push('(The glob has a slash, which only a listing with "recursive": true can match.)');
  }
  if (listing.ignored_left_out > 0 && !ignored) {
    notes.push(`(${listing.ignored_left_out} left out by .gitignore; "ignored": true lists them.)`);
  }
  if (listing.unreadable_directories > 0) {
    notes.push(`(Directories that could not be read: ${listing.unreadable_directories}.)`);
  }
  if (listing.sensitive_directories_left_out > 0) {
    notes.push(
      `(Sensitive directories not looked into: ${listing.sensitive_directories_left_out}. List one by itself to ask for it.)`,
    );
  }
  if (listing.restricted_left_out > 0) {
    notes.push(`(Left out because a rule restricts them: ${listing.restricted_left_out}.)`);
  }
  if (listing.entries.some(({ path }) => path.includes("\ufffd"))) {
    notes.push(
      '(Names that are not UTF-8 are shown with "\ufffd" and cannot be opened by that name.)',
    );
  }
  return notes;
}
