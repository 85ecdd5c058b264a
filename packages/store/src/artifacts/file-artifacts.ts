// Artifacts as files (ART-1): `<id>` holds the bytes as they came, `<id>.json` the record. An artifact
// exists from the moment its record does; what a killed process left half written is removed.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, type ArtifactRecord, type ArtifactStore, type ByteRange } from "@soong/core";
import { writeWholeFile } from "@soong/platform";
import {
  openArtifactSink,
  writeArtifact,
  privateDirectory,
  sweepUnfinished,
  readRange,
} from "./artifact-sink.ts";

export interface FileArtifactsOptions {
  /** Made if it is missing; no one but its owner may look into it. */
  readonly directory: string;
  readonly ids?: { next(prefix: string): string };
  readonly clock?: { now(): number };
}

export interface FileArtifacts extends ArtifactStore {
  /** Oldest first. */
  list(): Promise<ArtifactRecord[]>;
}

export async function openFileArtifacts(options: FileArtifactsOptions): Promise<FileArtifacts> {
  const directory = await privateDirectory(options.directory);
  await sweepUnfinished(directory);
  const place = {
    directory,
    ids: options.ids ?? randomIds(),
    clock: options.clock ?? Date,
    async keep(record: ArtifactRecord) {
      await writeWholeFile(join(directory, `${record.artifact_id}.json`), JSON.stringify(record));
    },
  };

  return {
    open: (about) => openArtifactSink(place, about),
    write: (bytes, about) => writeArtifact(place, bytes, about),
    async read(artifact_id, range) {
      const record = await stat(artifact_id);
      return record && (await readRange(join(directory, artifact_id), range ?? whole(record)));
    },
    stat,
    async list() {
      const names = (await readdir(directory)).filter((name) => name.endsWith(".json"));
      const records = await Promise.all(names.map((name) => stat(name.slice(0, -".json".length))));
      return records
        .filter((record) => record !== undefined)
        .toSorted(
          (a, b) => compare(a.created_at, b.created_at) || compare(a.artifact_id, b.artifact_id),
        );
    },
  };

  async function stat(artifact_id: string): Promise<ArtifactRecord | undefined> {
    if (!isArtifactId(artifact_id)) return undefined;
    try {
      return JSON.parse(
        await readFile(join(directory, `${artifact_id}.json`), "utf8"),
      ) as ArtifactRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }
}

/** Ids come back from models; one that is not of our making never becomes part of a path. */
export function isArtifactId(id: string): boolean {
  return /^[a-z0-9_-]{1,100}$/i.test(id);
}

function whole({ size }: ArtifactRecord): ByteRange {
  return { offset: 0, length: size };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
