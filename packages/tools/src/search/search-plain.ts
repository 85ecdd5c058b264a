// A search without ripgrep: a walk of our own and the linear regular expressions of the kernel. Slower,
// the same answers; its expressions are those of ECMAScript.

import { closeSync, read } from "node:fs";
import { promisify } from "node:util";
import type { LinearRegex } from "@soong/core";
import { openRegularFile } from "../path/index.ts";
import {
  codePointsBefore,
  collectWithNeighbours,
  MOST_ANSWER_CHARS,
  shownContext,
  shownMatch,
} from "./line-text.ts";
import {
  compileQuery,
  type FoundLine,
  type SearchAnswer,
  type SearchRequest,
} from "./search-request.ts";
import { createEventLoopYield, walkTree } from "./walk.ts";
import { openWalkedFile, type DiskPath } from "./walked-nodes.ts";

export async function searchPlainly(request: SearchRequest): Promise<SearchAnswer> {
  const { query, literal, caseSensitive } = request;
  const regex = compileQuery(query, literal, caseSensitive);
  const counts: Counts = {
    filesSearched: 0,
    filesWithMatches: 0,
    leftOut: { sensitive: 0, restricted: 0 },
    unreadable: 0,
  };
  const lines: FoundLine[] = [];
  const search = async (fd: number, path: string): Promise<void> => {
    const found = await searchOpened(fd, path, regex, request);
    counts.filesSearched += 1;
    if (found.length > 0) counts.filesWithMatches += 1;
    if (lines.length <= request.limit) lines.push(...found);
  };
  if (request.place.kind === "file") {
    const file = await openRegularFile(request.place.path);
    try {
      await search(file.handle.fd, "");
    } finally {
      await file.close();
    }
  } else {
    for (const { path, disk } of await filesToSearch(request, counts)) {
      const fd = openWalkedFile(disk);
      if (fd === undefined) counts.unreadable += 1;
      else await search(fd, path).finally(() => closeSync(fd));
    }
  }
  const shown = withinBounds(lines, request.limit);
  return { ...counts, lines: shown, truncated: shown.length < lines.length };
}

type Counts = {
  -readonly [Field in Exclude<keyof SearchAnswer, "lines" | "truncated">]: SearchAnswer[Field];
};

function withinBounds(lines: readonly FoundLine[], limit: number): FoundLine[] {
  let characters = 0;
  const tooMuch = lines.findIndex(({ text, before, after }) => {
    characters += [text, ...before, ...after].reduce((sum, line) => sum + line.length, 0);
    return characters > MOST_ANSWER_CHARS;
  });
  return lines.slice(0, tooMuch === -1 ? limit : Math.min(limit, tooMuch));
}

async function filesToSearch(
  request: SearchRequest,
  counts: Counts,
): Promise<{ path: string; disk: DiskPath }[]> {
  const { glob, restricted, place } = request;
  const files: { path: string; disk: DiskPath; bytes: Buffer }[] = [];
  const eventLoopYield = createEventLoopYield(request.signal);
  const walk = walkTree({
    root: place.path,
    hidden: request.hidden,
    ignored: request.ignored,
    onUnreadable: () => {
      counts.unreadable += 1;
    },
  });
  for (const entry of walk) {
    if (eventLoopYield.isDue()) await eventLoopYield.pause();
    const isMeant = glob?.admits(entry.path) !== false;
    const reason = restricted.reasonFor(entry.path);
    if (reason !== undefined && isMeant) counts.leftOut[reason] += 1;
    if (reason !== undefined || (glob?.kind === "exclude" && !isMeant)) entry.descend = false;
    else if (place.path === "/" && NO_FILES.includes(entry.path)) entry.descend = false;
    else if (entry.type === "file" && isMeant && entry.leftOut === undefined) {
      files.push({ path: entry.path, disk: entry.disk, bytes: Buffer.from(entry.path) });
    }
  }
  return files.toSorted((a, b) => Buffer.compare(a.bytes, b.bytes));
}

/** File systems that are no files. */
const NO_FILES = ["proc", "sys", "dev"];

const readAt = promisify(read);
const CHUNK = 256 * 1024;
/** Of a longer line only the beginning is looked at. */
const LONGEST_LINE = 1024 * 1024;

async function searchOpened(
  fd: number,
  path: string,
  regex: LinearRegex,
  request: SearchRequest,
): Promise<FoundLine[]> {
  const { limit, contextLines, redact } = request;
  const found = collectWithNeighbours<FoundLine & { after: string[] }>(contextLines);
  let count = 0;
  /** Keeps what matches, up to one more than the limit. */
  const add = (given: string): void => {
    count += 1;
    const line = count;
    const text = given.endsWith("\r") ? given.slice(0, -1) : given;
    const index = found.matches.length <= limit ? regex.exec(text)?.index : undefined;
    const shown = contextLines === 0 ? "" : shownContext(text, redact);
    found.add(
      line,
      shown,
      index === undefined
        ? undefined
        : (before) => {
            const column = codePointsBefore(text, index) + 1;
            return { path, line, column, ...shownMatch(text, index, redact), before, after: [] };
          },
    );
  };
  const buffer = Buffer.allocUnsafe(CHUNK);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let rest = "";
  for (let position = 0; ;) {
    request.signal.throwIfAborted();
    const { bytesRead } = await readAt(fd, buffer, 0, CHUNK, position);
    const bytes = buffer.subarray(0, bytesRead);
    decoder ??= new TextDecoder(detectEncoding(bytes));
    const text = decoder.decode(bytes, { stream: bytesRead > 0 });
    // A file with a NUL is binary: nothing of it is shown.
    if (text.includes("\0")) return [];
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(add);
    if (rest.length > LONGEST_LINE) rest = rest.slice(0, LONGEST_LINE);
    position += bytesRead;
    if (bytesRead === 0) break;
  }
  if (rest !== "") add(rest);
  return found.matches;
}

function detectEncoding(beginning: Buffer): string {
  if (beginning[0] === 0xff && beginning[1] === 0xfe) return "utf-16le";
  return beginning[0] === 0xfe && beginning[1] === 0xff ? "utf-16be" : "utf-8";
}
