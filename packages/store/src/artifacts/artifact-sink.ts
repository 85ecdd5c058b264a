// One artifact on its way to disk: bytes go to an unfinished file as they come, hashed on the way, one
// write at a time, so that a caller that awaits `write` holds no more than it just gave.

import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  createReadStream,
  fdatasync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { link, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  ToolFailure,
  type ArtifactInput,
  type ArtifactRecord,
  type ArtifactStoreSink,
  type ByteRange,
} from "@soong/core";
import { isHighSurrogate, omitUndefined } from "@soong/schema";
import type { AtCrashPoint } from "../contract/store-error.ts";

import { isProcessAlive } from "@soong/platform";

export interface ArtifactPlace {
  readonly directory: string;
  readonly ids: { next(prefix: string): string };
  readonly clock: { now(): number };
  /** The bytes are whole, at `<directory>/<id>`: from now on there is such an artifact. */
  keep(record: ArtifactRecord): void | Promise<void>;
  /** Where an artifact with the same bytes may be. */
  sameContent?(sha256: string, size: number): string | undefined;
  readonly at?: AtCrashPoint | undefined;
  /** Settles when the directory is there. */
  readonly ready?: Promise<unknown>;
}

export interface ArtifactFileSink extends ArtifactStoreSink {
  write(bytes: string | Uint8Array): Promise<void>;
  close(): Promise<ArtifactRecord>;
  discard(): Promise<void>;
}

/** Less than this is written in one go, and not looked for elsewhere. */
const SHORTEST_SHARED = 64 * 1024;
const datasync = promisify(fdatasync);

type State = "open" | "closed" | "discarded" | "failed";

export function openArtifactSink(place: ArtifactPlace, about: ArtifactInput): ArtifactFileSink {
  const described = { ...about };
  const { artifact_id, unfinished, finished } = newFile(place);
  const hash = createHash("sha256");
  let size = 0;
  let state: State = "open";
  let failure: Error | undefined;
  let file: Promise<FileHandle> | undefined;
  /** Half of a character whose other half comes with the next piece of text. */
  let heldBack = "";
  /** What was asked for is done in order, whether or not anyone waited. */
  let last: Promise<unknown> = Promise.resolve();

  return {
    write: (bytes) => {
      refuseUnlessOpen();
      const parts = splitPieces(bytes);
      return inOrder(async () => {
        for (const part of parts) await append(part);
      });
    },
    close: () => {
      refuseUnlessOpen();
      state = "closed";
      return inOrder(finish);
    },
    discard: () => {
      if (state !== "open" && state !== "failed") return Promise.resolve();
      state = "discarded";
      return inOrder(async () => {}).then(giveUp, giveUp);
    },
  };

  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(async () => {
      if (failure !== undefined) throw failure;
      try {
        return await work();
      } catch (error) {
        failure = asFailure(error);
        if (state === "open") state = "failed";
        await giveUp();
        throw failure;
      }
    });
    last = done.catch(() => {});
    return done;
  }

  function splitPieces(bytes: string | Uint8Array): Uint8Array[] {
    if (typeof bytes !== "string") {
      const half = Buffer.from(heldBack, "utf8");
      heldBack = "";
      // A copy: a caller may reuse its buffer without waiting.
      return [half, new Uint8Array(bytes)];
    }
    const text = heldBack + bytes;
    heldBack = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
    return [Buffer.from(heldBack === "" ? text : text.slice(0, -1), "utf8")];
  }

  async function append(bytes: Uint8Array): Promise<void> {
    await place.ready;
    file ??= open(unfinished, "wx", 0o600);
    const handle = await file;
    let written = 0;
    while (written < bytes.length) {
      written += (await handle.write(bytes, written)).bytesWritten;
    }
    hash.update(bytes);
    size += bytes.length;
  }

  async function finish(): Promise<ArtifactRecord> {
    await append(Buffer.from(heldBack, "utf8"));
    const sha256 = hash.digest("hex");
    const isShared = await shareContent(sha256);
    const handle = await file;
    if (!isShared) await handle?.datasync();
    await handle?.close();
    file = undefined;
    place.at?.("artifact.written");
    await (isShared ? rm(unfinished) : rename(unfinished, finished));
    return keepRecord(place, { artifact_id, sha256, size }, described);
  }

  /** Each run keeps the definitions of all its tools: the same bytes take their room once. */
  async function shareContent(sha256: string): Promise<boolean> {
    if (size < SHORTEST_SHARED) return false;
    const same = place.sameContent?.(sha256, size);
    // A damaged file would damage this artifact, too.
    if (same === undefined || (await hashFile(same)) !== sha256) return false;
    // Removed meanwhile, or a disk without links: it is kept as any other.
    return link(same, finished).then(
      () => true,
      () => false,
    );
  }

  async function giveUp(): Promise<void> {
    const opened = file;
    file = undefined;
    try {
      await (await opened)?.close();
    } catch {
      // It never opened, or is closed already: there is only the name left to remove.
    }
    await removeFiles(failure === undefined ? [unfinished] : [unfinished, finished]);
  }

  function refuseUnlessOpen(): void {
    if (state === "open") return;
    if (failure !== undefined) throw failure;
    throw new ToolFailure({
      code: "artifact_sink_closed",
      message: `This artifact is already ${state}; nothing can be added to it.`,
    });
  }
}

