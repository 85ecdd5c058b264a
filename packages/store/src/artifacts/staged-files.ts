// Artifacts of a session that is copied into a home: files in a folder of their own, which takes its name in the transaction
// that adds the session. What a killed process leaves is a folder that no one reads, and the next copy removes.

import { createHash, randomBytes } from "node:crypto";
import { fsyncSync, openSync, closeSync, renameSync, rmSync } from "node:fs";
import { link, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isProcessAlive } from "@soong/platform";
import { refuseChangedBytes, type StagedArtifacts } from "./artifact-bytes.ts";
import { hashFile, privateDirectory } from "./artifact-sink.ts";
import { isArtifactId } from "./file-artifacts.ts";

/** `target`: the folder of the session's artifacts. */
export async function stageFiles(target: string): Promise<StagedArtifacts> {
  const around = dirname(target);
  await removeAbandoned(around);
  const folder = join(around, `~copy-${process.pid}-${randomBytes(6).toString("hex")}`);
  /** The same bytes take their room once. */
  const kept = new Map<string, string>();

  return {
    async add(record, bytes) {
      const { artifact_id, sha256, size } = record;
      // An id becomes the name of a file.
      if (!isArtifactId(artifact_id)) refuseChangedBytes(record);
      await privateDirectory(folder);
      const file = join(folder, artifact_id);
      const same = kept.get(sha256);
      if (same !== undefined && (await isLinked(same, file))) return;
      const written = await writeNew(file, bytes);
      const isWhole = written.sha256 === sha256 && written.size === size;
      // As it is on the disk now.
      if (!isWhole || (await hashFile(file)) !== sha256) refuseChangedBytes(record);
      kept.set(sha256, file);
    },
    // No other process can add a session meanwhile, so what has the name is of no session.
    commit() {
      rmSync(target, { recursive: true, force: true });
      if (kept.size === 0) return undefined;
      syncFolder(folder);
      renameSync(folder, target);
      syncFolder(around);
      return undefined;
    },
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

async function writeNew(file: string, bytes: AsyncIterable<Uint8Array>) {
  const hash = createHash("sha256");
  let size = 0;
  const handle = await open(file, "wx", 0o600);
  try {
    for await (const part of bytes) {
      await handle.writeFile(part);
      hash.update(part);
      size += part.length;
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest("hex"), size };
}

function isLinked(from: string, to: string): Promise<boolean> {
  return link(from, to).then(
    () => true,
    () => false,
  );
}

async function removeAbandoned(around: string): Promise<void> {
  for (const name of await readdir(around).catch((): string[] => [])) {
    const pid = /^~copy-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await rm(join(around, name), { recursive: true, force: true });
  }
}

function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
