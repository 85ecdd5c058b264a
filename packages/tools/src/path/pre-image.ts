// What stands at a target before it is replaced: its hash for comparison, what of it must be kept, and
// whether it is still the same just before the rename (EDIT-6).

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, access, lstat } from "node:fs/promises";

import { accessDenied, failureOf, notARegularFile, pathChanged } from "./path-failure.ts";
import { errnoOf, isSameNode, readFully } from "@soong/platform";
import { type Opening, type PinnedNode, kindOf, pinJudged } from "./pinned-node.ts";

export interface PreImage {
  readonly sha256: string;
  /** From before its bytes were read, so that a write during the read shows. */
  readonly stats: BigIntStats;
  readonly readAtMs: number;
}

/** A judged path, and the way to it through the handle of its directory. */
export interface Target {
  readonly path: string;
  readonly name: string;
  readonly opening: Opening;
}

/** undefined: nothing is there. The file must be regular and one that may be written. */
export async function readPreImage(target: Target): Promise<PreImage | undefined> {
  const { path, name, opening } = target;
  const readAtMs = Date.now();
  let node: PinnedNode | undefined;
  let handle: FileHandle | undefined;
  try {
    node = await pinJudged(path, opening, name);
    await checkWritable(path, node);
    handle = await node.reopen(constants.O_RDONLY);
    const stats = await handle.stat({ bigint: true });
    return { sha256: await hashOf(handle, Number(stats.size)), stats, readAtMs };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw failureOf(error, path);
  } finally {
    await handle?.close();
    await node?.close();
  }
}

/** Whether the file at the target is still the one that was read; cheap when nothing touched it. */
export async function isStill(before: PreImage, target: Target): Promise<boolean> {
  const now = await lstat(target.name, { bigint: true }).catch(() => undefined);
  if (now !== undefined && isUntouched(before.stats, now) && !couldHideAWrite(before)) return true;
  const again = await readPreImage(target);
  return (
    again?.sha256 === before.sha256 &&
    again.stats.mode === before.stats.mode &&
    again.stats.uid === before.stats.uid &&
    again.stats.gid === before.stats.gid
  );
}

/**
 * File systems keep time in ticks: a write in the same tick as the last one before our read leaves the
 * times as they were. Only a file that had been left alone for longer than a tick is safe from that.
 */
export function couldHideAWrite({ stats, readAtMs }: PreImage): boolean {
  return Number(stats.ctimeNs / 1_000_000n) > readAtMs - LONGEST_TICK_MS;
}

const LONGEST_TICK_MS = 20;
const CHUNK_BYTES = 1024 * 1024;

function isUntouched(before: BigIntStats, now: BigIntStats): boolean {
  return (
    isSameNode(before, now) &&
    before.size === now.size &&
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs
  );
}

/**
 * Replacing a file needs rights on its directory only, yet whoever made a file read-only meant it: one
 * that nobody may write is refused, to root as well, and so is one that we may not write.
 */
async function checkWritable(path: string, { stats, name }: PinnedNode): Promise<void> {
  const kind = kindOf(stats);
  if (kind === "symlink") throw pathChanged(path);
  if (kind !== "file") throw notARegularFile(path, kind);
  try {
    if ((Number(stats.mode) & 0o222) !== 0) return await access(name, constants.W_OK);
  } catch (error) {
    if (errnoOf(error) !== "EACCES" && errnoOf(error) !== "EPERM") throw error;
  }
  throw accessDenied(path, "the file is read-only");
}

/** Stops soon after `size`: a file that keeps growing is not the expected one anyway. */
async function hashOf(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
  for (let position = 0; position <= size; position += chunk.length) {
    const bytes = await readFully(handle, chunk, position);
    hash.update(bytes);
    if (bytes.length < chunk.length) break;
  }
  return hash.digest("hex");
}
