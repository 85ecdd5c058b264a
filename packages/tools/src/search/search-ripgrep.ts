// A search with ripgrep. Of a directory first only the names of the files with matches are asked for, by
// all threads in no order; then the lines of the first of them. So the answer is the same every time, and a
// query that fits everywhere costs no more than reading.

import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectory, openRegularFile } from "../path/index.ts";
import { repositoryRoot } from "./ignore-rules.ts";
import { matchingLines, queryFlags, queryRefused } from "./matching-lines.ts";
import { createPieces, runRipgrep, TREE_FLAGS } from "./ripgrep.ts";
import type { LeftOut, SearchAnswer, SearchRequest } from "./search-request.ts";
import { joinDisk, openWalkedFile } from "./walked-nodes.ts";

export async function searchWithRipgrep(
  executable: string,
  request: SearchRequest,
): Promise<SearchAnswer> {
  if (request.place.kind === "directory") return searchTree(executable, request);
  const file = await openRegularFile(request.place.path);
  try {
    // Through a descriptor of its own, because the lines close what they are given.
    const copy = openSync(`/dev/fd/${file.handle.fd}`, "r");
    const shown = await matchingLines(executable, request, [() => ({ path: "", fd: copy })]);
    return {
      ...shown,
      filesSearched: 1,
      filesWithMatches: Math.min(1, shown.lines.length),
      leftOut: { sensitive: 0, restricted: 0 },
      unreadable: 0,
    };
  } finally {
    await file.close();
  }
}

async function searchTree(executable: string, request: SearchRequest): Promise<SearchAnswer> {
  const { path: root } = request.place;
  const directory = await openDirectory(root);
  try {
    // Through the handle: it is the directory that was judged.
    const found = await filesWithMatches(executable, directory.entry("."), request);
    const { first, ...counts } = found;
    const openers = first.map((bytes) => () => {
      const path = bytes.toString();
      const fd = openWalkedFile(joinDisk(root, path.includes("\ufffd") ? bytes : path));
      return fd === undefined ? undefined : { path, fd };
    });
    const { lines, truncated } = await matchingLines(executable, request, openers);
    const isMore = truncated || counts.filesWithMatches > first.length;
    return { ...counts, lines, truncated: isMore };
  } finally {
    await directory.close();
  }
}

interface FilesWithMatches extends Omit<SearchAnswer, "lines" | "truncated"> {
  /** The first of them, as many as there may be lines. */
  readonly first: Buffer[];
}

async function filesWithMatches(
  executable: string,
  cwd: string,
  request: SearchRequest,
): Promise<FilesWithMatches> {
  const smallest = createSmallestPaths(request.limit);
  let filesWithMatches = 0;
  const leftOut: LeftOut = { sensitive: 0, restricted: 0 };
  const pieces = createPieces(0, (record) => {
    const bytes = record.subarray(record.indexOf("./") === 0 ? 2 : 0);
    const path = bytes.toString();
    // An ignore file that takes a file back in outranks the glob.
    if (request.glob?.admits(path) === false || request.restricted.reasonFor(path) !== undefined) {
      return;
    }
    filesWithMatches += 1;
    smallest.add(bytes);
  });
  const glob = request.glob && namelessFile(request.glob.ignoreLines);
  try {
    const end = await runRipgrep({
      executable,
      cwd,
      descriptors: glob === undefined ? [] : [glob],
      argv: [
        "--debug",
        "--files-with-matches",
        "--stats",
        // The first matching line will do; the statistics would else count every match of every line.
        "--max-count=1",
        ...walkFlags(request),
        ...(glob === undefined ? [] : ["--ignore-file=/dev/fd/3"]),
        ...queryFlags(request),
        "--",
        "./",
      ],
      onOutput(chunk) {
        pieces.add(chunk);
        return "more";
      },
      onExcluded(path) {
        // Hidden entries are excluded by a glob, too.
        const reason = request.restricted.reasonFor(path);
        if (reason !== undefined && request.glob?.admits(path) !== false) leftOut[reason] += 1;
      },
      signal: request.signal,
    });
    const searched = /^(\d+) files searched$/m.exec(pieces.rest().toString("latin1"))?.[1];
    if (searched === undefined) throw queryRefused(request, end);
    const { unreadable } = end;
    const filesSearched = Number(searched);
    return { first: smallest.sorted(), filesWithMatches, filesSearched, leftOut, unreadable };
  } finally {
    if (glob !== undefined) closeSync(glob);
  }
}

/** A file without a name, which is gone when it is closed. */
function namelessFile(lines: readonly string[]): number {
  const name = join(tmpdir(), `soong-${randomUUID()}`);
  const fd = openSync(name, "wx+", 0o600);
  unlinkSync(name);
  writeSync(fd, `${lines.join("\n")}\n`, 0);
  return fd;
}

/** The walk of a search: what is hidden, ignored or sensitive is not opened. */
function walkFlags(request: SearchRequest): string[] {
  const { place, hidden, ignored, restricted } = request;
  // Without a repository there is no telling how far up a rule would be meant.
  const isAlone = !ignored && repositoryRoot(place.path) === undefined;
  const leftOut = [
    ...(hidden ? [] : [".*"]),
    ...(restricted.excluded ?? []),
    // The inside of a repository's own directory, and file systems that are no files.
    ".git",
    ...(place.path === "/" ? ["/proc", "/sys", "/dev"] : []),
  ];
  const option = restricted.caseInsensitive ? "--iglob" : "--glob";
  return [
    ...TREE_FLAGS,
    ...(hidden ? ["--hidden"] : []),
    ...(ignored ? ["--no-ignore"] : []),
    ...(isAlone ? ["--no-require-git", "--no-ignore-parent"] : []),
    ...leftOut.map((pattern) => `${option}=!${pattern}`),
  ];
}

/** The smallest of any number of paths, bytewise, in the memory of those that are kept. */
export function createSmallestPaths(most: number) {
  let kept: Buffer[] = [];
  let bound: Buffer | undefined;
  const shrink = (): void => {
    kept = kept.toSorted((a, b) => Buffer.compare(a, b)).slice(0, most);
    if (kept.length === most) bound = kept.at(-1);
  };
  return {
    add(path: Buffer): void {
      if (bound !== undefined && Buffer.compare(path, bound) >= 0) return;
      // A copy: what is given is part of a piece of output that would be kept with it.
      kept.push(Buffer.from(path));
      if (kept.length >= 2 * most) shrink();
    },
    sorted(): Buffer[] {
      shrink();
      return kept;
    },
  };
}
