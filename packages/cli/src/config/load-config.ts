// Where everything of a user's Soong lives (CONF-1), never in a project: what a project brings along must not decide what
// may happen there. Its config, or the one file that was asked for, and how a file of settings is read: whole, a regular
// file of bounded size, in UTF-8, and by whom else it could have been written.

import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { userInfo } from "node:os";
import { isAbsolute, join, normalize, resolve } from "node:path";
import {
  positionFinder,
  readBoundedFile,
  type BoundedFile,
  type DocumentPosition,
  type Problem,
} from "@soong/platform";
import { ConfigError, parseWithWarnings } from "./parse-config.ts";
import type { SoongConfig } from "./sections.ts";

export interface LoadedConfig {
  readonly home: string;
  /** Undefined: there is none, which is fine. */
  readonly file: string | undefined;
  readonly values: SoongConfig;
  /** What is odd and no mistake. */
  readonly warnings: readonly Problem[];
}

/** None is needed (CONF-2); one that is there has to be sound. `file`: the one to read instead of the home's own; that one has to be there. Throws a ConfigError. */
export async function loadConfig(options: { home: string; file?: string }): Promise<LoadedConfig> {
  const { home } = options;
  const file = options.file === undefined ? join(home, "config.toml") : resolve(options.file);
  const read = await readSettingsFile(file);
  if (read === undefined) {
    if (options.file !== undefined) throw fileRefusal(file, "is not there");
    return { home, file: undefined, ...parseWithWarnings("", file) };
  }
  const { values, warnings } = parseWithWarnings(read.text, file);
  return { home, file, values, warnings: [...read.warnings, ...warnings] };
}

export interface SettingsFile {
  readonly text: string;
  /** Who else can write it. */
  readonly warnings: readonly Problem[];
}

/** Undefined: there is none. Throws a ConfigError. */
export async function readSettingsFile(file: string): Promise<SettingsFile | undefined> {
  const read = await readBytes(file);
  if (read === undefined) return undefined;
  return {
    text: decode(read.bytes, file),
    warnings: findTrustWarnings(read.stats, process.getuid?.()).map((message) => ({
      file,
      ...START,
      message,
    })),
  };
}

const MAX_BYTES = 1024 * 1024;
const START: DocumentPosition = { line: 1, column: 1 };

async function readBytes(file: string): Promise<{ bytes: Buffer; stats: Stats } | undefined> {
  let read: BoundedFile;
  try {
    read = await readBoundedFile(file, MAX_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !(await isLink(file))) return undefined;
    throw fileRefusal(file, unreadable(code, error));
  }
  if (read.kind === "file") return read;
  throw fileRefusal(file, UNUSABLE[read.kind]);
}

const UNUSABLE = {
  directory: "is a directory; a file is expected here",
  special: "is not a regular file",
  too_large: `is larger than ${MAX_BYTES} bytes, more than any config needs`,
};

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

function fileRefusal(file: string, message: string, place = START): ConfigError {
  return new ConfigError([{ file, ...place, message }]);
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
function firstBadByte(bytes: Buffer, text: string): DocumentPosition {
  const replacement = Buffer.from("\uFFFD");
  let at = text.indexOf("\uFFFD");
  let byte = Buffer.byteLength(text.slice(0, at));
  while (bytes.subarray(byte, byte + replacement.length).equals(replacement)) {
    const next = text.indexOf("\uFFFD", at + 1);
    byte += Buffer.byteLength(text.slice(at, next));
    at = next;
  }
  return positionFinder(text)(at);
}

/**
 * Who else could have written it, as clauses about the file: it grants rights, and who can write it grants them. `self` is the user's id; where there is none, nothing is known.
 */
export function findTrustWarnings(
  { uid, mode }: { readonly uid: number; readonly mode: number },
  self: number | undefined,
): string[] {
  if (self === undefined) return [];
  const warnings: string[] = [];
  if (uid !== self && uid !== ROOT) {
    warnings.push(
      `belongs to the user with the id ${uid}, who can change what it allows; chown it`,
    );
  }
  if ((mode & 0o022) !== 0) {
    warnings.push("can be written by others, who can change what it allows; run chmod go-w on it");
  }
  return warnings;
}

const ROOT = 0;

/** `SOONG_AGENT_HOME`, or `.soong-agent` in the user's home. Throws when it is not absolute. */
export function agentHome(env: Readonly<Record<string, string | undefined>>): string {
  const { SOONG_AGENT_HOME: given = "" } = env;
  if (given === "") return join(userHome(env), ".soong-agent");
  if (isAbsolute(given)) return withoutLastSlash(normalize(given));
  throw new Error(
    "SOONG_AGENT_HOME is not an absolute path. It would mean another directory in every project; set it to the whole path.",
  );
}

/** `HOME`, or what the system knows of this user. Never one that is not absolute: a project could bring it along. */
export function userHome({
  HOME: given = "",
}: Readonly<Record<string, string | undefined>>): string {
  if (isAbsolute(given)) return given;
  const known = knownHome();
  if (isAbsolute(known)) return known;
  throw new Error(
    "This user has no home directory; set HOME or SOONG_AGENT_HOME to the absolute path of one.",
  );
}

/** A container may run as a user whom its system does not know. */
function knownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