function newFile({ ids, directory }: ArtifactPlace) {
  const artifact_id = ids.next("art");
  return {
    artifact_id,
    unfinished: join(directory, unfinishedName(artifact_id)),
    finished: join(directory, artifact_id),
  };
}

/** Call it when the bytes are at their final place. */
async function keepRecord(
  place: ArtifactPlace,
  { artifact_id, sha256, size }: Pick<ArtifactRecord, "artifact_id" | "sha256" | "size">,
  { media_type, name, session_id, run_id, tool_call_id, retention }: ArtifactInput,
): Promise<ArtifactRecord> {
  const record: ArtifactRecord = omitUndefined({
    artifact_id,
    sha256,
    media_type,
    size,
    name,
    session_id,
    run_id,
    tool_call_id,
    created_at: new Date(place.clock.now()).toISOString(),
    retention,
  });
  place.at?.("artifact.renamed");
  await place.keep(record);
  place.at?.("artifact.kept");
  return record;
}

/** What cannot be removed now is swept away later; the reason it is given up matters more. */
async function removeFiles(paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((path) => rm(path, { force: true })));
}

export async function writeArtifact(
  place: ArtifactPlace,
  bytes: string | Uint8Array,
  about: ArtifactInput,
): Promise<ArtifactRecord> {
  const size = typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
  if (size < SHORTEST_SHARED) {
    // A copy: a caller may reuse its buffer without waiting.
    const whole = typeof bytes === "string" ? Buffer.from(bytes) : new Uint8Array(bytes);
    return writeSmall(place, whole, { ...about });
  }
  const sink = openArtifactSink(place, about);
  try {
    await sink.write(bytes);
    return await sink.close();
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** Only the sync leaves this thread: each step on the thread pool costs more than the step. */
async function writeSmall(
  place: ArtifactPlace,
  bytes: Uint8Array,
  about: ArtifactInput,
): Promise<ArtifactRecord> {
  const { artifact_id, unfinished, finished } = newFile(place);
  try {
    await place.ready;
    const file = openSync(unfinished, "wx", 0o600);
    try {
      writeFileSync(file, bytes);
      await datasync(file);
    } finally {
      closeSync(file);
    }
    place.at?.("artifact.written");
    renameSync(unfinished, finished);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return await keepRecord(place, { artifact_id, sha256, size: bytes.length }, about);
  } catch (error) {
    await removeFiles([unfinished, finished]);
    throw asFailure(error);
  }
}

/** As it is on the disk; undefined when it cannot be read. */
export async function hashFile(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

function asFailure(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT" && code !== "EFBIG") return error as Error;
  return new ToolFailure({
    code: "artifact_store_full",
    error_class: "result_too_large",
    message: `There is no room left on the disk for this artifact (${message}).`,
    recovery: "change_arguments",
  });
}

// The directory artifacts are in: ours alone (0700), and free of what earlier processes left unfinished.

/** Its canonical path. Throws when someone else owns it: they could put anything into it. */
export async function privateDirectory(given: string): Promise<string> {
  mkdirSync(given, { recursive: true, mode: 0o700 });
  const directory = realpathSync(given);
  const { uid, mode } = lstatSync(directory);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    throw new Error(`The directory ${directory} belongs to another user; choose one of your own.`);
  }
  if ((mode & 0o077) !== 0) chmodSync(directory, 0o700);
  return directory;
}

/** `<id>.<pid>.part`, so that the leavings of a process that is gone can be distinguished from work in progress. */
export function unfinishedName(artifact_id: string): string {
  return `${artifact_id}.${process.pid}.part`;
}

export async function sweepUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /\.(\d+)\.part$/.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await rm(join(directory, name), { force: true });
  }
}

// Reads part of a file: what there is of a range that may reach past the end.

export async function readRange(path: string, range: ByteRange): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const offset = within(range.offset, size);
    const bytes = new Uint8Array(within(range.length, size - offset));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function within(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(0, Math.floor(value)), most);
}
