// Names under which nothing may come into being while a command runs. A mount needs something to be mounted on, so there is an
// empty directory meanwhile, or a file with a text that was given. It is removed with the last sandbox that needs it, of all runtimes of this user: each notes what
// it needs and what it made. What a killed one left, the next one removes. Only what was noted and is still as it
// was made is ever removed.

import { randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { readErrno } from "../file/disk.ts";
import { checkLife, parseHolder, thisHolder, type LockHolder } from "../file/lock-holder.ts";
import { isOpenInside } from "./mounts.ts";
import { sandboxFailure, type SandboxProfile } from "../process/index.ts";

export interface Placeholders {
  /** To be kept as they are, also those that were there. */
  readonly paths: readonly string[];
  release(): void;
}

/** `notes` is a directory of this user, for all its runtimes. */
export function layPlaceholders(profile: SandboxProfile, notes: string): Placeholders {
  const { absent, absentFiles = [] } = profile;
  const texts = new Map(absentFiles.map(({ path, text }) => [path, text]));
  const names = new Set([...absent, ...texts.keys()]);
  // One that is closed by its own name may be there for another sandbox alone, and go with it.
  const isOther = (path: string) => !names.has(path);
  const { writable, fixed, masked } = profile;
  const around = { writable, fixed: fixed.filter(isOther), masked: masked.filter(isOther) };
  const paths = [...names].filter((path) => isOpenInside(around, path));
  const needs = paths.filter((path) => isMissing(path) || isPlaceholder(path, texts.get(path)));
  if (needs.length === 0) return { paths, release() {} };
  const file = join(notes, `${randomBytes(8).toString("hex")}.note`);
  const made: Made[] = [];
  const note = (holder: LockHolder | null) => writeNote(file, { holder, needs, made });
  const release = () => {
    try {
      note(null);
      removeUnneeded(notes);
    } catch {
      // Such as a full disk. When this process has ended, another one removes it.
    }
  };
  note(thisHolder());
  try {
    // From here on no one removes what is needed: they see the note, or are seen and waited for.
    waitForRemovals(notes);
    removeUnneeded(notes);
    for (const need of needs) {
      for (const path of missingDirectories(need)) {
        const text = texts.get(path);
        if (!make(path, text)) break;
        const { dev, ino } = lstatSync(path);
        made.push({ path, dev, ino, ...omitUndefined({ text }) });
      }
    }
    note(thisHolder());
  } catch (error) {
    release();
    throw error;
  }
  return { paths: paths.filter((path) => !isMissing(path)), release };
}

interface Made {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  /** Of a file. */
  readonly text?: string;
}

interface Note {
  /** Null when its sandbox has ended and others still need what it made. */
  readonly holder: LockHolder | null;
  readonly needs: readonly string[];
  readonly made: readonly Made[];
}

const REMOVAL = ".removal";

/** Removes what sandboxes made that have ended, unless a live one needs it. */
export function removeUnneeded(notes: string): void {
  if (readNotes(notes).every(([, { holder }]) => isAlive(holder))) return;
  const removal = join(notes, `${randomBytes(8).toString("hex")}${REMOVAL}`);
  writeFileSync(removal, JSON.stringify(thisHolder()));
  try {
    const all = readNotes(notes);
    const needed = all.filter(([, note]) => isAlive(note.holder)).flatMap(([, note]) => note.needs);
    const ended = all.filter(([, note]) => !isAlive(note.holder));
    const isNeeded = ({ path }: Made) => needed.some((need) => isWithin(path, need));
    // The innermost first, whichever sandbox made it.
    const made = ended.flatMap(([, note]) => note.made);
    for (const placeholder of made.toSorted((a, b) => b.path.length - a.path.length)) {
      if (!isNeeded(placeholder)) removePlaceholder(placeholder);
    }
    for (const [file, note] of ended) {
      if (!note.made.some(isNeeded)) rmSync(file, { force: true });
    }
  } finally {
    rmSync(removal, { force: true });
  }
}

function isAlive(holder: LockHolder | null): boolean {
  return holder !== null && checkLife(holder) !== "dead";
}

function removePlaceholder({ path, dev, ino, text }: Made): void {
  try {
    const stats = lstatSync(path);
    if (stats.dev !== dev || stats.ino !== ino) return;
    if (text === undefined) rmdirSync(path);
    else if (isPlaceholder(path, text)) rmSync(path);
  } catch {
    // Gone, or no longer empty: then it is someone's.
  }
}

const LONGEST_WAIT_MS = 2000;

/** A removal takes microseconds; a process that was killed in one is not waited for. */
function waitForRemovals(notes: string): void {
  const until = performance.now() + LONGEST_WAIT_MS;
  for (const name of readdirSync(notes).filter((entry) => entry.endsWith(REMOVAL))) {
    const file = join(notes, name);
    for (;;) {
      const text = readText(file);
      if (text === undefined) break;
      const holder = parseHolder(text);
      if (holder !== undefined && checkLife(holder) === "dead") {
        rmSync(file, { force: true });
        break;
      }
      if (performance.now() > until) throw sandboxFailure(`${file} is in use for too long`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** False where this user cannot make one: then its commands cannot either. */
function make(path: string, text: string | undefined): boolean {
  const parent = dirname(path);
  if (realpathSync.native(parent) !== parent) {
    throw sandboxFailure(`${parent} is a link, or behind one`);
  }
  try {
    if (text === undefined) mkdirSync(path, { mode: 0o755 });
    else writeFileSync(path, text, { mode: 0o644, flag: "wx" });
    return true;
  } catch (error) {
    const errno = readErrno(error) ?? "";
    if (["EACCES", "EPERM", "EROFS", "ENOTDIR"].includes(errno)) return false;
    throw sandboxFailure(`the name ${path} cannot be kept free (${errno})`);
  }
}

/** The path and those directories above it that are not there, the outermost first. */
function missingDirectories(path: string): string[] {
  return isMissing(path) ? [...missingDirectories(dirname(path)), path] : [];
}

function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Under a file, or where this user cannot look.
    return true;
  }
}

/** It may be that of another sandbox. */
function isPlaceholder(path: string, text: string | undefined): boolean {
  try {
    const stats = lstatSync(path);
    if (text === undefined) return stats.isDirectory() && readdirSync(path).length === 0;
    return stats.isFile() && stats.size === text.length && readFileSync(path, "utf8") === text;
  } catch {
    return false;
  }
}

/** Whole or not at all: another one reads it at any moment. */
function writeNote(file: string, note: Note): void {
  writeFileSync(`${file}~`, JSON.stringify(note));
  renameSync(`${file}~`, file);
}

function readNotes(notes: string): [string, Note][] {
  const files = readdirSync(notes).filter((name) => name.endsWith(".note"));
  return files.flatMap((name): [string, Note][] => {
    const file = join(notes, name);
    const text = readText(file);
    if (text === undefined) return [];
    try {
      return [[file, JSON.parse(text) as Note]];
    } catch {
      // The machine went down over it: what it noted is not known, and must not stop every command.
      rmSync(file, { force: true });
      return [];
    }
  });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
