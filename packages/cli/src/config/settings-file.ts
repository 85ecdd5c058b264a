// A file of settings in the home, read whole: a regular file of bounded size, in UTF-8, and by whom else it could have
// been written.

import { constants, type Stats } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import type { Problem } from "@soong/platform";
import { ConfigError, configProblem } from "./config-error.ts";
import { placeFinder, type Place } from "./toml-places.ts";
import { trustDoubts } from "./trust-doubts.ts";

export interface SettingsFile {
  readonly text: string;
  /** Who else can write it, as warnings. */
  readonly doubts: readonly Problem[];
}

/** Undefined: there is none. Throws a ConfigError. */
export async function readSettingsFile(file: string): Promise<SettingsFile | undefined> {
  const read = await bytesOf(file);
  if (read === undefined) return undefined;
  const doubts = trustDoubts(read.stats, process.getuid?.());
  return {
    text: decode(read.bytes, file),
    doubts: doubts.map((doubt) => configProblem(file, START, [], doubt)),
  };
}

const MAX_BYTES = 1024 * 1024;
const START: Place = { line: 1, column: 1 };

async function bytesOf(file: string): Promise<{ bytes: Buffer; stats: Stats } | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Without waiting: a FIFO in its place would keep us for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (stats.isDirectory()) throw fileRefusal(file, "is a directory; a file is expected here");
    if (!stats.isFile()) throw fileRefusal(file, "is not a regular file");
    // One byte more than allowed, because it may have grown since.
    const buffer = Buffer.alloc(Math.min(stats.size, MAX_BYTES) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    if (stats.size > MAX_BYTES || length > stats.size) {
      throw fileRefusal(file, tooLarge(Math.max(stats.size, length)));
    }
    return { bytes: buffer.subarray(0, length), stats };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !(await isLink(file))) return undefined;
    throw fileRefusal(file, unreadable(code, error));
  } finally {
    await handle?.close();
  }
}

function tooLarge(size: number): string {
  return size > MAX_BYTES
    ? `is larger than ${MAX_BYTES} bytes, more than any config needs`
    : "changed while it was read; try again";
}

async function isLink(file: string): Promise<boolean> {
  const stats = await lstat(file).catch(() => undefined);
  return stats?.isSymbolicLink() === true;
}

function unreadable(code: string | undefined, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return UNREADABLE.get(code) ?? `cannot be read: ${reason}`;
}

const UNREADABLE: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOENT", "is a link to a file that is not there"],
  ["ELOOP", "is a link that leads to itself"],
  ["ENOTDIR", "cannot be there: what should be its directory is a file"],
  ["EACCES", "cannot be read: you have no right to"],
  ["EPERM", "cannot be read: you have no right to"],
  // A socket, or a device that is not there.
  ["ENXIO", "is not a regular file"],
]);

export function fileRefusal(file: string, message: string, place = START): ConfigError {
  return new ConfigError([configProblem(file, place, [], message)]);
}

function decode(bytes: Buffer, file: string): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw fileRefusal(file, "is UTF-16; save it as UTF-8");
  }
  const text = bytes.toString("utf8");
  if (Buffer.from(text).equals(bytes)) return text;
  throw fileRefusal(file, "is not UTF-8 from here on; save it as UTF-8", firstBadByte(bytes, text));
}

/** Each bad byte became a replacement character; the first that was none before is the place. */
function firstBadByte(bytes: Buffer, text: string): Place {
  const replacement = Buffer.from("\uFFFD");
  let at = text.indexOf("\uFFFD");
  let byte = Buffer.byteLength(text.slice(0, at));
  while (bytes.subarray(byte, byte + replacement.length).equals(replacement)) {
    const next = text.indexOf("\uFFFD", at + 1);
    byte += Buffer.byteLength(text.slice(at, next));
    at = next;
  }
  return placeFinder(text)(at);
}
