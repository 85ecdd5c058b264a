// What the sandboxes of one runtime have on disk: their `/tmp`, the same for all its commands, and the notes about
// placeholders. In a directory of this user alone, which no command sees. A runtime that was killed leaves its own behind; the
// next one removes it.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { readErrno } from "../file/disk.ts";
import { checkLife, parseHolder, thisHolder } from "../file/lock-holder.ts";
import { openDevices, SYSTEM_PATH, type OwnDevices } from "./own-devices.ts";
import { sandboxFailure } from "../process/index.ts";

export interface PrivateDirectory {
  /** All of this user, to be masked. */
  readonly base: string;
  /** Where placeholders are noted, for all runtimes of this user. */
  readonly notes: string;
  /** With a directory for each of these mounts, which are inside of /tmp. */
  temporaryDirectory(inner: readonly string[]): string;
  /** Whether no other runtime of this user has one. */
  isAlone(): boolean;
  /** Made when they are first asked for. */
  devices(): OwnDevices;
  remove(): void;
}

/** Throws a ToolFailure where there is no place for it. */
export function openPrivateDirectory(places: readonly string[] = PLACES): PrivateDirectory {
  const base = makeBase(places);
  const runtimes = join(base, "sandbox");
  const notes = join(base, "placeholders");
  for (const directory of [runtimes, notes]) makeOwn(directory);
  sweep(runtimes);
  const own = mkdtempSync(join(runtimes, "r-"));
  let devices: OwnDevices | undefined;
  writeFileSync(join(own, OWNER), JSON.stringify(thisHolder()));

  return {
    base,
    notes,
    temporaryDirectory(inner) {
      // Mount points are names in a directory that commands write: one could put a link there for the next. So only those
      // share a directory in which the same names are mounts from the beginning.
      const key = createHash("sha256").update(inner.join("\0")).digest("hex").slice(0, 16);
      const directory = join(own, inner.length === 0 ? "tmp" : `tmp-${key}`);
      try {
        mkdirSync(directory);
      } catch (error) {
        if (readErrno(error) === "EEXIST") return directory;
        throw sandboxFailure(`${directory} cannot be made (${readErrno(error)})`);
      }
      chmodSync(directory, 0o1777);
      for (const path of inner) {
        const point = join(directory, relative(realpathSync.native("/tmp"), path));
        const isDirectory = lstatSync(path).isDirectory();
        mkdirSync(isDirectory ? point : dirname(point), { recursive: true });
        if (!isDirectory) writeFileSync(point, "");
      }
      return directory;
    },
    isAlone: () => readdirSync(runtimes).length === 1,
    devices: () => (devices ??= openDevices(join(own, "dev"))),
    remove() {
      devices?.close();
      removeTree(own);
    },
  };
}

const OWNER = "owner.json";
/** On the disk of this machine, and emptied by it one day. */
const PLACES = ["/tmp", "/var/tmp"];

function makeBase(places: readonly string[]): string {
  let failure: unknown;
  for (const place of places) {
    try {
      const base = join(realpathSync.native(place), `soong-${process.geteuid?.() ?? "user"}`);
      makeOwn(base);
      return base;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function makeOwn(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (readErrno(error) !== "EEXIST") {
      throw sandboxFailure(`${directory} cannot be made (${readErrno(error)})`);
    }
  }
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || stats.uid !== (process.geteuid?.() ?? stats.uid)) {
    throw sandboxFailure(`${directory} is not a directory of this user`);
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

/** Best effort: what cannot be removed now may be the next time. */
function sweep(runtimes: string): void {
  for (const name of readdirSync(runtimes)) {
    const directory = join(runtimes, name);
    try {
      const owner = parseHolder(readFileSync(join(directory, OWNER), "utf8"));
      if (owner !== undefined && checkLife(owner) === "dead") removeTree(directory);
    } catch (error) {
      // It is just being made, or another one removes it; or that was killed over it.
      if (readErrno(error) === "ENOENT" && isOld(directory)) removeTree(directory);
    }
  }
}

function isOld(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > 24 * 60 * 60 * 1000;
}

function removeTree(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Some programs take the right to write from their directories, and some make paths longer than the kernel takes at once.
    // What is left after this, the next sweep finds.
    const script = 'chmod -R u+rwx -- "$1"; exec rm -rf -- "$1"';
    spawnSync("/bin/sh", ["-c", script, "sh", directory], {
      env: { PATH: SYSTEM_PATH },
      stdio: "ignore",
    });
  }
}
