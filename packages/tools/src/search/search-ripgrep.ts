// A search with ripgrep. Of a directory first only the names of the files with matches are asked for, by
// all threads in no order; then the lines of the first of them. So the answer is the same every time, and a
// query that fits everywhere costs no more than reading.

import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { openDirectory, openRegularFile } from "../path/index.ts";
import { matchingLines } from "./matching-lines.ts";
import { createPieces } from "./pieces.ts";
import { queryFlags, queryRefused, walkFlags } from "./ripgrep-query.ts";
import { runRipgrep } from "./ripgrep-process.ts";
import type { LeftOut, SearchAnswer, SearchRequest } from "./search-types.ts";
import { createSmallestPaths } from "./smallest-paths.ts";
import { joinDisk, openWalkedFile } from "./walked-nodes.ts";

export async function searchWithRipgrep(
  executable: string,
  request: SearchRequest,
): Promise<SearchAnswer> {
  return request.place.kind === "file"
    ? searchFile(executable, request)
    : searchTree(executable, request);
}

async function searchFile(executable: string, request: SearchRequest): Promise<SearchAnswer> {
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
    const { lines, truncated } = await matchingLines(
      executable,
      request,
      found.first.map((path) => () => {
        const fd = openWalkedFile(
          joinDisk(root, path.toString().includes("\ufffd") ? path : path.toString()),
        );
        return fd === undefined ? undefined : { path: path.toString(), fd };
      }),
    );
    return {
      lines,
      truncated: truncated || found.count > found.first.length,
      filesSearched: found.searched,
      filesWithMatches: found.count,
      leftOut: found.leftOut,
      unreadable: found.unreadable,
    };
  } finally {
    await directory.close();
  }
}

interface FilesWithMatches {
  /** The first of them, as many as there may be lines. */
  readonly first: Buffer[];
  readonly count: number;
  readonly searched: number;
  readonly leftOut: LeftOut;
  readonly unreadable: number;
}

async function filesWithMatches(
  executable: string,
  cwd: string,
  request: SearchRequest,
): Promise<FilesWithMatches> {
  const smallest = createSmallestPaths(request.limit);
  let count = 0;
  const leftOut: LeftOut = { sensitive: 0, restricted: 0 };
  const pieces = createPieces(0, (record) => {
    const bytes = withoutDotSlash(record);
    const path = bytes.toString();
    // An ignore file that takes a file back in outranks the glob.
    if (request.glob?.admits(path) === false || request.restricted.reasonFor(path) !== undefined) {
      return;
    }
    count += 1;
    smallest.add(bytes);
  });
  const glob = request.glob === undefined ? undefined : namelessFile(request.glob.ignoreLines);
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
    const first = smallest.sorted();
    return { first, count, searched: Number(searched), leftOut, unreadable: end.unreadable };
  } finally {
    if (glob !== undefined) closeSync(glob);
  }
}

function withoutDotSlash(path: Buffer): Buffer {
  return path[0] === 46 && path[1] === 47 ? path.subarray(2) : path;
}

/** A file without a name, which is gone when it is closed. */
function namelessFile(lines: readonly string[]): number {
  const name = join(tmpdir(), `soong-${randomUUID()}`);
  const fd = openSync(name, "wx+", 0o600);
  unlinkSync(name);
  writeSync(fd, `${lines.join("\n")}\n`, 0);
  return fd;
}
